#include "run/rl_workload.hpp"

#include "photonrail/result.hpp"
#include "photonrail/scenario.hpp"
#include "rl/agent.hpp"
#include "run/expected_time.hpp"

#include <utility>

namespace photonrail::run {

namespace {

// Measured: 64 and 512 GPUs, on policy and asynchronous, 1,000 to 3,000 tokens a response: within a factor of two.
constexpr double kSecondsAResponse = 30e-6;
constexpr double kSecondsAToken = 0.1e-6;

class ReportedRlAgent final : public rl::RlAgent {
 public:
  using RlAgent::RlAgent;
  void report(RunResult& result) const override { result.rl = this->result(); }
};

}  // namespace

RlWorkload::RlWorkload(rl::RlSpec spec) : spec_(std::move(spec)) {
  spec_.validate();
  refits_ = rl::refit_graphs(spec_);
}

TaskGraph RlWorkload::graph() const { return idle_graph(spec_.ranks(), refits_.front()->shared_demands()); }

std::unique_ptr<WorkloadAgent> RlWorkload::make(const Scenario& /*scenario*/, std::uint64_t seed) const {
  rl::RlSpec spec = spec_;
  spec.seed = seed;
  return std::make_unique<ReportedRlAgent>(std::move(spec), refits_);
}

WorkEstimate RlWorkload::work() const {
  const double count = static_cast<double>(spec_.mode.steps) * spec_.mode.batch;
  WorkEstimate work;
  work.add({kResponses, count, count * (kSecondsAResponse + spec_.prompts.lengths.mean * kSecondsAToken)});
  return work;
}

}  // namespace photonrail::run
