# The page of `photonrail report`: src/report/page and the npm packages that its lock file names, bundled when the library is
# built. Without npm, or where npm cannot get the packages, the library is built without the page and says so.
#
# As a module it defines photonrail_report_page(<target>); as a script (cmake -P) it is the step of the build:
#   cmake -DNPM=... -DNODE=... -DPAGE=<src/report/page> -DFOLDER=<for packages> -DOUTPUT=<file.cpp> -DREQUIRED=... -DDEV=... -P

function(photonrail_no_page output why)
  set(photonrail_page_missing "this build has no page for reports: ${why}")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../src/report/page_missing.cpp.in" "${output}" @ONLY)
  message(WARNING "photonrail report is off: ${why}")
endfunction()

function(photonrail_report_page target)
  set(PHOTONRAIL_REPORT_PAGE "AUTO" CACHE STRING "Bundle the page of photonrail report with npm: AUTO, ON (or fail), OFF")
  find_program(PHOTONRAIL_NPM npm)
  find_program(PHOTONRAIL_NODE NAMES node nodejs)
  set(bundled "${CMAKE_CURRENT_BINARY_DIR}/report/page_files.cpp")
  set(missing "${CMAKE_CURRENT_BINARY_DIR}/report/page_missing.cpp")
  set(output "${missing}")
  if(NOT PHOTONRAIL_REPORT_PAGE)
    photonrail_no_page("${missing}" "it was configured with PHOTONRAIL_REPORT_PAGE=OFF")
  elseif(PHOTONRAIL_NPM AND PHOTONRAIL_NODE)
    set(output "${bundled}")
    set(page "${PROJECT_SOURCE_DIR}/src/report/page")
    file(GLOB inputs CONFIGURE_DEPENDS "${page}/*")
    add_custom_command(OUTPUT "${bundled}"
      COMMAND "${CMAKE_COMMAND}" "-DNPM=${PHOTONRAIL_NPM}" "-DNODE=${PHOTONRAIL_NODE}" "-DPAGE=${page}"
        "-DFOLDER=${PROJECT_BINARY_DIR}/report_page" "-DOUTPUT=${bundled}" "-DREQUIRED=${PHOTONRAIL_REPORT_PAGE}"
        "-DDEV=${PHOTONRAIL_BUILD_TESTS}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
      DEPENDS ${inputs} "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
      COMMENT "Bundling the page of photonrail report" VERBATIM)
  elseif(PHOTONRAIL_REPORT_PAGE STREQUAL "AUTO")
    photonrail_no_page("${missing}" "npm and node were not found; install them (tools/setup does) and configure again")
  else()
    message(FATAL_ERROR "PHOTONRAIL_REPORT_PAGE=${PHOTONRAIL_REPORT_PAGE} needs npm and node")
  endif()
  target_sources(${target} PRIVATE "${output}")
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# The packages, unless those of this lock file are there.
configure_file("${PAGE}/package.json" "${FOLDER}/package.json" COPYONLY)
file(SHA256 "${PAGE}/package-lock.json" wanted)
string(APPEND wanted " ${DEV}")
set(there "")
if(EXISTS "${FOLDER}/packages")
  file(READ "${FOLDER}/packages" there)
endif()
set(failed 0)
if(NOT there STREQUAL wanted)
  configure_file("${PAGE}/package-lock.json" "${FOLDER}/package-lock.json" COPYONLY)
  set(omit "--omit=dev")
  if(DEV)
    set(omit "")
  endif()
  execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
      --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=60000 ${omit}
    WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE failed OUTPUT_QUIET)
  if(failed EQUAL 0)
    file(WRITE "${FOLDER}/packages" "${wanted}")
  endif()
endif()
if(failed EQUAL 0)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "NODE_PATH=${FOLDER}/node_modules" "${NODE}" "${PAGE}/bundle.mjs" "${OUTPUT}"
    COMMAND_ERROR_IS_FATAL ANY)
elseif(REQUIRED STREQUAL "AUTO")
  photonrail_no_page("${OUTPUT}" "npm could not get its packages; with its registry in reach, remove ${OUTPUT} and build again")
else()
  message(FATAL_ERROR "npm could not get the packages of ${PAGE}/package-lock.json")
endif()
