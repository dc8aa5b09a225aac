// The metrics of CCL-Bench (github.com/cornell-sysphotonics/ccl-bench) of a simulated run, under its names.
#pragma once

#include "photonrail/observer.hpp"
#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::report {

/// CCL-Bench measures kernels of a recorded trace. Here a communication kernel of a rank begins when the rank has reached
/// the operation and the operation before it on the same lane is done, and ends when the operation is done on the rank: as
/// an NCCL kernel it includes the wait for peers, and for circuits. A compute kernel is a task on the GPU's stream. What a
/// run lacks is absent. GB: 1e9 bytes.
struct CclBenchMetrics {
  /// The four operations that have metrics of their own: all-reduce, all-gather, reduce-scatter, all-to-all.
  static constexpr std::size_t kOps = 4;
  /// Seconds of a step, mean over ranks, in which a kernel of the dimension runs; cp and ep count as `other`.
  struct Window {
    double tp_s = 0.0, dp_s = 0.0, pp_s = 0.0, other_s = 0.0;
  };

  double avg_step_time_s = 0.0;  ///< mean over iterations
  /// %: FLOPs of all tasks of a step, recomputation among them, over ranks x peak x step. Absent when no task has FLOPs.
  std::optional<double> mfu;
  std::optional<double>
      communication_fraction;                  ///< %: time of communication kernels over that of all kernels, overlap twice
  double total_communication_time_s = 0.0;     ///< union of a rank's communication kernels; mean over ranks and steps
  std::optional<double> compute_comm_overlap;  ///< %: part of that union with a compute kernel beside it; mean over ranks
  /// Median over the kernels of all ranks, GB/s: factor x size / time, factor 2(n-1)/n for all-reduce and (n-1)/n
  /// otherwise, size of the full tensor (all-gather: n shards). In the order of kOps.
  std::array<std::optional<double>, kOps> bandwidth_utilization;
  std::array<double, kOps> collective_vol_gb{};  ///< rank 0's input in one step (all-gather: its shard)
  double collective_vol_total_gb = 0.0;          ///< of all collectives of rank 0, also the other operations
  std::optional<double> load_imbalance_ratio;    ///< largest / smallest active time (union of all kernels) over ranks
  std::optional<double> straggler;               ///< (largest - smallest) / largest communication time over ranks
  std::vector<Window> traffic_window;            ///< by iteration
  std::optional<double> scale_up_bw_utility;     ///< %: see scale_up_bw_utility(); the observer leaves it absent
};

/// 100 x (T(bw) - T(2 bw)) / T(bw): how much of the step twice the scale-up bandwidth would save, in %. It runs `scenario`
/// again with that bandwidth, under the controllers and collectives of `known`; `result` is of the run as it is. T is the
/// mean step. Throws as simulate().
[[nodiscard]] double scale_up_bw_utility(const Scenario& scenario, const RunResult& result, const Registries& known = {});

/// Give it to simulate() as an observer.
class CclBenchObserver : public Observer {
 public:
  CclBenchObserver();
  ~CclBenchObserver() override;

  void begin(const Scenario& scenario) override;
  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void iteration(RankId rank, std::uint32_t finished, Time at) override;
  void end(Time makespan) override;

  /// Returns the metrics of the last run that came to its end; all zero before.
  [[nodiscard]] const CclBenchMetrics& metrics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One JSON object, keys in a fixed order; what is absent is null.
[[nodiscard]] std::string to_json(const CclBenchMetrics& metrics);

}  // namespace photonrail::report
