// Laws are what every reconfiguration policy must keep, as functions that examine one: for a test frame of your choice.
// conformance.hpp has them as GoogleTest tests. And the policy under test: how to make it, in which settings, and which
// scenarios it is for. And policies side by side on one job.
#pragma once

#include "photonrail/controller.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace photonrail::testing {

struct PolicyUnderTest {
  /// The policy with its defaults, on any optical scenario.
  PolicyUnderTest(ControllerFactory policy);  // NOLINT(google-explicit-constructor): a factory is a subject
  PolicyUnderTest(ControllerFactory policy, std::vector<ControllerSpec> settings);

  ControllerFactory factory;
  std::vector<ControllerSpec> settings;  ///< at least one; their name is the factory's
  /// Makes a scenario one for this policy, after its settings are in it: gives it what the policy needs (circuits of its
  /// own, another kind of rail). Null: any will do.
  std::function<void(Scenario&)> fit{};
};

/// Every policy of the registry, in the settings that matter and in which it promises to serve all: both modes and orders
/// of Opus, each word and flag of a policy's own parameters.
[[nodiscard]] std::vector<PolicyUnderTest> subjects_of(const ControllerRegistry& registry);

/// `scenario` under the policy in one of its settings: the controller of `scenario` is replaced, its delays stay.
[[nodiscard]] Scenario under(const PolicyUnderTest& subject, const ControllerSpec& setting, Scenario scenario);

/// The name of the policy and what is not by default: "opus provisioned free".
[[nodiscard]] std::string describe(const ControllerSpec& setting);

/// Its name.
std::ostream& operator<<(std::ostream& out, const PolicyUnderTest& subject);

struct PolicyProperty {
  std::string name;     ///< a CamelCase word, for the name of a test
  std::string summary;  ///< what the policy promises
  /// Returns a sentence on what breaks the law, or "". The same subject gives the same answer.
  std::string (*problem)(const PolicyUnderTest& subject) = nullptr;
};

[[nodiscard]] std::vector<PolicyProperty> laws();

/// The first of some random small jobs that the policy runs in less time than `bound` says of the scenario, or "".
[[nodiscard]] std::string bound_problem(const PolicyUnderTest& subject,
                                        const std::function<Duration(const Scenario&)>& bound);

/// Its name.
std::ostream& operator<<(std::ostream& out, const PolicyProperty& law);

struct PolicyResult {
  std::string name;     ///< of the policy and its setting
  RunResult result{};   ///< as far as `problem` is empty
  std::string problem;  ///< why the run did not finish; empty when it did
};

/// Every policy in each of its settings, on the scenario's job, cluster and delays. In the order of `policies`.
[[nodiscard]] std::vector<PolicyResult> run_side_by_side(const Scenario& scenario,
                                                         std::span<const PolicyUnderTest> policies);

/// In Markdown, a line each: makespan, how much longer than the first that finished on electrical rails (or, without one,
/// than the shortest), reconfigurations, mean wait for them, hidden share. Runs that did not finish come last, with why.
[[nodiscard]] std::string to_markdown(std::span<const PolicyResult> contenders);

}  // namespace photonrail::testing
