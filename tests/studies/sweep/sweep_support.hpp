// Sweeps in a folder of their own.
#pragma once

#include "photonrail/study/sweep.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace photonrail::test {

namespace fs = std::filesystem;
using nlohmann::json;

inline std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// An all-reduce among `servers` GPUs, a ring without latency, electrical.
inline json small_scenario(int servers = 4) {
  return {{"schema", "photonrail.scenario/1"},
          {"name", "small"},
          {"cluster",
           {{"servers", servers},
            {"gpus_per_server", 1},
            {"nic", {{"ports", 1}, {"port_gb_per_s", 50}, {"latency_ns", 0}}},
            {"rail", {{"kind", "electrical"}}}}},
          {"workload", {{"collective", {{"op", "all_reduce"}, {"algorithm", "ring"}, {"bytes", 1000000}}}}}};
}

class InFolder : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// A sweep of small_scenario() with these keys; `keys` is JSON text, so that the order of its keys counts.
  [[nodiscard]] Sweep sweep_of(const std::string& keys) const {
    write("base.json", small_scenario().dump());
    return read_sweep(write("sweep.json", R"({"schema": "photonrail.sweep/1", "base": "base.json", )" + keys + "}"));
  }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_sweep_" + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace photonrail::test
