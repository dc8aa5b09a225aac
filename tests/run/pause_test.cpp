// A controller of the user's own, through the registries, that takes circuits away while they carry bytes.
#include "photonrail/simulate.hpp"

#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// One port a GPU. Data-parallel demands get circuits at once, even on ports in use; the others get idle ports.
class Preempt : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    CircuitPlan plan;
    std::vector<bool> sends(view.positions);
    std::vector<bool> receives(view.positions);
    for (const bool urgent : {true, false}) {
      for (const CircuitRequest& demand : view.requests) {
        if ((demand.dimension == Dimension::kDp) != urgent) continue;
        for (const ServerPair pair : demand.pairs) {
          if (sends[pair.from] || receives[pair.to] || (!urgent && !idle(view, pair))) continue;
          sends[pair.from] = receives[pair.to] = true;
          plan.connect.push_back({view.port(pair.from, 0), view.port(pair.to, 0)});
        }
      }
    }
    return plan;
  }

 private:
  static bool idle(const FabricView& view, ServerPair pair) {
    const PortId source = view.receive[pair.to];
    return !view.transmit[pair.from].in_use && (source.is_none() || !view.transmit[source.index()].in_use);
  }
};

Registries with_preempt() {
  Registries registries;
  registries.controllers.add(
      {"preempt", "takes circuits away", [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
         return std::unique_ptr<Controller>(std::make_unique<Preempt>());
       }});
  return registries;
}

/// Rank 0 sends rank 1 1 GiB from the start; at 5 ms ranks 1 and 2 want to gather 50 MB from each other.
void two_who_want_one_port(Job& job, OnDark on_dark) {
  job.optical(ms(1), "preempt");
  job.scenario.cluster.rail.on_dark = on_dark;
  job.send(0, 1, 1 << 30).receive(0, 1, 1 << 30);
  job.detach(1).compute(1, ms(5)).compute(2, ms(5));
  job.collective(job.group({1, 2}), {1, 2}, CollectiveOp::kAllGather, 50000000);
  job.build();
}

TEST(Pause, APreemptedSendGoesOnWhenItsCircuitComesBack) {
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
    Job job(3);
    two_who_want_one_port(job, OnDark::kPause);
    job.scenario.run.fidelity = fidelity;
    const RunResult result = simulate(job.scenario, {}, with_preempt());
    // The send has its circuit at 1 ms, and loses it at 5: the gather needs the receive side of port 1. That one is lit at
    // 6, and 50 MB take 1 ms: done at 7. The send is lit again at 8, and has all but 4 ms of its 21.47 ms to go.
    EXPECT_EQ(result.makespan, ms(8) + kGiB - ms(4));
    EXPECT_TRUE(books_balance(result));
    EXPECT_EQ(result.reconfigurations.count, 3u);
    // Rank 2 computes 5 ms, waits 1, gathers 1, and is done.
    EXPECT_EQ(result.ranks[2].compute, ms(5));
    EXPECT_EQ(result.ranks[2].reconfiguration_wait, ms(1));
    EXPECT_EQ(result.ranks[2].exposed_communication, ms(1));
    EXPECT_EQ(result.traffic[static_cast<std::size_t>(Dimension::kPp)].bytes.count, 1 << 30);
  }
}

TEST(Pause, WithoutItTheControllerIsAtFaultAndSaidSo) {
  Job job(3);
  two_who_want_one_port(job, OnDark::kError);
  try {
    (void)simulate(job.scenario, {}, with_preempt());
    FAIL() << "a circuit in use was torn down";
  } catch (const ControllerError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("controller 'preempt'"), HasSubstr("rail 0"), HasSubstr("0.005"),
                                    HasSubstr("circuit from port 0 to port 1"), HasSubstr("1 operation uses it")));
  }
}

// Between two messages of an all-reduce nothing is in flight; what is sent next waits for the circuits all the same.
TEST(Pause, MessagesThatAreDueWhileTheCircuitIsAwayWaitForIt) {
  Job job(3);
  job.optical(ms(1), "preempt");
  job.scenario.cluster.rail.on_dark = OnDark::kPause;
  job.scenario.cluster.nic.latency = ms(1);
  job.collective(job.group({0, 1}, Dimension::kEp), {0, 1}, CollectiveOp::kAllReduce, 100000000);
  job.detach(1).compute(1, ms(2.5)).compute(2, ms(2.5));
  job.collective(job.group({1, 2}), {1, 2}, CollectiveOp::kAllGather, 50000000);
  job.build();
  const RunResult result = simulate(job.scenario, {}, with_preempt());
  // The all-reduce is lit at 1 ms; its first step leaves until 2 and arrives at 3. The gather takes its circuits at 2.5, is
  // lit at 3.5 and done at 5.5; the second step is lit at 6.5, and takes 1 + 1 ms.
  EXPECT_EQ(result.makespan, ms(8.5));
  EXPECT_TRUE(books_balance(result));
}

}  // namespace
}  // namespace photonrail::test
