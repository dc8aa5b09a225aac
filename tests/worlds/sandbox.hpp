// Judges worlds in a child process with limits, so that a signal, an endless run or a hunger for memory is a finding and
// not the end of the search.
#pragma once

#include "worlds/judge.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace photonrail::worlds {

struct Limits {
  double cpu_s = 5.0;              ///< of one world, with its twins
  double wall_s = 600.0;           ///< the same, for a child that sleeps for ever
  std::uint64_t memory_mb = 2048;  ///< address space of the child; not under sanitizers
};

/// The verdict of each world, in their order. One child judges many worlds; a new one takes over when it dies. Symptoms
/// besides those of judge(): "signal", "hang".
void judge_apart(const std::vector<World>& worlds, const JudgeOptions& options, const Limits& limits,
                 const std::function<void(const World&, const Verdict&)>& told);

/// Of one world.
[[nodiscard]] Verdict judge_apart(const World& world, const JudgeOptions& options = {}, const Limits& limits = {});

/// What the child does with a world; judge() but in tests of the sandbox itself.
using Judge = std::function<Verdict(const World&)>;
void judge_apart(const std::vector<World>& worlds, const Judge& judge, const Limits& limits,
                 const std::function<void(const World&, const Verdict&)>& told);

}  // namespace photonrail::worlds
