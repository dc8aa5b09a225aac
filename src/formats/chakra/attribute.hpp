// One attribute of a Chakra node: a name and a value of any of the kinds that the format has.
#pragma once

#include <protozero/data_view.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace photonrail::formats::chakra {

struct Attribute {
  enum class Kind : std::uint8_t { kAbsent, kNatural, kNegative, kReal, kText, kList, kUnknown };

  std::string_view name;
  Kind kind = Kind::kAbsent;
  std::uint64_t natural = 0;  ///< kNatural
  double real = 0.0;          ///< kReal; kNegative
  std::string_view text;      ///< kText; of a list of bool its message

  // All throw ConfigError("attribute NAME", ...) when the value cannot be that.
  [[nodiscard]] std::uint64_t as_natural() const;  ///< any numeric kind that holds a whole number from 0
  [[nodiscard]] double as_amount() const;          ///< any numeric kind that holds a finite number from 0
  [[nodiscard]] std::string as_text() const;       ///< numbers in decimal: some generators write group ids so

  /// A list of bool as bits, from the lowest; what is beyond the list is set. Throws ConfigError for more than 32.
  [[nodiscard]] std::uint32_t as_flags() const;

  [[noreturn]] void fail(std::string_view what) const;
};

/// The views in the result are into `message`. Throws protozero::exception when it is damaged.
[[nodiscard]] Attribute parse_attribute(protozero::data_view message);

}  // namespace photonrail::formats::chakra
