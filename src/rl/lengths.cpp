#include "rl/lengths.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::rl {

namespace {

using core::field;

constexpr double kMostTokens = 1 << 24;
constexpr double kMostSigma = 3.0;

double normal_share(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// E min(X, cut) of a log-normal X; a cut of 0 is none.
double cut_mean(double mu, double sigma, double cut) {
  const double whole = std::exp(mu + sigma * sigma / 2.0);
  if (cut == 0.0) return whole;
  if (sigma == 0.0) return std::min(whole, cut);
  const double z = (std::log(cut) - mu) / sigma;
  return whole * normal_share(z - sigma) + cut * normal_share(-z);
}

}  // namespace

void LengthSpec::validate() const {
  require(mean >= 1.0 && mean <= kMostTokens, field("mean"), "must be from 1 to 2^24 tokens");
  require(sigma >= 0.0 && sigma <= kMostSigma, field("sigma"), "must be from 0 to 3");
  require(most == 0 || mean <= most, field("mean"),
          "is more than the " + std::to_string(most) + " tokens at which responses are cut", "raise {most}");
  const bool spreads = kind == Kind::kUniform || (kind == Kind::kLogNormal && sigma > 0.0);
  require(most == 0 || !spreads || mean < 0.999 * most, field("mean"),
          "leaves no room below the cut of " + std::to_string(most) + " tokens for lengths that vary", "raise {most}");
  require(kind != Kind::kUniform || most == 0 || 2.0 * mean - 1.0 <= most, field("mean"),
          "of a uniform law must be at most half of {most}", "its lengths are from 1 to twice the mean");
}

// The mean grows with mu: bisection.
ResponseLengths::ResponseLengths(const LengthSpec& spec) : spec_(spec) {
  if (spec.kind != LengthSpec::Kind::kLogNormal) return;
  double low = std::log(spec.mean) - spec.sigma * spec.sigma - 1.0;
  double high = std::log(spec.mean) + 20.0 * (spec.sigma + 0.1);
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2.0;
    (cut_mean(middle, spec.sigma, spec.most) < spec.mean ? low : high) = middle;
  }
  mu_ = low;
}

std::uint32_t ResponseLengths::draw(RandomStream& random) const {
  double tokens = spec_.mean;
  if (spec_.kind == LengthSpec::Kind::kUniform) tokens = 1.0 + random.uniform() * 2.0 * (spec_.mean - 1.0);
  if (spec_.kind == LengthSpec::Kind::kLogNormal) tokens = std::exp(mu_ + spec_.sigma * random.normal());
  const double most = spec_.most == 0 ? kMostTokens : spec_.most;
  return static_cast<std::uint32_t>(std::llround(std::clamp(tokens, 1.0, most)));
}

}  // namespace photonrail::rl
