// Fourteen hot paths, each a fixed amount of work on one thread, for counting instructions. Preparation of the work is
// outside of run_hot_path(), so that the count is of the path alone.
#include "bench/jobs.hpp"
#include "bench/loads.hpp"
#include "photonrail/observer.hpp"
#include "photonrail/simulate.hpp"
#include "support/source_dir.hpp"

#include <sched.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string_view>

namespace photonrail::bench {
namespace {

// How many processors there are decides how many threads a reader starts. One: none beside this one.
void use_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) throw std::runtime_error("cannot stay on one processor");
}

}  // namespace

/// The instructions below this function are counted (by its name: instructions.cmake).
[[gnu::noinline]] std::uint64_t run_hot_path(const std::function<std::uint64_t()>& path) { return path(); }

namespace {

std::uint64_t count_engine() {
  engine::Engine engine;
  const Hold hold(engine, 1'000);
  return run_hot_path([&engine] { return engine.run(1'000'000); });
}

std::uint64_t count_ring() {
  const Scenario scenario = ring_all_reduce(128, Fidelity::kExact);
  return run_hot_path([&scenario] { return simulate(scenario).engine.sends; });
}

std::uint64_t count_max_min() {
  Switch network(48);
  network.post_all_to_all(true);
  return run_hot_path([&network] { return network.run(); });
}

std::uint64_t count_tiers() {
  Tree network(64);
  network.post_all_to_all();
  return run_hot_path([&network] { return network.run(); });
}

std::uint64_t count_quickstart() {
  const auto file = std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs" / "quickstart.json";
  return run_hot_path([&file] { return simulate(read_scenario(file)).engine.sends; });
}

std::uint64_t count_pairs() {
  const Scenario scenario = skewed_all_to_all(32, "mixnet");
  return run_hot_path([&scenario] { return simulate(scenario).engine.sends; });
}

struct EnoughEvents {};

/// Ends a run when it has been told of its progress so often, which is a fixed number of events.
class EndsEarly final : public Observer {
 public:
  explicit EndsEarly(std::uint64_t calls) : calls_(calls) {}
  void progress(std::uint64_t /*done*/, std::uint64_t /*of*/, Time /*simulated*/) override {
    if (++told == calls_) throw EnoughEvents{};
  }
  std::uint64_t told = 0;

 private:
  std::uint64_t calls_;
};

// The beginning of 523,264 sends: what grows faster than the pairs is seen here, and not with 32 ranks.
std::uint64_t count_pairs_512() {
  const Scenario scenario = skewed_all_to_all(512, "rotor", 512);
  EndsEarly observer(16);
  Observer* const observers[] = {&observer};
  return run_hot_path([&] {
    try {
      static_cast<void>(simulate(scenario, observers));
    } catch (const EnoughEvents&) {
    }
    return observer.told;
  });
}

std::uint64_t count_late_ranks() {
  TrainingSpec spec = dense_405b(1);
  spec.global_batch = 2;  // a sixteenth of the work takes as long under callgrind as the other paths
  const Scenario scenario = with_late_ranks(on_optical_rails(training_job(spec, Fidelity::kStream)));
  return run_hot_path([&scenario] { return simulate(scenario).engine.sends; });
}

// Each rank is simulated in a few of the thousand steps.
std::uint64_t count_equal_steps() {
  TrainingSpec spec = dense_405b(1);
  spec.global_batch = 2;
  Scenario scenario = on_optical_rails(training_job(spec, Fidelity::kStream));
  scenario.run.iterations = 1000;
  scenario.run.folding = true;
  return run_hot_path([&scenario] { return simulate(scenario).iterations.size(); });
}

// Circuits of a class to several GPUs of another; a run that is not folded would take eight times as long.
std::uint64_t count_ep() {
  const Scenario scenario = expert_step(256, 16, true, 1);
  return run_hot_path([&scenario] { return simulate(scenario).engine.sends; });
}

std::uint64_t count_cp() {
  const Scenario scenario = context_step(512, 2, 1);
  return run_hot_path([&scenario] { return simulate(scenario).engine.sends; });
}

// Uplinks that can never bind: the job is folded as on one switch.
std::uint64_t count_tiers_of_one() {
  TrainingSpec spec = dense_405b(8);
  spec.global_batch = 8;
  Scenario scenario = training_job(spec, Fidelity::kStream);
  scenario.cluster.rail.switch_radix = 64;
  scenario.run.folding = true;
  return run_hot_path([&scenario] { return simulate(scenario).engine.sends; });
}

std::uint64_t count_launches(bool circuits) {
  LaunchAfterLaunch agent(8, 2000);
  const Scenario scenario = idle_ranks(circuits, Fidelity::kStream);
  return run_hot_path([&] { return simulate(scenario, agent).launches[0].count; });
}

// Each path, and how much work it must have done: a path that did something else was not measured.
struct HotPath {
  std::string_view name;
  std::uint64_t (*run)();
  std::uint64_t items;
};
constexpr HotPath kHotPaths[] = {
    {"engine", count_engine, 1'000'000},       // events
    {"ring", count_ring, 2 * 127 * 128},       // sends: 2 (n - 1) steps of n
    {"max_min", count_max_min, 48 * 47},       // messages: every ordered pair
    {"tiers", count_tiers, 64 * 63},           // messages, of which half cross an uplink
    {"pairs", count_pairs, 2 * 32 * 31},       // sends: dispatch and combine of every ordered pair
    {"pairs_512", count_pairs_512, 16},        // times 2,048 events
    {"late_ranks", count_late_ranks, 0},       // any number of sends, as below
    {"equal_steps", count_equal_steps, 1000},  // steps
    {"ep", count_ep, 0},
    {"cp", count_cp, 0},
    {"tiers_of_one", count_tiers_of_one, 0},
    {"launches", [] { return count_launches(false); }, 2000},
    {"launches_on_circuits", [] { return count_launches(true); }, 2000},
    {"quickstart", count_quickstart, 0},  // any number of sends: the scenario may change, and the count with it
};

int run(std::string_view name) {
  use_one_processor();
  for (const HotPath& path : kHotPaths) {
    if (path.name != name) continue;
    const std::uint64_t items = path.run();
    std::printf("%llu items\n", static_cast<unsigned long long>(items));
    return items > 0 && (path.items == 0 || items == path.items) ? 0 : 1;
  }
  std::fprintf(stderr, "no hot path of this name\n");
  return 2;
}

}  // namespace
}  // namespace photonrail::bench

int main(int argc, char** argv) {
  try {
    return photonrail::bench::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
