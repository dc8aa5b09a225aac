# cmake -DBUILD=<build folder> -DTARGET=<target> -P build_in_the_night.cmake: builds the target where PHOTONRAIL_TEST_CASES is set.
if(NOT DEFINED ENV{PHOTONRAIL_TEST_CASES})
  message("SKIPPED, NOT CHECKED: ${TARGET} takes minutes; set PHOTONRAIL_TEST_CASES")
  return()
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --target "${TARGET}" COMMAND_ERROR_IS_FATAL ANY)
