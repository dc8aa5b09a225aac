# What `cmake --install` puts where, and the package that find_package(photonrail) reads.
option(PHOTONRAIL_INSTALL "Make the install target" ${PROJECT_IS_TOP_LEVEL})
if(NOT PHOTONRAIL_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)

set(photonrail_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/photonrail")
set(photonrail_libraries photonrail)
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

# A package component: the simulation does without it.
install(TARGETS photonrail_pip_library EXPORT photonrail_pip FILE_SET HEADERS)
install(EXPORT photonrail_pip NAMESPACE photonrail:: FILE photonrailPipTargets.cmake DESTINATION "${photonrail_package_dir}")

# All that is installed, and no test: what tools/quickstart builds, so that `cmake --install` works after it.
add_custom_target(photonrail_installable)
add_dependencies(photonrail_installable ${photonrail_libraries} photonrail_pip_library)
if(TARGET photonrail_command)
  install(TARGETS photonrail_command COMPONENT command)
  # A package component: the library needs spdlog, which those who only link photonrail::photonrail do not have to have.
  install(TARGETS photonrail_command_library EXPORT photonrail_command FILE_SET HEADERS)
  install(EXPORT photonrail_command NAMESPACE photonrail:: FILE photonrailCommandTargets.cmake
    DESTINATION "${photonrail_package_dir}")
  add_dependencies(photonrail_installable photonrail_command photonrail_command_library)
endif()
# Side by side as in the sources, because a scenario names its traces relative to itself.
foreach(folder configs traces)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/photonrail" COMPONENT command)
  endif()
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT command)
