// Ranks of a server that run as one while they are equal: the same results as of ranks run one by one, which a run has when
// an observer looks at every rank.
#include "photonrail/core/random.hpp"
#include "photonrail/observer.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/training.hpp"
#include "run/job.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using test::ms;
using test::us;

constexpr std::uint32_t kGpus = 4;
constexpr std::uint32_t kServers = 4;  // of 2 stages and 2 replicas

struct LooksAtEveryRank : Observer {};

std::string text_of(RunResult result) {
  result.engine.wall_s = 0.0;
  result.engine.peak_rss_mb = 0.0;
  return to_json(result);
}

void expect_same(Scenario scenario, const std::string& what) {
  scenario.run.folding = false;
  LooksAtEveryRank observer;
  const std::array<Observer*, 1> observers{&observer};
  EXPECT_EQ(text_of(simulate(scenario)), text_of(simulate(scenario, observers))) << what;
}

Scenario on_rails(std::uint32_t servers, std::uint32_t gpus_per_server, RandomStream& random) {
  Scenario scenario;
  scenario.cluster.servers = servers;
  scenario.cluster.gpus_per_server = gpus_per_server;
  scenario.cluster.scale_up.latency = us(1);
  scenario.cluster.nic.latency = us(1);
  scenario.cluster.rail.switch_radix = servers;
  for (std::uint32_t r = 0; r < servers * gpus_per_server; ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  scenario.run.fidelity = Fidelity::kStream;
  scenario.run.iterations = 1 + static_cast<std::uint32_t>(random.below(3));
  if (random.below(3) > 0) {
    scenario.cluster.rail = RailSpec{};
    scenario.cluster.rail.kind = RailKind::kOptical;
    const Duration longest = us(static_cast<double>(random.below(300)));
    const bool drawn = random.below(2) == 0;  // then the rails of a server differ
    scenario.cluster.rail.optical.reconfiguration =
        drawn ? DelayDistribution{DelayDistribution::Kind::kUniform, Duration{}, longest, 0.0, {}}
              : DelayDistribution::constant(longest);
    scenario.controller.name = random.below(4) == 0 ? "lru" : "opus";
    const char* mode = random.below(2) == 0 ? "provisioned" : "on_demand";
    if (scenario.controller.name == "opus") scenario.controller.parameters.set("mode", mode);
  }
  if (random.below(3) > 0) {
    StragglerSpec late;
    late.delay = {DelayDistribution::Kind::kUniform, Duration{}, us(100), 0.0, {}};
    scenario.stragglers.push_back(late);
  }
  const std::uint64_t slow = random.below(8);
  if (slow == 0) {
    scenario.stragglers.push_back(
        {.whom = StragglerSpec::Whom::kListed, .ranks = {RankId{random.below(kGpus)}}, .slowdown = 1.5});
  } else if (slow < 3) {
    scenario.stragglers.push_back({.whom = StragglerSpec::Whom::kOneAtRandom, .slowdown = 1.5});
  }
  return scenario;
}

// Two programs, of the stages of a pipeline, with the same sequence of computations, collectives inside the server and
// between servers, and messages; each waits for one or two of those before it.
class DrawnPrograms {
 public:
  DrawnPrograms(TaskGraphBuilder& builder, RandomStream& random) : builder_(builder), random_(random) {
    programs_ = {builder.add_program(), builder.add_program()};
  }
  void add(std::size_t steps) {
    while (tasks_[0].size() < steps) add_one();
  }
  [[nodiscard]] ProgramId program(std::size_t stage) const { return programs_[stage]; }

 private:
  void add_one() {
    const std::uint64_t what = random_.below(12);
    const Bytes size{static_cast<std::int64_t>(1 + random_.below(20)) * 1'000'000};
    const Duration time = us(static_cast<double>(random_.below(4)) * 50.0);
    const std::array<std::uint64_t, 3> draws{random_.below(3), random_.below(6), random_.below(8)};
    const auto tag = static_cast<std::uint32_t>(tasks_[0].size());
    const Stream stream = random_.below(8) == 0 ? Stream::kHost : Stream::kGpu;
    for (std::size_t stage = 0; stage < 2; ++stage) {
      const ProgramId p = programs_[stage];
      const std::vector<TaskId> after = before(stage, draws);
      TaskId task;
      if (what < 4) {
        task = builder_.add_delay(p, time, {}, after, stream);
      } else if (what < 9) {
        task = builder_.add_collective(p, 0, what < 6 ? CollectiveOp::kAllGather : CollectiveOp::kReduceScatter, size, {},
                                       after);
      } else if (what == 9) {
        task = builder_.add_collective(p, 1, CollectiveOp::kAllReduce, size, {}, after);
      } else if ((what == 10) == (stage == 0)) {
        task = builder_.add_send(p, what == 10 ? 2 : 3, size, tag, {}, after);
      } else {
        task = builder_.add_receive(p, what == 10 ? 2 : 3, size, tag, {}, after);
      }
      tasks_[stage].push_back(task);
    }
  }
  // Most often the one before alone; else an earlier one, beside it or in its place.
  [[nodiscard]] std::vector<TaskId> before(std::size_t stage, const std::array<std::uint64_t, 3>& draws) const {
    const std::vector<TaskId>& tasks = tasks_[stage];
    if (tasks.empty()) return {};
    const TaskId earlier = tasks[tasks.size() - 1 - std::min<std::size_t>(draws[2], tasks.size() - 1)];
    if (draws[1] == 0 && earlier != tasks.back()) return {earlier, tasks.back()};
    return {draws[1] == 1 ? earlier : tasks.back()};
  }

  TaskGraphBuilder& builder_;
  RandomStream& random_;
  std::array<ProgramId, 2> programs_;
  std::array<std::vector<TaskId>, 2> tasks_;
};

Scenario drawn_job(std::uint64_t seed) {
  RandomStream random(seed, "lockstep");
  Scenario scenario = on_rails(kServers, kGpus, random);
  constexpr std::uint32_t kRanks = kServers * kGpus;
  TaskGraphBuilder builder(kRanks);
  DrawnPrograms programs(builder, random);
  programs.add(8 + random.below(40));
  std::array<CommunicatorId, kServers> inside;
  for (std::uint32_t s = 0; s < kServers; ++s) {
    std::vector<RankId> members;
    for (std::uint32_t g = 0; g < kGpus; ++g) members.push_back(RankId{s * kGpus + g});
    inside[s] = builder.add_communicator("tp " + std::to_string(s), members, Dimension::kTp);
  }
  std::vector<CommunicatorId> across;  // replicas: servers 0 and 1 of stage 0, 2 and 3 of stage 1
  for (std::uint32_t r = 0; r < kRanks; r += r % kGpus == kGpus - 1 ? kGpus + 1 : 1) {
    across.push_back(builder.add_communicator("dp " + std::to_string(r), {RankId{r}, RankId{r + kGpus}}, Dimension::kDp));
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    const std::uint32_t stage = r / (2 * kGpus);
    const RankId first{r % (2 * kGpus)};
    const RankId second{first.index() + 2 * kGpus};
    const CommunicatorId forth = builder.link(first, second, Dimension::kPp);
    const CommunicatorId back = builder.link(second, first, Dimension::kPp);
    builder.assign(RankId{r}, programs.program(stage), {inside[r / kGpus], across[stage * kGpus + r % kGpus], forth, back});
  }
  scenario.graph = std::move(builder).build();
  return scenario;
}

TEST(Lockstep, DrawnJobsHaveTheResultsOfRanksRunOneByOne) {
  for (std::uint64_t seed = 0; seed < test::test_cases(200); ++seed) {
    expect_same(drawn_job(seed), "seed " + std::to_string(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

// Tensor parallelism of 4, late by a draw, under Opus, two steps.
TEST(Lockstep, ATrainingStepHasTheResultOfRanksRunOneByOne) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    RandomStream random(seed, "lockstep training");
    TrainingSpec spec;
    spec.model = {"small", 4, 1024, 4096, 16, 4, 32000};
    spec.parallelism = {kGpus, 2, 2, seed % 2 == 0};
    spec.sequence = 2048;
    spec.micro_batch = 1;
    spec.global_batch = 8;
    Scenario scenario = on_rails(kServers, kGpus, random);
    scenario.graph = make_training_graph(spec);
    scenario.run.seed = seed;
    expect_same(scenario, "seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace photonrail
