// How long responses are: a law with a cut, whose mean after the cut is given, since that is what reports print.
#pragma once

#include "photonrail/core/random.hpp"

#include <cstdint>

namespace photonrail::rl {

struct LengthSpec {
  enum class Kind : std::uint8_t { kConstant, kUniform, kLogNormal };
  Kind kind = Kind::kLogNormal;
  double mean = 1000.0;    ///< tokens, after the cut
  double sigma = 0.6;      ///< log-normal: deviation of the logarithm before the cut
  std::uint32_t most = 0;  ///< tokens at which a response is cut; 0: none

  /// Throws ConfigError whose `where` is the field.
  void validate() const;

  friend bool operator==(const LengthSpec&, const LengthSpec&) = default;
};

/// REQUIRES: the specification is valid.
class ResponseLengths {
 public:
  explicit ResponseLengths(const LengthSpec& spec);

  /// Whole tokens, at least 1.
  [[nodiscard]] std::uint32_t draw(RandomStream& random) const;
  [[nodiscard]] double mean() const { return spec_.mean; }

 private:
  LengthSpec spec_;
  double mu_ = 0.0;  ///< log-normal: mean of the logarithm
};

}  // namespace photonrail::rl
