// Names of points: what tells each apart from the others, in few words.
#pragma once

#include "studies/sweep/axis.hpp"

#include <map>
#include <set>
#include <span>
#include <string>

namespace photonrail::sweep {

/// "optical, 10 us, dp 4": the values of the parameters that differ. Words and quantities with a unit stand alone where
/// only one parameter has them, other values have the name of theirs. Of parameters that change together the first that
/// tells their choices apart is named; derived ones follow from the others, and are not.
class ShortNames {
 public:
  explicit ShortNames(std::span<const Axis> axes);

  /// "base" where no axis has a parameter.
  [[nodiscard]] std::string of(const Parameters& parameters) const;

 private:
  void add(const Axis& axis);
  [[nodiscard]] std::string named(const std::string& parameter, const Json& value) const;

  std::set<std::string> shown_;                                 // parameters
  std::map<std::string, std::set<std::string>> parameters_of_;  // by word or unit: those that have it
};

}  // namespace photonrail::sweep
