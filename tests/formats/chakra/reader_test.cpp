// What every kind of node becomes, and what is wrong with some.
#include "formats/chakra/chakra_support.hpp"

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Node compute(std::uint64_t id) { return Node(id, kCompute, "compute").number("num_ops", 10).number("tensor_size", 20); }

TEST(ChakraReader, ComputeHasOperationsAndMemory) {
  const TaskGraph graph = read({{compute(0)}});
  EXPECT_EQ(task(graph, 0, 0), (Task::compute(10, Bytes{20})));
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{0}), "compute");
}

TEST(ChakraReader, OperationsMayBeAFraction) {
  const Node n = Node(0, kCompute).attribute("num_ops", [](auto& a) { a.add_double(3, 0.5); });
  EXPECT_EQ(task(read({{n}}), 0, 0).flops, 0.5);
}

TEST(ChakraReader, MemoryNodesMoveBytesAndComputeNothing) {
  const Node load = Node(0, kMemoryLoad).number("tensor_size", 30).number("num_ops", 5);
  const Node store = Node(1, kMemoryStore).number("tensor_size", 40);
  const TaskGraph graph = read({{load, store}});
  EXPECT_EQ(task(graph, 0, 0), (Task::compute(0, Bytes{30})));
  EXPECT_EQ(task(graph, 0, 1), (Task::compute(0, Bytes{40})));
}

TEST(ChakraReader, ARecordedDurationCountsWhenAskedFor) {
  ChakraOptions options;
  const auto nodes = std::vector{compute(0).duration_micros(3), compute(1)};
  EXPECT_FALSE(task(read({nodes}, options), 0, 0).time());
  options.compute_time = ComputeTime::kTrace;
  const TaskGraph graph = read({nodes}, options);
  EXPECT_EQ(task(graph, 0, 0), (Task::delay(Duration{3'000'000})));  // 3 us in ps
  EXPECT_EQ(task(graph, 0, 1), (Task::compute(10, Bytes{20})));
  EXPECT_THAT(graph.warnings(), ElementsAre(AllOf(HasSubstr("without a recorded duration"), HasSubstr(": 1, the first "),
                                                  HasSubstr("node 1 (compute)"))));
}

TEST(ChakraReader, OurExactDurationCountsAlways) {
  const TaskGraph graph = read({{compute(0).number("photonrail_duration_ps", 1234).duration_micros(1)}});
  EXPECT_EQ(task(graph, 0, 0), (Task::delay(Duration{1234})));
}

TEST(ChakraReader, AnEndlessDurationIsAnError) {
  ChakraOptions options;
  options.compute_time = ComputeTime::kTrace;
  // 1e12 us are 1e6 s, the most; 2^63 us would not fit in any time.
  EXPECT_EQ(error_of_reading({{compute(0).duration_micros(1'000'000'000'000)}}, options), "");
  EXPECT_THAT(error_of_reading({{compute(0).duration_micros(1'000'000'000'001)}}, options), HasSubstr("takes more than"));
  EXPECT_THAT(error_of_reading({{compute(0).duration_micros(std::uint64_t{1} << 63)}}, options),
              HasSubstr("takes more than"));
}

TEST(ChakraReader, ComputeWithoutWorkTakesNoTimeAndIsToldOnce) {
  const TaskGraph graph = read({{Node(0, kCompute, "a").duration_micros(5), Node(1, kCompute, "b")}});
  EXPECT_EQ(task(graph, 0, 0), (Task::delay(Duration{0})));
  EXPECT_THAT(graph.warnings(), ElementsAre(AllOf(HasSubstr("take no time: 2, the first"), HasSubstr("t.0.et: node 0 (a)")),
                                            AllOf(HasSubstr("\"compute_time\": \"trace\""), HasSubstr(": 1, "))));
}

TEST(ChakraReader, MetadataNodesKeepTheDependenciesThroughThem) {
  const TaskGraph graph = read({{compute(0), Node(1, kMetadata, "m").waits_for({0}), compute(2).waits_for({1})}});
  EXPECT_EQ(task(graph, 0, 1), waits_for_one(Task::delay(Duration{0}, Stream::kHost)));
  EXPECT_THAT(waiting(graph, 0, 0), ElementsAre(1u));
  EXPECT_THAT(waiting(graph, 0, 1), ElementsAre(2u));
}

TEST(ChakraReader, IdsMayComeInAnyOrderWithGaps) {
  // Ascending ids 5, 10, 900 are tasks 0, 1, 2. Control dependencies count as much as data dependencies.
  const TaskGraph graph =
      read({{compute(900).waits_for({5}, 4).waits_for({10}, 5), compute(5), compute(10).waits_for({5})}});
  EXPECT_EQ(task(graph, 0, 2).waits, 2u);
  EXPECT_THAT(waiting(graph, 0, 0), ElementsAre(1u, 2u));
  EXPECT_THAT(waiting(graph, 0, 1), ElementsAre(2u));
  EXPECT_THAT(graph.warnings(), IsEmpty());
}

TEST(ChakraReader, AnIdThatIsNotOnTheWireIsZero) {
  std::string node;
  protozero::pbf_writer(node).add_enum(3, kMetadata);
  const Folder folder;
  const auto options = put(folder, {trace({Node(1, kMetadata).waits_for({0})}) + framed(node)});
  EXPECT_THAT(waiting(read_chakra(options), 0, 0), ElementsAre(1u));
}

TEST(ChakraReader, DependenciesMayBeUnpacked) {
  std::string node = Node(7, kMetadata).data();
  protozero::pbf_writer(node).add_uint64(5, 3);
  const Folder folder;
  const auto options = put(folder, {trace({Node(3, kMetadata)}) + framed(node)});
  EXPECT_THAT(waiting(read_chakra(options), 0, 0), ElementsAre(1u));
}

TEST(ChakraReader, DependenciesOnAbsentNodesAreDroppedAndToldByFile) {
  std::vector<std::vector<Node>> many(10, {compute(4).waits_for({1, 2}), compute(5).waits_for({4})});
  const TaskGraph graph = read(many);
  EXPECT_EQ(task(graph, 9, 0).waits, 0u);
  EXPECT_EQ(task(graph, 9, 1).waits, 1u);
  ASSERT_EQ(graph.warnings().size(), 9u);  // eight files in full, then one line for the other two
  EXPECT_THAT(graph.warnings()[7],
              AllOf(HasSubstr("t.7.et: "), HasSubstr("dropped: 2, the first node 4 (compute) on node 1")));
  EXPECT_THAT(graph.warnings()[8], HasSubstr("and 2 more files"));
}

TEST(ChakraReader, ANodeThatWaitsForItselfDoesNot) {
  const TaskGraph graph = read({{compute(4).waits_for({4})}});
  EXPECT_EQ(task(graph, 0, 0).waits, 0u);
  EXPECT_THAT(graph.warnings(),
              ElementsAre(AllOf(HasSubstr("depend on themselves, dropped: 1"), HasSubstr("node 4 (compute)"))));
}

TEST(ChakraReader, ACycleOfDataIsAnError) {
  EXPECT_THAT(error_of_reading({{compute(1).waits_for({2}), compute(2).waits_for({1})}}),
              AllOf(HasSubstr("/t: rank 0"), HasSubstr("tasks wait for each other")));
}

TEST(ChakraReader, AControlDependencyOnALaterNodeThatClosesACycleIsDropped) {
  // 1 waits for 2 and 3 as control, 2 waits for 1, 3 for no node; 4 and 5 make a longer cycle through 6, which waits for 4.
  const TaskGraph graph = read({{compute(1).waits_for({2, 3}, 4), compute(2).waits_for({1}), compute(3),
                                 compute(4).waits_for({5}, 4), compute(5).waits_for({6}), compute(6).waits_for({4}, 4)}});
  EXPECT_EQ(task(graph, 0, 0).waits, 1u);              // 3 stays: it closes no cycle
  EXPECT_THAT(waiting(graph, 0, 0), ElementsAre(1u));  // 1 before 2
  EXPECT_EQ(task(graph, 0, 3).waits, 0u);              // 4 no longer waits for 5
  EXPECT_THAT(waiting(graph, 0, 3), ElementsAre(5u));  // 4 before 6
  EXPECT_THAT(waiting(graph, 0, 5), ElementsAre(4u));  // 6 before 5
  EXPECT_THAT(graph.warnings(), ElementsAre(AllOf(HasSubstr("close a cycle, dropped: 2, the first "),
                                                  HasSubstr("t.0.et: node 1 (compute) on node 2 (compute)"))));
}

TEST(ChakraReader, AnIdThatOccursTwiceIsAnError) {
  EXPECT_THAT(error_of_reading({{compute(1), Node(1, kMetadata, "other")}}),
              AllOf(HasSubstr("t.0.et: node 1 ("), HasSubstr("has the same id as node 1 (")));
}

TEST(ChakraReader, ATypeThatDoesNotExistIsAnError) {
  EXPECT_THAT(error_of_reading({{Node(1, 0, "n")}}), AllOf(HasSubstr("node 1 (n)"), HasSubstr("has no type")));
  EXPECT_THAT(error_of_reading({{Node(1, 8, "n")}}), HasSubstr("has the unknown type 8"));
}

TEST(ChakraReader, NamesAreOneLineOfText) {
  const TaskGraph graph =
      read({{Node(0, kMetadata, "a\nb\tc\x7f"), Node(1, kMetadata, "caf\xc3\xa9"), Node(2, kMetadata, "caf\xe9")}});
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{0}), "a b c ");
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{1}), "caf\xc3\xa9");
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{2}), "caf?");  // Latin-1, which no JSON report could hold
}

TEST(ChakraReader, CollectiveTypesAreThoseOfTheFormat) {
  using enum CollectiveOp;
  const CollectiveOp expected[] = {kAllReduce, kReduce,   kAllGather,     kGather,        kScatter,
                                   kBroadcast, kAllToAll, kReduceScatter, kReduceScatter, kBarrier};
  std::vector<Node> nodes;
  for (int type = 0; type < 10; ++type) nodes.push_back(collective(static_cast<std::uint64_t>(type), type, 64));
  const TaskGraph graph = read({nodes, nodes});
  for (std::size_t type = 0; type < 10; ++type) {
    EXPECT_EQ(task(graph, 1, type).op, expected[type]) << type;
    EXPECT_EQ(task(graph, 1, type).size(), Bytes{64}) << type;
  }
  EXPECT_THAT(error_of_reading({{collective(0, 10, 64)}}), HasSubstr("unknown comm_type 10"));
}

TEST(ChakraReader, ABarrierNeedsNoSize) {
  const Node barrier = Node(0, kCollective, "b").number("comm_type", 9);
  EXPECT_EQ(task(read({{barrier}, {barrier}}), 0, 0).op, CollectiveOp::kBarrier);
  EXPECT_THAT(error_of_reading({{Node(0, kCollective, "b").number("comm_type", 0)}}),
              HasSubstr("node 0 (b): has no comm_size"));
}

TEST(ChakraReader, ACollectiveWithoutATypeIsHostWorkOnTheCpuAndAnErrorElsewhere) {
  const TaskGraph graph = read({{Node(0, kCollective, "c").number("is_cpu_op", 1)}});
  EXPECT_EQ(task(graph, 0, 0), (Task::delay(Duration{0}, Stream::kHost)));
  EXPECT_THAT(graph.warnings(), ElementsAre(AllOf(HasSubstr("collectives on the CPU without comm_type"),
                                                  HasSubstr(": 1, the first "), HasSubstr("node 0 (c)"))));
  EXPECT_THAT(error_of_reading({{Node(0, kCollective, "c")}}),
              AllOf(HasSubstr("t.0.et: node 0 (c)"), HasSubstr("collective without comm_type")));
}

TEST(ChakraReader, RootsAreRanksOfTheGroup) {
  const auto rooted = [](std::int64_t root) { return collective(0, 5, 8, "g").number("root_rank", root); };
  const Node other = Node(0, kMetadata);
  // Rank 2 is member 1 of the group of ranks 1 and 2.
  const TaskGraph graph = read({{other}, {rooted(2)}, {rooted(2)}}, {}, R"({"g": [1, 2]})");
  EXPECT_EQ(task(graph, 1, 0).root(), 1u);
  EXPECT_THAT(error_of_reading({{other}, {rooted(0)}, {rooted(0)}}, {}, R"({"g": [1, 2]})"),
              HasSubstr("has rank 0 as its root, which is not in its group"));
}

TEST(ChakraReader, SendsAndReceivesMeetByTag) {
  const TaskGraph graph = read({{send(0, 1, 100, 5), send(1, 1, 200, 6)}, {receive(0, 0, 200, 6), receive(1, 0, 100, 5)}});
  EXPECT_EQ(task(graph, 0, 0), (Task::send(0, 5, Bytes{100})));
  EXPECT_EQ(task(graph, 1, 0), (Task::receive(0, 6, Bytes{200})));
  ASSERT_EQ(graph.communicators().size(), 1u);
  EXPECT_TRUE(graph.communicators()[0].point_to_point);
  EXPECT_EQ(graph.communicators()[0].members, ranks({0, 1}));
  EXPECT_EQ(graph.communicators()[0].dimension, Dimension::kOther);
  EXPECT_THAT(graph.warnings(), IsEmpty());
}

TEST(ChakraReader, TheDimensionOfSendsCanBeGiven) {
  ChakraOptions options;
  options.dimensions["p2p"] = Dimension::kPp;
  const TaskGraph graph = read({{send(0, 1, 100)}, {receive(0, 0, 100)}}, options);
  EXPECT_EQ(graph.communicators()[0].dimension, Dimension::kPp);
}

TEST(ChakraReader, ASendWithoutAReceiveIsAWarning) {
  EXPECT_THAT(read({{send(0, 1, 100)}, {}}).warnings(), ElementsAre(HasSubstr("without a partner")));
}

TEST(ChakraReader, SendsThatCannotBeAreErrors) {
  EXPECT_THAT(error_of_reading({{Node(0, kSend, "s").number("comm_size", 1)}, {}}),
              HasSubstr("node 0 (s): has no comm_dst"));
  EXPECT_THAT(error_of_reading({{Node(0, kReceive, "r").number("comm_size", 1)}, {}}), HasSubstr("has no comm_src"));
  EXPECT_THAT(error_of_reading({{send(0, 2, 1)}, {}}), HasSubstr("comm_dst is 2, which is not a rank"));
  EXPECT_THAT(error_of_reading({{send(0, 0, 1)}, {}}), HasSubstr("communicates with its own rank"));
  EXPECT_THAT(error_of_reading({{send(0, 1, 1).number("comm_src", 1)}, {}}), HasSubstr("but this is the file of rank 0"));
  EXPECT_THAT(error_of_reading({{send(0, 1, 1, std::int64_t{1} << 32)}, {}}), HasSubstr("comm_tag does not fit"));
  EXPECT_THAT(error_of_reading({{Node(0, kSend, "s").number("comm_dst", 1)}, {}}), HasSubstr("has no comm_size"));
}

TEST(ChakraReader, SizesInElementsAreMultiplied) {
  ChakraOptions options;
  options.size_unit = SizeUnit::kElements;
  options.element_bytes = 4;
  const auto nodes = std::vector{collective(0, 0, 100), compute(1)};
  const TaskGraph graph = read({nodes, nodes}, options);
  EXPECT_EQ(task(graph, 0, 0).size(), Bytes{400});   // 100 elements of 4 bytes
  EXPECT_EQ(task(graph, 0, 1).memory(), Bytes{80});  // tensor_size 20
  EXPECT_EQ(task(graph, 0, 1).flops, 10);
}

TEST(ChakraReader, ASizeThatNoMachineHasIsAnError) {
  // 2^50 bytes are the most: 2^48 elements of 4 bytes fit, 2^48 + 1 do not, and 2^62 elements would overflow to 0.
  ChakraOptions options;
  options.size_unit = SizeUnit::kElements;
  options.element_bytes = 4;
  const auto error = [&](std::int64_t size) { return error_of_reading({{collective(0, 0, size)}}, options); };
  EXPECT_EQ(error(std::int64_t{1} << 48), "");
  EXPECT_THAT(error((std::int64_t{1} << 48) + 1), HasSubstr("more than 1 PiB"));
  EXPECT_THAT(error(std::int64_t{1} << 62), HasSubstr("more than 1 PiB"));
}

}  // namespace
}  // namespace photonrail::test
