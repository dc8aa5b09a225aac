// Kinds of drawn files, each with what is wrong with one: scenarios to run, months of a job, plans, studies of slices, and
// files of other programs.
#pragma once

#include "worlds/judge.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::worlds {

struct Family {
  std::string name;
  std::string summary;
  World (*draw)(std::uint64_t number) = nullptr;
  Verdict (*judge)(const World& world, const JudgeOptions& options) = nullptr;
};

/// The first is that of scenarios to run.
[[nodiscard]] const std::vector<Family>& families();
/// Throws std::runtime_error that lists the names.
[[nodiscard]] const Family& family(const std::string& name);

/// The ending of `act`, as the command's exit status would tell it; a symptom where the error is none that a user may see.
/// `act` may add what is wrong to the verdict.
[[nodiscard]] Verdict ending_of(const std::function<void(Verdict&)>& act);

/// Work that is decided while it runs: served requests, reinforcement learning, random launches.
[[nodiscard]] World draw_agents(std::uint64_t number);
/// Months of a job (photonrail goodput), by the time of a step or with a small cluster.
[[nodiscard]] World draw_goodput(std::uint64_t seed);
[[nodiscard]] Verdict judge_goodput(const World& world, const JudgeOptions& options);
/// A plan of few candidates (photonrail plan).
[[nodiscard]] World draw_plan_of_job(std::uint64_t seed);
[[nodiscard]] Verdict judge_plan(const World& world, const JudgeOptions& options);
/// A study of slices (photonrail allocate).
[[nodiscard]] World draw_allocation(std::uint64_t seed);
[[nodiscard]] Verdict judge_allocation(const World& world, const JudgeOptions& options);

}  // namespace photonrail::worlds
