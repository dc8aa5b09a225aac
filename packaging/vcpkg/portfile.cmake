# An overlay port: vcpkg install photonrail --overlay-ports=packaging/vcpkg, from a checkout.
set(SOURCE_PATH "${CURRENT_PORT_DIR}/../..")
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DPHOTONRAIL_BUILD_TOOLS=OFF -DPHOTONRAIL_BUILD_TESTS=OFF -DPHOTONRAIL_REPORT_PAGE=OFF -DPHOTONRAIL_PYTHON=OFF
          -DPHOTONRAIL_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/photonrail)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
