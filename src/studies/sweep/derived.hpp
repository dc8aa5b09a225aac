// Values of a scenario that follow from others, as the number of servers from the parallelism.
#pragma once

#include "studies/sweep/axis.hpp"

#include <string>
#include <variant>
#include <vector>

namespace photonrail::sweep {

struct Derived {
  enum class Round { kRefuse, kUp, kNone };
  using Term = std::variant<double, std::string>;  ///< a number, or the pointer to one

  std::string pointer;
  std::string name;
  std::vector<Term> product;
  std::vector<Term> divided_by;
  Round round = Round::kRefuse;
};

[[nodiscard]] Derived read_derived(JsonReader section);
/// The value in `scenario`. Throws ConfigError, at the pointer of the derived value, when it has none.
[[nodiscard]] Json evaluate(const Derived& derived, const Json& scenario);

}  // namespace photonrail::sweep
