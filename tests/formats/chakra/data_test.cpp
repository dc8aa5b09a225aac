// Real traces. The expected counts are what an independent dump of the files shows.
#include "formats/chakra/chakra_support.hpp"
#include "support/processor_time.hpp"
#include "support/shared_data.hpp"

#include <map>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ChakraOptions options_of(const std::filesystem::path& prefix, const std::filesystem::path& groups = {}) {
  ChakraOptions options;
  options.prefix = prefix;
  options.comm_groups = groups;
  return options;
}

struct Counts {
  std::map<std::string, int> tasks;  ///< "compute", "send", "receive", or operation and group
  std::map<std::string, std::int64_t> bytes;
  std::int64_t flops = 0;
};

Counts count(const TaskGraph& graph, std::size_t rank) {
  Counts counts;
  for (const Task& t : graph.program(RankId{rank}).tasks()) {
    std::string kind = t.kind == TaskKind::kCompute ? "compute" : t.kind == TaskKind::kSend ? "send" : "receive";
    if (t.kind == TaskKind::kCollective) kind = std::string(name(t.op)) + " " + communicator(graph, rank, t).name;
    ++counts.tasks[kind];
    counts.bytes[kind] += t.size().count;
    counts.flops += static_cast<std::int64_t>(t.flops);
  }
  return counts;
}

TEST(ChakraData, SmokeTrace) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto folder = data / "chakra" / "opus-smoke-dp2-pp2-tp2";
  const TaskGraph graph = read_chakra(options_of(folder / "workload", folder / "workload.json"));
  ASSERT_EQ(graph.ranks(), 8u);
  const Counts first = count(graph, 0);
  EXPECT_EQ(first.tasks, (std::map<std::string, int>{{"compute", 1493},
                                                     {"all_gather 5", 288},
                                                     {"reduce_scatter 5", 192},
                                                     {"all_reduce 1", 49},
                                                     {"all_reduce 5", 1},
                                                     {"send", 1},
                                                     {"receive", 1}}));
  EXPECT_EQ(first.flops, 28077680280731648);
  EXPECT_EQ(first.bytes.at("all_gather 5"), 618475290624);
  EXPECT_EQ(first.bytes.at("reduce_scatter 5"), 824633720832);
  EXPECT_EQ(first.bytes.at("all_reduce 1"), 17978884096);
  EXPECT_EQ(first.bytes.at("send"), 2147483648);
  const Counts second_stage = count(graph, 4);
  EXPECT_EQ(second_stage.tasks.at("compute"), 1495);
  EXPECT_EQ(second_stage.flops, 28077701755568128);
  EXPECT_THAT(graph.warnings(), ElementsAre(HasSubstr("do not name their Chakra version: 8")));
}

TEST(ChakraData, LlamaTrace) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto folder = data / "chakra" / "llama3-8b-fsdp-dp2-pp2-tp4";
  const double before_s = processor_seconds();
  const TaskGraph graph = read_chakra(options_of(folder / "llama3_8b", folder / "llama3_8b.json"));
  const double took_s = processor_seconds() - before_s;
  ASSERT_EQ(graph.ranks(), 16u);
  const Counts first = count(graph, 0);
  EXPECT_EQ(first.tasks, (std::map<std::string, int>{{"compute", 1902},
                                                     {"all_gather 1", 128},
                                                     {"all_gather 9", 384},
                                                     {"all_reduce 1", 1},
                                                     {"all_reduce 9", 1},
                                                     {"reduce_scatter 1", 64},
                                                     {"reduce_scatter 9", 256},
                                                     {"send", 4},
                                                     {"receive", 4}}));
  EXPECT_EQ(first.flops, 171015575437312);
  EXPECT_EQ(count(graph, 8).flops, 171016246525952);
  EXPECT_THAT(graph.warnings(), ElementsAre(HasSubstr("do not name their Chakra version: 16")));
  // 12.7 MB take some 50 ms; a cost that grows with the square of the nodes would take seconds.
  EXPECT_LT(took_s, 1.0);
}

TEST(ChakraData, CustomRingOfSendsAndReceives) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  ChakraOptions options = options_of(data / "chakra" / "custom-ring-allreduce-8" / "custom_allreduce");
  options.compute_time = ComputeTime::kTrace;
  const TaskGraph graph = read_chakra(options);
  ASSERT_EQ(graph.ranks(), 8u);
  ASSERT_EQ(graph.communicators().size(), 8u);
  for (std::size_t r = 0; r < 8; ++r) {
    const Counts counts = count(graph, r);
    EXPECT_EQ(counts.tasks, (std::map<std::string, int>{{"compute", 7}, {"send", 14}, {"receive", 14}}));
    EXPECT_EQ(counts.bytes.at("send"), 1835008);
  }
  // Rank 0 sends to its right, rank 1, first.
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 0)).members, ranks({0, 1}));
  EXPECT_THAT(graph.warnings(), ElementsAre(HasSubstr("do not name their Chakra version: 8")));
}

TEST(ChakraData, PytorchTrace) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto folder = data / "chakra" / "pytorch-2gpu-allreduce";
  const TaskGraph graph = read_chakra(options_of(folder / "chakra_trace", folder / "comm_group.json"));
  ASSERT_EQ(graph.ranks(), 2u);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(count(graph, r).tasks,
              (std::map<std::string, int>{{"compute", 1632}, {"all_reduce 1", 1}, {"all_reduce 2", 1}}));
    EXPECT_EQ(count(graph, r).bytes.at("all_reduce 1"), 4294967296);
  }
  EXPECT_THAT(graph.warnings(), Contains(HasSubstr("without num_ops and tensor_size, which take no time: 3264")));
}

TEST(ChakraData, FeederTraceWithDanglingDependencies) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const TaskGraph graph = read_chakra(options_of(data / "chakra" / "feeder-tests" / "chakra"));
  ASSERT_EQ(graph.ranks(), 1u);
  // One rank: its seven collectives have no peer, and 14 more have no type.
  EXPECT_EQ(count(graph, 0).tasks, (std::map<std::string, int>{{"compute", 3643 + 21}}));
  EXPECT_THAT(graph.warnings(),
              Contains(AllOf(HasSubstr("not in the file, dropped: 1277, the first node 216 "), HasSubstr("on node 3"))));
  // Its data dependencies have no cycle; with the control dependencies there are 417 strongly connected components of more
  // than one node, with 554 control dependencies on a later node inside them, and 383 nodes wait for themselves.
  EXPECT_THAT(graph.warnings(), Contains(HasSubstr("close a cycle, dropped: 554, ")));
  EXPECT_THAT(graph.warnings(), Contains(HasSubstr("depend on themselves, dropped: 383, ")));
  EXPECT_THAT(graph.warnings(),
              Contains(AllOf(HasSubstr("without comm_type"), HasSubstr(": 14, the first "), HasSubstr("node 432 "))));
}

TEST(ChakraData, Microbenchmarks) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const std::map<std::string, CollectiveOp> operations{{"all_reduce", CollectiveOp::kAllReduce},
                                                       {"all_gather", CollectiveOp::kAllGather},
                                                       {"all_to_all", CollectiveOp::kAllToAll},
                                                       {"reduce_scatter", CollectiveOp::kReduceScatter}};
  for (const auto& [name, op] : operations) {
    for (const std::size_t members : {4, 8}) {
      const auto folder = data / "chakra" / "microbenchmarks" / name / (std::to_string(members) + "npus_1MB");
      const TaskGraph graph = read_chakra(options_of(folder / name));
      EXPECT_EQ(graph.ranks(), members) << name;
      EXPECT_EQ(graph.task_count(), members) << name;
      ASSERT_EQ(graph.communicators().size(), 1u) << name;
      EXPECT_EQ(graph.communicators()[0].members.size(), members) << name;
      EXPECT_EQ(task(graph, members - 1, 0).op, op) << name;
      EXPECT_EQ(task(graph, members - 1, 0).size(), Bytes{1 << 20}) << name;
      EXPECT_THAT(graph.warnings(), IsEmpty()) << name;
    }
  }
}

TEST(ChakraData, ARealTraceSurvivesARoundTrip) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto source = data / "chakra" / "opus-smoke-dp2-pp2-tp2";
  const TaskGraph graph = read_chakra(options_of(source / "workload", source / "workload.json"));
  const Folder folder;
  write_chakra(graph, folder.path() / "copy");
  const TaskGraph back = read_chakra(options_of(folder.path() / "copy", folder.path() / "copy.json"));
  EXPECT_EQ(graph.programs(), back.programs());
  EXPECT_EQ(graph.communicators(), back.communicators());
  EXPECT_THAT(back.warnings(), IsEmpty());
}

}  // namespace
}  // namespace photonrail::test
