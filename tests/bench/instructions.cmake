# cmake -P: counts the instructions of hot paths under callgrind and compares them with a committed table. A count does not
# depend on what else the machine does, so that 10 % is enough to tell a regression.
#   PROGRAM, VALGRIND   what runs, and under what
#   PATHS               names of hot paths
#   TABLE, COMPILER     the file of counts and the entry in it: other compilers count otherwise
#   REFRESH             write the counts into the table instead of comparing
cmake_minimum_required(VERSION 3.25)
set(most_percent 110)

function(count_instructions path out)
  execute_process(
    COMMAND "${VALGRIND}" --tool=callgrind --callgrind-out-file=/dev/null
      --collect-atstart=no "--toggle-collect=*run_hot_path*" "${PROGRAM}" ${path}
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE log)
  if(NOT status EQUAL 0 OR NOT log MATCHES "Collected : ([0-9]+)")
    message(FATAL_ERROR "'${PROGRAM} ${path}' failed under valgrind (${status}):\n${said}${log}")
  endif()
  if(CMAKE_MATCH_1 LESS 1000000)
    message(FATAL_ERROR "only ${CMAKE_MATCH_1} instructions were counted: run_hot_path() was not found in ${PROGRAM}")
  endif()
  set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

file(READ "${TABLE}" table)
string(JSON known ERROR_VARIABLE unknown GET "${table}" "${COMPILER}")
if(unknown AND NOT REFRESH)
  message("SKIPPED, NOT CHECKED: ${TABLE} has no counts for ${COMPILER}")
  return()
elseif(unknown)
  string(JSON table SET "${table}" "${COMPILER}" "{}")
endif()

foreach(path IN LISTS PATHS)
  count_instructions(${path} counted)
  if(REFRESH)
    string(JSON table SET "${table}" "${COMPILER}" ${path} ${counted})
    message("${path}: ${counted} instructions")
    continue()
  endif()
  string(JSON expected GET "${table}" "${COMPILER}" ${path})
  math(EXPR percent "100 * ${counted} / ${expected}")
  math(EXPR most "${expected} * ${most_percent} / 100")
  set(verdict "${path}: ${counted} instructions, ${percent} % of the ${expected} in ${TABLE}")
  if(counted GREATER most)
    message(FATAL_ERROR "${verdict}, and ${most_percent} % is the most. Make it cheaper, or, when the path does more for "
      "a reason, run 'cmake --build <build folder> --target refresh_instructions' and say why in the commit.")
  endif()
  message("${verdict}")
  if(percent LESS 90)
    message("It became cheaper: refresh the table, so that the gain cannot get lost (docs/performance.md).")
  endif()
endforeach()
if(REFRESH)
  file(WRITE "${TABLE}" "${table}\n")
endif()
