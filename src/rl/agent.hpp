// Runs a reinforcement learning job: engines generate in runs of steps, training ranks launch the graphs of a training job,
// and a refit is an operation on the fabric. What begins when, the schedule decides.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "rl/engine_flows.hpp"
#include "rl/generation_engine.hpp"
#include "rl/recorder.hpp"
#include "rl/refit_launches.hpp"
#include "rl/rollouts.hpp"
#include "rl/schedule.hpp"
#include "rl/spec.hpp"
#include "rl/tool_cache.hpp"

#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <vector>

namespace photonrail::rl {

class RlAgent : public WorkloadAgent {
 public:
  /// `refits`: refit_graphs() of the same specification but for the seed. REQUIRES: the specification is valid.
  RlAgent(RlSpec spec, std::vector<std::shared_ptr<const TaskGraph>> refits);

  void on(const WorkEvent& event, WorkSink& sink) override;
  [[nodiscard]] bool finished() const override { return schedule_.finished(); }
  [[nodiscard]] std::vector<std::string> waiting() const override;
  [[nodiscard]] std::vector<std::string> kinds() const override;
  [[nodiscard]] RlResult result() const;

  [[nodiscard]] bool announces() const override { return true; }
  [[nodiscard]] bool hears_ranks() const override { return refits_.by_stage(); }

  enum Kind : std::uint32_t { kGenerate, kOffload, kLogProbabilities, kTrain, kReload, kRefit, kExchange };

 private:
  /// An engine with what the agent knows of it.
  struct Engine {
    GenerationEngine generation;
    std::uint32_t number = 0;
    std::uint32_t failures = 0;  ///< so many runs of it are lost
    bool up = true;
    std::uint32_t at_tools = 0;   ///< samples that wait for tools
    std::uint32_t exchanges = 0;  ///< operations of its last run that have not ended
    Time swapped_out{};           ///< its link to the other memory is taken until then, in each direction
    Time swapped_in{};
    std::multiset<Time> changes{};  ///< times at which it is known to get samples back, or to fail
  };

  void told(const WorkEvent& event, WorkSink& sink);
  void act(WorkSink& sink);
  void begin_samples(std::uint64_t samples, WorkSink& sink);
  [[nodiscard]] std::vector<Engine*> idlest_first();
  void start_engines(WorkSink& sink);
  void step_ended(Kind kind, std::uint64_t token, WorkSink& sink);
  void end_run(std::uint32_t engine, WorkSink& sink);
  void score(std::uint64_t sample, WorkSink& sink);
  void call_tool(std::uint64_t sample, WorkSink& sink);
  void answer(std::uint64_t sample, bool is_here, WorkSink& sink);
  void fail(Engine& engine, const EngineFailure& failure, WorkSink& sink);
  void place_lost();
  void train(WorkSink& sink);
  void prepare(WorkSink& sink);
  void train_next(WorkSink& sink);
  void compute(std::uint32_t first, std::uint32_t ranks, Duration time, Kind kind, WorkSink& sink, std::uint64_t token = 0);
  void launched(const WorkEvent& event, WorkSink& sink);
  void trained(WorkSink& sink);
  [[nodiscard]] GenerationEngine new_engine(std::uint32_t number) const;
  [[nodiscard]] bool engines_stand() const;
  void move_state(Kind kind, WorkSink& sink);
  void refit_early(WorkSink& sink);

  const RlSpec spec_;
  const serving::EngineSpec batching_;
  const double offload_bytes_;
  const EngineFlows flows_;
  Schedule schedule_;
  Rollouts rollouts_;
  Recorder recorder_;
  std::unique_ptr<ToolCache> tools_;
  TrainingLaunches training_;
  std::vector<Engine> engines_;
  std::vector<std::uint64_t> lost_;                                           ///< samples that no engine has
  serving::BatchTotals totals_;                                               ///< of engines that failed
  std::priority_queue<Time, std::vector<Time>, std::greater<>> reward_ends_;  ///< of workers that are busy
  RefitLaunches refits_;
  std::uint32_t moves_ = 0;  ///< to hosts or back, that have not ended
};

}  // namespace photonrail::rl
