#include "json/field_keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace photonrail::json {

namespace {

// The pattern of a field below the member `outer`; nullopt when it is no part of that member.
std::optional<std::string_view> below(std::string_view pattern, std::string_view outer) {
  if (outer.empty() || pattern == outer) return pattern.substr(outer.size());
  if (!pattern.starts_with(outer)) return std::nullopt;
  const char next = pattern[outer.size()];
  if (next == '[') return pattern.substr(outer.size());
  return next == '.' ? std::optional(pattern.substr(outer.size() + 1)) : std::nullopt;
}

bool matches(const FieldKey& key, std::string_view field) {
  if (key.inside != nullptr) return below(field, key.field).has_value();
  if (!key.field.ends_with('*')) return key.field == field;
  return field.starts_with(key.field.substr(0, key.field.size() - 1));
}

// "faults/[]/at" with indices in place of the brackets.
std::string with_indices(std::string_view key, const std::vector<std::size_t>& indices) {
  std::string path;
  std::size_t next = 0;
  for (const char c : key) {
    if (c == '[' && next < indices.size()) path += std::to_string(indices[next++]);
    if (c != '[' && c != ']') path += c;
  }
  return path;
}

// The suffix that the file writes `stem` with, or else `unit`.
std::string_view written_unit(const Json* section, const std::string& stem, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kUnits{"ps", "ns", "us", "ms", "s"};
  if (section == nullptr) return unit;
  const auto known = std::find_if(kUnits.begin(), kUnits.end(), [&](std::string_view u) {
    return find_at(*section, "/" + stem + "_" + std::string(u)) != nullptr;
  });
  return known == kUnits.end() ? unit : *known;
}

}  // namespace

void FieldPlaces::add(std::string_view field, std::string pointer, const Json* section, std::span<const FieldKey> keys) {
  sections_.push_back({std::string(field), std::move(pointer), section, keys});
}

FieldPlaces::Section FieldPlaces::inside(const Section& section, const FieldKey& row) {
  const std::string way = row.key.empty() ? "" : "/" + std::string(row.key);
  return {section.field + (section.field.empty() ? "" : ".") + std::string(row.field), section.pointer + way,
          section.json == nullptr ? nullptr : find_at(*section.json, way), row.inside()};
}

std::optional<std::string> FieldPlaces::pointer_in(const Section& section, const core::Field& field) {
  const auto rest = below(field.pattern, section.field);
  if (!rest) return std::nullopt;
  const auto row =
      std::find_if(section.keys.begin(), section.keys.end(), [&](const FieldKey& key) { return matches(key, *rest); });
  if (row == section.keys.end()) return std::nullopt;
  if (row->inside != nullptr) return pointer_in(inside(section, *row), field);
  if (row->key.empty()) return section.pointer;
  std::string key = with_indices(row->key, field.indices);
  if (key.ends_with('*')) key.replace(key.size() - 1, 1, rest->substr(row->field.size() - 1));
  const std::string_view unit = written_unit(section.json, key, row->unit);
  return section.pointer + "/" + key + (unit.empty() ? "" : "_") + std::string(unit);
}

std::optional<std::string> FieldPlaces::pointer(const core::Field& field) const {
  for (const Section& section : sections_) {
    if (auto found = pointer_in(section, field)) return found;
  }
  return std::nullopt;
}

ConfigError FieldPlaces::located(const core::FieldError& error) const {
  const auto name = [&](std::string_view pattern) {
    return pointer({std::string(pattern), {}}).value_or(std::string(pattern));
  };
  return ConfigError(pointer(error.field()).value_or(error.field().path()),
                     core::replace_fields(error.problem_pattern(), name), core::replace_fields(error.hint_pattern(), name));
}

}  // namespace photonrail::json
