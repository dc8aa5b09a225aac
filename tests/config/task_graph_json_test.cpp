// photonrail.graph/1.
#include "photonrail/config.hpp"
#include "support/folder.hpp"
#include "support/graph_parts.hpp"

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TaskGraph parse_graph(std::string_view text) {
  const Folder folder;
  return read_task_graph(folder.write("g.json", text));
}

// A graph of two ranks with communicator "a" of both and these tasks.
std::string with_tasks(const std::string& tasks) {
  return R"({"schema": "photonrail.graph/1", "ranks": 2, "communicators": {"a": {"ranks": [1, 0], "dimension": "dp"}},
             "tasks": [)" +
         tasks + "]}";
}

std::string error_of_text(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_graph(text)); });
}
std::string error_of_task(const std::string& task) { return error_of_text(with_tasks(task)); }

TEST(TaskGraphJson, EveryKindOfTask) {
  const TaskGraph graph = parse_graph(with_tasks(R"(
      {"rank": 0, "id": "late", "compute_us": 1.5, "after": ["early"]},
      {"rank": 0, "id": "early", "flops": 1e12, "memory_bytes": 4096},
      {"rank": "all", "id": "sum", "collective": "all_reduce", "communicator": "a", "bytes": 1048576, "name": "gradients"},
      {"rank": [0, 1], "collective": "broadcast", "communicator": "a", "bytes": 8, "root": 1, "after": ["sum"]},
      {"rank": [1], "send_to": 0, "bytes": 64, "tag": 3},
      {"rank": 0, "receive_from": 1, "bytes": 64, "tag": 3},
      {"rank": "all", "collective": "barrier", "communicator": "a"})"));
  ASSERT_EQ(graph.ranks(), 2u);
  EXPECT_EQ(task(graph, 0, 0), waits_for_one(Task::delay(Duration{1'500'000})));  // 1.5 us in ps
  EXPECT_EQ(task(graph, 0, 1), (Task::compute(1e12, Bytes{4096})));
  EXPECT_EQ(task(graph, 0, 2).op, CollectiveOp::kAllReduce);
  EXPECT_EQ(task(graph, 0, 2).size(), Bytes{1 << 20});
  EXPECT_EQ(task(graph, 0, 3).root(), 1u);
  EXPECT_EQ(task(graph, 0, 4).kind, TaskKind::kReceive);
  EXPECT_EQ(task(graph, 0, 4).tag, 3u);
  EXPECT_EQ(task(graph, 0, 5).op, CollectiveOp::kBarrier);
  EXPECT_EQ(graph.program(RankId{1}).tasks().size(), 4u);
  EXPECT_EQ(task(graph, 1, 2).kind, TaskKind::kSend);

  EXPECT_THAT(waiting(graph, 0, 1), ElementsAre(0u));  // written above what it waits for
  EXPECT_THAT(waiting(graph, 1, 0), ElementsAre(1u));
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{0}), "late");
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{2}), "gradients");
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 2)), (Communicator{"a", ranks({0, 1}), Dimension::kDp, false}));
  EXPECT_EQ(communicator(graph, 0, task(graph, 0, 4)).members, ranks({1, 0}));
  EXPECT_THAT(graph.warnings(), ::testing::IsEmpty());
}

TEST(TaskGraphJson, CommentsAreAllowedAndRanksMayHaveNothingToDo) {
  EXPECT_EQ(parse_graph("{\"schema\": \"photonrail.graph/1\", // the format\n \"ranks\": 3, \"tasks\": []}").ranks(), 3u);
}

TEST(TaskGraphJson, ErrorsNameFileAndPlace) {
  EXPECT_THAT(error_of_task(R"({"rank": 2, "compute_us": 1})"),
              HasSubstr("g.json: /tasks/0/rank: must be a whole number from 0 to 1"));
  EXPECT_THAT(error_of_task(R"({"rank": "some", "compute_us": 1})"),
              HasSubstr("/tasks/0/rank: must be a list of ranks or \"all\""));
  EXPECT_THAT(error_of_task(R"({"rank": [0, 0], "compute_us": 1})"), HasSubstr("/tasks/0/rank: has a rank twice"));
  EXPECT_THAT(error_of_task(R"({"rank": [], "compute_us": 1})"), HasSubstr("/tasks/0/rank: needs a rank"));
  EXPECT_THAT(error_of_task(R"({"compute_us": 1})"), HasSubstr("/tasks/0/rank: missing"));
  EXPECT_THAT(error_of_task("7"), HasSubstr("/tasks/0: must be an object"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "compute_us": -1})"), HasSubstr("/tasks/0/compute_us: must not be negative"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "flops": -1})"), HasSubstr("/tasks/0/flops: must not be negative"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "memory_bytes": 0.5})"),
              HasSubstr("/tasks/0/memory_bytes: must be a whole number"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "compute_us": 1, "flop": 3})"), HasSubstr("/tasks/0/flop: unknown key"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "compute_us": 1, "bytes": 3})"), HasSubstr("/tasks/0/bytes: unknown key"));
}

TEST(TaskGraphJson, ATaskIsOneThing) {
  EXPECT_THAT(error_of_task(R"({"rank": 0})"), HasSubstr("/tasks/0: needs exactly one of"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "compute_us": 1, "flops": 1})"), HasSubstr("/tasks/0: needs exactly one of"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "send_to": 1, "receive_from": 1, "bytes": 1})"),
              HasSubstr("needs exactly one of"));
}

TEST(TaskGraphJson, IdsAreOfTheRank) {
  EXPECT_THAT(error_of_task(R"({"rank": 0, "compute_us": 1, "after": ["x"]}, {"rank": 1, "id": "x", "compute_us": 1})"),
              HasSubstr("/tasks/0/after/0: rank 0 has no task \"x\""));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "id": "x", "compute_us": 1}, {"rank": "all", "id": "x", "compute_us": 1})"),
              HasSubstr("/tasks/1/id: rank 0 has a task \"x\" already"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "id": "x", "compute_us": 1, "after": ["x"]})"), HasSubstr("waits for itself"));
}

TEST(TaskGraphJson, CollectivesNeedACommunicatorOfTheirs) {
  EXPECT_THAT(error_of_task(R"({"rank": 0, "collective": "sum", "communicator": "a", "bytes": 1})"),
              AllOf(HasSubstr("/tasks/0/collective: unknown collective \"sum\""), HasSubstr("all_reduce")));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "collective": "send", "communicator": "a", "bytes": 1})"),
              HasSubstr("unknown collective"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "collective": "all_reduce", "communicator": "b", "bytes": 1})"),
              AllOf(HasSubstr("/tasks/0/communicator: there is no communicator \"b\""), HasSubstr("did you mean a?")));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "collective": "all_reduce", "communicator": "a"})"),
              HasSubstr("/tasks/0/bytes: missing"));
  EXPECT_THAT(error_of_text(R"({"schema": "photonrail.graph/1", "ranks": 3, "communicators": {"a": {"ranks": [0, 1]}},
                 "tasks": [{"rank": "all", "collective": "all_reduce", "communicator": "a", "bytes": 1}]})"),
              HasSubstr("/tasks/0/communicator: rank 2 is not in communicator \"a\""));
}

TEST(TaskGraphJson, AnAllToAllMayHaveADemand) {
  const TaskGraph graph = parse_graph(with_tasks(R"(
      {"rank": "all", "collective": "all_to_all", "communicator": "a", "demand": [[5, 10], [40, 5]]},
      {"rank": "all", "collective": "all_to_all", "communicator": "a", "demand": [[0, 1], [0, 0]]},
      {"rank": "all", "collective": "all_to_all", "communicator": "a", "demand": [[5, 10], [40, 5]]},
      {"rank": "all", "collective": "all_to_all", "communicator": "a", "bytes": 7})"));
  EXPECT_EQ(task(graph, 1, 0).demand(), 1u);
  EXPECT_EQ(task(graph, 1, 0).size(), Bytes{25});  // (10 + 40) / 2 leave a member
  EXPECT_EQ(task(graph, 1, 1).demand(), 2u);
  EXPECT_EQ(task(graph, 1, 2).demand(), 1u);
  EXPECT_EQ(task(graph, 1, 3).demand(), 0u);
  const TrafficMatrix first = graph.demands()->matrix({.number = 1});
  EXPECT_EQ(first.at(0, 1), Bytes{10});
  EXPECT_EQ(first.at(1, 0), Bytes{40});
}

TEST(TaskGraphJson, ADemandMustBeASquareOfBytes) {
  const auto error = [](const std::string& keys) {
    return error_of_task(R"({"rank": "all", "communicator": "a", )" + keys + "}");
  };
  EXPECT_THAT(error(R"("collective": "all_reduce", "demand": [[0, 1], [1, 0]])"),
              HasSubstr("/tasks/0/demand: only an all-to-all has one"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "bytes": 4, "demand": [[0, 1], [1, 0]])"),
              HasSubstr("/tasks/0/bytes: the demand says how many"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "root": 0, "demand": [[0, 1], [1, 0]])"), HasSubstr("/tasks/0/root"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "demand": [[0, 1], [1]])"),
              HasSubstr("/tasks/0/demand/1: has 1 number, but there are 2 rows"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "demand": [[0]])"), HasSubstr("/tasks/0/demand: a demand needs two"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "demand": [[0, -1], [0, 0]])"), HasSubstr("/tasks/0/demand/0/1"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "demand": [[0, 1e15], [1e15, 0]])"), HasSubstr("more than 2^50"));
  EXPECT_THAT(error(R"("collective": "all_to_all", "demand": [[0, 1, 1], [1, 0, 1], [1, 1, 0]])"),
              HasSubstr("is for 3 members, but there are 2"));
}

TEST(TaskGraphJson, MessagesNeedAnotherRank) {
  EXPECT_THAT(error_of_task(R"({"rank": "all", "send_to": 1, "bytes": 1})"),
              HasSubstr("/tasks/0/send_to: rank 1 cannot send to itself"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "send_to": 5, "bytes": 1})"),
              HasSubstr("/tasks/0/send_to: must be a whole number from 0 to 1"));
  EXPECT_THAT(error_of_task(R"({"rank": 0, "send_to": 1})"), HasSubstr("/tasks/0/bytes: missing"));
}

TEST(TaskGraphJson, TheOutsideIsCheckedToo) {
  EXPECT_THAT(error_of_text("{"), HasSubstr("g.json"));
  EXPECT_THAT(error_of_text("{}"), HasSubstr("/schema: missing"));
  EXPECT_THAT(error_of_text(R"({"schema": "photonrail.graph/2"})"), HasSubstr("/schema: unknown schema"));
  EXPECT_THAT(error_of_text(R"({"schema": "photonrail.graph/1", "ranks": 0, "tasks": []})"), HasSubstr("/ranks: must be"));
  EXPECT_THAT(error_of_text(R"({"schema": "photonrail.graph/1", "ranks": 2})"), HasSubstr("/tasks: missing"));
  EXPECT_THAT(error_of_text(R"({"schema": "photonrail.graph/1", "ranks": 2, "tasks": [], "extra": 1})"),
              HasSubstr("/extra: unknown key"));
  const auto with_group = [](const std::string& group) {
    return error_of_text(R"({"schema": "photonrail.graph/1", "ranks": 2, "tasks": [], "communicators": {"g": )" + group +
                         "}}");
  };
  EXPECT_THAT(with_group(R"({"ranks": [0, 2]})"), HasSubstr("/communicators/g/ranks/1: must be a whole number"));
  EXPECT_THAT(with_group(R"({"ranks": [0]})"), HasSubstr("/communicators/g/ranks: a communicator needs two ranks"));
  EXPECT_THAT(with_group(R"({"ranks": "all", "dimension": "xp"})"),
              HasSubstr("/communicators/g/dimension: unknown dimension"));
  EXPECT_THAT(with_group(R"({"ranks": "all", "size": 2})"), HasSubstr("/communicators/g/size: unknown key"));
  EXPECT_EQ(with_group(R"({"ranks": "all"})"), "");
}

TEST(TaskGraphJson, AMissingFileIsAnError) {
  EXPECT_THAT(message_of([] { static_cast<void>(read_task_graph("/nowhere/g.json")); }),
              HasSubstr("/nowhere/g.json: no such file"));
}

}  // namespace
}  // namespace photonrail::test
