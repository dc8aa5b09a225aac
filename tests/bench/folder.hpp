// Where a benchmark writes the files that it reads.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace photonrail::bench {

/// A temporary folder that goes away with the object. One at a time.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("photonrail-bench-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace photonrail::bench
