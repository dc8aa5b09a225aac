#include "photonrail/control/parameter.hpp"

#include "control/complete_parameters.hpp"
#include "core/field.hpp"
#include "core/printed.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail {

namespace {

std::string written(double x) { return core::printed("%.6g", x); }

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

double microseconds(double picoseconds) { return picoseconds / 1e6; }

}  // namespace

ControllerParameter ControllerParameter::number(std::string key, double initial, double least, double greatest,
                                                std::string summary) {
  return {std::move(key), Kind::kNumber, initial, std::move(summary), least, greatest};
}

ControllerParameter ControllerParameter::count(std::string key, std::uint32_t initial, std::uint32_t least,
                                               std::uint32_t greatest, std::string summary) {
  return {std::move(key), Kind::kCount, double(initial), std::move(summary), double(least), double(greatest)};
}

ControllerParameter ControllerParameter::flag(std::string key, bool initial, std::string summary) {
  return {std::move(key), Kind::kFlag, initial ? 1.0 : 0.0, std::move(summary), 0.0, 1.0};
}

ControllerParameter ControllerParameter::duration(std::string key, Duration initial, std::string summary) {
  return {std::move(key), Kind::kDuration, initial, std::move(summary), 0.0, double(kLongest.count())};
}

ControllerParameter ControllerParameter::word(std::string key, std::vector<std::string> words, std::string summary) {
  ControllerParameter parameter{std::move(key), Kind::kWord, words.front(), std::move(summary)};
  parameter.words = std::move(words);
  return parameter;
}

std::string ControllerParameter::problem(const ParameterValue& value) const {
  if (value.index() != initial.index()) {
    return kind == Kind::kWord ? "must be a word" : kind == Kind::kDuration ? "must be a time" : "must be a number";
  }
  if (kind == Kind::kWord) {
    const std::string& word = std::get<std::string>(value);
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    return "unknown value \"" + word + "\": one of " + joined(words, ", ");
  }
  if (kind == Kind::kDuration) {
    const Duration time = std::get<Duration>(value);
    if (double(time.count()) < least) return "must be at least " + written(microseconds(least)) + " us";
    return time > kLongest ? "is longer than any run" : "";
  }
  const double x = std::get<double>(value);
  if (!(x >= least && x <= greatest)) return "must be between " + written(least) + " and " + written(greatest);
  return kind != Kind::kNumber && x != std::floor(x) ? "must be a whole number" : "";
}

std::string ControllerParameter::describe() const {
  switch (kind) {
    case Kind::kWord:
      return key + " = " + joined(words, "|");
    case Kind::kDuration:
      return key + "_us = " + written(microseconds(double(std::get<Duration>(initial).count())));
    case Kind::kFlag:
      return key + " = " + (std::get<double>(initial) != 0.0 ? "true" : "false");
    default:
      return key + " = " + written(std::get<double>(initial));
  }
}

std::string ControllerSpec::describe() const {
  std::string text = name;
  const auto add = [&text](const std::string& more) { text += ", " + more; };
  for (const auto& [key, value] : parameters.all()) {
    if (const auto* word = std::get_if<std::string>(&value)) {
      add(key + " " + *word);
    } else if (const auto* number = std::get_if<double>(&value)) {
      add(key + " " + written(*number));
    }
  }
  return text;
}

bool ControllerFactory::has(std::string_view key) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [key](const ControllerParameter& parameter) { return parameter.key == key; });
}

ControllerSpec ControllerFactory::with_words(ControllerSpec spec) const {
  for (const ControllerParameter& parameter : parameters) {
    if (parameter.kind != ControllerParameter::Kind::kWord || spec.parameters.has(parameter.key)) continue;
    spec.parameters.set(parameter.key, parameter.initial);
  }
  return spec;
}

ControllerSpec ControllerFactory::complete(const ControllerSpec& spec) const {
  ControllerSpec complete = spec;
  complete.parameters =
      control::complete_parameters(parameters, spec.parameters, "the " + name + " controller", "controller.parameters.*");
  return complete;
}

ParameterValues control::complete_parameters(const std::vector<ControllerParameter>& parameters,
                                             const ParameterValues& values, const std::string& owner,
                                             std::string_view pattern) {
  ParameterValues complete = values;
  std::vector<std::string> known;
  for (const ControllerParameter& parameter : parameters) {
    known.push_back(parameter.key);
    if (!values.has(parameter.key)) {
      complete.set(parameter.key, parameter.initial);
      continue;
    }
    const std::string problem = parameter.problem(values.all().at(parameter.key));
    if (!problem.empty()) throw core::FieldError(core::named_field(pattern, parameter.key), problem, parameter.summary);
  }
  for (const auto& [key, value] : values.all()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw core::FieldError(core::named_field(pattern, key), owner + " has no such key",
                           known.empty() ? "it has none" : suggest(key, known));
  }
  return complete;
}

}  // namespace photonrail
