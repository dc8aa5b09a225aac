// Traces under the names that torch.profiler writes, and calls that only the host's record_param_comms describes.
#include "formats/kineto/kineto_support.hpp"
#include "photonrail/config.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

// As torch.profiler writes it: the rank is in the text alone.
std::string of_rank(int rank, int ranks, const std::vector<KinetoJson>& events) {
  return R"({"distributedInfo": {"backend": "nccl", "rank": )" + std::to_string(rank) + R"(, "world_size": )" +
         std::to_string(ranks) + "}, " + kineto_trace(events).substr(1);
}

std::string error_in(const Folder& folder) {
  return message_of([&] { static_cast<void>(read_kineto({folder.path(), {}})); });
}

TEST(PytorchNames, TheTraceSaysTheRank) {
  const Folder folder;
  // In the order of the names the ranks are 1, 0.
  folder.write("node1_77.1719000000000.pt.trace.json", of_rank(1, 2, {kernel(0, 2), nccl(3, 1, {})}));
  folder.write("node2_78.1719000000001.pt.trace.json", of_rank(0, 2, {kernel(0, 5), nccl(6, 1, {})}));
  const TaskGraph graph = read_kineto({folder.path(), {}});
  ASSERT_EQ(graph.ranks(), 2u);
  EXPECT_EQ(graph.program(RankId{0}).tasks()[0].time(), Duration{5'000'000});
  EXPECT_EQ(graph.program(RankId{1}).tasks()[0].time(), Duration{2'000'000});
}

TEST(PytorchNames, WhatIsWrongWithThemIsSaid) {
  const Folder folder;
  folder.write("a.1.pt.trace.json", kineto_trace({kernel(0, 2)}));
  EXPECT_THAT(error_in(folder), HasSubstr("does not say the rank"));
  folder.write("a.1.pt.trace.json", of_rank(0, 2, {kernel(0, 2)}));
  EXPECT_THAT(error_in(folder), HasSubstr("the job has 2 ranks, but there is 1 file"));
  folder.write("b.1.pt.trace.json", of_rank(0, 2, {kernel(0, 2)}));
  EXPECT_THAT(error_in(folder),
              ::testing::AllOf(HasSubstr("b.1.pt.trace.json: is of rank 0, as "), HasSubstr("a.1.pt.trace.json")));
  folder.write("b.1.pt.trace.json", of_rank(7, 2, {kernel(0, 2)}));
  EXPECT_THAT(error_in(folder), HasSubstr("is of rank 7, but there are 2 files"));
}

// A kernel without the arguments of its call, and the operator that launched it.
std::vector<KinetoJson> recorded(double start, std::int64_t elements, int external) {
  KinetoJson silent = nccl(start, 1, {});
  const KinetoJson arguments = nccl(start, 1, {"all_gather", elements, 2 * elements})["args"];
  silent["args"] = {{"device", 0}, {"stream", 20}, {"External id", external}};
  KinetoJson host{{"ph", "X"},       {"cat", "cpu_op"}, {"name", "record_param_comms"},
                  {"ts", start - 1}, {"dur", 0.5},      {"tid", 1}};
  host["args"] = arguments;
  host["args"]["External id"] = external;
  return {silent, host};
}

TEST(PytorchNames, RecordParamCommsDescribesTheKernelsWithItsId) {
  std::vector<KinetoJson> events{kernel(0, 2)};
  for (int call = 0; call < 2; ++call) {
    for (KinetoJson& event : recorded(10.0 * (call + 1), 1000 * (call + 1), 40 + call)) events.push_back(std::move(event));
  }
  const Folder folder;
  const TaskGraph graph = read_kineto(put_kineto(folder, {kineto_trace(events), kineto_trace(events)}));
  std::vector<std::int64_t> sizes;
  for (const Task& task : graph.program(RankId{0}).tasks()) {
    if (task.kind != TaskKind::kCollective) continue;
    EXPECT_EQ(task.op, CollectiveOp::kAllGather);
    sizes.push_back(task.size().count);
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4000, 8000}));  // Float: a shard
}

TEST(PytorchNames, AKernelThatNothingDescribesIsAnError) {
  std::vector<KinetoJson> events = recorded(10, 1000, 40);
  events[1]["args"]["External id"] = 41;
  const Folder folder;
  put_kineto(folder, {kineto_trace(events), kineto_trace(events)});
  EXPECT_THAT(error_in(folder), HasSubstr("nor does a record_param_comms with its External id"));
}

}  // namespace
}  // namespace photonrail::test
