#include "config/parameters.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::config {

using fields::Field;

void read_parameters(JsonReader& section, const std::vector<ControllerParameter>& parameters, ParameterValues& into) {
  using enum ControllerParameter::Kind;
  for (const ControllerParameter& parameter : parameters) {
    if (parameter.kind == kDuration) {
      Duration time = std::get<Duration>(parameter.initial);
      section.read_duration(parameter.key, time, "us");
      into.set(parameter.key, time);
      continue;
    }
    const auto v = section.optional(parameter.key);
    if (!v) continue;
    ParameterValue value;
    if (parameter.kind == kWord) {
      value = v->word(parameter.words);
    } else if (parameter.kind == kFlag) {
      value = v->boolean() ? 1.0 : 0.0;
    } else {
      value = v->any_number();
    }
    if (const std::string problem = parameter.problem(value); !problem.empty()) v->fail(problem, parameter.summary);
    into.set(parameter.key, std::move(value));
  }
}

namespace {

fields::Shape shape_of(const ControllerParameter& parameter) {
  switch (parameter.kind) {
    case ControllerParameter::Kind::kDuration:
      return fields::time_shape();
    case ControllerParameter::Kind::kWord:
      return fields::text_shape();
    case ControllerParameter::Kind::kFlag:
      return fields::flag_shape();
    case ControllerParameter::Kind::kCount:
      return fields::whole_shape(parameter.least, parameter.greatest);
    case ControllerParameter::Kind::kNumber:
      break;
  }
  return fields::number_shape(parameter.least, parameter.greatest);
}

// "a|b" and "b|c": "a|b|c".
std::string united(std::string_view some, const std::vector<std::string>& words) {
  std::string all(some);
  for (const std::string& word : words) {
    if (("|" + all + "|").find("|" + word + "|") == std::string::npos) all += (all.empty() ? "" : "|") + word;
  }
  return all;
}

}  // namespace

void ParameterFields::add(const std::vector<ControllerParameter>& parameters, const std::string& owner) {
  for (const ControllerParameter& parameter : parameters) {
    Field field = fields::known(parameter.key, shape_of(parameter), parameter.summary);
    if (parameter.kind == ControllerParameter::Kind::kDuration) {
      field.unit = "us";
      field.units = fields::kTimeUnits;
    }
    add(field, owner, parameter.words);
  }
}

void ParameterFields::add(Field field, const std::string& owner, const std::vector<std::string>& words) {
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const Field& f) { return f.key == field.key; });
  const bool first = same == all_.end();
  field.only = texts_.emplace_back((first ? "name=" : std::string(same->only) + "|") + owner);
  if (!words.empty()) field.shape.choices = texts_.emplace_back(united(first ? "" : same->shape.choices, words));
  if (first) {
    all_.push_back(field);
    return;
  }
  field.shape.least = std::min(field.shape.least, same->shape.least);
  field.shape.greatest = std::max(field.shape.greatest, same->shape.greatest);
  *same = field;
}

}  // namespace photonrail::config
