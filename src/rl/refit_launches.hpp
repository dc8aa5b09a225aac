// The refit of a job on the fabric: one operation over all ranks, or one for the weights of each pipeline stage of
// training. Ranks announce it when the last mini-batch begins, so that its circuits may be asked for behind their last
// message.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "rl/spec.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace photonrail::rl {

/// The graphs of a refit: all ranks of both layouts, in the order of the job; one, or one for each stage, with `overlap`.
[[nodiscard]] std::vector<std::shared_ptr<const TaskGraph>> refit_graphs(const RlSpec& spec);

class RefitLaunches {
 public:
  /// `graphs`: refit_graphs() of the same specification but for the seed. `spec` must outlive the object.
  RefitLaunches(const RlSpec& spec, std::vector<std::shared_ptr<const TaskGraph>> graphs)
      : spec_(&spec), graphs_(std::move(graphs)) {}

  /// The last mini-batch was launched: training ranks announce the refit, and those of engines that send nothing. Nothing
  /// happens where one is open already.
  void open(LaunchLabel label, WorkSink& sink);
  /// Engines stand until the refit: their ranks announce it.
  void engines_stand(WorkSink& sink);
  /// The training rank has ended its part of a mini-batch.
  void trained(RankId rank);
  /// Enters the refits of stages whose ranks have all trained.
  void enter_trained(WorkSink& sink);
  /// Enters all that is left.
  void enter_all(WorkSink& sink);
  /// One of them has ended. Returns true when it was the last.
  bool ended() { return --running_ == 0; }

  [[nodiscard]] bool is_open() const { return !open_.empty(); }
  /// One of them is entered, and another is not.
  [[nodiscard]] bool begun() const;
  /// The launch is one of them, and not entered.
  [[nodiscard]] bool waits(LaunchId launch) const;
  /// Stages go one by one.
  [[nodiscard]] bool by_stage() const { return graphs_.size() > 1; }

 private:
  struct Open {
    LaunchId launch;
    std::uint32_t untrained = 0;  ///< ranks of its stage
    bool entered = false;
  };

  void announce(std::uint32_t first, std::uint32_t ranks, WorkSink& sink);
  void enter(Open& part, WorkSink& sink);

  const RlSpec* spec_;
  std::vector<std::shared_ptr<const TaskGraph>> graphs_;
  std::vector<Open> open_;     ///< by stage, until all are entered
  std::uint32_t running_ = 0;  ///< that have not ended, of those that were open when the first was entered
  bool engines_announced_ = false;
};

}  // namespace photonrail::rl
