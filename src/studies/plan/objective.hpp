// The numbers by which candidates are compared.
#pragma once

#include "photonrail/study/plan.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace photonrail::plan {

/// The parts of the objectives: of a run, or the least that a candidate can have.
struct Measured {
  double step_s = 0.0;
  double productive = 1.0;  ///< share of the months in which steps are made that stay
  double gpus = 0.0;        ///< spares too
  double tokens = 0.0;      ///< of a step; 0: no training job
  double energy_j = 0.0;    ///< of network and GPUs in a step
  double usd = 0.0;         ///< of the network
  double power_w = 0.0;     ///< of the network
  double draws_w = 0.0;     ///< network and GPUs, of served requests
  double requests_per_s = std::numeric_limits<double>::infinity();  ///< that keep their limits
  double answers_per_s = std::numeric_limits<double>::infinity();   ///< tokens of their answers
};

/// Of a run with its bill.
[[nodiscard]] Measured measured(const PlannedRun& run);

[[nodiscard]] std::string_view name(PlanObjective objective);
/// Return true where the objective depends on tokens of training; on served requests; on the network's bill; on failures.
[[nodiscard]] bool counts_tokens(PlanObjective objective);
[[nodiscard]] bool counts_requests(PlanObjective objective);
[[nodiscard]] bool reads_bill(PlanObjective objective);
[[nodiscard]] bool spans_months(PlanObjective objective);

/// By objective of the plan.
[[nodiscard]] std::vector<double> values(const Plan& plan, const Measured& measured);

/// Points of which none is better than another in all objectives.
class Front {
 public:
  void add(const std::vector<double>& point);
  /// Returns true when a point is as good in all objectives, and better in one.
  [[nodiscard]] bool beats(const std::vector<double>& point) const;
  [[nodiscard]] bool empty() const { return points_.empty(); }

 private:
  std::vector<std::vector<double>> points_;
};

}  // namespace photonrail::plan
