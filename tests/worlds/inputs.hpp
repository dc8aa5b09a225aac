// Files that drawn files name, in tests/worlds/inputs; and a folder for what is written.
#pragma once

#include <filesystem>

namespace photonrail::worlds {

/// Where relative paths of drawn files begin.
[[nodiscard]] std::filesystem::path inputs();

/// The end of its last line is missing, as of a process that was killed while it wrote.
void cut_last_line(const std::filesystem::path& file);

/// A folder of this process, empty at the beginning and removed at the end.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace photonrail::worlds
