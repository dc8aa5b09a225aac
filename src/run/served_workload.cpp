#include "run/served_workload.hpp"

#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "serving/agent.hpp"

namespace photonrail::run {

namespace {

class ReportedAgent final : public serving::ServingAgent {
 public:
  using ServingAgent::ServingAgent;
  void report(RunResult& result) const override { result.serving = this->result(); }
};

}  // namespace

std::unique_ptr<WorkloadAgent> ServedWorkload::make(const Scenario& /*scenario*/, std::uint64_t seed) const {
  serving::ServingSpec spec = spec_;
  spec.seed = seed;
  return std::make_unique<ReportedAgent>(spec);
}

}  // namespace photonrail::run
