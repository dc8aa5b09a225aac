// The command as its users meet it: a child process, its exit status, its two streams and its files.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace photonrail::test {

namespace fs = std::filesystem;
using nlohmann::json;

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

inline std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The text with lines that were broken for the width of a terminal in one again: those that begin with blanks.
inline std::string unbroken(const std::string& text) { return std::regex_replace(text, std::regex("\n +"), " "); }

class Command : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  /// `arguments` as a shell would read them, from within the test's folder.
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    const std::string line = "cd '" + folder_.string() + "' && '" PHOTONRAIL_COMMAND "' " + arguments + " >.out 2>.err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(folder_ / ".out"), read(folder_ / ".err")};
  }

  void write(const std::string& name, const json& scenario) const { std::ofstream(folder_ / name) << scenario; }

  [[nodiscard]] json result(const std::string& file) const { return json::parse(read(folder_ / file)); }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_command_" + std::to_string(::getpid()) + "_" +
                                                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// An all-reduce over 4 servers of one GPU, electrical, ring, no latency.
inline json tiny(const std::string& name) {
  return {{"schema", "photonrail.scenario/1"},
          {"name", name},
          {"cluster",
           {{"servers", 4},
            {"gpus_per_server", 1},
            {"nic", {{"ports", 1}, {"port_gb_per_s", 50}, {"latency_ns", 0}}},
            {"rail", {{"kind", "electrical"}}}}},
          {"workload", {{"collective", {{"op", "all_reduce"}, {"algorithm", "ring"}, {"bytes", 1000000}, {"ranks", 4}}}}}};
}

}  // namespace photonrail::test
