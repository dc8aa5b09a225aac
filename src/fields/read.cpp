#include "fields/field.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace photonrail::fields {

using json::JsonReader;

Condition::Condition(std::string_view text) {
  always_ = text == "*";
  while (!always_ && !text.empty()) {
    std::string_view rest = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), rest.size() + 1));
    Term& term = terms_.emplace_back();
    term.negated = rest.front() == '!';
    if (term.negated) rest.remove_prefix(1);
    const std::size_t equals = rest.find('=');
    term.key = rest.substr(0, equals);
    for (std::size_t at = equals; at != std::string_view::npos;) {
      const std::size_t end = rest.find('|', at + 1);
      term.words.push_back(rest.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
      at = end;
    }
  }
}

bool Condition::Term::holds(const json::Json& object) const {
  const json::Json* const value = object.is_object() ? object.find(key) : nullptr;
  if (words.empty()) return (value != nullptr) != negated;
  std::string word;
  if (value != nullptr && value->is_string()) word = value->string();
  if (value != nullptr && value->is_boolean()) word = value->boolean() ? "true" : "false";
  return (std::find(words.begin(), words.end(), word) != words.end()) != negated;
}

bool Condition::names(std::string_view key) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) { return term.key == key; });
}

bool Condition::holds(const json::Json& object) const {
  if (terms_.empty()) return always_;
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) { return term.holds(object); });
}

double number_of(const json::ValueReader& value, const Shape& shape) {
  return shape.above ? value.positive(shape.greatest) : value.number(shape.least, shape.greatest);
}

std::uint64_t whole_of(const json::ValueReader& value, const Shape& shape) {
  // Shapes have doubles: 2^64 and 2^63 stand for the greatest numbers of 64 bits, with a sign and without.
  const auto limit = [](double x) {
    return x >= 0x1p64 ? UINT64_MAX : x == 0x1p63 ? std::uint64_t{INT64_MAX} : static_cast<std::uint64_t>(x);
  };
  return value.integer(limit(shape.least), limit(shape.greatest));
}

double number_of(const Reading& at) { return number_of(at.value, at.field.shape); }
std::uint64_t whole_of(const Reading& at) { return whole_of(at.value, at.field.shape); }

Duration duration_of(const Reading& at) { return at.value.in_picoseconds(at.picoseconds); }

bool has_time(const JsonReader& section, std::string_view stem) {
  return std::any_of(std::begin(kTimeUnits), std::end(kTimeUnits),
                     [&](const Unit& unit) { return section.has(std::string(stem) + "_" + std::string(unit.suffix)); });
}

void check_only(const Reading& at) {
  switch (at.field.shape.kind) {
    case Kind::kNumber:
      static_cast<void>(number_of(at));
      return;
    case Kind::kWhole:
      static_cast<void>(whole_of(at));
      return;
    case Kind::kFlag:
      static_cast<void>(at.value.boolean());
      return;
    case Kind::kText:
      static_cast<void>(at.value.string());
      return;
    default:
      return;
  }
}

namespace {

std::string with_unit(const Field& field, std::string_view suffix) {
  return std::string(field.key) + "_" + std::string(suffix);
}

// Refuses keys that the key that was just read rules out: a key that has no meaning is told before the values of others.
void refuse_by(const JsonReader& section, const Section& table, std::string_view key) {
  for (const Field& field : table.fields) {
    if (field.refusal.empty()) continue;
    const Condition only(field.only);
    if (!only.names(key) || only.holds(section.json())) continue;
    if (field.units.empty()) section.refuse(field.key, field.refusal, field.refusal_hint);
    // In its usual unit and the next longer one; in others it is an unknown key.
    const auto usual =
        std::find_if(field.units.begin(), field.units.end(), [&](const Unit& u) { return u.suffix == field.unit; });
    for (auto unit = usual; unit != field.units.end() && unit - usual < 2; ++unit) {
      section.refuse(with_unit(field, unit->suffix), field.refusal, field.refusal_hint);
    }
  }
}

void read_field(JsonReader& section, const Field& field, void* into, const Context* context) {
  const auto store = [&](JsonReader value, double picoseconds) {
    if (field.store != nullptr) field.store({std::move(value), section, field, into, context, picoseconds});
  };
  if (field.key.empty()) return store(section, 1.0);
  const bool required = !field.late && Condition(field.required).holds(section.json());
  if (field.units.empty()) {
    const auto found = required ? section.child(field.key, field.hint) : section.optional(field.key);
    if (found) store(*found, 1.0);
    return;
  }
  bool found = false;
  if (field.units.data() == kTimeUnits) {
    const auto value = section.timed(field.key, field.unit);
    found = value.has_value();
    if (found) store(value->first, value->second);
  } else {
    for (const Unit& unit : field.units) {
      const auto value = section.optional(with_unit(field, unit.suffix));
      if (!value) continue;
      if (found) value->fail("is there in two units", "remove one of them");
      found = true;
      store(*value, unit.picoseconds);
    }
  }
  if (!found && required) section.missing(with_unit(field, field.unit), field.hint);
}

}  // namespace

void read_open(JsonReader& section, const Section& table, void* into, const Context* context) {
  for (const Field& field : table.fields) {
    if (!field.only.empty() && !Condition(field.only).holds(section.json())) {
      if (field.listed) static_cast<void>(section.optional(field.key));
      continue;
    }
    read_field(section, field, into, context);
    refuse_by(section, table, field.key);
  }
}

void read(JsonReader section, const Section& table, void* into, const Context* context) {
  read_open(section, table, into, context);
  static const Field kSelf{.key = ""};
  if (table.check != nullptr) table.check({section, section, kSelf, into, context});
  section.finish();
}

}  // namespace photonrail::fields
