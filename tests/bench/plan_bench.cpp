// Send plans alone. An item is a send, looked up with what its arrival releases.
#include "bench/report.hpp"
#include "photonrail/collective.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace photonrail::bench {
namespace {

CollectiveCall call(const benchmark::State& state, CollectiveOp op) {
  CollectiveCall made;
  made.op = op;
  made.members = static_cast<Member>(state.range(0));
  made.size = Bytes{1 << 30};
  made.pieces = static_cast<std::uint32_t>(state.range(1));
  return made;
}

void walk(benchmark::State& state, const std::string& algorithm, CollectiveOp op) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const auto plan = registry.find(algorithm).expand(call(state, op));
  std::vector<SendIndex> released;
  std::uint64_t items = 0;
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (SendIndex i = 0; i < plan->send_count(); ++i) {
      released.clear();
      plan->released_by(i, released);
      sum += plan->send(i).bytes.count + static_cast<std::int64_t>(released.size());
    }
    benchmark::DoNotOptimize(sum);
    items += plan->send_count();
  }
  report(state, items);
}

void plan_ring_walk(benchmark::State& state) { walk(state, "ring", CollectiveOp::kAllReduce); }
BENCHMARK(plan_ring_walk)->ArgNames({"ranks", "chunks"})->Args({1024, 1})->Args({1024, 4})->Unit(benchmark::kMillisecond);

void plan_pairwise_walk(benchmark::State& state) { walk(state, "pairwise", CollectiveOp::kAllToAll); }
BENCHMARK(plan_pairwise_walk)->ArgNames({"ranks", "chunks"})->Args({1024, 1})->Unit(benchmark::kMillisecond);

// An item is a plan: a formula costs the same for any number of ranks.
void expand(benchmark::State& state, const std::string& algorithm, CollectiveOp op) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const CollectiveAlgorithm& found = registry.find(algorithm);
  const CollectiveCall what = call(state, op);
  std::uint64_t items = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(found.expand(what));
    ++items;
  }
  report(state, items);
}

void plan_ring_expand(benchmark::State& state) { expand(state, "ring", CollectiveOp::kAllReduce); }
BENCHMARK(plan_ring_expand)->ArgNames({"ranks", "chunks"})->Args({8, 1})->Args({1024, 1});

void plan_pairwise_expand(benchmark::State& state) { expand(state, "pairwise", CollectiveOp::kAllToAll); }
BENCHMARK(plan_pairwise_expand)->ArgNames({"ranks", "chunks"})->Args({8, 1})->Args({1024, 1});

}  // namespace
}  // namespace photonrail::bench
