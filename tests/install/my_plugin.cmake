# A user's policy as a plug-in: built with the installed headers alone, loaded by the installed command.
# cmake -DBINARY=<configured build of docs/examples> -DPROJECT=<docs/examples> -DCOMMAND=<installed photonrail> -P
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BINARY}" --target mine COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${COMMAND}" --plugin "${BINARY}/libmine.so" run "${PROJECT}/my_policy.json"
  OUTPUT_VARIABLE said ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT said MATCHES "step time +46.00 ms")
  message(FATAL_ERROR "exit status ${status}, not \"step time 46.00 ms\" in:\n${said}${complaint}")
endif()
