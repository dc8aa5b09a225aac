// Grafts put a part of one scenario into another, so that keys that are drawn for different worlds stand together.
#pragma once

#include "worlds/world.hpp"

#include <string>
#include <vector>

namespace photonrail::worlds {

/// A value, and its place in a scenario of one job.
struct Branch {
  std::vector<std::string> path;  ///< keys, from the top of the file
  Json value;
};

/// Whether the branch says the word (words.hpp) where it stands.
[[nodiscard]] bool has_word(const Branch& branch, const std::string& word);

/// Every value of every object of a scenario, inner ones after outer ones; of several jobs those of the first.
[[nodiscard]] std::vector<Branch> branches_of(const Json& scenario);

/// The scenario with the branch in its place; objects on the way are made. Elements of a list are added to those that are
/// there, with `add`, or take their place. Of several jobs the first one gets what belongs to a job.
[[nodiscard]] Json graft(const Json& scenario, const Branch& branch, bool add);

}  // namespace photonrail::worlds
