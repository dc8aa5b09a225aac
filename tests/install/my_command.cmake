# A user's own command: built from the installed library, it lists, runs and sweeps the user's policy.
# cmake -DBINARY=<configured build of docs/examples> -DPROJECT=<docs/examples> -P
cmake_minimum_required(VERSION 3.25)
function(command_says expected)
  execute_process(COMMAND "${BINARY}/my_command" ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE complaint RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT said MATCHES "${expected}")
    message(FATAL_ERROR "my_command ${ARGN}: exit status ${status}, not \"${expected}\" in:\n${said}${complaint}")
  endif()
endfunction()

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BINARY}" --target my_command COMMAND_ERROR_IS_FATAL ANY)
command_says("oldest_first +one demand after another" list controllers)
command_says("step time +46.00 ms" run "${PROJECT}/my_policy.json")
set(results "${BINARY}/results")
file(REMOVE_RECURSE "${results}")
command_says("12 points in" sweep "${PROJECT}/my_sweep.json" --out "${results}")
# 36 ms of bytes and one delay of 100 ms.
file(READ "${results}/results.csv" table)
if(NOT table MATCHES "100,oldest_first[^\n]*,0\\.136[,\n]")
  message(FATAL_ERROR "no point of 0.136 s under the own policy in:\n${table}")
endif()
