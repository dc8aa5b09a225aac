// The network alone, around a non-blocking switch. An item is a message, from post() to its delivery.
#include "bench/loads.hpp"
#include "bench/report.hpp"

#include <benchmark/benchmark.h>

#include <optional>

namespace photonrail::bench {
namespace {

template <class Post>
void measure(benchmark::State& state, const Post& post) {
  std::uint64_t items = 0;
  std::uint64_t solved = 0;
  std::optional<Switch> network;
  for (auto _ : state) {
    state.PauseTiming();
    network.emplace(static_cast<std::uint32_t>(state.range(0)));
    state.ResumeTiming();
    post(*network);
    items += network->run();
    solved += network->flows_solved();
  }
  report(state, items);
  state.counters["solved_per_item"] = static_cast<double>(solved) / static_cast<double>(items);
}

// Rank r sends to r + 1: no capacity is shared, and the solver is never asked.
void network_exclusive(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  measure(state, [ranks](Switch& network) {
    for (std::uint32_t r = 0; r < ranks; ++r) network.post(r, (r + 1) % ranks, Bytes{1 << 20});
  });
}
BENCHMARK(network_exclusive)->ArgName("ranks")->Arg(1024)->Arg(65536)->Unit(benchmark::kMillisecond);

void network_all_to_all_equal(benchmark::State& state) {
  measure(state, [](Switch& network) { network.post_all_to_all(false); });
}
BENCHMARK(network_all_to_all_equal)->ArgName("ranks")->RangeMultiplier(2)->Range(32, 1024)->Unit(benchmark::kMillisecond);

// Every departure changes the rates of a third of the flows that are left: the work grows with the fourth power of the
// ranks.
void network_all_to_all_random(benchmark::State& state) {
  measure(state, [](Switch& network) { network.post_all_to_all(true); });
}
BENCHMARK(network_all_to_all_random)
    ->ArgName("ranks")
    ->Arg(32)
    ->Arg(48)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);

void network_incast(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  measure(state, [ranks](Switch& network) {
    for (std::uint32_t r = 1; r < ranks; ++r) network.post(r, 0, Bytes{std::int64_t{1 << 16} + r});
  });
}
BENCHMARK(network_incast)->ArgName("ranks")->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

// Each rank sends to all others, one after another, 10 to 100 % of 1 MiB, over leaves whose uplinks carry a quarter of
// what their ranks could send: as many flows at once as ranks, and each end of one changes the rates of all.
void network_jittered_oversubscribed(benchmark::State& state) {
  std::uint64_t items = 0;
  for (auto _ : state) {
    Tree network(static_cast<std::uint32_t>(state.range(0)));
    network.post_one_after_another();
    items += network.run();
  }
  report(state, items);
}
BENCHMARK(network_jittered_oversubscribed)
    ->ArgName("ranks")
    ->RangeMultiplier(2)
    ->Range(32, 1024)
    ->Unit(benchmark::kMillisecond);

// The all-to-all of random sizes over the same leaves, exact and within 1 %.
void network_all_to_all_oversubscribed(benchmark::State& state) {
  std::uint64_t items = 0;
  for (auto _ : state) {
    Tree network(static_cast<std::uint32_t>(state.range(0)), static_cast<double>(state.range(1)) * 1e-3);
    network.post_all_to_all();
    items += network.run();
  }
  report(state, items);
}
BENCHMARK(network_all_to_all_oversubscribed)
    ->ArgNames({"ranks", "per_mille"})
    ->ArgsProduct({{64, 128, 256, 512}, {0, 10}})
    ->Unit(benchmark::kMillisecond);

// On one switch, within 1 %.
void network_all_to_all_within(benchmark::State& state) {
  std::uint64_t items = 0;
  for (auto _ : state) {
    Switch network(static_cast<std::uint32_t>(state.range(0)), 0.01);
    network.post_all_to_all(true);
    items += network.run();
  }
  report(state, items);
}
BENCHMARK(network_all_to_all_within)->ArgName("ranks")->RangeMultiplier(2)->Range(32, 1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace photonrail::bench
