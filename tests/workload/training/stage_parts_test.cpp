// The writers of a stage's program, each alone.
#include "workload/training/stage_parts.hpp"
#include "workload/training/small_spec.hpp"
#include "workload/training/stage_model.hpp"
#include "workload/training/stage_pass.hpp"
#include "workload/training/stage_ring.hpp"
#include "workload/training/stage_tasks.hpp"
#include "workload/training/stage_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace photonrail::workload {
namespace {

using ::testing::ElementsAre;

/// One rank whose program the writers write. Its group has slot 0, the ends of its links 1 and 2.
struct ProgramSite {
  explicit ProgramSite(std::vector<SlotUse> slots = {SlotUse::kData, SlotUse::kContextOut, SlotUse::kContextIn})
      : used(slots.size()), tasks(builder, std::move(slots)) {}

  TaskGraphBuilder builder{3};
  std::size_t used;
  StageTasks tasks;

  // Rank 1 and 2 run an empty program, so that calls in the group are never complete: the graph warns, and is built.
  Program finish() {
    const std::vector<RankId> all{RankId{0}, RankId{1}, RankId{2}};
    const CommunicatorId group = builder.add_communicator("group", all, Dimension::kDp);
    const CommunicatorId out = builder.link(RankId{0}, RankId{1}, Dimension::kCp);
    const CommunicatorId in = builder.link(RankId{2}, RankId{0}, Dimension::kCp);
    std::vector<CommunicatorId> slots{group, out, in};
    slots.resize(used, group);
    builder.assign(RankId{0}, tasks.program(), slots);
    const ProgramId empty = builder.add_program();
    for (const std::uint32_t rank : {1u, 2u}) builder.assign(RankId{rank}, empty, {});
    const TaskGraph graph = std::move(builder).build();
    return graph.program(RankId{0});
  }
};

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> found;
  for (std::uint32_t i = 0; i < program.tasks().size(); ++i) found.emplace_back(program.name(TaskId{i}));
  return found;
}

TEST(StageTasks, AComputationWaitsForTheOneBeforeTheDataAndTheWeights) {
  ProgramSite site;
  StagePass pass;
  pass.prefix = "fwd.0.";
  site.tasks.compute(pass, {1.0, {}}, "a");
  site.tasks.exchange(pass, SlotUse::kData, CollectiveOp::kAllReduce, Bytes{8}, "a");
  pass.gathered.push_back(site.tasks.collective(SlotUse::kData, CollectiveOp::kAllGather, Bytes{8}, "weights", {}));
  site.tasks.exchange(pass, SlotUse::kTensor, CollectiveOp::kAllReduce, Bytes{8}, "nothing: there is no such group");
  site.tasks.compute(pass, {1.0, {}}, "b");
  EXPECT_TRUE(pass.gathered.empty());
  EXPECT_EQ(site.tasks.last_compute(), pass.data);
  const Program program = site.finish();
  EXPECT_THAT(names(program), ElementsAre("fwd.0.a", "fwd.0.a.all_reduce", "weights", "fwd.0.b"));
  EXPECT_EQ(program.task(TaskId{3}).waits, 3u);
}

// Of n blocks n - 1 come around, while n are computed.
TEST(RingWriter, EveryBlockIsComputedAndAllButTheFirstComeAround) {
  TrainingSpec spec = test::small_spec();
  spec.parallelism.cp = 3;
  const StageModel model(spec, 0, nullptr);
  ProgramSite site;
  StagePass pass;
  RingWriter(model, site.tasks).forward(pass, "attention", model.cost.attention.core.forward);
  const Program program = site.finish();
  std::map<TaskKind, int> kinds;
  for (const Task& task : program.tasks()) ++kinds[task.kind];
  EXPECT_EQ(kinds[TaskKind::kCompute], 3);
  EXPECT_EQ(kinds[TaskKind::kSend], 2);
  EXPECT_EQ(kinds[TaskKind::kReceive], 2);
}

// Without tensor and context parallelism nothing is exchanged: a layer is attention and MLP, and the backward pass the
// reverse.
TEST(PartWriter, ALayerIsAttentionAndMlpAndBackAgain) {
  const TrainingSpec spec = test::small_spec();
  const StageModel model(spec, 0, nullptr);
  const auto& units = model.units.front();
  const auto layer =
      std::find_if(units.begin(), units.end(), [](const Unit& unit) { return unit.kind == Unit::Kind::kLayer; });
  ASSERT_NE(layer, units.end());
  ProgramSite site({SlotUse::kData});
  PartWriter writer(model, site.tasks);
  PassSegments segments;
  writer.add_forward(segments, *layer);
  writer.add_backward(segments, *layer);
  StagePass pass;
  for (std::size_t i = 0; i < segments.size(); ++i) segments.run(i, pass);
  writer.weights_of(pass, *layer);
  const std::string& name = layer->name;
  EXPECT_THAT(names(site.finish()),
              ElementsAre(name + ".attention", name + ".mlp", name + ".mlp", name + ".attention", name));
}

// Replicas: the last backward pass of a chunk reduces the unit's gradients, and the optimizer waits for them.
TEST(WeightWriter, TheLastBackwardPassReducesAndTheOptimizerWaits) {
  const TrainingSpec spec = test::small_spec();
  const StageModel model(spec, 0, nullptr);
  ProgramSite site;
  const auto backward = [](std::uint32_t micro_batch) {
    PipelineAction action;
    action.kind = PipelineAction::Kind::kPass;
    action.step.kind = PassKind::kBackward;
    action.step.micro_batch = micro_batch;
    return action;
  };
  WeightWriter writer(model, site.tasks, {backward(0), backward(1)});
  StagePass pass;
  for (const std::uint32_t micro_batch : {0u, 1u}) {
    pass.step = backward(micro_batch).step;
    site.tasks.compute(pass, {1.0, {}}, "backward" + std::to_string(micro_batch));
    writer.reduce_gradients(pass, 0);
  }
  writer.flush_bucket(0, "");
  writer.finish_step();
  const Program program = site.finish();
  const std::vector<std::string> found = names(program);
  const auto reductions = std::count_if(found.begin(), found.end(),
                                        [](const std::string& n) { return n.find(".gradients.") != std::string::npos; });
  EXPECT_EQ(reductions, 1);
  ASSERT_EQ(found.back(), "optimizer");
  EXPECT_EQ(program.task(TaskId{static_cast<std::uint32_t>(found.size() - 1)}).waits, 2u)
      << "the reduction and the last computation";
}

}  // namespace
}  // namespace photonrail::workload
