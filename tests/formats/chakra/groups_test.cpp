// Communicator groups: from the file, from metadata, and the world.
#include "formats/chakra/chakra_support.hpp"
#include "photonrail/config.hpp"
#include "photonrail/scenario.hpp"

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::vector<Node>> all_call(std::size_t ranks, std::string_view group) {
  return std::vector<std::vector<Node>>(ranks, {collective(0, 0, 8, group)});
}

TEST(ChakraGroups, NoNameIsTheWorldAndSoIsZero) {
  for (const char* name : {"", "0"}) {
    const TaskGraph graph = read(all_call(3, name));
    ASSERT_EQ(graph.communicators().size(), 1u);
    EXPECT_EQ(graph.communicators()[0], (Communicator{"world", ranks({0, 1, 2}), Dimension::kOther, false}));
  }
  std::vector<std::vector<Node>> empty_names(2, {collective(0, 0, 8).text("pg_name", "")});
  EXPECT_EQ(read(empty_names).communicators().at(0).name, "world");
}

TEST(ChakraGroups, ZeroIsWhatTheFileSays) {
  const TaskGraph graph = read({{collective(0, 0, 8, "0"), collective(1, 0, 8)},
                                {collective(0, 0, 8, "0"), collective(1, 0, 8)},
                                {collective(1, 0, 8)}},
                               {}, R"({"0": [0, 1]})");
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 0)).members, ranks({0, 1}));
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 1)).members, ranks({0, 1, 2}));
}

TEST(ChakraGroups, AZeroOfAllRanksIsTheWorld) {
  const auto nodes = std::vector{collective(0, 0, 8, "0"), collective(1, 0, 8)};
  const TaskGraph graph = read({nodes, nodes}, {}, R"({"0": [0, 1]})");
  EXPECT_EQ(graph.communicators().size(), 1u);
  EXPECT_EQ(task(graph, 0, 1).match, 1u);  // the second call on the same communicator
}

TEST(ChakraGroups, TheFileMayHaveComments) {
  const TaskGraph graph = read(all_call(2, "1"), {}, "{ // data parallel\n \"1\": [1, 0] }");
  EXPECT_EQ(graph.communicators().at(0), (Communicator{"1", ranks({0, 1}), Dimension::kOther, false}));
}

TEST(ChakraGroups, NumbersComeInTheirOrder) {
  const TaskGraph graph = read(all_call(2, "2"), {}, R"({"10": [0, 1], "2": [0, 1], "dp": [0, 1]})");
  ASSERT_EQ(graph.communicators().size(), 3u);
  EXPECT_EQ(graph.communicators()[0].name, "2");
  EXPECT_EQ(graph.communicators()[1].name, "10");
  EXPECT_EQ(graph.communicators()[2].name, "dp");
}

// Of four ranks in two groups of two, on servers of so many GPUs.
std::vector<std::string> warnings_on(std::uint32_t gpus_per_server, const std::string& first, const std::string& second,
                                     const std::string& more = "") {
  const Folder folder;
  for (int rank = 0; rank < 4; ++rank) {
    folder.write("t." + std::to_string(rank) + ".et", trace({collective(0, 0, 8, rank < 2 ? first : second)}));
  }
  folder.write("t.json", "{\"" + first + "\": [0, 1], \"" + second + "\": [2, 3]}");
  const Scenario scenario =
      parse_scenario(R"({ "schema": "photonrail.scenario/1", "cluster": { "servers": 4, "gpus_per_server": )" +
                         std::to_string(gpus_per_server) +
                         R"( }, "workload": { "chakra": { "prefix": "t", "comm_groups": "t.json" } })" + more + "}",
                     folder.path());
  return scenario.graph.warnings();
}

TEST(ChakraGroups, ADoubtfulDimensionIsTold) {
  EXPECT_THAT(warnings_on(2, "1", "2"), IsEmpty());  // inside a server: tp
  EXPECT_THAT(
      warnings_on(1, "1", "2"),
      ElementsAre("group \"1\" of the trace (ranks 0 to 1) counts as dp by the default placement, rank r on GPU r with 1 "
                  "GPU a server, though its ranks are consecutive, as those of tp usually are (2 such groups); name "
                  "dimensions in /workload/chakra/dimensions, or give /placement"));
  // A placement that is given is meant; a name that says otherwise is told all the same.
  const std::string placed = R"(, "placement": { "rank_to_gpu": [0, 1, 2, 3] })";
  EXPECT_THAT(warnings_on(1, "1", "2", placed), IsEmpty());
  EXPECT_THAT(warnings_on(1, "tp.0", "tp.1", placed), ElementsAre(HasSubstr("though its name says tp (2 such groups)")));
  EXPECT_THAT(warnings_on(1, "dp.0", "dp.1"), IsEmpty());
}

TEST(ChakraGroups, AGroupOfOneHasNothingToExchange) {
  const TaskGraph graph = read({{collective(0, 0, 8, "7"), Node(1, kMetadata).waits_for({0})}}, {}, R"({"7": [0]})");
  EXPECT_EQ(task(graph, 0, 0), (Task::delay(Duration{0}, Stream::kHost)));
  EXPECT_THAT(waiting(graph, 0, 0), ElementsAre(1u));
  EXPECT_THAT(graph.communicators(), IsEmpty());
}

TEST(ChakraGroups, MetadataNodesDefineGroups) {
  const Node defines =
      Node(9, kMetadata, "groups").text("pgs", R"([{"pg_name": "4", "ranks": [0, 2]}, {"pg_name": "5", "ranks": []}])");
  const TaskGraph graph = read({{collective(0, 0, 8, "4")}, {Node(0, kMetadata)}, {collective(0, 0, 8, "4"), defines}});
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 0)).members, ranks({0, 2}));
  ASSERT_EQ(graph.communicators().size(), 2u);
  EXPECT_EQ(graph.communicators()[1].members, ranks({0, 1, 2}));  // no ranks: all
}

TEST(ChakraGroups, MetadataThatContradictsItselfIsAnErrorUnlessTheFileDecides) {
  const auto defines = [](const char* json) { return Node(1, kMetadata, "m").text("pgs", json); };
  const std::vector<std::vector<Node>> nodes{{collective(0, 0, 8, "4"), defines(R"([{"pg_name": "4", "ranks": [0, 1]}])")},
                                             {collective(0, 0, 8, "4"), defines(R"([{"pg_name": "4", "ranks": [1]}])")}};
  EXPECT_THAT(error_of_reading(nodes), AllOf(HasSubstr("t.1.et: node 1 (m)"), HasSubstr("attribute pgs: /0/ranks"),
                                             HasSubstr("group 4 has other members elsewhere")));
  EXPECT_EQ(read(nodes, {}, R"({"4": [0, 1]})").communicators().at(0).members, ranks({0, 1}));
}

TEST(ChakraGroups, MetadataThatIsNoJsonIsAnError) {
  EXPECT_THAT(error_of_reading({{Node(1, kMetadata, "m").text("pgs", R"([{"pg_name": "4", )")}}),
              AllOf(HasSubstr("t.0.et"), HasSubstr("node 1 (m)"), HasSubstr("attribute pgs")));
}

TEST(ChakraGroups, WhatIsWrongInTheFileIsSaidWithItsPlace) {
  const auto error = [](std::string_view groups) { return error_of_reading(all_call(2, "5"), {}, groups); };
  EXPECT_THAT(error(R"({"5": [0, 7]})"),
              AllOf(HasSubstr("groups.json: /5/1: rank 7 does not exist"), HasSubstr("2 files")));
  EXPECT_THAT(error(R"({"5": [0, 0]})"), HasSubstr("groups.json: /5/1: rank 0 is in the group twice"));
  EXPECT_THAT(error(R"({"5": [0, "1"]})"), HasSubstr("/5/1: must be a number"));
  EXPECT_THAT(error(R"({"5": [-1]})"), HasSubstr("/5/0: must be a whole number"));
  EXPECT_THAT(error(R"({"5": 3})"), HasSubstr("/5: must be an array"));
  EXPECT_THAT(error(R"({"5": []})"), HasSubstr("/5: a group needs a member"));
  EXPECT_THAT(error(R"([1])"), HasSubstr("must be an object"));
  EXPECT_THAT(error(R"({"5": [0, 1)"), HasSubstr("groups.json"));
  EXPECT_THAT(error(R"({"world": [0]})"), HasSubstr("must have all ranks"));
}

TEST(ChakraGroups, AMissingFileIsAnError) {
  ChakraOptions options;
  options.comm_groups = "/nowhere/groups.json";
  EXPECT_THAT(error_of_reading(all_call(2, "5"), options), HasSubstr("/nowhere/groups.json: no such file"));
}

TEST(ChakraGroups, ACallOnAGroupThatIsNotKnownListsThoseThatAre) {
  EXPECT_THAT(
      error_of_reading(all_call(2, "9"), {}, R"({"10": [0, 1], "2": [0, 1]})"),
      AllOf(HasSubstr("t.0.et: node 0 (collective)"), HasSubstr("unknown group \"9\""), HasSubstr("known groups: 2, 10")));
  EXPECT_THAT(error_of_reading(all_call(2, "9")), HasSubstr("comm_groups"));
}

TEST(ChakraGroups, ACallFromOutsideTheGroupIsAnError) {
  EXPECT_THAT(error_of_reading(all_call(3, "1"), {}, R"({"1": [0, 1]})"),
              AllOf(HasSubstr("t.2.et: node 0 (collective)"), HasSubstr("rank 2 is not in it")));
}

TEST(ChakraGroups, DimensionsGoByName) {
  ChakraOptions options;
  options.dimensions = {{"1", Dimension::kDp}, {"world", Dimension::kTp}};
  const auto nodes = std::vector{collective(0, 0, 8, "1"), collective(1, 0, 8)};
  const TaskGraph graph = read({nodes, nodes}, options, R"({"1": [0, 1], "2": [0, 1]})");
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 0)).dimension, Dimension::kDp);
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 1)).dimension, Dimension::kTp);
  EXPECT_EQ(graph.communicators()[1].dimension, Dimension::kOther);
}

TEST(ChakraGroups, ADimensionForNoGroupIsAnError) {
  ChakraOptions options;
  options.dimensions = {{"3", Dimension::kDp}};
  EXPECT_THAT(error_of_reading(all_call(2, "1"), options, R"({"1": [0, 1]})"),
              AllOf(HasSubstr("there is no group \"3\""), HasSubstr("1")));
}

}  // namespace
}  // namespace photonrail::test
