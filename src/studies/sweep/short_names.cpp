#include "studies/sweep/short_names.hpp"

#include "core/printed.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace photonrail::sweep {

namespace {

/// The end of a parameter's name, and how a value of it reads.
struct NameUnit {
  std::string_view end;
  const char* text;
  double size = 0.0;  ///< of one in the unit, which then takes prefixes
};
// The longest first where one ends with another.
constexpr NameUnit kUnits[] = {{"gb_per_s", "GB/s"}, {"per_s", "/s"},    {"ms", "s", 1e-3}, {"us", "s", 1e-6},
                               {"ns", "s", 1e-9},    {"ps", "s", 1e-12}, {"s", "s", 1.0},   {"bytes", "B", 1.0},
                               {"mb", "B", 1e6},     {"gb", "B", 1e9},   {"w", "W"},        {"db", "dB"}};

const NameUnit* unit_of(std::string_view name) {
  const auto* const at = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const NameUnit& unit) {
    return name == unit.end || (name.ends_with(unit.end) && name[name.size() - unit.end.size() - 1] == '_');
  });
  return at == std::end(kUnits) ? nullptr : at;
}

bool is_structured(const Json& value) { return value.is_object() || value.is_array(); }

std::string brief(double x) { return x == std::floor(x) ? number_text(x) : core::printed("%.6g", x); }

// Bytes take no prefix below one, and seconds none above.
std::string quantity(double x, const NameUnit& unit) {
  if (unit.size == 0.0) return brief(x) + " " + unit.text;
  constexpr std::pair<double, const char*> kPrefixes[] = {{1e9, "G"},  {1e6, "M"},  {1e3, "k"},  {1.0, ""},
                                                          {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}};
  const bool time = unit.text == std::string_view("s");
  const double value = x * unit.size;
  for (const auto& [size, prefix] : kPrefixes) {
    if (value != 0.0 && (time ? size <= 1.0 : size >= 1.0) && std::abs(value) >= size * (1.0 - 1e-9))
      return core::printed("%.6g", value / size) + " " + prefix + unit.text;
  }
  return brief(value) + " " + unit.text;
}

std::string label_of(const std::string& name, const NameUnit* unit) {
  std::string label =
      unit == nullptr || unit->end.size() == name.size() ? name : name.substr(0, name.size() - unit->end.size() - 1);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

// The words of a value with members: {"name": "opus", "mode": "on_demand"} is "opus on_demand".
std::string leaves(const std::string& key, const Json& value) {
  std::string text;
  const auto add = [&](const std::string& name, const Json& inner) {
    const std::string words = leaves(name, inner);
    if (!words.empty()) text += (text.empty() ? "" : " ") + words;
  };
  if (value.is_object()) {
    for (const auto& [name, inner] : value.members()) add(name, inner);
  } else if (value.is_array()) {
    for (const Json& inner : value.elements()) add("", inner);
  } else {
    return value.is_string() ? value.string() : (key.empty() ? "" : key + " ") + value.canonical();
  }
  return text;
}

// What a value says without its parameter's name: a word, or the unit of a quantity; none where it says too little.
std::optional<std::string> key_of(const std::string& parameter, const Json& value) {
  if (value.is_string() && !value.string().empty()) return "\"" + value.string();
  if (is_structured(value)) return "\"" + leaves("", value);
  if (const NameUnit* const unit = unit_of(parameter); unit != nullptr && value.is_number()) return unit->text;
  return {};
}

}  // namespace

ShortNames::ShortNames(std::span<const Axis> axes) {
  const bool vary = std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.choices.size() > 1; });
  for (const Axis& axis : axes) {
    if (!vary || axis.choices.size() > 1) add(axis);
  }
}

void ShortNames::add(const Axis& axis) {
  std::vector<std::set<std::string>> values(axis.names.size());
  for (const Choice& choice : axis.choices) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i].insert(choice.parameters[i].second.canonical());
  }
  const auto tells_all = [&](const std::set<std::string>& of) { return of.size() == axis.choices.size(); };
  const auto first = std::find_if(values.begin(), values.end(), tells_all);
  for (auto at = values.begin(); at != values.end(); ++at) {
    if (first == values.end() ? at->size() == 1 : at != first) continue;
    const auto i = static_cast<std::size_t>(at - values.begin());
    shown_.insert(axis.names[i]);
    for (const Choice& choice : axis.choices) {
      const auto& [name, value] = choice.parameters[i];
      if (const auto key = key_of(name, value)) parameters_of_[*key].insert(name);
    }
  }
}

std::string ShortNames::named(const std::string& parameter, const Json& value) const {
  const NameUnit* const unit = value.is_number() ? unit_of(parameter) : nullptr;
  const std::string text = unit != nullptr        ? quantity(value.number(), *unit)
                           : value.is_string()    ? value.string()
                           : is_structured(value) ? leaves("", value)
                                                  : value.canonical();
  const auto key = key_of(parameter, value);
  const bool alone = key && parameters_of_.contains(*key) && parameters_of_.at(*key).size() == 1;
  return alone ? text : label_of(parameter, unit) + " " + text;
}

std::string ShortNames::of(const Parameters& parameters) const {
  std::string name;
  for (const auto& [parameter, value] : parameters) {
    if (shown_.contains(parameter)) name += (name.empty() ? "" : ", ") + named(parameter, value);
  }
  return name.empty() ? "base" : name;
}

}  // namespace photonrail::sweep
