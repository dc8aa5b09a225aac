// The sweep that a folder belongs to, and the process that works in it.
#pragma once

#include "photonrail/error.hpp"
#include "photonrail/study/sweep.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace photonrail::sweep {

struct Manifest {
  std::string name;
  std::string why;
  std::string hash;
  std::string version;
  std::uint64_t points = 0;
  std::vector<std::string> parameters;
  std::string file;                           ///< absolute
  std::map<std::string, std::string> inputs;  ///< what its points read: path from the base's folder, hash of the content
  std::string base{};                         ///< the scenario that the points change, as JSON
  std::set<std::string> varied{};             ///< JSON pointers of what they change in it

  [[nodiscard]] static Manifest of(const Sweep& sweep);
};

/// None when the folder has none. Throws ConfigError when it has one that cannot be read.
[[nodiscard]] std::optional<Manifest> read_manifest(const std::filesystem::path& directory);
/// Makes the folder, and the manifest when there is none. Throws ConfigError: it cannot be written, or is another's.
void claim(const std::filesystem::path& directory, const Manifest& manifest);
/// In the place of the one that is there. Throws ConfigError: it cannot be written.
void write_manifest(const std::filesystem::path& directory, const Manifest& manifest);

/// Another process writes the tables of the folder.
class FolderInUse : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Only one process writes the tables of a folder. Given up by the destructor, and when the process dies.
class Lock {
 public:
  /// Throws FolderInUse that names the process that has it, ConfigError.
  explicit Lock(const std::filesystem::path& directory);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /// The present holder: "host, process 123"; empty when the lock is free.
  [[nodiscard]] static std::string holder(const std::filesystem::path& directory);

 private:
  int file_ = -1;
};

[[nodiscard]] std::string host_name();

}  // namespace photonrail::sweep
