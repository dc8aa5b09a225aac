// Laws that relate two runs: a world and a twin of it that is changed in one thing.
#pragma once

#include "worlds/judge.hpp"

#include <string>
#include <vector>

namespace photonrail::worlds {

/// What a law says of a world: nothing, that it is kept, or how it is broken.
struct LawAnswer {
  bool applies = false;
  std::string problem;
};

struct PolicyProperty {
  std::string name;     ///< the symptom of a world that breaks it
  std::string summary;  ///< what is promised
  LawAnswer (*examine)(const World& world, const Outcome& first, Verdict& verdict) = nullptr;
};

[[nodiscard]] const std::vector<PolicyProperty>& laws();

/// Examines the laws until one is broken.
void examine_laws(const World& world, const Outcome& first, const JudgeOptions& options, Verdict& verdict);

}  // namespace photonrail::worlds
