# Third-party packages: found, never vendored, never downloaded. Header-only ones stay private to the build.
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(pugixml 1.11 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Threads REQUIRED)

find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
add_library(photonrail_protozero INTERFACE)
target_include_directories(photonrail_protozero SYSTEM INTERFACE "${PROTOZERO_INCLUDE_DIR}")

if(PHOTONRAIL_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
  find_package(spdlog REQUIRED)  # which brings {fmt}
endif()
if(PHOTONRAIL_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(PHOTONRAIL_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
