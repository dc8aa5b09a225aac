#include "fields/places.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::fields {

namespace {

/// A part of the path of a field, and what is left of its indices.
struct Rest {
  std::string_view pattern;
  std::span<const std::size_t> indices;
};

// The rest of the path below the member `outer`; nullopt when the field is no part of that member.
std::optional<std::string_view> below_member(std::string_view pattern, std::string_view outer) {
  if (outer.empty() || pattern == outer) return pattern.substr(outer.size());
  if (!pattern.starts_with(outer)) return std::nullopt;
  const char next = pattern[outer.size()];
  if (next == '[') return pattern.substr(outer.size());
  return next == '.' ? std::optional(pattern.substr(outer.size() + 1)) : std::nullopt;
}

std::optional<std::string> place_in(const Shape& shape, const json::Json* json, const std::string& pointer, Rest rest);

// "faults/[]/at" with indices in place of the brackets.
std::string with_indices(std::string_view path, std::span<const std::size_t> indices) {
  std::string text;
  std::size_t next = 0;
  for (const char c : path) {
    if (c == '[' && next < indices.size()) text += std::to_string(indices[next++]);
    if (c != '[' && c != ']') text += c;
  }
  return text;
}

// The unit that the file has the key with, or else the one of hints.
std::string with_written_unit(const std::string& stem, std::string_view unit, std::span<const Unit> units,
                              const json::Json* section) {
  for (const Unit& other : units) {
    std::string key = stem + "_" + std::string(other.suffix);
    if (section != nullptr && json::find_at(*section, "/" + key) != nullptr) return key;
  }
  return unit.empty() ? stem : stem + "_" + std::string(unit);
}

std::optional<std::string> alias_in(const Section& table, const json::Json* json, const std::string& pointer, Rest rest) {
  for (const Alias& alias : table.aliases) {
    const bool any = alias.member.ends_with('*');
    const std::string_view begin = alias.member.substr(0, alias.member.size() - (any ? 1 : 0));
    if (any ? !rest.pattern.starts_with(begin) : rest.pattern != alias.member) continue;
    if (alias.path.empty()) return pointer;
    std::string path = with_indices(alias.path, rest.indices);
    if (path.ends_with('*')) path.replace(path.size() - 1, 1, rest.pattern.substr(begin.size()));
    path = with_written_unit(path, alias.unit, kTimeUnits, json);
    return pointer + "/" + path;
  }
  return std::nullopt;
}

std::optional<std::string> place_in(const Section& table, const json::Json* json, const std::string& pointer, Rest rest) {
  if (rest.pattern.empty()) return pointer;
  for (const Field& field : table.fields) {
    if (field.member.empty()) continue;
    const auto inner = field.member == "." ? std::optional(rest.pattern) : below_member(rest.pattern, field.member);
    if (!inner) continue;
    if (field.key.empty()) {  // the keys of another table, in this object
      if (inner->empty() && field.member != ".") return pointer;
      if (field.shape.section == nullptr) continue;
      if (auto found = place_in(*field.shape.section, json, pointer, {*inner, rest.indices})) return found;
      continue;
    }
    const std::string key = with_written_unit(std::string(field.key), field.unit, field.units, json);
    const json::Json* const value = json != nullptr && json->is_object() ? json->find(key) : nullptr;
    if (auto found = place_in(field.shape, value, pointer + "/" + key, {*inner, rest.indices})) return found;
  }
  return alias_in(table, json, pointer, rest);
}

std::optional<std::string> place_in(const Shape& shape, const json::Json* json, const std::string& pointer, Rest rest) {
  if (rest.pattern.empty()) return pointer;
  if (shape.kind == Kind::kObject && shape.section != nullptr) {
    if (auto found = place_in(*shape.section, json, pointer, rest)) return found;
  }
  if (shape.kind == Kind::kList && rest.pattern.starts_with("[]")) {
    std::string_view inner = rest.pattern.substr(2);
    if (inner.starts_with('.')) inner.remove_prefix(1);
    // Without an index the error is about all elements alike.
    const bool known = !rest.indices.empty();
    const std::size_t index = known ? rest.indices.front() : 0;
    const bool there = known && json != nullptr && json->is_array() && index < json->size();
    if (auto found = place_in(*shape.element, there ? &json->elements()[index] : nullptr,
                              pointer + "/" + (known ? std::to_string(index) : ""),
                              {inner, known ? rest.indices.subspan(1) : rest.indices}))
      return found;
  }
  return shape.other != nullptr ? place_in(*shape.other, json, pointer, rest) : std::nullopt;
}

}  // namespace

void Places::add(std::string_view field, std::string pointer, const json::Json* value, const Shape& shape) {
  parts_.push_back({std::string(field), std::move(pointer), value, shape});
}

void Places::add(std::string_view field, std::string pointer, const json::Json* section, const Section& table) {
  add(field, std::move(pointer), section, object_shape(table));
}

std::optional<std::string> Places::pointer(const core::Field& field) const {
  for (const Part& part : parts_) {
    const auto rest = below_member(field.pattern, part.field);
    if (!rest) continue;
    if (auto found = place_in(part.shape, part.json, part.pointer, {*rest, field.indices})) return found;
  }
  return std::nullopt;
}

ConfigError Places::located(const core::FieldError& error) const {
  const auto name = [&](std::string_view pattern) {
    return pointer({std::string(pattern), {}}).value_or(std::string(pattern));
  };
  return ConfigError(pointer(error.field()).value_or(error.field().path()),
                     core::replace_fields(error.problem_pattern(), name), core::replace_fields(error.hint_pattern(), name));
}

ConfigError below(const std::string& pointer, const ConfigError& e) {
  if (e.where().starts_with('/')) return ConfigError(pointer + e.where(), e.problem(), e.hint());
  return e.inside(pointer);
}

}  // namespace photonrail::fields
