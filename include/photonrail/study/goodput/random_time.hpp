// Times to failure, repair times and stages of a recovery, as distributions of seconds.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/study/goodput/long_time.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::goodput {

/// A length of time by its mean and shape. The default is always 0.
struct RandomTime {
  enum class Law : std::uint8_t { kConstant, kExponential, kWeibull, kLogNormal, kUniform, kSamples };

  Law law = Law::kConstant;
  double mean_s = 0.0;            ///< of all laws but kUniform and kSamples
  double shape = 1.0;             ///< Weibull: shape; log-normal: standard deviation of the logarithm
  double least_s = 0.0;           ///< uniform
  double greatest_s = 0.0;        ///< uniform
  std::vector<double> samples_s;  ///< each with equal probability

  [[nodiscard]] static RandomTime constant(double seconds) { return {Law::kConstant, seconds, 1.0, 0.0, 0.0, {}}; }
  [[nodiscard]] static RandomTime exponential(double mean_s) { return {Law::kExponential, mean_s, 1.0, 0.0, 0.0, {}}; }
  [[nodiscard]] bool is_zero() const { return law == Law::kConstant && mean_s == 0.0; }
  [[nodiscard]] double mean() const;  ///< seconds
  /// Weibull: the scale is mean / gamma(1 + 1 / shape); log-normal: the median is mean x exp(-shape^2 / 2).
  /// At most 1e15 s, so that sums stay exact.
  [[nodiscard]] LongTime draw(RandomStream& random) const;
  /// Throws ConfigError whose `where` is the field: negative or infinite times, a shape of 0, no samples.
  void validate(const std::string& field) const;
};

}  // namespace photonrail::goodput
