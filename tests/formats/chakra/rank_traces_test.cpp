// Ranks whose files say the same but for groups and peers share what they have read.
#include "formats/chakra/rank_traces.hpp"

#include "formats/chakra/chakra_support.hpp"
#include "formats/chakra/files.hpp"
#include "photonrail/training.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

std::size_t different(const std::vector<formats::chakra::RankTrace>& ranks) {
  std::set<const void*> nodes;
  for (const auto& rank : ranks) nodes.insert(rank.nodes.get());
  return nodes.size();
}

// Two stages, each with one program.
TEST(RankTraces, TakeTheMemoryOfDifferentPrograms) {
  TrainingSpec spec;
  spec.model = {"small", 4, 512, 2048, 8, 8, 4096};
  spec.parallelism = {2, 2, 4, true};
  spec.sequence = 256;
  spec.micro_batch = 1;
  spec.global_batch = 4 * 4;
  const Folder folder;
  (void)write_chakra(make_training_graph(spec), folder.path() / "job");
  const auto ranks = formats::chakra::read_rank_traces(formats::chakra::find_traces(folder.path() / "job"));
  ASSERT_EQ(ranks.size(), 16u);
  EXPECT_EQ(different(ranks), 2u);
  EXPECT_NE(ranks[0].groups, ranks[15].groups);
}

TEST(RankTraces, GroupsAndPeersAreTheRanksOwn) {
  const auto of_pair = [](const char* group, std::int64_t peer) {
    return std::vector{collective(0, 0, 8, group), send(1, peer, 100), receive(2, peer, 100)};
  };
  const TaskGraph graph =
      read({of_pair("a", 1), of_pair("a", 0), of_pair("b", 3), of_pair("b", 2)}, {}, R"({"a": [0, 1], "b": [2, 3]})");
  EXPECT_EQ(graph.programs().size(), 1u);
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 0)).members, ranks({0, 1}));
  EXPECT_EQ(communicator(graph, 3, task(graph, 3, 0)).members, ranks({2, 3}));
  EXPECT_EQ(communicator(graph, 3, task(graph, 3, 1)).members, ranks({3, 2}));
  EXPECT_EQ(communicator(graph, 3, task(graph, 3, 2)).members, ranks({2, 3}));
}

// Random files that mostly say the same at the same place: nodes of all kinds, names and groups of other lengths, nodes
// left out or out of order.
std::string similar_file(std::mt19937_64& random) {
  std::vector<Node> nodes;
  const std::string group(1 + below(random, 3), 'g');
  const std::size_t count = 8 + below(random, 3);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t id = below(random, 12) == 0 ? 1000 - i : i;
    Node node = i % 4 == 0   ? collective(id, 0, 8, group)
                : i % 4 == 1 ? send(id, static_cast<std::int64_t>(below(random, 2)), 100)
                : i % 4 == 2 ? Node(id, kMetadata).text("groups", R"([{"pg_name": "g"}])")
                             : Node(id, kCompute, below(random, 6) == 0 ? "other" : "compute").duration_micros(7);
    if (i > 0 && below(random, 4) != 0) node.waits_for({0}, below(random, 6) == 0 ? 4 : 5);
    if (below(random, 10) != 0) nodes.push_back(std::move(node));
  }
  return trace(nodes);
}

TEST(RankTraces, AFileIsReadAsIfNoOtherHadBeenReadBefore) {
  std::mt19937_64 random(7);
  formats::chakra::TraceParser parser;
  for (int i = 0; i < 500; ++i) {
    const std::string data = similar_file(random);
    const formats::chakra::Trace alone = formats::chakra::parse_trace(data);
    const formats::chakra::Trace after_others = parser.parse(data);
    ASSERT_EQ(after_others.nodes, alone.nodes);
    ASSERT_EQ(after_others.text, alone.text);
    ASSERT_EQ(after_others.data_dependencies, alone.data_dependencies);
    ASSERT_EQ(after_others.control_dependencies, alone.control_dependencies);
    ASSERT_EQ(after_others.groups.size(), alone.groups.size());
    for (std::size_t g = 0; g < alone.groups.size(); ++g) {
      ASSERT_EQ(after_others.groups[g].where, alone.groups[g].where);
      ASSERT_EQ(after_others.groups[g].json, alone.groups[g].json);
    }
  }
}

// The text of a trace is shorter where names are: a piece without text has no place in it.
TEST(RankTraces, AnEmptyNameOfAGroupIsReadBehindLongerNames) {
  const Node world = collective(1, 0, 8).text("pg_name", "");
  const auto rank = [&](const char* name) { return trace({Node(0, kCompute, name), world}); };
  formats::chakra::TraceParser parser;
  static_cast<void>(parser.parse(rank("a long name")));
  const formats::chakra::Trace second = parser.parse(rank("b"));
  EXPECT_EQ(second.group(second.nodes.at(1)), "");
}

// A group of one exchanges nothing, so that its rank has another program.
TEST(RankTraces, AGroupOfOneIsNoGroup) {
  const TaskGraph graph = read({{collective(0, 0, 8, "a")}, {collective(0, 0, 8, "a")}, {collective(0, 0, 8, "b")}}, {},
                               R"({"a": [0, 1], "b": [2]})");
  EXPECT_EQ(graph.programs().size(), 2u);
  EXPECT_EQ(task(graph, 1, 0).kind, TaskKind::kCollective);
  EXPECT_EQ(task(graph, 2, 0).kind, TaskKind::kCompute);
}

// Of two calls, ranks 2 and 3 make both on one group.
TEST(RankTraces, TwoNamesOfOneGroupAreOneSlot) {
  const auto calls = [](const char* first, const char* second) {
    return std::vector{collective(0, 0, 8, first), collective(1, 0, 8, second)};
  };
  const TaskGraph graph = read({calls("a", "b"), calls("a", "b"), calls("c", "c"), calls("c", "c")}, {},
                               R"({"a": [0, 1], "b": [0, 1], "c": [2, 3]})");
  EXPECT_EQ(graph.slots(RankId{0}).size(), 2u);
  EXPECT_EQ(graph.slots(RankId{2}).size(), 1u);
  EXPECT_EQ(task(graph, 3, 1).match, 1u);  // the second call on the same communicator
}

// Broadcasts (comm_type 5 in the format) from the second member of each group, and from the first.
TEST(RankTraces, ARootIsAMemberOfTheRanksGroup) {
  const auto call = [](const char* group, std::int64_t root) {
    return std::vector{collective(0, 5, 8, group).number("root_rank", root)};
  };
  const auto read_roots = [&](std::int64_t second) {
    return read({call("a", 1), call("a", 1), call("b", second), call("b", second)}, {}, R"({"a": [0, 1], "b": [2, 3]})");
  };
  EXPECT_EQ(read_roots(3).programs().size(), 1u);
  const TaskGraph others = read_roots(2);
  EXPECT_EQ(others.programs().size(), 2u);
  EXPECT_EQ(task(others, 1, 0).root(), 1u);
  EXPECT_EQ(task(others, 3, 0).root(), 0u);
}

// What is wrong is said of the rank that has it, though its nodes are those of rank 0.
TEST(RankTraces, ErrorsNameTheRanksOwnFile) {
  const auto peer = [](std::int64_t rank) { return std::vector{send(0, rank, 100)}; };
  EXPECT_THAT(error_of_reading({peer(1), peer(7)}),
              ::testing::AllOf(HasSubstr("t.1.et: node 0 (send)"), HasSubstr("comm_dst is 7")));
  EXPECT_THAT(error_of_reading({peer(1), peer(1)}), ::testing::AllOf(HasSubstr("t.1.et"), HasSubstr("its own rank")));
  EXPECT_THAT(error_of_reading({{collective(0, 0, 8, "a")}, {collective(0, 0, 8, "z")}}, {}, R"({"a": [0, 1]})"),
              ::testing::AllOf(HasSubstr("t.1.et"), HasSubstr("unknown group \"z\"")));
}

}  // namespace
}  // namespace photonrail::test
