// Launches that ranks announce before they enter them.
#include "photonrail/testing/tiny_job.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/drawing.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

namespace photonrail::test {
namespace {

using WorkKind = WorkEvent::Kind;

struct Announcer : WorkloadAgent {
  using On = std::function<void(const WorkEvent&, WorkSink&)>;
  explicit Announcer(On tells) : tell(std::move(tells)) {}
  void on(const WorkEvent& event, WorkSink& sink) override { tell(event, sink); }
  [[nodiscard]] bool finished() const override { return true; }
  [[nodiscard]] bool announces() const override { return true; }
  On tell;
};

// Two ranks compute for 10 ms and then exchange 50 MB, 1 ms, over circuits that take 5 ms. Announced at the beginning, the
// circuits are there; on demand they are waited for; announced 2 ms before, for 3 ms.
TEST(AnnouncedLaunch, HasItsCircuits) {
  TaskGraphBuilder builder(2);
  const std::vector<RankId> both{RankId{0U}, RankId{1U}};
  const ProgramId sends = builder.add_program();
  const ProgramId receives = builder.add_program();
  const auto link = builder.link(RankId{0U}, RankId{1U}, Dimension::kRefit);
  builder.add_send(sends, link, Bytes{50'000'000}, 0, "new weights");
  builder.add_receive(receives, link, Bytes{50'000'000}, 0, "new weights");
  builder.assign(RankId{0U}, sends);
  builder.assign(RankId{1U}, receives);
  const auto exchange = std::make_shared<const TaskGraph>(std::move(builder).build());
  struct Case {
    const char* policy;
    const char* key;
    ParameterValue value;
    int announced_ms;
    Duration takes;
  };
  const std::string ahead = "provisioned";
  for (const Case& c : {Case{"opus", "mode", ahead, 0, ms(11)}, Case{"opus", "mode", ahead, 8, ms(14)},
                        Case{"opus", "mode", std::string("on_demand"), 0, ms(16)},
                        Case{"phases", "provisioned", 1.0, 0, ms(11)}, Case{"phases", "provisioned", 0.0, 0, ms(16)}}) {
    LaunchId launch;
    Announcer agent([&](const WorkEvent& event, WorkSink& sink) {
      if (event.kind == WorkKind::kBegin) {
        launch = sink.open({exchange, both});
        sink.wake_at(Time{ms(c.announced_ms)}, 1);
        static_cast<void>(sink.compute(both, ms(10), {0, 2}));
      }
      if (event.token == 1) {
        for (const RankId rank : both) sink.announce(launch, rank);
        sink.announce(launch, both[0]);  // again
      }
      for (const RankId rank : both) {
        if (event.token == 2) sink.enter(launch, rank);
      }
    });
    Job job(2);
    job.optical(ms(5), c.policy).build();
    job.scenario.graph = idle_graph(2);
    job.scenario.controller.parameters.set(c.key, c.value);
    const RunResult result = simulate(job.scenario, agent);
    EXPECT_EQ(result.makespan, c.takes) << c.policy << ", announced after " << c.announced_ms << " ms";
    EXPECT_TRUE(books_balance(result));
  }
}

}  // namespace
}  // namespace photonrail::test
