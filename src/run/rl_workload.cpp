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

std::unique_ptr<WorkloadAgent> RlWorkload::make(const Scenario& scenario) const {
  rl::RlSpec spec = spec_;
  spec.seed = scenario.run.seed;
  return std::make_unique<ReportedRlAgent>(std::move(spec));
}

}  // namespace photonrail::run
