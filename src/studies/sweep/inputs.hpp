// What the points of a sweep read beside the scenario: part of their hash, so that no table mixes two states of a file.
#pragma once

#include "config/named_files.hpp"
#include "photonrail/study/sweep.hpp"
#include "studies/sweep/axis.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::sweep {

/// The files that the base and the patches of `sweep` name, as they are now, by path. Throws ConfigError: one cannot be
/// read.
[[nodiscard]] std::vector<SweepInput> inputs_of(const Sweep& sweep, const Json& base);

/// The file as it is now. Throws ConfigError: it cannot be read.
[[nodiscard]] SweepInput input_of(const std::filesystem::path& file);

/// Adds the names and the contents of files to `hash`. The folder that they are in does not count.
[[nodiscard]] std::uint64_t fold(const std::vector<SweepInput>& inputs, std::uint64_t hash);

/// The inputs of single points. Safe to use from several threads.
class InputsOfPoints {
 public:
  /// `sweep` must outlive it.
  explicit InputsOfPoints(const Sweep& sweep) : sweep_(&sweep), named_(sweep.base_directory) {}

  /// The files that the scenario names, as they were when the sweep was read. Throws ConfigError when one is no longer so.
  [[nodiscard]] std::vector<SweepInput> of(const Json& scenario);

 private:
  const Sweep* sweep_;
  std::mutex mutex_;
  config::NamedFiles named_;
  std::map<std::string, std::vector<const SweepInput*>, std::less<>> known_;  // by what a string of a scenario says
};

}  // namespace photonrail::sweep
