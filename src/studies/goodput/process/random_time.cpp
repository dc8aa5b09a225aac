#include "photonrail/study/goodput/spec.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::goodput {

namespace {

constexpr double kMaxSeconds = 1e15;

bool is_time(double seconds) { return seconds >= 0.0 && seconds <= kMaxSeconds; }

}  // namespace

double RandomTime::mean() const {
  if (law == Law::kUniform) return (least_s + greatest_s) / 2.0;
  if (law != Law::kSamples) return mean_s;
  double sum = 0.0;
  for (const double s : samples_s) sum += s;
  return sum / static_cast<double>(samples_s.size());
}

LongTime RandomTime::draw(RandomStream& random) const {
  const auto seconds = [&]() -> double {
    switch (law) {
      case Law::kConstant:
        return mean_s;
      case Law::kExponential:
        return -mean_s * std::log(1.0 - random.uniform());
      case Law::kWeibull:
        return mean_s / std::tgamma(1.0 + 1.0 / shape) * std::pow(-std::log(1.0 - random.uniform()), 1.0 / shape);
      case Law::kLogNormal:
        return mean_s * std::exp(shape * random.normal() - shape * shape / 2.0);
      case Law::kUniform:
        return least_s + (greatest_s - least_s) * random.uniform();
      case Law::kSamples:
        return samples_s[random.below(samples_s.size())];
    }
    fail_check("a known law", __FILE__, __LINE__);
  };
  return LongTime::from_seconds(std::min(seconds(), kMaxSeconds));
}

void RandomTime::validate(const std::string& where) const {
  const auto require = [&](bool holds, const char* problem) {
    if (!holds) throw core::FieldError({where, {}}, problem);
  };
  require(is_time(mean_s), "must be a time from 0 to 1e15 s");
  if (law == Law::kWeibull)
    require(shape >= 0.1 && shape <= 100.0, "the shape of a Weibull distribution must be from 0.1 to 100");
  if (law == Law::kLogNormal)
    require(shape >= 0.0 && shape <= 5.0, "the sigma of a log-normal distribution must be from 0 to 5");
  if (law == Law::kUniform) {
    require(is_time(least_s) && is_time(greatest_s) && least_s <= greatest_s,
            "a uniform distribution needs 0 <= least <= greatest");
  }
  if (law == Law::kSamples) {
    require(!samples_s.empty() && std::all_of(samples_s.begin(), samples_s.end(), is_time),
            "needs samples, each a time from 0 to 1e15 s");
  }
}

}  // namespace photonrail::goodput
