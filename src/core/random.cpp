#include "photonrail/core/random.hpp"

#include "core/fnv1a.hpp"
#include "core/mix64.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace photonrail {

using core::fnv1a;

namespace {

// splitmix64: spreads a seed over the state of another generator.
std::uint64_t split_mix(std::uint64_t& x) { return core::mix64(x += core::kMix64Step); }

Duration drawn(double picoseconds) {
  if (!(picoseconds <= static_cast<double>(kLongest.count()))) fail_too_long(picoseconds);
  return Duration{static_cast<std::int64_t>(picoseconds)};
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : state_{} {
  std::uint64_t x = seed ^ fnv1a(name);
  for (std::uint64_t& word : state_) word = split_mix(x);
}

std::uint64_t repeated_seed(std::uint64_t seed, std::uint32_t repetition) {
  if (repetition == 0) return seed;
  return RandomStream(seed, "repetition " + std::to_string(repetition)).next() >> 11;  // a double holds it
}

std::uint64_t RandomStream::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double RandomStream::exponential() { return -std::log1p(-uniform()); }

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t RandomStream::below(std::uint64_t n) {
  PHOTONRAIL_CHECK(n > 0);
  const std::uint64_t threshold = (0 - n) % n;  // the first numbers that would favour the low residues
  for (;;) {
    const std::uint64_t x = next();
    if (x >= threshold) return x % n;
  }
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2.0 * uniform() - 1.0;
    const double v = 2.0 * uniform() - 1.0;
    const double s = u * u + v * v;
    if (s >= 1.0 || s == 0.0) continue;
    const double scale = std::sqrt(-2.0 * std::log(s) / s);
    spare_ = v * scale;
    has_spare_ = true;
    return u * scale;
  }
}

double RandomStream::log_gamma(double shape) {
  PHOTONRAIL_CHECK(shape > 0.0);
  // Their boost for shapes below 1: gamma(a) is gamma(a + 1) U^(1/a), with U in (0, 1].
  if (shape < 1.0) return log_gamma(shape + 1.0) + std::log(1.0 - uniform()) / shape;
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double u = 1.0 - uniform();
    if (std::log(u) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return std::log(d * v);
  }
}

Duration DelayDistribution::typical() const {
  if (kind == Kind::kUniform) return Duration{a.count() / 2 + b.count() / 2};
  if (kind != Kind::kEmpirical) return a;
  std::vector<Duration> ascending = samples;
  PHOTONRAIL_CHECK(!ascending.empty());
  const auto middle = ascending.begin() + static_cast<std::ptrdiff_t>((ascending.size() - 1) / 2);
  std::nth_element(ascending.begin(), middle, ascending.end());
  return *middle;
}

Duration DelayDistribution::longest() const {
  constexpr double kOneInAThousand = 3.1;  // standard deviations
  const auto scaled = [](double picoseconds) {
    return Duration{static_cast<std::int64_t>(std::min(picoseconds, static_cast<double>(kLongest.count())))};
  };
  switch (kind) {
    case Kind::kConstant:
      return a;
    case Kind::kUniform:
      return b;
    case Kind::kNormal:
      return scaled(static_cast<double>(a.count()) + kOneInAThousand * static_cast<double>(b.count()));
    case Kind::kLogNormal:
      return scaled(static_cast<double>(a.count()) * std::exp(kOneInAThousand * sigma));
    case Kind::kEmpirical:
      PHOTONRAIL_CHECK(!samples.empty());
      return *std::max_element(samples.begin(), samples.end());
  }
  return a;
}

Duration DelayDistribution::draw(RandomStream& random) const {
  switch (kind) {
    case Kind::kConstant:
      return a;
    case Kind::kUniform:
      return a + Duration{static_cast<std::int64_t>(random.uniform() * static_cast<double>((b - a).count()))};
    case Kind::kNormal:
      PHOTONRAIL_CHECK(a >= Duration{});  // at least every other draw is kept
      for (;;) {
        const double x = static_cast<double>(a.count()) + random.normal() * static_cast<double>(b.count());
        if (x >= 0.0) return drawn(x);
      }
    case Kind::kLogNormal:
      return drawn(static_cast<double>(a.count()) * std::exp(sigma * random.normal()));
    case Kind::kEmpirical:
      PHOTONRAIL_CHECK(!samples.empty());
      return samples[random.below(samples.size())];
  }
  fail_check("a known distribution", __FILE__, __LINE__);
}

}  // namespace photonrail
