// What a policy answers, and what is wrong with it: asked once with a view, or overheard through a whole run.
//
//     EXPECT_EQ(ask(my_policy, rail.view()).problem(), "");
//
//     Transcript said;
//     known.controllers.add(overheard(my_factory, said));   // then simulate() with `known`
#pragma once

#include "photonrail/controller.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::testing {

/// One answer, with what the view said against it.
struct Answer {
  Time at{};
  RailId rail{};
  bool keeps = true;           ///< nothing is to change
  std::vector<ServerPair> connects;  ///< by position; circuits that are there already count too
  std::vector<ServerPair> darkens;   ///< pairs that lose a circuit
  std::string no_matching;     ///< why it is none, or ports that do not exist; "" when it is one
  std::string torn_down;       ///< a circuit in use that would go dark although the step does not preempt; or ""

  /// What is wrong with it, or "".
  [[nodiscard]] const std::string& problem() const { return no_matching.empty() ? torn_down : no_matching; }
};

/// Asks a policy once. What it wants done later is judged as a matching only.
[[nodiscard]] Answer ask(Controller& policy, const FabricView& view);
/// What `decision` does to `view`.
[[nodiscard]] Answer judge(const FabricView& view, const Decision& decision);

/// The answers of a run, in the order in which they were given. Those that kept everything are counted only.
struct Transcript {
  std::vector<Answer> changes;
  std::uint64_t asked = 0;
  /// When a policy has been asked so often, asking it throws Restless: a run that never ends has to be stopped.
  std::uint64_t most = UINT64_MAX;
};

struct Restless {};

/// The factory, under the same name, of policies that are overheard. `transcript` must outlive them.
[[nodiscard]] ControllerFactory overheard(ControllerFactory factory, Transcript& transcript);

}  // namespace photonrail::testing
