// The least time that each operation of a job takes, whatever its circuits and whatever runs beside it.
#pragma once

#include "collective/algorithm_table.hpp"
#include "execution/slack_profile.hpp"
#include "folding/folding.hpp"
#include "photonrail/simulate.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace photonrail::run {

/// Has the least times of a job that folds, so that all calls of a task are alike.
class LeastTimes {
 public:
  /// All must outlive the object.
  LeastTimes(const Scenario& scenario, const Registries& registries, const folding::Folding& folding);

  /// Returns what the bytes of the member that has the fewest take at the rate of all ports. `rank`: a class.
  [[nodiscard]] Duration of(RankId rank, const Task& task);

 private:
  // A plan that trades circuits against rounds moves the same bytes.
  [[nodiscard]] Bytes least_bytes(CollectiveCall call, bool one_server) const;

  const Scenario& scenario_;
  const folding::Folding& folding_;
  const collective::AlgorithmTable algorithms_;
  /// Indexed by operation, size, root, members and whether these share a server.
  std::map<std::tuple<CollectiveOp, std::int64_t, Member, Member, bool>, Duration> known_;
};

/// Returns the bound of a step that `recorder` watched. Nullopt: computations do not take as long in every run of the job.
[[nodiscard]] std::optional<execution::TailBound> tail_bound(const execution::SlackRecorder& recorder,
                                                             const Scenario& scenario, const Registries& registries,
                                                             const folding::Folding& folding);

}  // namespace photonrail::run
