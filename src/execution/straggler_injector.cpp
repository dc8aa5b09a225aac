#include "execution/straggler_injector.hpp"

#include <algorithm>
#include <string>

namespace photonrail::execution {

namespace {

std::string stream_name(std::size_t straggler, std::uint32_t iteration) {
  return "straggler " + std::to_string(straggler) + " in step " + std::to_string(iteration);
}

}  // namespace

StragglerInjector::Step StragglerInjector::of(RankId rank, std::uint32_t iteration) const {
  Step step;
  for (std::size_t s = 0; s < stragglers_.size(); ++s) {
    if (!concerns(s, rank, iteration)) continue;
    step.delay += delay(s, rank, iteration);
    if (step.delay > kLongest) fail_too_long(static_cast<double>(step.delay.count()));
    step.slowdown *= stragglers_[s].slowdown;
  }
  return step;
}

bool StragglerInjector::concerns(std::size_t straggler, RankId rank, std::uint32_t iteration) const {
  const StragglerSpec& spec = stragglers_[straggler];
  if (spec.whom == StragglerSpec::Whom::kAll) return true;
  if (spec.whom == StragglerSpec::Whom::kOneAtRandom) {
    return RandomStream(seed_, stream_name(straggler, iteration)).below(ranks_) == rank.value;
  }
  return std::find(spec.ranks.begin(), spec.ranks.end(), rank) != spec.ranks.end();
}

Duration StragglerInjector::delay(std::size_t straggler, RankId rank, std::uint32_t iteration) const {
  const StragglerSpec& spec = stragglers_[straggler];
  if (!spec.trace.empty()) return spec.trace[iteration % spec.trace.size()];
  if (spec.delay.kind == DelayDistribution::Kind::kConstant) return spec.delay.a;
  RandomStream random(seed_, stream_name(straggler, iteration) + ", rank " + std::to_string(rank.value));
  return spec.delay.draw(random);
}

}  // namespace photonrail::execution
