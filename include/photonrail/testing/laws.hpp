// What every reconfiguration policy must keep, as functions that examine one: for a test frame of your choice.
// conformance.hpp has them as GoogleTest tests.
#pragma once

#include "photonrail/testing/subject.hpp"

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

/// Its name.
std::ostream& operator<<(std::ostream& out, const PolicyProperty& law);

}  // namespace photonrail::testing
