#include "formats/kineto/kineto_support.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"

#include <vector>

namespace photonrail::test {
namespace {

using Events = std::vector<KinetoJson>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TaskGraph graph_of(const std::vector<Events>& ranks, std::optional<std::uint64_t> iteration = {}) {
  const Folder folder;
  std::vector<std::string> files;
  for (const Events& events : ranks) files.push_back(kineto_trace(events));
  KinetoOptions options = put_kineto(folder, files);
  options.iteration = iteration;
  return read_kineto(options);
}

/// The same events on both ranks.
TaskGraph pair_of(const Events& events, std::optional<std::uint64_t> iteration = {}) {
  return graph_of({events, events}, iteration);
}

std::string error_of_pair(const Events& events, std::optional<std::uint64_t> iteration = {}) {
  return message_of([&] { static_cast<void>(pair_of(events, iteration)); });
}

TEST(KinetoReader, KernelsBecomeTasks) {
  // Times of a clock that began in 1970: a double would keep quarters of a microsecond only.
  const std::string text =
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1719000000000000.125, "dur": 10.5, "tid": 7},
          {"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", "ts": 1719000000000012.625, "dur": 3, "tid": 20,
           "args": {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2,
                    "dtype": "BFloat16", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}]})";
  const Folder folder;
  const TaskGraph graph = read_kineto(put_kineto(folder, {text, text}));
  ASSERT_EQ(graph.ranks(), 2u);
  const auto tasks = graph.program(RankId{0}).tasks();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].time(), Duration{10'500'000});  // ps
  EXPECT_EQ(tasks[0].stream, Stream::kGpu);
  EXPECT_EQ(tasks[1].time(), Duration{2'000'000});  // the launch: 12.625 - 0.125 - 10.5
  EXPECT_EQ(tasks[1].stream, Stream::kHost);
  EXPECT_EQ(tasks[2].kind, TaskKind::kCollective);
  EXPECT_EQ(tasks[2].size(), Bytes{2000});  // BFloat16
  EXPECT_EQ(graph.communicators()[0].name, "0");
}

TEST(KinetoReader, TimesKeepTheirNanosecondsInAnyForm) {
  // As tools write them that keep numbers in floating point: behind an exponent, with noise in the last digits.
  const std::string text =
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a", "ts": 1.7190000000000125e+15, "dur": 1.05e1, "tid": 7.0},
          {"ph": "X", "cat": "kernel", "name": "b", "ts": 1719000000000030.5, "dur": 2.3449999999999998, "tid": 7}]})";
  const Folder folder;
  const TaskGraph graph = read_kineto(put_kineto(folder, {text}));
  ASSERT_EQ(graph.program(RankId{0}).tasks().size(), 1u);
  EXPECT_EQ(task(graph, 0, 0).time(), Duration{20'345'000});  // 30.5 + 2.345 - 12.5 us
}

struct Spelling {
  std::string name;
  CollectiveOp op;
  std::int64_t bytes;  // of 1000 Float in, 2000 out, two ranks
};
std::ostream& operator<<(std::ostream& out, const Spelling& s) { return out << s.name; }
class KinetoSpelling : public ::testing::TestWithParam<Spelling> {};

TEST_P(KinetoSpelling, IsAnOperationWithItsSize) {
  const TaskGraph graph = pair_of({nccl(0, 1, {GetParam().name, 1000, 2000})});
  const Task& task = graph.program(RankId{0}).tasks().back();
  EXPECT_EQ(task.op, GetParam().op);
  EXPECT_EQ(task.size(), Bytes{GetParam().bytes});
}

INSTANTIATE_TEST_SUITE_P(
    All, KinetoSpelling,
    ::testing::ValuesIn(std::vector<Spelling>{
        Spelling{"allreduce", CollectiveOp::kAllReduce, 4000},
        Spelling{"allreduce_coalesced", CollectiveOp::kAllReduce, 4000},
        Spelling{"_allgather_base", CollectiveOp::kAllGather, 4000},  // a shard
        Spelling{"all_gather", CollectiveOp::kAllGather, 4000},
        Spelling{"allgather_into_tensor_coalesced", CollectiveOp::kAllGather, 4000},
        Spelling{"_reduce_scatter_base", CollectiveOp::kReduceScatter, 4000},
        Spelling{"reduce_scatter_tensor_coalesced", CollectiveOp::kReduceScatter, 4000},
        Spelling{"all_to_allv", CollectiveOp::kAllToAll, 4000}, Spelling{"broadcast", CollectiveOp::kBroadcast, 4000},
        Spelling{"_reduce_oop", CollectiveOp::kReduce, 4000}, Spelling{"gather", CollectiveOp::kGather, 4000},
        Spelling{"scatter", CollectiveOp::kScatter, 16000},  // 2000 for each of two
        Spelling{"barrier", CollectiveOp::kBarrier, 0}}));

TEST(KinetoReader, AStepThatOverlapsStaysOverlapped) {
  // 0-100 us, then an all-reduce of 4 MB from 100 to 190 with 100-150 beside it, then 200-210 after it.
  const Events events{kernel(0, 100), nccl(100, 90, {"allreduce", 1'000'000, 1'000'000}), kernel(100, 50), kernel(200, 10)};
  Scenario scenario;
  scenario.cluster.servers = 2;
  scenario.graph = pair_of(events);
  scenario.gpu_of_rank = {GpuId{0}, GpuId{1}};
  // On 50 GB/s ports the ring takes 2 x 2 MB / 50 GB/s = 80 us: 100 + 80, 10 of idle time after it, 10 of work.
  EXPECT_EQ(simulate(scenario).makespan, Duration{200'000'000});
  // On ports ten times as fast it ends at 108, before the kernel beside it at 150: 150 + the 10 after it, and
  // the 10 of idle time, since the last kernel began 10 after the end of the all-reduce.
  scenario.cluster.nic.per_port = Bandwidth::from_gb_per_s(500);
  EXPECT_EQ(simulate(scenario).makespan, Duration{170'000'000});
}

TEST(KinetoReader, AStepOfTheProfilerCanBeChosen) {
  const Events events{step(3, 0, 100), step(4, 100, 100), kernel(10, 20),
                      kernel(110, 30), nccl(150, 10, {}), kernel(210, 7)};
  const TaskGraph graph = pair_of(events, 4);
  const auto tasks = graph.program(RankId{1}).tasks();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].time(), Duration{30'000'000});
  EXPECT_EQ(tasks[2].size(), Bytes{4000});
  EXPECT_THAT(error_of_pair(events, 5), HasSubstr("rank0_trace.json: has no ProfilerStep#5 (it has 3, 4)"));
  EXPECT_THAT(error_of_pair({kernel(0, 1)}, 0), HasSubstr("it has none at all"));
}

TEST(KinetoReader, TheGpusViewOfAStepGoesFirst) {
  const Events events{step(3, 0, 100), step(3, 50, 100, "gpu_user_annotation"), kernel(10, 20), kernel(110, 30)};
  EXPECT_EQ(pair_of(events, 3).program(RankId{0}).tasks()[0].time(), Duration{30'000'000});
}

TEST(KinetoReader, SendsMeetTheirReceives) {
  KinetoJson send = nccl(10, 5, {"send", 500, 500, "Half"});
  KinetoJson receive = nccl(12, 5, {"recv", 500, 500, "Half"});
  const TaskGraph pair = graph_of({{send}, {receive}});  // a group of two: the other one
  EXPECT_EQ(pair.communicators()[0].members, (std::vector{RankId{0}, RankId{1}}));
  EXPECT_EQ(pair.program(RankId{0}).tasks().back().kind, TaskKind::kSend);
  EXPECT_EQ(pair.program(RankId{1}).tasks().back().kind, TaskKind::kReceive);
  EXPECT_EQ(pair.program(RankId{1}).tasks().back().size(), Bytes{1000});

  for (KinetoJson* event : {&send, &receive}) {
    (*event)["args"]["Process Group Ranks"] = "[0, 1, 2]";
    (*event)["args"]["Group size"] = 3;
  }
  EXPECT_THAT(message_of([&] {
                static_cast<void>(graph_of({{send}, {kernel(0, 1)}, {receive}}));
              }),
              HasSubstr("does not say with whom"));
  send["args"]["Dst Rank"] = 2;
  receive["args"]["Src Rank"] = 0;
  const TaskGraph three = graph_of({{send}, {kernel(0, 1)}, {receive}});
  EXPECT_EQ(three.communicators()[0].members, (std::vector{RankId{0}, RankId{2}}));
}

TEST(KinetoReader, GroupsAreTheirNamesAndRanks) {
  // Two groups of one name, as with device meshes; the description says the dimension.
  const auto call = [](const std::string& ranks) {
    KinetoJson event = nccl(0, 1, {"allreduce", 1, 1, "Float", "tp", ranks});
    event["args"]["Process Group Description"] = "mesh_dp_shard";
    return event;
  };
  const TaskGraph graph = graph_of({{call("[0, 1]")}, {call("[0, 1]")}, {call("[2, 3]")}, {call("[2, 3]")}});
  ASSERT_EQ(graph.communicators().size(), 2u);
  EXPECT_EQ(graph.communicators()[1].members, (std::vector{RankId{2}, RankId{3}}));
  EXPECT_EQ(graph.communicators()[1].dimension, Dimension::kDp);
}

TEST(KinetoReader, AListOfRanksThatIsCutIsMadeWhole) {
  // PyTorch writes at most 30 ranks: those that use the group are its members.
  const KinetoJson call = nccl(0, 1, {"allreduce", 1, 1, "Float", "5", "[0, ...]", 2});
  const TaskGraph graph = graph_of({{call}, {kernel(0, 1)}, {call}});
  EXPECT_EQ(graph.communicators()[0].members, (std::vector{RankId{0}, RankId{2}}));
  EXPECT_THAT(message_of([&] {
                static_cast<void>(graph_of({{call}, {kernel(0, 1)}, {kernel(0, 1)}}));
              }),
              HasSubstr("has Group size 2, but 1 ranks use the group"));
}

TEST(KinetoReader, AGroupOfOneIsAKernel) {
  const TaskGraph alone = graph_of({{kernel(0, 2), nccl(2, 3, {"allreduce", 1, 1, "Float", "7", "[0]", 1}, 7)}});
  ASSERT_EQ(alone.program(RankId{0}).tasks().size(), 1u);
  EXPECT_EQ(alone.program(RankId{0}).tasks()[0].time(), Duration{5'000'000});
}

TEST(KinetoReader, PackedFilesAndPatterns) {
  const Folder folder;
  const std::string text = kineto_trace({kernel(0, 2), nccl(2, 1, {})});
  for (const char* rank : {"0", "1"}) folder.write("rank" + std::string(rank) + "_trace.json.gz", gzipped(text));
  EXPECT_EQ(read_kineto({folder.path(), {}}).ranks(), 2u);
  EXPECT_EQ(read_kineto({folder.path() / "rank*_trace.json.gz", {}}).ranks(), 2u);
  EXPECT_THAT(message_of([&] {
                static_cast<void>(read_kineto({folder.path() / "kineto_*.json", {}}));
              }),
              HasSubstr("no such file"));
  EXPECT_THAT(message_of([&] {
                static_cast<void>(read_kineto({folder.path() / "rank0_trace.json.gz", {}}));
              }),
              HasSubstr("is neither a folder nor a pattern"));
}

TEST(KinetoReader, AMissingRankIsSaid) {
  const Folder folder;
  const std::string text = kineto_trace({kernel(0, 2)});
  EXPECT_THAT(message_of([&] {
                static_cast<void>(read_kineto({folder.path(), {}}));
              }),
              HasSubstr("has no rank0_trace.json"));
  folder.write("rank0_trace.json", text);
  folder.write("rank2_trace.json", text);
  EXPECT_THAT(message_of([&] {
                static_cast<void>(read_kineto({folder.path(), {}}));
              }),
              HasSubstr("rank 1 is missing, but there is rank 2"));
  folder.write("rank1_trace.json", R"({"distributedInfo": {"rank": 1, "world_size": 4}, )" + text.substr(1));
  EXPECT_THAT(message_of([&] {
                static_cast<void>(read_kineto({folder.path(), {}}));
              }),
              HasSubstr("rank1_trace.json: distributedInfo: the job has 4 ranks, but there are 3 files"));
  folder.write("rank1_trace.json", R"({"distributedInfo": {"rank": 2, "world_size": 3}, )" + text.substr(1));
  EXPECT_THAT(message_of([&] { static_cast<void>(read_kineto({folder.path(), {}})); }), HasSubstr("is of rank 2, not 1"));
}

TEST(KinetoReader, WhatCannotBeIsSaid) {
  EXPECT_THAT(error_of_pair({nccl(0, 1, {"allsum"})}),
              HasSubstr("rank0_trace.json: a allsum of group \"0\": unknown collective \"allsum\""));
  EXPECT_THAT(error_of_pair({nccl(0, 1, {"allreduce", 1, 1, "Quarter"})}), HasSubstr("unknown dtype \"Quarter\""));
  EXPECT_THAT(error_of_pair({nccl(0, 1, {"allreduce", 1, 1, "Float", "0", "[0, 1, 2]", 3})}),
              HasSubstr("names rank 2, but"));
  EXPECT_THAT(error_of_pair({nccl(0, 1, {"allreduce", 1, 1, "Float", "0", "[0, 1]", 4})}),
              HasSubstr("has Group size 4, but 2"));
  EXPECT_THAT(error_of_pair({nccl(0, 1, {"allreduce", 1, 1, "Float", "0", "[1, 1]"})}), HasSubstr("names a rank twice"));
  EXPECT_THAT(error_of_pair({nccl(0, 1, {"allreduce", std::int64_t{1} << 60})}), HasSubstr("more than 1 PiB"));
  EXPECT_THAT(error_of_pair({step(1, 0, 5)}), HasSubstr("has no GPU kernel"));
  KinetoJson silent = nccl(0, 1, {});
  silent["args"].erase("Collective name");
  EXPECT_THAT(error_of_pair({kernel(0, 1), silent}), HasSubstr("event 2 (ncclDevKernel_AllReduce"));
  KinetoJson uneven = nccl(0, 1, {"all_to_allv"});
  uneven["args"]["In split size"] = "[1, 3]";
  EXPECT_THAT(error_of_pair({uneven}), HasSubstr("unequal parts"));
  KinetoJson timeless = kernel(0, 1);
  timeless.erase("dur");
  EXPECT_THAT(error_of_pair({timeless}), HasSubstr("event 1 (gemm): has no duration"));
}

TEST(KinetoReader, RanksThatDisagreeAreSaid) {
  EXPECT_THAT(message_of([&] {
                static_cast<void>(graph_of({{nccl(0, 1, {"allreduce", 1})}, {nccl(0, 1, {"allreduce", 2})}}));
              }),
              HasSubstr("rank 0 task 1 ('allreduce') says 4 bytes, rank 1 task 1 ('allreduce') says 8 bytes"));
  const TaskGraph graph = graph_of({{nccl(0, 1, {})}, {nccl(0, 1, {}), nccl(2, 1, {})}});
  EXPECT_THAT(graph.warnings(), ElementsAre(HasSubstr("calls")));
}

TEST(KinetoReader, AScenarioNamesTheFiles) {
  const Folder folder;
  const std::string text = kineto_trace({step(1, 0, 5), kernel(0, 2), nccl(2, 1, {}), kernel(7, 1)});
  put_kineto(folder, {text, text});
  const auto parse = [&](const std::string& keys) {
    return parse_scenario(R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 1},
                              "workload": {"kineto": {)" +
                              keys + "}}}",
                          folder.path());
  };
  EXPECT_EQ(parse(R"("files": ".")").graph.program(RankId{0}).tasks().size(), 4u);
  EXPECT_EQ(parse(R"("files": "rank*_trace.json", "iteration": 1)").graph.program(RankId{0}).tasks().size(), 3u);
  EXPECT_THAT(message_of([&] { static_cast<void>(parse(R"("folder": ".")")); }), HasSubstr("/workload/kineto"));
  EXPECT_THAT(message_of([&] { static_cast<void>(parse(R"("files": ".", "iteration": 2)")); }),
              HasSubstr("/workload/kineto: "));
}

}  // namespace
}  // namespace photonrail::test
