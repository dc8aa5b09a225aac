// The event core alone. An item is an event that was scheduled and then run, or cancelled.
#include "bench/loads.hpp"
#include "bench/report.hpp"

#include <benchmark/benchmark.h>

namespace photonrail::bench {
namespace {

constexpr std::uint64_t kBatch = 100'000;

void engine_schedule_and_run(benchmark::State& state) {
  engine::Engine engine;
  const Hold hold(engine, static_cast<std::size_t>(state.range(0)));
  std::uint64_t items = 0;
  for (auto _ : state) items += engine.run(kBatch);
  report(state, items);
}
BENCHMARK(engine_schedule_and_run)->ArgName("pending")->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// Three of four events are cancelled before they run, as when rates change: the oldest of a ring of handles.
class Fickle {
 public:
  explicit Fickle(engine::Engine& engine, std::size_t pending) : engine_(engine), handles_(pending) {
    for (engine::EventHandle& handle : handles_) handle = plan();
  }
  void nothing(std::uint64_t) {}
  void turn() {
    for (int i = 0; i < 4; ++i) {
      engine::EventHandle& oldest = handles_[next_++ % handles_.size()];
      if (i > 0) engine_.cancel(oldest);
      oldest = plan();
    }
    engine_.step();
  }

 private:
  engine::EventHandle plan() {
    const auto distance = static_cast<std::int64_t>(1 + (random_.next() >> 44));
    return engine_.schedule(engine_.now() + Duration{distance}, engine::Phase::kFinish,
                            engine::Action::to<&Fickle::nothing>(*this));
  }
  engine::Engine& engine_;
  RandomStream random_{1, "fickle"};
  std::vector<engine::EventHandle> handles_;
  std::size_t next_ = 0;
};

void engine_cancel_heavy(benchmark::State& state) {
  engine::Engine engine;
  Fickle fickle(engine, static_cast<std::size_t>(state.range(0)));
  std::uint64_t items = 0;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < kBatch / 4; ++i) fickle.turn();
    items += kBatch;
  }
  report(state, items);
}
BENCHMARK(engine_cancel_heavy)->ArgName("pending")->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// Events of one instant pass the heap by.
class Chain {
 public:
  explicit Chain(engine::Engine& engine) : engine_(engine) {}
  void again(std::uint64_t) {
    engine_.schedule(engine_.now(), engine::Phase::kStart, engine::Action::to<&Chain::again>(*this));
  }

 private:
  engine::Engine& engine_;
};

void engine_same_instant(benchmark::State& state) {
  engine::Engine engine;
  Chain chain(engine);
  chain.again(0);
  std::uint64_t items = 0;
  for (auto _ : state) items += engine.run(kBatch);
  report(state, items);
}
BENCHMARK(engine_same_instant)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace photonrail::bench
