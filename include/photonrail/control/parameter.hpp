// The keys that one policy adds to the "controller" section of a scenario, as a table that says what each may be.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace photonrail {

/// A number (flags are 0 and 1), a time, or a word.
using ParameterValue = std::variant<double, Duration, std::string>;

/// Has values by key. REQUIRES of the getters: the key is there, with a value of that kind (ControllerFactory::complete
/// sees to it).
class ParameterValues {
 public:
  ParameterValues& set(const std::string& key, ParameterValue value) {
    values_[key] = std::move(value);
    return *this;
  }
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  [[nodiscard]] double number(const std::string& key) const { return std::get<double>(values_.at(key)); }
  [[nodiscard]] std::uint32_t count(const std::string& key) const { return static_cast<std::uint32_t>(number(key)); }
  [[nodiscard]] bool flag(const std::string& key) const { return number(key) != 0.0; }
  [[nodiscard]] Duration duration(const std::string& key) const { return std::get<Duration>(values_.at(key)); }
  [[nodiscard]] const std::string& word(const std::string& key) const { return std::get<std::string>(values_.at(key)); }
  [[nodiscard]] const std::map<std::string, ParameterValue>& all() const { return values_; }

 private:
  std::map<std::string, ParameterValue> values_;
};

/// One key: what it may be, and what it is when it is not given.
struct ControllerParameter {
  enum class Kind : std::uint8_t { kNumber, kCount, kFlag, kDuration, kWord };

  std::string key;  ///< a time's without its unit: "slot" is "slot_us" (or _ns, _ms ...) in a scenario
  Kind kind = Kind::kNumber;
  ParameterValue initial;
  std::string summary;
  double least = 0.0;  ///< of a number; of a time in picoseconds
  double greatest = std::numeric_limits<double>::max();
  std::vector<std::string> words{};  ///< that a word may be

  [[nodiscard]] static ControllerParameter number(std::string key, double initial, double least, double greatest,
                                                  std::string summary);
  [[nodiscard]] static ControllerParameter count(std::string key, std::uint32_t initial, std::uint32_t least,
                                                 std::uint32_t greatest, std::string summary);
  [[nodiscard]] static ControllerParameter flag(std::string key, bool initial, std::string summary);
  [[nodiscard]] static ControllerParameter duration(std::string key, Duration initial, std::string summary);
  /// The first of `words` is what it is when it is not given.
  [[nodiscard]] static ControllerParameter word(std::string key, std::vector<std::string> words, std::string summary);

  /// Returns what is wrong with the value, or "".
  [[nodiscard]] std::string problem(const ParameterValue& value) const;
  /// "slot_us = 100", "paths = direct|two_hop".
  [[nodiscard]] std::string describe() const;
};

}  // namespace photonrail
