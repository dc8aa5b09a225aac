// Files for a test to read, and the message of what is thrown when they are read.
#pragma once

#include "photonrail/error.hpp"

#include <unistd.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace photonrail::test {

/// A folder of its own that goes away with the object.
class Folder {
 public:
  Folder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("photonrail-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::filesystem::remove(path_ / name);  // overwriting a file makes some file systems wait for the disk
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// The message of the ConfigError that `act` throws; "" when it throws none.
template <class Act>
std::string message_of(Act&& act) {
  try {
    act();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

}  // namespace photonrail::test
