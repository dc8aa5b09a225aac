// Random numbers that are the same on every compiler. The standard distributions differ between compilers.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace photonrail {

/// A stream of random numbers (xoshiro256**, Blackman and Vigna 2018). Each consumer has a stream of its own name, so that
/// a new consumer does not shift the numbers of the others.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  [[nodiscard]] std::uint64_t next();
  [[nodiscard]] double uniform();                      ///< in [0, 1), 53 bits
  [[nodiscard]] std::uint64_t below(std::uint64_t n);  ///< in [0, n), without bias. REQUIRES: n > 0
  [[nodiscard]] double normal();                       ///< mean 0, deviation 1 (Marsaglia polar method)
  [[nodiscard]] double exponential();                  ///< mean 1
  /// The logarithm of a gamma variate of scale 1 (Marsaglia and Tsang 2000): the variate itself underflows where `shape` is
  /// small. REQUIRES: shape > 0
  [[nodiscard]] double log_gamma(double shape);

 private:
  std::uint64_t state_[4];
  double spare_ = 0.0;
  bool has_spare_ = false;
};

/// The seed of a repetition of a run: `seed` itself for repetition 0, below 2^53 for the others.
[[nodiscard]] std::uint64_t repeated_seed(std::uint64_t seed, std::uint32_t repetition);

/// A delay: constant, or drawn from a named distribution. Never negative.
struct DelayDistribution {
  enum class Kind { kConstant, kUniform, kNormal, kLogNormal, kEmpirical };
  static constexpr double kMaxSigma = 2.0;

  Kind kind = Kind::kConstant;
  Duration a{};  ///< constant: the value; uniform: minimum; normal: mean; log-normal: median
  /// Uniform: maximum; normal: standard deviation. Negative draws of the normal are rejected and repeated; `a` and `b` are
  /// the parameters before this truncation.
  Duration b{};
  double sigma = 0.0;               ///< log-normal: standard deviation of the logarithm, 0 to kMaxSigma
  std::vector<Duration> samples{};  ///< empirical: a draw is one of them, with equal probability

  [[nodiscard]] static DelayDistribution constant(Duration d) { return {Kind::kConstant, d, {}, 0.0, {}}; }
  [[nodiscard]] Duration typical() const;  ///< constant, mean or median
  /// Returns what at most one draw in a thousand is longer than: the maximum, or 3.1 standard deviations above the middle.
  [[nodiscard]] Duration longest() const;
  /// Throws ConfigError for a draw beyond kLongest. REQUIRES: empirical: there are samples; normal: a >= 0.
  [[nodiscard]] Duration draw(RandomStream& random) const;
};

}  // namespace photonrail
