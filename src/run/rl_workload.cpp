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

TaskGraph RlWorkload::graph() const {
  TaskGraphBuilder builder(spec_.ranks());
  builder.set_demands(refit_->shared_demands());
  const ProgramId nothing = builder.add_program();
  for (std::size_t r = 0; r < spec_.ranks(); ++r) builder.assign(RankId{r}, nothing);
  return std::move(builder).build();
}

std::unique_ptr<WorkloadAgent> RlWorkload::make(const Scenario& scenario) const {
  rl::RlSpec spec = spec_;
  spec.seed = scenario.run.seed;
  return std::make_unique<ReportedRlAgent>(std::move(spec), refit_);
}

}  // namespace photonrail::run
