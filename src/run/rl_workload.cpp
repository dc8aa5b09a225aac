#include "run/rl_workload.hpp"

#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "rl/agent.hpp"

#include <utility>

namespace photonrail::run {

namespace {

class ReportedRlAgent final : public rl::RlAgent {
 public:
  using RlAgent::RlAgent;
  void report(RunResult& result) const override { result.rl = this->result(); }
};

}  // namespace

RlWorkload::RlWorkload(rl::RlSpec spec) : spec_(std::move(spec)) {
  spec_.validate();
  refit_ = rl::refit_graph(spec_);
}

TaskGraph RlWorkload::graph() const { return idle_graph(spec_.ranks(), refit_->shared_demands()); }

std::unique_ptr<WorkloadAgent> RlWorkload::make(const Scenario& /*scenario*/, std::uint64_t seed) const {
  rl::RlSpec spec = spec_;
  spec.seed = seed;
  return std::make_unique<ReportedRlAgent>(std::move(spec), refit_);
}

}  // namespace photonrail::run
