// KV that goes to a donor over the scale-up fabric shares the donor's links with its own collectives.
#include "photonrail/testing/tiny_job.hpp"
#include "serving/agent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace photonrail::test {
namespace {

using namespace serving;

constexpr Duration kStep{1'000'000'000};

// One server of four GPUs, 100 GB/s each way. A borrower on GPUs 0 and 1 has two prompts that take turns after each token,
// and sends 10 GB to GPUs 2 and 3 while as much comes back: 50 ms alone. These are a donor that decodes, and reduces 20 MB
// in each step behind 1 ms.
ServingSpec donor_and_borrower(bool two_prompts) {
  const auto times = std::make_shared<LinearStepTime>(LinearLaw{kStep, {}, {}, {}});
  EngineSpec engine;
  engine.prefix_caching = false;
  engine.token_budget = 1'000'000;
  PoolSpec donor;
  donor.name = "donor";
  donor.engine = engine;
  donor.engine.blocks = 1000;
  donor.engines = {{RankId{2U}, RankId{3U}}};
  donor.times = times;
  donor.flows.reduced = 20e6;
  donor.block_bytes = 1e9;
  PoolSpec borrower;
  borrower.name = "borrower";
  borrower.engine = engine;
  borrower.engine.blocks = 1100;
  borrower.engine.max_sequences = 1;
  borrower.engine.preemption = Preemption::kSwap;
  borrower.engine.slice_tokens = 1;
  borrower.engines = {{RankId{0U}, RankId{1U}}};
  borrower.times = times;
  borrower.block_bytes = 1e7;
  borrower.offload = OffloadSpec{1, 2000, 0.1, {}, 1};
  ServingSpec spec;
  spec.pools = {borrower, donor};
  auto trace = std::make_shared<Trace>();
  trace->rows = {{Time{}, 16'000, 200, 0, {}}, {Time{}, 1, 400, 0, {}}};
  if (two_prompts) trace->rows.push_back({Time{}, 16'000, 200, 0, {}});
  spec.requests.trace = trace;
  spec.requests.count = trace->rows.size();
  spec.routing.arrivals = RoutePolicy::kRoundRobin;
  return spec;
}

Duration tpot_of_donor(bool two_prompts) {
  testing::TinyJob job(4, 4);
  job.scenario.cluster.scale_up.per_gpu = {100e9};
  job.build();
  job.scenario.graph = idle_graph(4);
  ServingAgent agent(donor_and_borrower(two_prompts));
  static_cast<void>(simulate(job.scenario, agent));
  const ServingResult result = agent.result();
  EXPECT_EQ(result.moves > 0, two_prompts);
  const auto at_donor =
      std::find_if(result.requests.begin(), result.requests.end(), [](const ServedRequest& r) { return r.prompt == 1; });
  return (at_donor->last - at_donor->first) / 399;
}

// Alone an all-reduce of two ranks sends 20 MB from each: 0.2 ms. Beside KV that comes and goes each port has two flows, of
// which each gets half: 0.4 ms, but for the 2 % of the time in which the borrower computes.
TEST(ServingOffload, ADonorIsSlowerByItsMaxMinShare) {
  const double alone = to_seconds(tpot_of_donor(false)) * 1e3;
  const double shared = to_seconds(tpot_of_donor(true)) * 1e3;
  EXPECT_NEAR(alone, 1.2, 1e-6);
  EXPECT_NEAR((shared - 1.0) / (alone - 1.0), 2.0, 0.02 + 0.02);
  EXPECT_NEAR(shared / 1.4, 1.0, 0.01);
}

}  // namespace
}  // namespace photonrail::test
