// JSON text: read into a value or event by event, within limits; the parts of it that are written.
#pragma once

#include "json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace photonrail::json {

/// Values in one document: numbers, strings, arrays and so on, keys not counted.
inline constexpr std::uint64_t kMaxValues = 50'000'000;

/// Strict JSON, with comments, of at most kMaxDepth levels and `max_values` values. Throws ConfigError that begins with
/// `file` and has line:column; a key that occurs twice in an object is an error.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view file, std::uint64_t max_values = kMaxValues);

/// The same without comments; none when `text` is no such JSON.
[[nodiscard]] std::optional<Json> parse_if_json(std::string_view text);

/// A document of which the array `list` of the top object is too long to be kept: each of its elements goes to `element`,
/// and the document returned has it empty. Throws ConfigError that begins with `file` and names the byte.
[[nodiscard]] Json parse_listed(std::istream& in, std::string_view file, const std::string& list,
                                const std::function<void(const Json&)>& element);

/// What a document consists of, in its order.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void null() {}
  virtual void boolean(bool) {}
  virtual void natural(std::uint64_t) {}
  virtual void negative(std::int64_t) {}
  virtual void real(double, const std::string& /*as it is written*/) {}
  virtual void string(std::string&& text) = 0;
  virtual void key(std::string&& name) = 0;
  virtual void begin_object() = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
};

/// Gives strict JSON to `events`. Throws ConfigError at "byte N" where it is none or too deep.
void parse_events(std::string_view text, JsonEvents& events);

/// Adds `text` with quotes and escapes. Bytes that are no UTF-8 become U+FFFD.
void append_quoted(std::string& into, std::string_view text);
[[nodiscard]] std::string quoted(std::string_view text);
/// Adds the shortest text that gives the number back; null where it is not finite.
void append_number(std::string& into, double value);

}  // namespace photonrail::json
