// Diagnostics are what a trace reader accepts with a doubt, counted, so that a trace of a million nodes gives a handful of
// warnings.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <string>

namespace photonrail::formats::chakra {

/// Something that happens to many nodes: how often, and the first time.
struct Tally {
  std::size_t count = 0;
  std::string example;

  template <class Describe>
  void add(Describe&& describe) {
    if (count++ == 0) example = describe();
  }
};

struct TraceDiagnostics {
  std::size_t files_with_absent = 0;  ///< files with dependencies on nodes that they do not have
  Tally without_version;              ///< files
  Tally on_itself;                    ///< dependencies
  Tally in_cycles;                    ///< control dependencies
  Tally untyped_on_cpu;               ///< collectives
  Tally without_work;                 ///< compute that takes no time
  Tally unused_duration;              ///< those of them that have one
  Tally without_duration;             ///< compute that should take its recorded time, but has none

  /// Returns how much was counted so far.
  [[nodiscard]] std::size_t total() const {
    return files_with_absent + without_version.count + on_itself.count + in_cycles.count + untyped_on_cpu.count +
           without_work.count + unused_duration.count + without_duration.count;
  }
  /// Told in full for the first few files.
  void add_absent(const std::string& file, const Tally& dependencies, TaskGraphBuilder& builder);
  void tell(TaskGraphBuilder& builder) const;
};

}  // namespace photonrail::formats::chakra
