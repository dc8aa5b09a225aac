#include "photonrail/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include "report/durations.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using ParsedJson = nlohmann::json;
using OperationState = OperationEvent::State;

/// Two ranks in one dp group, each with a compute task 0 and all-reduces 1 and 2.
Scenario two_ranks_scenario() {
  TaskGraphBuilder builder(2);
  const auto group = builder.add_communicator("dp \"0\"", {RankId{0}, RankId{1}}, Dimension::kDp);
  const auto program = builder.add_program();
  (void)builder.add_compute(program, 1.0, Bytes{}, "forward");
  (void)builder.add_collective(program, 0, CollectiveOp::kAllReduce, Bytes{1000}, "gradients");
  (void)builder.add_collective(program, 0, CollectiveOp::kAllReduce, Bytes{2000});
  builder.assign(RankId{0}, program, {group});
  builder.assign(RankId{1}, program, {group});
  Scenario scenario;
  scenario.graph = std::move(builder).build();
  return scenario;
}

class TraceFile {
 public:
  TraceFile() { writer_.begin(two_ranks_scenario()); }  // the scenario is gone when the file is written

  void operation(Duration at, std::uint32_t sequence, std::size_t rank, OperationState state) {
    const TaskId task{sequence + 1};
    writer_.operation({Time{at}, sequence, CommunicatorId{0}, CollectiveOp::kAllReduce, RankId{rank}, task, state});
  }
  void circuit(Duration at, std::size_t from, std::size_t to, CircuitState state, CommunicatorId serves) {
    writer_.circuit({Time{at}, RailId{1}, {PortId{from}, PortId{to}}, state, serves});
  }
  TraceWriter& writer() { return writer_; }

  [[nodiscard]] ParsedJson events() const { return file().at("traceEvents"); }
  [[nodiscard]] ParsedJson file() const {
    const fs::path file = fs::temp_directory_path() / ("photonrail_trace_" + std::to_string(::getpid()) + ".json");
    writer_.write(file);
    std::ifstream in(file);
    ParsedJson json = ParsedJson::parse(in);
    fs::remove(file);
    return json;
  }

 private:
  TraceWriter writer_;
};

std::vector<ParsedJson> spans(const ParsedJson& events, const std::string& category) {
  std::vector<ParsedJson> found;
  for (const ParsedJson& event : events) {
    if (event["ph"] == "X" && event["cat"] == category) found.push_back(event);
  }
  return found;
}

std::string name_of(const ParsedJson& events, const char* kind, const ParsedJson& span) {
  for (const ParsedJson& event : events) {
    if (event["ph"] != "M" || event["name"] != kind || event["pid"] != span["pid"]) continue;
    if (event["tid"] == span["tid"] || std::string(kind) == "process_name") return event["args"]["name"];
  }
  return "(no name)";
}

void expect_no_overlap(const ParsedJson& events) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
  for (const ParsedJson& e : events) {
    if (e["ph"] == "X") threads[{e["pid"], e["tid"]}].push_back({e["ts"], e["dur"]});
  }
  for (auto& [thread, list] : threads) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i) {
      EXPECT_LE(list[i - 1].first + list[i - 1].second, list[i].first + 1e-6) << "process " << thread.first;
    }
  }
}

TEST(TraceWriter, AnOperationIsItsWaitsAndItself) {
  TraceFile trace;
  trace.operation(us(1), 0, 0, OperationState::kArrived);
  trace.operation(us(3), 0, 0, OperationState::kWaitingForCircuits);
  trace.operation(us(3) + Duration{5}, 0, 0, OperationState::kRunning);
  trace.operation(us(9), 0, 0, OperationState::kDone);
  const ParsedJson events = trace.events();
  ASSERT_EQ(spans(events, "peers").size(), 1u);
  EXPECT_DOUBLE_EQ(spans(events, "peers")[0]["dur"], 2.0);
  ASSERT_EQ(spans(events, "circuits").size(), 1u);
  EXPECT_DOUBLE_EQ(spans(events, "circuits")[0]["dur"], 0.000005);  // 5 ps in microseconds
  ASSERT_EQ(spans(events, "communication").size(), 1u);
  const ParsedJson span = spans(events, "communication")[0];
  EXPECT_DOUBLE_EQ(span["ts"], 3.000005);
  EXPECT_EQ(span["name"], "gradients");
  EXPECT_EQ(span["args"]["op"], "all_reduce");
  EXPECT_EQ(span["args"]["group"], "dp \"0\"");
  EXPECT_EQ(span["args"]["bytes"], "1000");
  EXPECT_EQ(name_of(events, "process_name", span), "rank 0");
  EXPECT_EQ(name_of(events, "thread_name", span), "dp");
}

// An OCS whose failure is detected 3 us later and repaired 6 us after it began; a GPU that stops for good; a fault after
// the end.
TEST(TraceWriter, AFailureIsItsDetectionAndItsRepair) {
  Scenario scenario = two_ranks_scenario();
  const PortFault late{.at = Time{us(50)}};
  scenario.cluster.rail.faults = {{.rail = RailId{1}, .at = Time{us(2)}, .lasts = us(6), .plane = 0, .detection = us(3)},
                                  late};
  StragglerSpec gpu;
  gpu.whom = StragglerSpec::Whom::kListed;
  gpu.ranks = {RankId{1}};
  gpu.at = Time{us(7)};
  gpu.stops = true;
  scenario.stragglers = {gpu};
  TraceFile trace;
  trace.writer().begin(scenario);
  trace.writer().end(Time{us(10)});
  const ParsedJson faults = spans(trace.events(), "fault");
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0]["name"], "not detected: rail 1, plane 0: failed");
  EXPECT_EQ(faults[0]["ts"], 2.0);
  EXPECT_EQ(faults[0]["dur"], 3.0);
  EXPECT_EQ(faults[1]["name"], "until the repair: rail 1, plane 0: failed");
  EXPECT_EQ(faults[1]["dur"], 3.0);
  EXPECT_EQ(faults[2]["name"], "for good: GPU of rank 1: stopped");
  EXPECT_EQ(faults[2]["dur"], 3.0);
  EXPECT_EQ(name_of(trace.events(), "process_name", faults[2]), "faults");
}

// Failures of each job, and of links inside servers; the last rank of the second job is a host of storage.
TEST(TraceWriter, JobsHaveTheirFailuresAndHosts) {
  StragglerSpec gpu;
  gpu.at = Time{us(2)};
  gpu.stops = true;
  Scenario first = two_ranks_scenario();
  first.name = "first";
  first.gpu_of_rank = {GpuId{0}, GpuId{1}};
  first.stragglers = {gpu};
  Scenario second = two_ranks_scenario();
  second.gpu_of_rank = {GpuId{2}, GpuId{3}};
  second.storage_ranks = 1;
  Scenario all;
  all.cluster.servers = 4;
  all.cluster.scale_up.faults = {{.server = 1, .gpu = 0, .at = Time{us(1)}}};
  const TaskGraph* const graphs[] = {&first.graph, &second.graph};
  const std::string names[] = {"first", "second"};
  all.graph = TaskGraph::side_by_side(graphs, names);
  all.gpu_of_rank = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  all.jobs = {first, second};
  TraceFile trace;
  trace.writer().begin(all);
  trace.writer().end(Time{us(10)});
  const ParsedJson file = trace.file();
  EXPECT_EQ(file["otherData"]["storage_hosts"], ParsedJson::array({3}));
  const std::string text = file.dump();
  EXPECT_NE(text.find("rank 3 (storage host)"), std::string::npos);
  EXPECT_EQ(text.find("rank 2 (storage host)"), std::string::npos);
  const ParsedJson faults = spans(trace.events(), "fault");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0]["name"], "for good: links inside server 1, GPU 0: failed");
  EXPECT_EQ(faults[1]["name"], "for good: first: every GPU: stopped");
}

TEST(TraceWriter, OperationsAtOnceGetLanesOfTheirOwn) {
  TraceFile trace;
  trace.operation(us(0), 0, 0, OperationState::kArrived);
  trace.operation(us(1), 0, 0, OperationState::kRunning);
  trace.operation(us(2), 1, 0, OperationState::kArrived);  // while the first runs
  trace.operation(us(2), 1, 0, OperationState::kRunning);
  trace.operation(us(4), 0, 0, OperationState::kDone);
  trace.operation(us(6), 1, 0, OperationState::kDone);
  const ParsedJson events = trace.events();
  const auto running = spans(events, "communication");
  ASSERT_EQ(running.size(), 2u);
  EXPECT_EQ(name_of(events, "thread_name", running[0]), "dp");
  EXPECT_EQ(name_of(events, "thread_name", running[1]), "dp 2");
  EXPECT_EQ(running[1]["name"], "all_reduce");  // the task has no name of its own
  expect_no_overlap(events);
}

TEST(TraceWriter, OneAfterTheOtherShareALane) {
  TraceFile trace;
  for (std::uint32_t i = 0; i < 2; ++i) {
    trace.operation(us(2 * i), i, 1, OperationState::kArrived);
    trace.operation(us(2 * i), i, 1, OperationState::kRunning);
    trace.operation(us(2 * i + 2), i, 1, OperationState::kDone);
  }
  const ParsedJson events = trace.events();
  const auto running = spans(events, "communication");
  ASSERT_EQ(running.size(), 2u);
  EXPECT_EQ(running[0]["tid"], running[1]["tid"]);
  EXPECT_TRUE(spans(events, "peers").empty());  // no member waited
  expect_no_overlap(events);
}

TEST(TraceWriter, NewsOfAnOperationThatIsDoneIsIgnored) {
  TraceFile trace;
  trace.operation(us(1), 0, 0, OperationState::kArrived);
  trace.operation(us(1), 0, 0, OperationState::kRunning);
  trace.operation(us(5), 0, 0, OperationState::kDone);
  trace.operation(us(6), 0, 0, OperationState::kRunning);  // other members entered another round
  trace.writer().end(Time{us(9)});
  EXPECT_EQ(spans(trace.events(), "communication").size(), 1u);
}

TEST(TraceWriter, WhatIsOpenAtTheEndIsClosedThere) {
  TraceFile trace;
  trace.operation(us(1), 0, 0, OperationState::kArrived);
  trace.writer().end(Time{us(10)});
  EXPECT_DOUBLE_EQ(spans(trace.events(), "peers").at(0)["dur"], 9.0);
}

TEST(TraceWriter, ComputeAndHostHaveThreads) {
  TraceFile trace;
  trace.writer().compute({Time{us(1)}, Time{us(4)}, RankId{1}, TaskId{0}, Stream::kGpu});
  trace.writer().compute({Time{us(2)}, Time{us(3)}, RankId{1}, TaskId{0}, Stream::kHost});
  const ParsedJson events = trace.events();
  const auto found = spans(events, "compute");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["name"], "forward");
  EXPECT_EQ(name_of(events, "thread_name", found[0]), "compute");
  EXPECT_EQ(name_of(events, "thread_name", found[1]), "host");
  EXPECT_EQ(name_of(events, "process_name", found[1]), "rank 1");
}

TEST(TraceWriter, APortShowsWhatItPointsTo) {
  using S = CircuitState;
  TraceFile trace;
  trace.circuit(us(0), 0, 1, S::kLit, CommunicatorId::none());
  trace.circuit(us(4), 0, 1, S::kDark, CommunicatorId::none());
  trace.circuit(us(4), 0, 2, S::kSwitching, CommunicatorId{0});
  trace.circuit(us(4), 0, 1, S::kDark, CommunicatorId::none());  // late news of the old circuit
  trace.circuit(us(6), 0, 2, S::kLit, CommunicatorId::none());
  trace.writer().end(Time{us(9)});
  const ParsedJson events = trace.events();
  const auto lit = spans(events, "lit");
  ASSERT_EQ(lit.size(), 2u);
  EXPECT_EQ(lit[0]["name"], "lit → port 1");
  EXPECT_EQ(lit[1]["name"], "lit → port 2, group dp \"0\"");
  EXPECT_DOUBLE_EQ(lit[1]["dur"], 3.0);  // until the end of the run
  const auto switching = spans(events, "switching");
  ASSERT_EQ(switching.size(), 1u);
  EXPECT_DOUBLE_EQ(switching[0]["dur"], 2.0);
  EXPECT_EQ(name_of(events, "process_name", lit[0]), "rail 1 OCS");
  EXPECT_EQ(name_of(events, "thread_name", lit[0]), "port 0 (server 0)");
  expect_no_overlap(events);
}

TEST(TraceWriter, WithoutARunTheFileIsValidAndEmpty) {
  const fs::path file = fs::temp_directory_path() / ("photonrail_empty_" + std::to_string(::getpid()) + ".json");
  TraceWriter().write(file);
  std::ifstream in(file);
  EXPECT_TRUE(ParsedJson::parse(in).at("traceEvents").empty());
  fs::remove(file);
}

}  // namespace
}  // namespace photonrail::test
