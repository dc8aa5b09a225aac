// The steps of a reinforcement learning job by which it is judged.
#pragma once

#include "photonrail/workload/rl.hpp"

#include <span>

namespace photonrail::run {

/// Steps between the first, which nothing overlaps yet, and the last, beside which nothing is generated; all of less than
/// three.
[[nodiscard]] inline std::span<const RlStep> middle_steps(const RlResult& rl) {
  const std::span<const RlStep> all = rl.steps;
  return all.size() < 3 ? all : all.subspan(1, all.size() - 2);
}

}  // namespace photonrail::run
