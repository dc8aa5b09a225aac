// Arrows and counters of a timeline.
#include "report/trace_links.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <vector>

namespace photonrail::test {
namespace {

using ParsedJson = nlohmann::json;

constexpr CommunicatorId kGroup{3U};

CircuitEvent circuit(std::int64_t at, std::uint32_t from, std::uint32_t to, CircuitState state,
                     CommunicatorId serves = kGroup) {
  return {Time{at}, RailId{0U}, {PortId{from}, PortId{to}}, state, serves};
}

template <class Write>
ParsedJson events(const Write& write) {
  std::ostringstream out;
  {
    report::TraceText text(out);
    write(text);
  }
  return ParsedJson::parse(out.str())["traceEvents"];
}

TEST(LitCircuits, FindsTheLastThatWasSwitchedForAGroup) {
  const std::vector<CircuitEvent> all{
      circuit(10, 0, 1, CircuitState::kSwitching),
      circuit(30, 0, 1, CircuitState::kLit, CommunicatorId::none()),  // known from the switching
      circuit(40, 2, 3, CircuitState::kSwitching),
      circuit(60, 2, 3, CircuitState::kLit),
      circuit(70, 4, 5, CircuitState::kSwitching),
      circuit(70, 4, 5, CircuitState::kLit)};  // took no time: no span to point from
  const report::LitCircuits lit(all);
  EXPECT_FALSE(lit.last(kGroup, Time{29}));
  EXPECT_EQ(lit.last(kGroup, Time{30})->from, PortId{0U});
  EXPECT_EQ(lit.last(kGroup, Time{59})->from, PortId{0U});
  EXPECT_EQ(lit.last(kGroup, Time{80})->from, PortId{2U});
  EXPECT_EQ(lit.last(kGroup, Time{80})->at, Time{60});
  EXPECT_FALSE(lit.last(CommunicatorId{4U}, Time{80}));
}

TEST(Counters, LitPortsFollowTheCircuits) {
  const std::vector<CircuitEvent> all{circuit(0, 0, 1, CircuitState::kSwitching), circuit(5, 0, 1, CircuitState::kLit),
                                      circuit(6, 1, 0, CircuitState::kLit), circuit(9, 0, 1, CircuitState::kDark),
                                      circuit(9, 0, 2, CircuitState::kSwitching)};
  const ParsedJson counted = events([&](report::TraceText& text) { report::write_lit_ports(all, 7, text); });
  std::vector<std::pair<double, int>> values;
  for (const ParsedJson& event : counted) {
    EXPECT_EQ(event["ph"], "C");
    EXPECT_EQ(event["pid"], 7);
    values.emplace_back(event["ts"], event["args"]["ports"]);
  }
  EXPECT_EQ(values, (std::vector<std::pair<double, int>>{{5e-6, 1}, {6e-6, 2}, {9e-6, 1}}));
}

// A send of 100 bytes between its first member that runs and the last that is done.
TEST(Counters, BytesInFlightAreThoseOfOperationsThatRun) {
  TaskGraphBuilder builder(2);
  const CommunicatorId link = builder.link(RankId{0U}, RankId{1U}, Dimension::kPp);
  const ProgramId sender = builder.add_program();
  const ProgramId receiver = builder.add_program();
  (void)builder.add_send(sender, 0, Bytes{100}, 0);
  (void)builder.add_receive(receiver, 0, Bytes{100}, 0);
  builder.assign(RankId{0U}, sender, {link});
  builder.assign(RankId{1U}, receiver, {link});
  const TaskGraph graph = std::move(builder).build();
  using Op = OperationEvent::State;
  const auto event = [&](std::int64_t at, std::uint32_t rank, Op state) {
    return OperationEvent{Time{at}, 0, link, CollectiveOp::kSend, RankId{rank}, TaskId{0U}, state};
  };
  const std::vector<OperationEvent> all{event(1, 0, Op::kArrived), event(2, 1, Op::kArrived), event(2, 0, Op::kRunning),
                                        event(2, 1, Op::kRunning), event(5, 0, Op::kDone),    event(6, 1, Op::kDone)};
  report::SeenTasks seen;
  seen.begin(graph);
  const ParsedJson counted = events([&](report::TraceText& text) { report::write_bytes_in_flight(seen, all, 1, text); });
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0]["ts"], 2e-6);
  EXPECT_EQ(counted[0]["args"], ParsedJson({{"pp", 100}}));
  EXPECT_EQ(counted[1]["ts"], 6e-6);
  EXPECT_EQ(counted[1]["args"], ParsedJson({{"pp", 0}}));
}

}  // namespace
}  // namespace photonrail::test
