#include "studies/sweep/derived.hpp"
#include "studies/sweep/sweep_fields.hpp"

#include <cmath>

namespace photonrail::sweep {

namespace {

std::vector<Derived::Term> read_terms(const JsonReader& section) {
  std::vector<Derived::Term> terms;
  for (const JsonReader& term : section.elements()) {
    if (term.is_string())
      terms.emplace_back(read_pointer(term));
    else
      terms.emplace_back(number_of(term, kTermShape));
  }
  if (terms.empty()) section.fail("is empty", "at least one pointer or number");
  return terms;
}

double value_of(const Derived::Term& term, const Derived& derived, const Json& scenario) {
  if (const double* number = std::get_if<double>(&term)) return *number;
  const auto& pointer = std::get<std::string>(term);
  const Json* const value = json::find_at(scenario, pointer);
  if (value == nullptr) throw ConfigError(derived.pointer, pointer + " is not there", "write it in the base");
  if (!value->is_number()) throw ConfigError(derived.pointer, pointer + " is not a number but " + config::describe(*value));
  return value->number();
}

}  // namespace

Derived read_derived(JsonReader section) {
  Derived derived;
  derived.pointer = read_pointer(section.child("pointer", "what the value sets"));
  derived.product = read_terms(section.child("product", "pointers and numbers"));
  if (const auto v = section.optional("divided_by")) derived.divided_by = read_terms(*v);
  const auto name = section.optional("name");
  derived.name = name ? name->string() : parameter_name(derived.pointer);
  using enum Derived::Round;
  if (const auto v = section.optional("round")) derived.round = v->choice<Derived::Round>({{"up", kUp}, {"none", kNone}});
  section.finish();
  return derived;
}

Json evaluate(const Derived& derived, const Json& scenario) {
  double value = 1.0;
  for (const auto& term : derived.product) value *= value_of(term, derived, scenario);
  for (const auto& term : derived.divided_by) value /= value_of(term, derived, scenario);
  if (!std::isfinite(value)) throw ConfigError(derived.pointer, "the quotient is not finite", "is a divisor 0?");
  const double nearest = std::round(value);
  const bool is_whole = std::abs(value - nearest) <= 1e-9 * std::abs(nearest);
  if (derived.round == Derived::Round::kNone) return number_json(value);
  if (is_whole) return number_json(nearest);
  if (derived.round == Derived::Round::kUp) return number_json(std::ceil(value));
  throw ConfigError(derived.pointer, "would be " + Json(value).dump() + ", which is not whole",
                    "other values, or \"round\": \"up\" or \"none\"");
}

}  // namespace photonrail::sweep
