// What is written is read back as the same graph.
#include "formats/chakra/chakra_support.hpp"

#include <set>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three ranks: 0 and 1 reduce with each other and all three gather; 2 sends to 0. One program serves ranks 0 and 1.
TaskGraph sample() {
  TaskGraphBuilder b(3);
  const auto dp = b.add_communicator("dp.0", ranks({0, 1}), Dimension::kDp);
  const auto world = b.add_communicator("world", ranks({0, 1, 2}), Dimension::kTp);
  const auto link = b.link(RankId{2}, RankId{0}, Dimension::kPp);
  const auto fill = [&](ProgramId p) {
    const TaskId delay = b.add_delay(p, Duration{1'500'001}, "wait a bit", {}, Stream::kHost);
    const TaskId work = b.add_compute(p, 1e15, Bytes{4096}, "work", std::vector{delay});
    const TaskId half = b.add_compute(p, 0.5, Bytes{0}, "", std::vector{delay});
    const TaskId reduce =
        b.add_collective(p, 0, CollectiveOp::kReduce, Bytes{1 << 20}, "reduce", std::vector{work, half}, 1);
    return b.add_collective(p, 1, CollectiveOp::kAllGather, Bytes{77}, "gather", std::vector{reduce});
  };
  const auto p0 = b.add_program();
  b.add_receive(p0, 2, Bytes{5}, 4'000'000'000, "receive", std::vector{fill(p0)});
  const auto p1 = b.add_program();
  fill(p1);
  const auto p2 = b.add_program();
  const TaskId sent = b.add_send(p2, 1, Bytes{5}, 4'000'000'000, "send");
  b.add_collective(p2, 0, CollectiveOp::kAllGather, Bytes{77}, "gather", std::vector{sent});
  b.assign(RankId{0}, p0, {dp, world, link});
  b.assign(RankId{1}, p1, {dp, world});
  b.assign(RankId{2}, p2, {world, link});
  return std::move(b).build();
}

ChakraOptions options_for(const Folder& folder) {
  ChakraOptions options;
  options.prefix = folder.path() / "t";
  options.comm_groups = folder.path() / "t.json";
  return options;
}

// Equal but for the numbering of slots and communicators, which a trace does not have.
void expect_same(const TaskGraph& a, const TaskGraph& b) {
  ASSERT_EQ(a.ranks(), b.ranks());
  for (std::size_t r = 0; r < a.ranks(); ++r) {
    const Program& p = a.program(RankId{r});
    const Program& q = b.program(RankId{r});
    ASSERT_EQ(p.tasks().size(), q.tasks().size());
    for (std::size_t t = 0; t < p.tasks().size(); ++t) {
      const TaskId id{t};
      Task x = p.task(id);
      Task y = q.task(id);
      if (x.kind != TaskKind::kCompute) {
        const Communicator& c = communicator(a, r, x);
        const Communicator& d = communicator(b, r, y);
        EXPECT_EQ(c, d) << c.name << " and " << d.name;
      }
      x.slot = y.slot = 0;
      EXPECT_EQ(x, y) << "rank " << r << " task " << t;
      EXPECT_EQ(p.name(id), q.name(id));
      EXPECT_EQ(waiting(a, r, t), waiting(b, r, t));
    }
  }
}

TEST(ChakraWriter, ARoundTripKeepsEverything) {
  const TaskGraph graph = sample();
  const Folder folder;
  const auto written = write_chakra(graph, folder.path() / "t");
  EXPECT_THAT(written, ElementsAre(folder.path() / "t.0.et", folder.path() / "t.1.et", folder.path() / "t.2.et",
                                   folder.path() / "t.json"));
  auto options = options_for(folder);
  options.dimensions = {{"dp.0", Dimension::kDp}, {"world", Dimension::kTp}, {"p2p", Dimension::kPp}};
  const TaskGraph back = read_chakra(options);
  expect_same(graph, back);
  EXPECT_THAT(back.warnings(), IsEmpty());
}

TEST(ChakraWriter, TheGroupsFileHasNamesAndRanks) {
  const Folder folder;
  write_chakra(sample(), folder.path() / "t");
  std::ifstream in(folder.path() / "t.json");
  std::string text;
  std::getline(in, text);
  EXPECT_EQ(text, R"({"dp.0":[0,1],"world":[0,1,2]})");
}

TEST(ChakraWriter, RecordedDurationsAreRoundedUpForOtherReaders) {
  // 1 500 001 ps are 2 us in whole microseconds; ours reads the exact attribute whatever it is told.
  const Folder folder;
  write_chakra(sample(), folder.path() / "t");
  auto options = options_for(folder);
  options.compute_time = ComputeTime::kTrace;
  EXPECT_EQ(task(read_chakra(options), 0, 0).time(), Duration{1'500'001});
  std::ifstream in(folder.path() / "t.0.et", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(bytes, HasSubstr("\x38\x02"));  // field 7, varint: 2
}

TEST(ChakraWriter, GroupsOfOneNameAreToldApart) {
  TaskGraphBuilder b(2);
  const auto first = b.add_communicator("g", ranks({0, 1}), Dimension::kOther);
  const auto second = b.add_communicator("g", ranks({0, 1}), Dimension::kOther);
  const auto unnamed = b.add_communicator("", ranks({0, 1}), Dimension::kOther);
  for (std::size_t r = 0; r < 2; ++r) {
    const auto p = b.add_program();
    for (std::uint32_t slot = 0; slot < 3; ++slot) b.add_collective(p, slot, CollectiveOp::kAllReduce, Bytes{8});
    b.assign(RankId{r}, p, {first, second, unnamed});
  }
  const Folder folder;
  write_chakra(std::move(b).build(), folder.path() / "t");
  const TaskGraph back = read_chakra(options_for(folder));
  std::set<std::string> names;
  for (std::size_t t = 0; t < 3; ++t) names.insert(communicator(back, 0, task(back, 0, t)).name);
  EXPECT_THAT(names, ElementsAre("g", "group.1", "group.2"));
}

TEST(ChakraWriter, TwoLinksBetweenTheSameRanksCannotBeWritten) {
  TaskGraphBuilder b(2);
  const auto one = b.add_communicator("one", ranks({0, 1}), Dimension::kPp, true);
  const auto two = b.add_communicator("two", ranks({0, 1}), Dimension::kPp, true);
  for (std::size_t r = 0; r < 2; ++r) b.assign(RankId{r}, b.add_program(), {one, two});
  const TaskGraph graph = std::move(b).build();
  const Folder folder;
  EXPECT_THAT(message_of([&] { write_chakra(graph, folder.path() / "t"); }),
              HasSubstr("communicator two: is the second one"));
}

TEST(ChakraWriter, ALargerTraceUnderTheSameNameIsNotMixedIn) {
  const Folder folder;
  folder.write("t.3.et", "old");
  EXPECT_THAT(message_of([&] { write_chakra(sample(), folder.path() / "t"); }),
              AllOf(HasSubstr("t.3.et"), HasSubstr("more ranks")));
}

TEST(ChakraWriter, AFailureLeavesTheOldFilesAndNothingElse) {
  const Folder folder;
  folder.write("t.0.et", "old");
  std::filesystem::create_directory(folder.path() / "t.1.et.part");  // in the way of the second file
  EXPECT_THAT(message_of([&] { write_chakra(sample(), folder.path() / "t"); }), HasSubstr("t.1.et: cannot be written"));
  std::ifstream in(folder.path() / "t.0.et");
  std::string text;
  in >> text;
  EXPECT_EQ(text, "old");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.0.et.part"));
  EXPECT_THAT(message_of([&] { write_chakra(sample(), folder.path() / "no" / "folder"); }), HasSubstr("cannot be written"));
}

TEST(ChakraWriter, ExistingFilesAreReplaced) {
  const Folder folder;
  for (const char* name : {"t.0.et", "t.1.et", "t.2.et", "t.json"}) folder.write(name, "old");
  write_chakra(sample(), folder.path() / "t");
  EXPECT_EQ(read_chakra(options_for(folder)).ranks(), 3u);
}

}  // namespace
}  // namespace photonrail::test
