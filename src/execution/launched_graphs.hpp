// The graphs that an agent launches again and again: checked, and their communicators found, once.
#pragma once

#include "execution/launch_table.hpp"
#include "execution/run_context.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace photonrail::execution {

/// Throws ConfigError about the workload.
[[noreturn]] void fail_workload(const std::string& what, const std::string& hint = {});

class LaunchedGraphs {
 public:
  /// Both must outlive the object.
  LaunchedGraphs(LaunchTable& table, const RunContext& run) : table_(table), run_(run), seen_(table.ranks()) {}

  /// The graph of a fragment on its ranks. Throws ConfigError where the two do not fit.
  [[nodiscard]] LaunchedGraph& of(const Fragment& fragment);
  /// The communicator for operations of launches on these members.
  [[nodiscard]] CommunicatorId group(const GroupKey& key);
  /// Throws ConfigError where the job does not have the ranks, or one is named twice.
  void check_ranks(std::span<const RankId> ranks);

 private:
  [[nodiscard]] std::unique_ptr<LaunchedGraph> compile(const Fragment& fragment);
  void drop_idle();

  LaunchTable& table_;
  const RunContext& run_;
  // By address, which a graph keeps while it is here.
  std::unordered_map<const TaskGraph*, std::vector<std::unique_ptr<LaunchedGraph>>> graphs_;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> seen_;  // by rank: the last check that met it
  std::uint32_t check_ = 0;
};

}  // namespace photonrail::execution
