#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "photonrail/testing/fuzz.hpp"
#include "photonrail/testing/tiny_job.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace photonrail::testing {

namespace {

/// Counts launches, and mixes them into the history.
class LaunchWatch : public HistoryHash {
 public:
  void launched(const LaunchEvent& event) override { open_.insert(event.launch); }
  void launch_done(const LaunchEvent& event) override {
    if (open_.erase(event.launch) == 0) unknown_ = true;
  }
  [[nodiscard]] std::string problem() const {
    if (unknown_) return "a launch ended that was not open";
    return open_.empty() ? "" : "launch " + std::to_string(*open_.begin()) + " did not end";
  }

 private:
  std::set<std::uint32_t> open_;
  bool unknown_ = false;
};

struct LawRun {
  std::string problem;
  std::uint64_t history = 0;
};

// The agent waits for nothing, and named_workload() ended the run.
bool goes_on_for_ever(const DeadlockError& error) {
  return !error.stuck().empty() &&
         error.stuck().front().find("is not finished; most_events allows more") != std::string::npos;
}

LawRun run_under_laws(const Workload& workload, const Scenario& scenario) {
  LaunchWatch watch;
  Observer* const observers[] = {&watch};
  const std::unique_ptr<WorkloadAgent> agent = workload.make(scenario, scenario.run.seed);
  LawRun run;
  try {
    const RunResult result = simulate(scenario, *agent, observers);
    run.problem = watch.problem();
    if (run.problem.empty()) run.problem = books_problem(result);
  } catch (const DeadlockError& error) {
    if (error.stuck().empty()) run.problem = "a run that does not end names nothing";
    if (goes_on_for_ever(error)) run.problem = error.stuck().front();
  } catch (const Error& error) {
    run.problem = error.what();
  }
  run.history = watch.value();
  return run;
}

/// Launches what its dice say.
class RandomAgent final : public WorkloadAgent {
 public:
  RandomAgent(std::uint64_t seed, std::uint32_t launches) : random_(seed, "random agent"), left_(launches) {}

  void on(const WorkEvent& event, WorkSink& sink) override {
    if (event.kind == WorkEvent::Kind::kTimer) timers_ -= 1;
    if (event.kind == WorkEvent::Kind::kLaunchDone) --open_;
    enter_late(sink);
    const std::uint64_t more = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < more && left_ > 0; ++i) launch(sink);
    const bool must_go_on = open_ == 0 && left_ > 0;
    if (timers_ == 0 && (must_go_on || random_.below(4) == 0 || !late_.empty())) {
      ++timers_;
      sink.wake_at(event.now + Duration{static_cast<std::int64_t>(random_.below(3) * random_.below(50'000'000))});
    }
  }
  [[nodiscard]] bool finished() const override { return left_ == 0 && late_.empty(); }
  [[nodiscard]] std::vector<std::string> kinds() const override { return {"graph", "task"}; }

 private:
  std::vector<RankId> some_ranks(std::size_t all, std::size_t least) {
    std::vector<RankId> ranks;
    for (std::size_t r = 0; r < all; ++r) ranks.emplace_back(r);
    for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random_.below(i)]);
    ranks.resize(least + random_.below(all - least + 1));
    return ranks;
  }
  Bytes some_bytes() { return {static_cast<std::int64_t>(random_.below(4) * random_.below(20'000'000))}; }
  Duration some_time() { return Duration{static_cast<std::int64_t>(random_.below(3) * random_.below(100'000'000))}; }

  void launch(WorkSink& sink) {
    --left_;
    ++open_;
    const std::size_t all = sink.ranks();
    switch (random_.below(all > 1 ? 5 : 1)) {
      case 0:
        static_cast<void>(sink.compute(some_ranks(all, 1), some_time(), {1, 0}));
        break;
      case 1:
        static_cast<void>(
            sink.collective(some_ranks(all, 1), CollectiveOp::kAllReduce, some_bytes(), Dimension::kTp, {1, 0}));
        break;
      case 2: {
        const std::vector<RankId> ranks = some_ranks(all, 2);
        static_cast<void>(sink.send(ranks[0], ranks[1], some_bytes(), {1, 0}));
        break;
      }
      case 3:
        static_cast<void>(sink.launch({graph(all), some_ranks(all, all)}));
        break;
      default: {
        const std::vector<RankId> ranks = some_ranks(all, all);
        const LaunchId id = sink.open({graph(all), ranks});
        for (const RankId rank : ranks) late_.emplace_back(id, rank);
      }
    }
  }
  void enter_late(WorkSink& sink) {
    while (!late_.empty() && random_.below(3) != 0) {
      const auto [launch, rank] = late_.back();
      late_.pop_back();
      if (random_.below(2) == 0) sink.announce(launch, rank);
      sink.enter(launch, rank);
    }
  }
  // Every rank computes, all exchange, and ranks in a row send to each other.
  std::shared_ptr<const TaskGraph> graph(std::size_t ranks) {
    if (!graphs_.empty() && random_.below(2) == 0) return graphs_[random_.below(graphs_.size())];
    TaskGraphBuilder builder(ranks);
    std::vector<RankId> all;
    for (std::size_t r = 0; r < ranks; ++r) all.emplace_back(r);
    const CommunicatorId group = builder.add_communicator("all", all, Dimension::kDp);
    const Bytes bytes = some_bytes();
    const Bytes message = some_bytes();
    for (std::size_t r = 0; r < ranks; ++r) {
      const ProgramId program = builder.add_program();
      const TaskId first = builder.add_delay(program, some_time(), "first");
      const TaskId other = builder.add_delay(program, some_time(), "beside it");
      const std::vector<TaskId> both{first, other};
      const TaskId reduce = builder.add_collective(program, group, CollectiveOp::kAllReduce, bytes, "reduce", both);
      const std::vector<TaskId> after{reduce};
      const std::size_t peer = r % 2 == 0 ? r + 1 : r - 1;
      if (peer < ranks && r % 2 == 0) {
        builder.add_send(program, builder.link(RankId{r}, RankId{peer}, Dimension::kPp), message, 0, "send", after);
      } else if (peer < ranks) {
        builder.add_receive(program, builder.link(RankId{peer}, RankId{r}, Dimension::kPp), message, 0, "receive", after);
      }
      builder.assign(RankId{r}, program);
    }
    graphs_.push_back(std::make_shared<const TaskGraph>(std::move(builder).build()));
    return graphs_.back();
  }

  RandomStream random_;
  std::uint32_t left_;
  std::uint32_t open_ = 0;
  std::uint32_t timers_ = 0;
  std::vector<std::pair<LaunchId, RankId>> late_;
  std::vector<std::shared_ptr<const TaskGraph>> graphs_;
};

class RandomWorkload final : public Workload {
 public:
  RandomWorkload(std::uint64_t seed, std::uint32_t launches) : seed_(seed), launches_(launches) {}
  [[nodiscard]] std::string name() const override { return "random launches"; }
  [[nodiscard]] std::unique_ptr<WorkloadAgent> make(const Scenario&, std::uint64_t) const override {
    return std::make_unique<RandomAgent>(seed_, launches_);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t launches_;
};

}  // namespace

std::string agent_problem(const Workload& workload, Scenario scenario) {
  scenario.workload = nullptr;
  scenario.graph = idle_graph(scenario.gpu_of_rank.size());
  scenario.run.iterations = 1;
  scenario.run.critical_path = false;
  const LawRun first = run_under_laws(workload, scenario);
  if (!first.problem.empty()) return first.problem;
  const LawRun second = run_under_laws(workload, scenario);
  return second.history == first.history ? "" : "the second run had another history";
}

std::string fuzz_agent(const Workload& workload, std::size_t ranks, std::uint32_t cases, std::uint64_t seed,
                       std::span<const std::string> policies) {
  for (std::uint32_t c = 0; c < cases; ++c) {
    RandomStream draw(seed + c, "clusters of agents");
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t size = 1; size <= 8 && size <= ranks; ++size) {
      if (ranks % size == 0) sizes.push_back(size);
    }
    const std::uint32_t gpus = sizes[draw.below(sizes.size())];
    TinyJob job(ranks, gpus);
    if (const std::size_t chosen = draw.below(policies.size() + 1); chosen > 0) {
      job.optical(Duration{static_cast<std::int64_t>(draw.below(2'000)) * 1'000'000}, policies[chosen - 1]);
    }
    job.build();
    job.scenario.cluster.nic.latency = Duration{static_cast<std::int64_t>(draw.below(5)) * 1'000'000};
    job.scenario.run.seed = seed + c;
    const std::string problem = agent_problem(workload, job.scenario);
    if (problem.empty()) continue;
    return "case " + std::to_string(c) + ", servers of " + std::to_string(gpus) + " GPUs, " + job.scenario.controller.name +
           ": " + problem;
  }
  return {};
}

std::unique_ptr<Workload> random_workload(std::uint64_t seed, std::uint32_t launches) {
  return std::make_unique<RandomWorkload>(seed, launches);
}

}  // namespace photonrail::testing
