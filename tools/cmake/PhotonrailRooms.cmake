# Rooms are the folders of src/: photonrail_<room>_objects, made from the table in src/rooms.txt.

# The files of a target are compiled as one: most of a build is reading the same headers, and instantiating the same
# containers, again (CONTRIBUTING.md has the figures). They must therefore not give two things in unnamed namespaces one name;
# where `folders_apart` is true, that holds for each folder, and each is compiled as one. PHOTONRAIL_UNITY=OFF compiles each
# file by itself (preset dev), which is faster where a single file changes and needs a quarter of the memory.
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

# The headers of the standard library that most rooms read are compiled once, for all targets with the options of the library: a
# unit of a room takes 0.5 s of CPU less. Not where each file is compiled by itself, which shows that it has the includes that it needs.
function(photonrail_precompiled target)
  if(NOT PHOTONRAIL_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(target STREQUAL "photonrail_core_objects")
    target_precompile_headers(${target} PRIVATE <algorithm> <charconv> <cmath> <filesystem> <fstream> <functional> <map> <memory>
      <optional> <set> <span> <sstream> <string> <unordered_map> <variant> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM photonrail_core_objects)
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # without it ccache keeps nothing
endfunction()

function(photonrail_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>)
  # One level for all rooms; the solver of the network inlines its two inner loops by itself at it (level_solver).
  target_compile_options(${target} PRIVATE $<$<AND:$<CXX_COMPILER_ID:GNU,Clang>,$<CONFIG:Release>>:-O2>)
  # "text" + std::string is a false alarm of GCC 12 (gcc.gnu.org/PR105651), copies of strings are others (PR105329).
  set(gcc_12 "$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>")
  target_compile_options(${target} PRIVATE "$<${gcc_12}:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")
endfunction()

# Which target brings the third-party headers that a line of the table names; those of the system need none.
set(photonrail_third_party nlohmann/ nlohmann_json::nlohmann_json boost/ Boost::headers protozero/ photonrail_protozero
  pugixml.hpp pugixml::pugixml zlib.h ZLIB::ZLIB yaml-cpp/ yaml-cpp SQLiteCpp/ SQLiteCpp)
# Rooms whose folders are topics of their own.
set(photonrail_folders_apart formats config report astra)

# photonrail_rooms(): a target for each line of the table, and in the caller the names of all rooms (photonrail_rooms), with _ in
# the place of /, and of the rooms that each uses (photonrail_<room>_uses).
macro(photonrail_rooms)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/rooms.txt")
  file(STRINGS rooms.txt photonrail_lines REGEX "^[a-z]")
  set(photonrail_folders ${photonrail_lines})
  list(TRANSFORM photonrail_folders REPLACE ":.*" "")
  set(photonrail_rooms "")
  foreach(photonrail_folder photonrail_line IN ZIP_LISTS photonrail_folders photonrail_lines)
    string(REPLACE "/" "_" photonrail_room "${photonrail_folder}")
    string(REPLACE "/" "_" photonrail_uses "${photonrail_line}")
    string(REGEX REPLACE "^[^:]*:|\\|.*" "" photonrail_uses "${photonrail_uses}")
    string(REGEX MATCHALL "[a-z_]+" photonrail_${photonrail_room}_uses "${photonrail_uses}")
    string(REGEX MATCH "\\|.*" photonrail_headers "${photonrail_line}")
    photonrail_room("${photonrail_folder}" "${photonrail_headers}")
    if(TARGET photonrail_${photonrail_room}_objects)
      list(APPEND photonrail_rooms "${photonrail_room}")
    endif()
  endforeach()
endmacro()

function(photonrail_room folder headers)
  string(REPLACE "/" "_" room "${folder}")
  set(target photonrail_${room}_objects)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  foreach(other IN LISTS photonrail_folders)
    if(other MATCHES "^${folder}/")
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${other}/")
    endif()
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/studies/[a-z_]+/command\\.cpp$")  # of the command
  if(NOT sources)
    return()  # a small study is headers and its command
  endif()
  add_library(${target} OBJECT ${sources})
  photonrail_compile_options(${target})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  string(REGEX MATCHALL "[^ |]+" headers "${headers}")
  foreach(header IN LISTS headers)
    list(FIND photonrail_third_party "${header}" at)
    if(at GREATER -1)
      math(EXPR at "${at} + 1")
      list(GET photonrail_third_party ${at} library)
      target_link_libraries(${target} PRIVATE ${library})
    endif()
  endforeach()
  photonrail_precompiled(${target})
  if(folder IN_LIST photonrail_folders_apart)
    photonrail_unity(${target} TRUE)
  else()
    photonrail_unity(${target} FALSE)
  endif()
endfunction()

# The linker proves the table: photonrail_linked_rooms links each room as a shared library that takes symbols from the rooms of
# its line and from what these use, and from nothing else. Components are taken for absent (no_components.cpp).
function(photonrail_link_rooms)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR NOT UNIX)
    return()  # clang takes the symbols of its sanitizers from the program alone
  endif()
  add_library(photonrail_linked_none SHARED EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/architecture/no_components.cpp")
  photonrail_compile_options(photonrail_linked_none)
  target_include_directories(photonrail_linked_none PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  foreach(room IN LISTS photonrail_rooms)
    set(uses ${photonrail_${room}_uses})
    list(TRANSFORM uses PREPEND photonrail_linked_)
    photonrail_link_room(photonrail_linked_${room} ${room} ${uses})
    list(APPEND linked photonrail_linked_${room})
  endforeach()
  add_custom_target(photonrail_linked_rooms ALL DEPENDS ${linked})
  # A room without those that it uses must not link, or the proof shows nothing.
  photonrail_link_room(photonrail_unlinkable_room fabric)
endfunction()

function(photonrail_link_room target room)
  add_library(${target} SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:photonrail_${room}_objects>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/linked")
  target_link_options(${target} PRIVATE -Wl,-z,defs)
  target_link_libraries(${target} PUBLIC ${ARGN} photonrail_linked_none
    PRIVATE pugixml::pugixml ZLIB::ZLIB yaml-cpp SQLiteCpp Threads::Threads)
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
