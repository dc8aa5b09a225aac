#include "serving/fleet/router.hpp"

namespace photonrail::serving {

namespace {

std::uint32_t distance_of(EnginePlace a, EnginePlace b) {
  if (a.server == b.server) return 0;
  return a.pod == b.pod ? 1 : 2;
}

}  // namespace

void Router::look(std::span<const EngineRun> engines, Time now) {
  const Duration age = spec_.signal_age;
  if (age != Duration{} && seen_ != Time::never() && now - seen_ < age) return;
  signals_.resize(engines.size());
  for (std::size_t e = 0; e < engines.size(); ++e) signals_[e] = engines[e].signal();
  seen_ = age == Duration{} ? now : Time{now.since_start() / age * age};
}

std::optional<std::uint32_t> Router::choose(std::span<const EngineRun> engines, std::span<const std::uint32_t> candidates,
                                            RoutePolicy policy, const Request& request, const EngineRun* from, Time now) {
  if (candidates.size() == 1) {
    return engines[candidates.front()].takes_requests() ? std::optional(candidates.front()) : std::nullopt;
  }
  look(engines, now);
  std::vector<EngineSignal> known;
  std::vector<std::uint32_t> numbers;
  known.reserve(candidates.size());
  numbers.reserve(candidates.size());
  std::uint64_t& turn = from == nullptr ? turns_.arrivals : turns_.kv;
  RouteQuestion question{0, turn++, policy == RoutePolicy::kRandom ? draws_.next() : 0, {}};
  for (const std::uint32_t number : candidates) {
    const EngineRun& engine = engines[number];
    if (!engine.takes_requests()) continue;
    EngineSignal signal = signals_[number];
    signal.requests = engine.requests();
    if (policy == RoutePolicy::kPrefix) signal.cached = engine.scheduler().cached_tokens(request);
    if (from != nullptr) {
      if (from->kv.last_target == number) question.pointed = known.size();
      signal.distance = distance_of(from->place(), engine.place());
    }
    known.push_back(signal);
    numbers.push_back(number);
  }
  if (known.empty()) return std::nullopt;
  const std::uint32_t block = engines[numbers.front()].pool().engine.block_tokens;
  question.blocks = (request.prompt + request.generated + block - 1) / block;
  return numbers[route(policy, known, question)];
}

}  // namespace photonrail::serving
