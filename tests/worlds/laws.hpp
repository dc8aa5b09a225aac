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
  bool on_every_world = false;  ///< it applies to few worlds; others are examined on one world in three
  bool of_agents = false;       ///< it also holds for work that is decided while it runs
};

[[nodiscard]] const std::vector<PolicyProperty>& laws();

/// Laws of what a run makes of its ports, rails and times (laws_of_use.cpp).
[[nodiscard]] std::vector<PolicyProperty> laws_of_use();
/// The law of instants (laws_of_instants.cpp).
[[nodiscard]] std::vector<PolicyProperty> laws_of_instants();
/// The law of notes (laws_of_notes.cpp).
[[nodiscard]] std::vector<PolicyProperty> laws_of_notes();

/// Examines the laws until one is broken.
void examine_laws(const World& world, const Outcome& first, const JudgeOptions& options, Verdict& verdict);

}  // namespace photonrail::worlds
