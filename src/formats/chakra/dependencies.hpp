// Dependencies are what each node of a trace waits for, by position, without what cannot be waited for.
#pragma once

#include "formats/chakra/trace.hpp"
#include "formats/chakra/trace_diagnostics.hpp"
#include "photonrail/ids.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace photonrail::formats::chakra {

class Dependencies {
 public:
  /// Drops, and counts in `doubts`: dependencies on absent nodes and of a node on itself. Recorded traces also have control
  /// dependencies that close a cycle, such as an operator that waits for the kernel that it launches: those on a later node
  /// are dropped. A cycle of other dependencies stays, for TaskGraphBuilder to name.
  Dependencies(const Trace& trace, const std::string& file, TraceDiagnostics& doubts);

  /// Positions in Trace::nodes, which are task ids.
  [[nodiscard]] std::span<const TaskId> of(std::size_t node) const {
    return {before_.data() + offsets_[node], before_.data() + offsets_[node + 1]};
  }
  [[nodiscard]] const Tally& absent() const { return absent_; }

 private:
  void resolve(const Trace& trace, const std::string& file, TraceDiagnostics& doubts);
  void break_cycles(const Trace& trace, const std::string& file, TraceDiagnostics& doubts);

  std::vector<std::uint32_t> offsets_{0};
  std::vector<TaskId> before_;
  std::vector<std::uint32_t> first_control_;  // by node: where its control dependencies begin in before_
  bool waits_for_later_ = false;              // some control dependency is on a node with a higher id
  Tally absent_;
};

}  // namespace photonrail::formats::chakra
