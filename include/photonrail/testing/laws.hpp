// What every reconfiguration policy must keep, as functions that examine one: for a test frame of your choice.
// conformance.hpp has them as GoogleTest tests.
#pragma once

#include "photonrail/testing/subject.hpp"

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace photonrail::testing {

struct PolicyProperty {
  std::string name;     ///< a CamelCase word, for the name of a test
  std::string summary;  ///< what the policy promises
  /// What breaks it, or "". The same subject gives the same answer.
  std::string (*problem)(const PolicyUnderTest& subject) = nullptr;
};

[[nodiscard]] std::vector<PolicyProperty> laws();

/// The first of some random small jobs that the policy runs in less time than `bound` says of the scenario, or "".
[[nodiscard]] std::string bound_problem(const PolicyUnderTest& subject, const std::function<Duration(const Scenario&)>& bound);

/// Its name.
std::ostream& operator<<(std::ostream& out, const PolicyProperty& law);

}  // namespace photonrail::testing
