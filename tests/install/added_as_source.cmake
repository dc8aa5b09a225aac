# Configures the consumer with the library as a part of it, and compiles the one file that is the consumer's own:
# cmake -DSOURCE=... -DCONSUMER=... -DBINARY=... -DGENERATOR=... -DCOMPILER=... -DFLAGS=... -DBUILD_TYPE=... -P
cmake_minimum_required(VERSION 3.25)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${BINARY}")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${BINARY}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DFETCHCONTENT_SOURCE_DIR_PHOTONRAIL=${SOURCE}"
  -DPHOTONRAIL_REPORT_PAGE=OFF -Wno-dev)

set(object main.cpp.o)
if(GENERATOR STREQUAL "Ninja")
  set(object CMakeFiles/consumer.dir/main.cpp.o)
endif()
run("${CMAKE_COMMAND}" --build "${BINARY}" --target ${object})

# A part of another project brings no tests, no command and nothing to install of its own.
foreach(unwanted tests tools/photonrail)
  file(GLOB_RECURSE made "${BINARY}/_deps/photonrail-build/${unwanted}/*")
  if(made)
    message(FATAL_ERROR "${unwanted} is built where the library is a part of another project")
  endif()
endforeach()
if(EXISTS "${BINARY}/_deps/photonrail-build/photonrailConfig.cmake")
  message(FATAL_ERROR "the library wants to be installed with the project that it is a part of")
endif()
