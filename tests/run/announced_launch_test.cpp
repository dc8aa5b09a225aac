// Launches that ranks announce before they enter them.
#include "photonrail/testing/tiny_job.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/drawing.hpp"

#include <gtest/gtest.h>

#include <array>
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

// Rank 0 sends to rank 1, computes for 10 ms, and then sends to rank 2. What it announces at the beginning it asks for when
// its first message is over, at 6 ms, and the circuit is there at 11.
TEST(AnnouncedLaunch, IsAskedForBehindTheLastMessage) {
  const std::vector<RankId> all{RankId{0U}, RankId{1U}, RankId{2U}};
  const auto message = [&](std::size_t to, Dimension dimension, bool computes) {
    TaskGraphBuilder builder(3);
    const std::vector<ProgramId> programs{builder.add_program(), builder.add_program(), builder.add_program()};
    const auto link = builder.link(RankId{0U}, RankId{to}, dimension);
    const TaskId sent = builder.add_send(programs[0], link, Bytes{50'000'000}, 0, "message");
    builder.add_receive(programs[to], link, Bytes{50'000'000}, 0, "message");
    if (computes) builder.add_delay(programs[0], ms(10), "work", std::array{sent});
    for (std::size_t r = 0; r < 3; ++r) builder.assign(RankId{r}, programs[r]);
    return std::make_shared<const TaskGraph>(std::move(builder).build());
  };
  const auto first = message(1, Dimension::kDp, true);
  const auto second = message(2, Dimension::kRefit, false);
  for (const bool provisioned : {true, false}) {
    LaunchId next;
    std::vector<Time> asked;
    Announcer agent([&](const WorkEvent& event, WorkSink& sink) {
      if (event.kind == WorkKind::kBegin) {
        static_cast<void>(sink.launch({first, all}, {0, 1}));
        next = sink.open({second, all}, {0, 2});
        for (const RankId rank : all) sink.announce(next, rank);
      }
      if (event.kind == WorkKind::kAnnounced) asked.push_back(event.now);
      if (event.kind != WorkKind::kLaunchDone || event.token != 1) return;
      for (const RankId rank : all) sink.enter(next, rank);
    });
    Job job(3);
    job.optical(ms(5), "opus").build();
    job.scenario.graph = idle_graph(3);
    job.scenario.controller.parameters.set("mode", std::string(provisioned ? "provisioned" : "on_demand"));
    const RunResult result = simulate(job.scenario, agent);
    EXPECT_EQ(result.makespan, provisioned ? ms(17) : ms(22));
    EXPECT_EQ(asked, provisioned ? std::vector{Time{ms(6)}} : std::vector<Time>{});
    EXPECT_TRUE(books_balance(result));
  }
}

}  // namespace
}  // namespace photonrail::test
