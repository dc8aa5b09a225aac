#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "serving/engine/scheduler.hpp"
#include "testing/asked_twice.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::testing {

namespace {

constexpr std::uint64_t kDrawnRequests = 40;
constexpr std::uint32_t kBlockTokens = 8;
constexpr std::uint64_t kMostSteps = 100'000;  // 40 requests of at most 180 tokens, of which one a step at least

serving::EngineSpec drawn_engine(RandomStream& draw) {
  serving::EngineSpec engine;
  engine.block_tokens = kBlockTokens;
  engine.blocks = 30 + draw.below(70);
  engine.token_budget = static_cast<std::uint32_t>(16 + draw.below(100));
  engine.max_sequences = static_cast<std::uint32_t>(1 + draw.below(8));
  engine.long_prefill = draw.below(3) == 0 ? 20 : 0;
  engine.prefix_caching = draw.below(2) == 0;
  return engine;
}

/// Keys of the full blocks of a prefix that every other request begins with.
std::vector<std::uint64_t> drawn_prefix(const serving::EngineSpec& engine, RandomStream& draw) {
  std::vector<std::uint64_t> keys(engine.prefix_caching ? draw.below(10) : 0);
  std::iota(keys.begin(), keys.end(), std::uint64_t{1} << 40);
  return keys;
}

serving::Request drawn_request(std::uint64_t id, std::span<const std::uint64_t> prefix, RandomStream& draw) {
  serving::Request request;
  request.id = request.content = id;
  request.prompt = static_cast<std::uint32_t>(1 + draw.below(120));
  const std::size_t full = std::min<std::size_t>(prefix.size(), request.prompt / kBlockTokens);
  if (id % 2 == 0) request.keys.assign(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(full));
  request.output = static_cast<std::uint32_t>(1 + draw.below(60));
  return request;
}

std::string problem_on(const serving::EngineSpec& engine, RandomStream& draw) {
  serving::Scheduler scheduler(engine);
  const std::vector<std::uint64_t> prefix = drawn_prefix(engine, draw);
  std::uint64_t came = 0;
  for (std::uint64_t step = 1; came < kDrawnRequests || scheduler.has_work(); ++step) {
    for (std::uint64_t n = draw.below(3); n > 0 && came < kDrawnRequests; --n) {
      const serving::Request request = drawn_request(came++, prefix, draw);
      if (scheduler.fits(request)) scheduler.enqueue(request);
    }
    if (!scheduler.has_work()) continue;
    if (scheduler.next().empty()) return "nothing runs, and " + std::to_string(scheduler.waiting()) + " requests wait";
    static_cast<void>(scheduler.finish(Time{Duration{static_cast<std::int64_t>(step) * 1'000'000}}));
    if (step > kMostSteps) return "requests are not finished after " + std::to_string(kMostSteps) + " steps";
  }
  return scheduler.blocks().free() == scheduler.blocks().total() ? "" : "blocks of finished requests are not given back";
}

}  // namespace

std::string scheduler_problem(const SchedulingPolicy& policy, std::uint32_t cases, std::uint64_t seed) {
  const auto twice = std::make_shared<AskedTwice>(policy);
  for (std::uint32_t c = 0; c < cases; ++c) {
    RandomStream draw(seed + c, "schedulers");
    serving::EngineSpec engine = drawn_engine(draw);
    engine.policy = twice;
    const std::string of_case = "case " + std::to_string(c) + ": ";
    try {
      if (const std::string problem = problem_on(engine, draw); !problem.empty()) return of_case + problem;
    } catch (const std::exception& error) {
      return of_case + error.what();
    }
  }
  return {};
}

}  // namespace photonrail::testing
