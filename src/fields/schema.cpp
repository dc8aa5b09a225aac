#include "fields/schema.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace photonrail::fields {

std::vector<std::string> words_of(const Shape& shape, const Registries& known) {
  std::vector<std::string> words;
  if (shape.words != nullptr) words = shape.words(known);
  for (std::string_view rest = shape.choices; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    words.emplace_back(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return words;
}

using json::Json;

namespace {

constexpr double kNoLimit = 1e300;

// The longest ends are first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kUnitsOfKeys{
    {{"gb_per_s", "10^9 bytes per second"},
     {"_per_s", "per second"},
     {"_ps", "picoseconds"},
     {"_ns", "nanoseconds"},
     {"_us", "microseconds"},
     {"_ms", "milliseconds"},
     {"_s", "seconds"},
     {"_h", "hours"},
     {"_d", "days"},
     {"_gb", "10^9 bytes"},
     {"bytes", "bytes"},
     {"_tflops", "10^12 operations per second"},
     {"_db", "decibels"},
     {"_w", "watts"}}};

Json number_of(double x) {
  if (x == std::floor(x) && std::abs(x) < 9e15) return static_cast<std::int64_t>(x);
  return x;
}

/// The keys of a field, with the picoseconds in a unit of each.
std::vector<std::pair<std::string, double>> keys_of(const Field& field) {
  std::vector<std::pair<std::string, double>> keys;
  if (field.units.empty()) return {{std::string(field.key), 1.0}};
  for (const Unit& unit : field.units) {
    keys.emplace_back(std::string(field.key) + "_" + std::string(unit.suffix), unit.picoseconds);
  }
  return keys;
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const Registries& known) : known_(&known) {}

  // `picoseconds`: in a unit of the key that the value is of.
  [[nodiscard]] Json of(const Shape& shape, double picoseconds) const {
    std::vector<Json> any;
    for (const Shape* at = &shape; at != nullptr; at = at->other) any.push_back(of_kind(*at, picoseconds));
    if (any.size() == 1) return std::move(any.front());
    Json all = Json::object();
    all["anyOf"] = Json(any);
    return all;
  }

 private:
  [[nodiscard]] Json of_kind(const Shape& shape, double picoseconds) const {
    if (!shape.same_as.empty()) return {{"$ref", Json("#/properties" + std::string(shape.same_as))}};
    Json all = Json::object();
    switch (shape.kind) {
      case Kind::kAny:
        break;
      case Kind::kNull:
        all["type"] = "null";
        break;
      case Kind::kFlag:
        all["type"] = "boolean";
        break;
      case Kind::kText:
        all["type"] = "string";
        write_words(shape, all);
        break;
      case Kind::kNumber:
      case Kind::kWhole:
      case Kind::kTime:
        write_number(shape, picoseconds, all);
        break;
      case Kind::kList:
        all["type"] = "array";
        all["items"] = of(*shape.element, picoseconds);
        break;
      case Kind::kMap:
        all["type"] = "object";
        all["additionalProperties"] = of(*shape.element, picoseconds);
        break;
      case Kind::kObject:
        write_object(*shape.section, picoseconds, all);
    }
    return all;
  }

  void write_words(const Shape& shape, Json& into) const {
    const std::vector<std::string> words = words_of(shape, *known_);
    if (!words.empty()) into[shape.open_words ? "examples" : "enum"] = Json(words);
  }

  static void write_number(const Shape& shape, double picoseconds, Json& into) {
    const double unit = shape.kind == Kind::kTime ? picoseconds : 1.0;
    into["type"] = shape.kind == Kind::kWhole ? "integer" : "number";
    if (shape.least > -kNoLimit) into[shape.above ? "exclusiveMinimum" : "minimum"] = number_of(shape.least / unit);
    if (shape.greatest < kNoLimit) into["maximum"] = number_of(shape.greatest / unit);
  }

  void write_object(const Section& section, double picoseconds, Json& into) const {
    into["type"] = "object";
    Object object{section, nullptr, {}, {}, {}};
    into["properties"] = Json::object();
    object.properties = &into["properties"];
    write_fields(section, picoseconds, object);
    if (!section.written) into["additionalProperties"] = false;
    if (!object.always.empty()) into["required"] = Json(object.always);
    if (!object.conditions.empty()) into["allOf"] = Json(object.conditions);
  }

  /// An object that is being described.
  struct Object {
    const Section& section;
    Json* properties;
    std::vector<std::string> always;
    std::vector<Json> conditions;
    std::string only;  ///< the condition of the table that is being written
  };

  void write_fields(const Section& section, double picoseconds, Object& object) const {
    for (const Field& field : section.fields) write_field(field, picoseconds, object);
    if (section.more == nullptr) return;
    std::deque<std::string> texts;
    for (const Field& field : section.more(*known_, texts)) write_field(field, picoseconds, object);
  }

  void write_field(const Field& field, double picoseconds, Object& object) const {
    if (field.key.empty()) {
      if (field.shape.section == nullptr) return;
      const std::string outer = std::exchange(object.only, both(object.only, field.only));
      write_fields(*field.shape.section, picoseconds, object);
      object.only = outer;
      return;
    }
    for (const auto& [key, unit] : keys_of(field)) {
      Json& value = (*object.properties)[key] = of(field.shape, field.units.empty() ? picoseconds : unit);
      describe(field, key, value);
      const std::string condition = both(object.only, field.only);
      const Condition only = known_terms(condition, object.section);
      if (only.never() || only.always()) continue;
      Json rule = Json::object();
      rule["if"]["required"] = Json(std::vector<std::string>{key});
      rule["then"] = holds(only);
      object.conditions.push_back(std::move(rule));
    }
    write_presence(field, object);
  }

  static void describe(const Field& field, const std::string& key, Json& value) {
    if (value.contains("$ref")) return;
    std::string text(field.doc);
    const std::string_view unit = unit_of_key(key);
    if (!unit.empty()) text += (text.empty() ? "In " : " In ") + std::string(unit) + ".";
    if (!text.empty()) value["description"] = text;
  }

  // Adds the key to those that must be there, always or depending on other keys.
  static void write_presence(const Field& field, Object& object) {
    if (field.required.empty()) return;
    // A key that is there only under a condition is required under it alone.
    const std::string text = both(both(object.only, field.only), field.required);
    const Condition when = known_terms(text, object.section);
    if (when.never()) return;
    const auto keys = keys_of(field);
    if (keys.size() == 1 && when.always()) {
      object.always.push_back(keys.front().first);
      return;
    }
    std::vector<Json> any;
    for (const auto& [key, unit] : keys) any.push_back(presence_of(key));
    Json there = Json::object();
    if (any.size() == 1)
      there = any.front();
    else
      there["anyOf"] = Json(any);
    if (when.always()) {
      object.conditions.push_back(std::move(there));
      return;
    }
    Json rule = Json::object();
    rule["if"] = holds(when);
    rule["then"] = std::move(there);
    object.conditions.push_back(std::move(rule));
  }

  [[nodiscard]] static std::string both(std::string_view one, std::string_view other) {
    if (one.empty() || one == "*") return std::string(other);
    if (other.empty() || other == "*") return std::string(one);
    return std::string(one) + "&" + std::string(other);
  }

  [[nodiscard]] static bool has_key(const Section& section, std::string_view key) {
    return std::any_of(section.fields.begin(), section.fields.end(), [&](const Field& field) {
      return field.key.empty() ? field.shape.section != nullptr && has_key(*field.shape.section, key) : field.key == key;
    });
  }

  // The condition without terms on keys that an object of the section never has, as the preset of a file of its own.
  [[nodiscard]] static Condition known_terms(std::string_view text, const Section& section) {
    Condition condition(text);
    condition.drop([&](const Condition::Term& term) { return term.negated && !has_key(section, term.key); });
    return condition;
  }

  [[nodiscard]] static Json presence_of(const std::string& key) {
    Json there = Json::object();
    there["required"] = Json(std::vector<std::string>{key});
    return there;
  }

  [[nodiscard]] static Json holds(const Condition& condition) {
    std::vector<Json> all;
    for (const Condition::Term& term : condition.terms()) all.push_back(term_holds(term));
    if (all.size() == 1) return std::move(all.front());
    Json rule = Json::object();
    rule["allOf"] = Json(all);
    return rule;
  }

  [[nodiscard]] static Json term_holds(const Condition::Term& term) {
    const std::string key(term.key);
    Json rule = presence_of(key);
    bool without = false;
    std::vector<Json> words;
    for (const std::string_view word : term.words) {
      const bool flag = word == "true" || word == "false";
      if (word.empty())
        without = true;
      else
        words.push_back(flag ? Json(word == "true") : Json(word));
    }
    if (!words.empty()) rule["properties"][key]["enum"] = Json(words);
    if (without) {
      Json absent = Json::object();
      absent["not"] = presence_of(key);
      Json either = Json::object();
      either["anyOf"] = Json(std::vector<Json>{rule, absent});
      rule = std::move(either);
    }
    if (!term.negated) return rule;
    Json negated = Json::object();
    negated["not"] = std::move(rule);
    return negated;
  }

  const Registries* known_;
};

}  // namespace

std::string_view unit_of_key(std::string_view key) {
  const auto unit =
      std::find_if(kUnitsOfKeys.begin(), kUnitsOfKeys.end(), [&](const auto& u) { return key.ends_with(u.first); });
  return unit == kUnitsOfKeys.end() ? std::string_view{} : unit->second;
}

Json schema(const Shape& file, const std::string& title, const Registries& known) {
  Json all = Json::object();
  all["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  all["title"] = title;
  const Json body = SchemaWriter(known).of(file, 1.0);
  for (const auto& [key, value] : body.members()) all[key] = value;
  if (file.section->written) return all;
  Json editors = Json::object();
  editors["type"] = "string";
  all["properties"]["$schema"] = std::move(editors);
  return all;
}

}  // namespace photonrail::fields
