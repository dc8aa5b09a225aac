#include "core/field.hpp"

#include <utility>

namespace photonrail::core {

namespace {

std::string plain(std::string_view text) {
  return replace_fields(text, [](std::string_view field) { return std::string(field); });
}

bool is_field_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

}  // namespace

std::string Field::path() const {
  std::string path;
  std::size_t next = 0;
  for (const char c : pattern) {
    if (c == ']' && next < indices.size()) path += std::to_string(indices[next++]);
    path += c;
  }
  return path;
}

Field Field::in(const Field& outer) const {
  Field whole = outer;
  const bool joined = outer.pattern.empty() || pattern.empty() || pattern.starts_with('[');
  whole.pattern += (joined ? "" : ".") + pattern;
  whole.indices.insert(whole.indices.end(), indices.begin(), indices.end());
  return whole;
}

Field named_field(std::string_view pattern, std::string_view name) {
  return {std::string(pattern.substr(0, pattern.size() - 1)) + std::string(name), {}};
}

std::string replace_fields(std::string_view text, const std::function<std::string(std::string_view)>& name) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at + 1;
    while (text[at] == '{' && end < text.size() && is_field_character(text[end])) ++end;
    if (text[at] == '{' && end > at + 1 && end < text.size() && text[end] == '}') {
      result += name(text.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      result += text[at++];
    }
  }
  return result;
}

FieldError::FieldError(Field field, std::string problem, std::string hint)
    : ConfigError(field.path(), plain(problem), plain(hint)),
      field_(std::move(field)),
      problem_(std::move(problem)),
      hint_(std::move(hint)) {}

FieldError FieldError::in(const Field& outer) const {
  if (!outer.indices.empty()) return {field_.in(outer), problem_, hint_};
  const auto renamed = [&](const std::string& text) {
    return replace_fields(text, [&](std::string_view field) {
      return "{" + Field{std::string(field), {}}.in(outer).pattern + "}";
    });
  };
  return {field_.in(outer), renamed(problem_), renamed(hint_)};
}

void require(bool holds, const Field& where, std::string_view problem, std::string_view hint) {
  if (!holds) throw FieldError(where, std::string(problem), std::string(hint));
}

}  // namespace photonrail::core
