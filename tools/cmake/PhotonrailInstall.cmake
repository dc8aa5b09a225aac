# What `cmake --install` puts where, and the package that find_package(photonrail) reads.
option(PHOTONRAIL_INSTALL "Make the install target" ${PROJECT_IS_TOP_LEVEL})
if(NOT PHOTONRAIL_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)

set(photonrail_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/photonrail")
set(photonrail_libraries photonrail)
install(TARGETS photonrail_plugin EXPORT photonrail)
if(TARGET photonrail_test_kit)
  list(APPEND photonrail_libraries photonrail_test_kit)
endif()
# Components are packages (PhotonrailPackages.cmake): dev, command, python.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(TARGETS ${photonrail_libraries} EXPORT photonrail FILE_SET HEADERS)
install(EXPORT photonrail NAMESPACE photonrail:: FILE photonrailTargets.cmake DESTINATION "${photonrail_package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/photonrailConfig.cmake.in" photonrailConfig.cmake
  INSTALL_DESTINATION "${photonrail_package_dir}")
# Before 1.0, a minor version may break its callers.
write_basic_package_version_file(photonrailConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/photonrailConfig.cmake" "${PROJECT_BINARY_DIR}/photonrailConfigVersion.cmake"
  DESTINATION "${photonrail_package_dir}")

# Components of the package: the simulation does without them.
foreach(component pip astra)
  install(TARGETS photonrail_${component}_library EXPORT photonrail_${component} FILE_SET HEADERS)
  install(EXPORT photonrail_${component} NAMESPACE photonrail:: FILE photonrail_${component}.cmake DESTINATION "${photonrail_package_dir}")
endforeach()

# All that is installed, and no test: what tools/quickstart builds, so that `cmake --install` works after it.
add_custom_target(photonrail_installable)
add_dependencies(photonrail_installable ${photonrail_libraries})
if(TARGET photonrail_command)
  install(TARGETS photonrail_command COMPONENT command)
  # Manual pages and completion scripts, made by the command of its own tables.
  set(photonrail_pages "${PROJECT_BINARY_DIR}/command_pages")
  add_custom_command(OUTPUT "${photonrail_pages}/made"
    COMMAND photonrail_command man "${photonrail_pages}/man"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${photonrail_pages}/completion"
    COMMAND photonrail_command completion bash > "${photonrail_pages}/completion/photonrail"
    COMMAND photonrail_command completion zsh > "${photonrail_pages}/completion/_photonrail"
    COMMAND photonrail_command completion fish > "${photonrail_pages}/completion/photonrail.fish"
    COMMAND "${CMAKE_COMMAND}" -E touch "${photonrail_pages}/made"
    DEPENDS photonrail_command VERBATIM)
  add_custom_target(photonrail_command_pages ALL DEPENDS "${photonrail_pages}/made")
  install(DIRECTORY "${photonrail_pages}/man/" COMPONENT command DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${photonrail_pages}/completion/photonrail" COMPONENT command DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${photonrail_pages}/completion/_photonrail" COMPONENT command DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${photonrail_pages}/completion/photonrail.fish" COMPONENT command DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  # A package component: the library needs spdlog, which those who only link photonrail::photonrail do not have to have.
  install(TARGETS photonrail_command_library EXPORT photonrail_command FILE_SET HEADERS)
  install(EXPORT photonrail_command NAMESPACE photonrail:: FILE photonrailCommandTargets.cmake
    DESTINATION "${photonrail_package_dir}")
  add_dependencies(photonrail_installable photonrail_command photonrail_command_library photonrail_command_pages)
endif()
# Side by side as in the sources, because a scenario names its traces relative to itself.
foreach(folder configs traces)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/photonrail" COMPONENT command)
  endif()
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT command)
