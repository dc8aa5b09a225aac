# A room is a folder of src/: photonrail_<room>_objects. Which one may include which is in tests/architecture/rooms.hpp.

# Without it ccache keeps nothing that was compiled with a precompiled header.
set(photonrail_ccache_with_precompiled_headers $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# The files of a target are compiled as one: most of a build is reading the same headers, and instantiating the same
# containers, again. They must therefore not give two things in unnamed namespaces one name; where `folders_apart` is
# true, that holds for each folder, and each is compiled as one. PHOTONRAIL_UNITY=OFF compiles each file by itself (preset dev), which is faster where a single file changes and
# needs a quarter of the memory.
function(photonrail_unity target folders_apart)
  if(NOT PHOTONRAIL_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/(src|tests|tools)/.*\\.cpp$")
  set(folder_name all)
  set(position 0)
  foreach(source IN LISTS sources)
    if(folders_apart)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME folder_name)
    endif()
    set(group "${folder_name}")
    if(PHOTONRAIL_UNITY_BATCH)
      math(EXPR batch "${position} / ${PHOTONRAIL_UNITY_BATCH}")
      math(EXPR position "${position} + 1")
      string(APPEND group "_${batch}")
    endif()
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The warning takes every type of a file for that of a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

function(photonrail_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>)
  # "text" + std::string is a false alarm of GCC 12 (gcc.gnu.org/PR105651), copies of strings are others (PR105329).
  set(gcc_12 "$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>")
  target_compile_options(${target} PRIVATE "$<${gcc_12}:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")
  # Without collecting garbage GCC takes a tenth less time, and a quarter more memory.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-expand=400 --param ggc-min-heapsize=4000000>")
endfunction()

# What most units include of the standard library, compiled once for all that are compiled with the same options:
# photonrail_precompiled, and photonrail_precompiled_little for those that are optimised little.
function(photonrail_precompile name)
  file(WRITE "${PROJECT_BINARY_DIR}/${name}.cpp" "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/${name}.cpp")
  photonrail_compile_options(${name})
  target_compile_options(${name} PRIVATE ${ARGN} ${photonrail_ccache_with_precompiled_headers})
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <charconv> <chrono> <cmath> <compare> <cstddef> <cstdint>
    <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span>
    <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)
endfunction()
set(photonrail_little "$<$<AND:$<CXX_COMPILER_ID:GNU,Clang>,$<CONFIG:Release>>:-O1>")
photonrail_precompile(photonrail_precompiled)
photonrail_precompile(photonrail_precompiled_little ${photonrail_little})

function(photonrail_use_precompiled target precompiled)
  if(NOT PHOTONRAIL_UNITY AND NOT PHOTONRAIL_PRECOMPILED)
    return()  # then a file that lacks an include is found
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
  target_compile_options(${target} PRIVATE ${photonrail_ccache_with_precompiled_headers})
endfunction()

# Optimised little in a release, which takes a third off the time of compiling: for what is no part of a simulation.
function(photonrail_optimise_little target)
  target_compile_options(${target} PRIVATE ${photonrail_little})
  photonrail_use_precompiled(${target} photonrail_precompiled_little)
endfunction()

# photonrail_room(<room> [FOLDERS_APART] [OPTIMISE_LITTLE] LIBRARIES <private third-party>...): <room>/<folder> before <room>
# is compiled with options of its own.
function(photonrail_room room)
  cmake_parse_arguments(ARG "FOLDERS_APART;OPTIMISE_LITTLE" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp")
  get_property(in_other_rooms DIRECTORY PROPERTY photonrail_files_of_rooms)
  list(REMOVE_ITEM sources ${in_other_rooms})
  list(FILTER sources EXCLUDE REGEX "/studies/[a-z_]+/command\\.cpp$")  # of the command
  set_property(DIRECTORY APPEND PROPERTY photonrail_files_of_rooms ${sources})
  string(REPLACE "/" "_" room "${room}")
  if(NOT sources)
    return()
  endif()
  add_library(photonrail_${room}_objects OBJECT ${sources})
  photonrail_compile_options(photonrail_${room}_objects)
  target_include_directories(photonrail_${room}_objects PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(photonrail_${room}_objects PRIVATE ${ARG_LIBRARIES})
  photonrail_unity(photonrail_${room}_objects ${ARG_FOLDERS_APART})
  if(ARG_OPTIMISE_LITTLE)
    photonrail_optimise_little(photonrail_${room}_objects)
  else()
    photonrail_use_precompiled(photonrail_${room}_objects photonrail_precompiled)
  endif()
endfunction()

# photonrail_library(<target> EXPORT_NAME <name> SOURCES <objects>... HEADERS <pattern below include/> WITHOUT <regular
# expression>): an installed library, photonrail::<name>, with its public headers, those in folders below too.
function(photonrail_library target)
  cmake_parse_arguments(ARG "" "EXPORT_NAME;HEADERS;WITHOUT" "SOURCES" ${ARGN})
  if(NOT ARG_EXPORT_NAME)
    set(ARG_EXPORT_NAME ${target})
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/${ARG_HEADERS}")
  if(ARG_WITHOUT)
    list(FILTER headers EXCLUDE REGEX "/include/${ARG_WITHOUT}")
  endif()
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(photonrail::${ARG_EXPORT_NAME} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_EXPORT_NAME} LINKER_LANGUAGE CXX)
endfunction()
