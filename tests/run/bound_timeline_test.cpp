// The timeline of a lower bound: entries come in any order, accounts and notifications are in the order of time.
#include "run/bound_timeline.hpp"
#include "photonrail/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace photonrail::test {
namespace {

using std::chrono::milliseconds;

class Recorder : public Observer {
 public:
  void compute(const ComputeEvent& event) override { starts.push_back(event.start.since_start()); }
  void iteration(RankId, std::uint32_t, Time end) override { iterations.push_back(end.since_start()); }
  void end(Time makespan) override { ends.push_back(makespan.since_start()); }

  std::vector<Duration> starts;
  std::vector<Duration> iterations;
  std::vector<Duration> ends;
};

// Rank 0 computes in [0, 1) and [2, 5) ms, rank 1 is delayed in [1, 4) ms. Of 6 ms rank 0 computes 1 + 3 = 4 ms, rank 1 3
// ms.
TEST(BoundTimeline, SortsEntriesThatComeOutOfOrder) {
  Recorder recorder;
  std::vector<Observer*> observers{&recorder};
  run::BoundTimeline timeline(2, observers);
  timeline.compute({Time{milliseconds(2)}, Time{milliseconds(5)}, RankId{0u}, TaskId{1u}, Stream::kGpu});
  timeline.stall(RankId{1u}, Time{milliseconds(1)}, Time{milliseconds(4)});
  timeline.compute({Time{milliseconds(0)}, Time{milliseconds(1)}, RankId{0u}, TaskId{0u}, Stream::kGpu});
  timeline.iteration(RankId{0u}, 0, Time{milliseconds(5)});
  EXPECT_THAT(recorder.starts, ::testing::IsEmpty()) << "computations are notified at the end, in the order of time";

  const execution::Accounts accounts = timeline.finish(Time{milliseconds(6)});
  EXPECT_EQ(accounts.ranks[0].compute, milliseconds(4));
  EXPECT_EQ(accounts.ranks[1].compute, milliseconds(3));
  timeline.notify_observers(Scenario{}, Time{milliseconds(6)});
  EXPECT_THAT(recorder.iterations, ::testing::ElementsAre(milliseconds(5)));
  EXPECT_THAT(recorder.starts, ::testing::ElementsAre(milliseconds(0), milliseconds(2))) << "a delay is not a computation";
  EXPECT_THAT(recorder.ends, ::testing::ElementsAre(milliseconds(6)));
}

}  // namespace
}  // namespace photonrail::test
