// Runs a reinforcement learning job: engines generate in runs of equal steps, training ranks compute log-probabilities and
// train, and a refit is an operation on the fabric. What begins when, the schedule decides.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "rl/recorder.hpp"
#include "rl/rollouts.hpp"
#include "rl/schedule.hpp"
#include "rl/spec.hpp"
#include "rl/tool_cache.hpp"

#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace photonrail::rl {

class RlAgent : public WorkloadAgent {
 public:
  /// `refit`: refit_graph() of the same specification but for the seed. REQUIRES: the specification is valid.
  RlAgent(RlSpec spec, std::shared_ptr<const TaskGraph> refit);

  void on(const WorkEvent& event, WorkSink& sink) override;
  [[nodiscard]] bool finished() const override { return schedule_.finished(); }
  [[nodiscard]] std::vector<std::string> waiting() const override;
  [[nodiscard]] std::vector<std::string> kinds() const override;
  [[nodiscard]] RlResult result() const;

 private:
  enum Kind : std::uint32_t { kGenerate, kOffload, kLogProbabilities, kTrain, kReload, kRefit };

  void act(WorkSink& sink);
  void begin_samples(std::uint64_t samples, WorkSink& sink);
  void start_engines(WorkSink& sink);
  void end_run(std::uint32_t engine, WorkSink& sink);
  void score(std::uint64_t sample, WorkSink& sink);
  void call_tool(std::uint64_t sample, WorkSink& sink);
  void answer(std::uint64_t sample);
  void train(WorkSink& sink);
  void compute(std::uint32_t first, std::uint32_t ranks, Duration time, Kind kind, WorkSink& sink, std::uint64_t token = 0);
  void launched(const WorkEvent& event, WorkSink& sink);
  [[nodiscard]] bool engines_stand() const;
  [[nodiscard]] Duration offload_time() const;

  const RlSpec spec_;
  RooflineCost cost_;
  Schedule schedule_;
  Rollouts rollouts_;
  Recorder recorder_;
  std::unique_ptr<ToolCache> tools_;
  std::vector<GenerationEngine> engines_;
  std::vector<std::uint64_t> prompt_of_;  ///< by engine: of the last sample that came, whose KV the next one shares
  std::vector<std::uint32_t> at_tools_;   ///< by engine: samples that wait for tools
  std::priority_queue<Time, std::vector<Time>, std::greater<>> reward_ends_;  ///< of workers that are busy
  std::shared_ptr<const TaskGraph> refit_;
  double tokens_ = 0.0;  ///< of the batch that is trained, prompts included
};

/// The graph of a refit: all ranks of both layouts, in the order of the job.
[[nodiscard]] std::shared_ptr<const TaskGraph> refit_graph(const RlSpec& spec);

}  // namespace photonrail::rl
