// A cursor over a JSON value that knows its JSON pointer, so that every error names its place. Typed getters check
// ranges; a key that no getter has read is an error (finish()).
#pragma once

#include "json/json.hpp"
#include "photonrail/error.hpp"
#include "photonrail/units.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::json {

/// "reconfiguration" of "reconfiguration_ms" and of the same in another unit of time; empty where the key has no unit.
[[nodiscard]] std::string_view stem_of_duration(std::string_view key);

/// A value and its place: the typed getters of what is no object, and the errors that name the place.
class ValueReader {
 public:
  /// `value` must outlive the reader and those that it gives.
  explicit ValueReader(const Json& value, std::string pointer = {}) : value_(&value), pointer_(std::move(pointer)) {}

  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] bool is_string() const { return value_->is_string(); }
  [[nodiscard]] bool is_object() const { return value_->is_object(); }
  [[nodiscard]] bool is_array() const { return value_->is_array(); }

  [[nodiscard]] std::string string() const;
  [[nodiscard]] std::string word(const std::vector<std::string>& known) const;  ///< one of these
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number(double least, double greatest) const;
  [[nodiscard]] double positive(double greatest) const;
  /// A number whose range the caller checks.
  [[nodiscard]] double any_number() const;
  /// A whole number; 1e9 counts as one.
  [[nodiscard]] std::uint64_t integer(std::uint64_t least, std::uint64_t greatest) const;
  [[nodiscard]] std::uint32_t count(std::uint32_t least, std::uint32_t greatest) const;
  [[nodiscard]] Bandwidth bandwidth() const;  ///< a number of GB/s
  [[nodiscard]] Duration in_picoseconds(double per_unit) const;

  template <class Value>
  [[nodiscard]] Value choice(std::initializer_list<std::pair<const char*, Value>> table) const {
    std::vector<std::string> known;
    for (const auto& [name, value] : table) known.emplace_back(name);
    const auto at = std::find(known.begin(), known.end(), word(known)) - known.begin();
    return (table.begin() + at)->second;
  }

  /// find(string()), with the place put right in what it throws.
  template <class Find>
  [[nodiscard]] decltype(auto) lookup(Find&& find) const {
    const std::string word = string();
    try {
      return find(word);
    } catch (const ConfigError& e) {
      fail(e.problem(), e.hint());
    }
  }

  [[noreturn]] void fail(std::string_view what, std::string_view hint = {}) const;

 protected:
  double raw_number() const;
  const Json* value_;
  std::string pointer_;
};

/// The same for objects and arrays.
class JsonReader : public ValueReader {
 public:
  using ValueReader::ValueReader;

  [[nodiscard]] bool has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

  // Objects. Each call makes `key` known; all throw when the value is no object.
  [[nodiscard]] JsonReader child(std::string_view key, std::string_view hint = {});
  [[nodiscard]] std::optional<JsonReader> optional(std::string_view key);
  /// The members of an object whose keys are data, in ascending order: that of the file has no meaning.
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;
  /// A key that has no meaning here: an error with `why` when it is present.
  void refuse(std::string_view key, std::string_view why, std::string_view hint = {}) const;
  /// Throws: `key` is not there. For keys that are required in some cases only.
  [[noreturn]] void missing(std::string_view key, std::string_view hint) const;
  /// Throws for the first key, in ascending order, that was not asked for.
  void finish() const;

  /// A duration under `stem` + "_ps", "_ns", "_us", "_ms" or "_s"; `unit` is the suffix that hints name. Two are an error.
  [[nodiscard]] std::optional<Duration> duration(std::string_view stem, std::string_view unit = "ns");
  void read_duration(std::string_view stem, Duration& into, std::string_view unit = "ns");
  /// The same, for a value that is not a plain number: the reader of the value and the picoseconds in its unit.
  [[nodiscard]] std::optional<std::pair<JsonReader, double>> timed(std::string_view stem, std::string_view unit = "ns");

  [[nodiscard]] std::vector<JsonReader> elements() const;
  [[noreturn]] void fail_at(std::string_view key, std::string_view what, std::string_view hint = {}) const;

 private:
  const Json& object() const;

  std::vector<std::string> known_;     // asked for, as hints name them
  std::vector<std::string> accepted_;  // durations in another unit
};

}  // namespace photonrail::json
