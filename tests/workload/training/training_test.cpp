#include "photonrail/training.hpp"
#include "photonrail/error.hpp"
#include "workload/training/small_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

using ::testing::ElementsAre;

using test::small_spec;

TaskId find_task(const Program& program, std::string_view name) {
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    if (program.name(TaskId{t}) == name) return TaskId{t};
  }
  ADD_FAILURE() << "no task " << name;
  return TaskId::none();
}

std::vector<std::string> predecessors(const Program& program, std::string_view name) {
  const TaskId task = find_task(program, name);
  std::vector<std::string> result;
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    for (const TaskId next : program.successors(TaskId{t})) {
      if (next == task) result.emplace_back(program.name(TaskId{t}));
    }
  }
  return result;
}

/// The order of passes: "fwd.0 fwd.1 bwd.0 ...", from the names of the compute tasks.
std::string passes(const Program& program) {
  std::string text;
  std::string last;
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    const std::string_view name = program.name(TaskId{t});
    if (program.tasks()[t].kind != TaskKind::kCompute || name == "optimizer") continue;
    const std::string pass(name.substr(0, name.find('.', 4)));
    if (pass != last) text += (text.empty() ? "" : " ") + pass;
    last = pass;
  }
  return text;
}

/// The names of the tasks on the rails (not tp), in the order of issue.
std::vector<std::string> rail_tasks(const TaskGraph& graph, RankId rank) {
  std::vector<std::string> result;
  const Program& program = graph.program(rank);
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    const Task& task = program.tasks()[t];
    if (task.kind == TaskKind::kCompute) continue;
    const CommunicatorId c = graph.communicator(rank, task.slot);
    if (graph.communicators()[c.index()].dimension != Dimension::kTp) result.emplace_back(program.name(TaskId{t}));
  }
  return result;
}

/// The strictest executor there is: a rank runs one task at a time, in the order of ids, and nothing is buffered.
class BlockingRun {
 public:
  explicit BlockingRun(const TaskGraph& graph) : graph_(graph), at_(graph.ranks(), 0) {}

  /// True when all ranks come to the end.
  bool finishes() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < at_.size(); ++r) {
        while (!done(r) && advance(r)) moved = true;
      }
    }
    for (std::size_t r = 0; r < at_.size(); ++r) {
      if (!done(r)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool done(std::size_t r) const { return at_[r] == graph_.program(RankId{r}).tasks().size(); }
  [[nodiscard]] const Task& task(std::size_t r) const { return graph_.program(RankId{r}).tasks()[at_[r]]; }

  bool advance(std::size_t r) {
    if (task(r).kind == TaskKind::kCompute) return ++at_[r], true;
    const CommunicatorId c = graph_.communicator(RankId{r}, task(r).slot);
    const auto& members = graph_.communicators()[c.index()].members;
    for (const RankId m : members) {
      if (done(m.index()) || task(m.index()).kind == TaskKind::kCompute) return false;
      if (graph_.communicator(m, task(m.index()).slot) != c) return false;
      if (task(m.index()).match != task(r).match || task(m.index()).tag != task(r).tag) return false;
    }
    for (const RankId m : members) ++at_[m.index()];
    return true;
  }

  const TaskGraph& graph_;
  std::vector<std::size_t> at_;
};

TEST(Training, RanksOfOneStageShareAProgram) {
  TrainingSpec spec = small_spec();
  spec.parallelism = {.tp = 4, .pp = 5, .dp = 8};
  spec.global_batch = 32;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(graph.ranks(), 160u);
  EXPECT_EQ(graph.programs().size(), 5u);
  EXPECT_TRUE(graph.warnings().empty());
}

TEST(Training, TwoBuildsAreEqual) {
  TrainingSpec spec = small_spec();
  EXPECT_TRUE(make_training_graph(spec) == make_training_graph(spec));
  const TaskGraph before = make_training_graph(spec);
  spec.sequence = 32;
  EXPECT_FALSE(make_training_graph(spec) == before);
}

TEST(Training, NumbersRanksInnermostFirst) {
  const auto members_of = [](const TaskGraph& graph, std::string_view name) {
    for (const Communicator& c : graph.communicators()) {
      if (c.name == name) return c.members;
    }
    return std::vector<RankId>{};
  };
  TrainingSpec spec = small_spec();
  // tp, dp, pp: rank = tp + 2 dp + 4 pp.
  const TaskGraph megatron = make_training_graph(spec);
  EXPECT_THAT(members_of(megatron, "tp.1"), ElementsAre(RankId{2}, RankId{3}));
  EXPECT_THAT(members_of(megatron, "dp.1"), ElementsAre(RankId{1}, RankId{3}));
  EXPECT_THAT(members_of(megatron, "link.1>5"), ElementsAre(RankId{1}, RankId{5}));
  EXPECT_EQ(megatron.program_of(RankId{3}), ProgramId{0});
  EXPECT_EQ(megatron.program_of(RankId{4}), ProgramId{1});
  // dp, pp, tp: rank = dp + 2 pp + 4 tp.
  spec.order = {"dp", "pp", "tp"};
  const TaskGraph other = make_training_graph(spec);
  EXPECT_THAT(members_of(other, "tp.1"), ElementsAre(RankId{1}, RankId{5}));
  EXPECT_THAT(members_of(other, "dp.1"), ElementsAre(RankId{2}, RankId{3}));
  EXPECT_THAT(members_of(other, "link.3>1"), ElementsAre(RankId{3}, RankId{1}));
  EXPECT_EQ(other.program_of(RankId{2}), ProgramId{1});
}

TEST(Training, CommunicatorsKnowTheirDimension) {
  const TaskGraph graph = make_training_graph(small_spec());
  for (const Communicator& c : graph.communicators()) {
    EXPECT_EQ(c.point_to_point, c.dimension == Dimension::kPp);
    if (!c.point_to_point) {
      EXPECT_EQ(c.name.substr(0, 2), name(c.dimension));
    }
  }
}

TEST(Training, StagesRunTheirSchedule) {
  TrainingSpec spec = small_spec();
  const TaskGraph graph = make_training_graph(spec);
  // Two stages, four micro-batches: stage 0 is one forward pass ahead.
  EXPECT_EQ(passes(graph.programs()[0]), "fwd.0 fwd.1 bwd.0 fwd.2 bwd.1 fwd.3 bwd.2 bwd.3");
  EXPECT_EQ(passes(graph.programs()[1]), "fwd.0 bwd.0 fwd.1 bwd.1 fwd.2 bwd.2 fwd.3 bwd.3");
  spec.schedule = PipelineSchedule::kGPipe;
  EXPECT_EQ(passes(make_training_graph(spec).programs()[1]), "fwd.0 fwd.1 fwd.2 fwd.3 bwd.0 bwd.1 bwd.2 bwd.3");
}

TEST(Training, TheFirstStagesHaveTheRemainderOfTheLayers) {
  const TaskGraph graph = make_training_graph(small_spec());
  const Program& first = graph.programs()[0];
  const Program& last = graph.programs()[1];
  find_task(first, "fwd.0.embedding");
  find_task(first, "fwd.0.layer2.mlp");
  find_task(last, "fwd.0.layer3.attention");
  find_task(last, "fwd.0.layer4.mlp");
  find_task(last, "fwd.0.head");
}

TEST(Training, EachComputeTaskWaitsForTheOneBeforeIt) {
  TrainingSpec spec = small_spec();
  spec.parallelism.fsdp = true;
  spec.recompute = Recompute::kFull;
  const TaskGraph graph = make_training_graph(spec);
  for (const Program& program : graph.programs()) {
    TaskId last = TaskId::none();
    for (std::size_t t = 0; t < program.tasks().size(); ++t) {
      for (const TaskId next : program.successors(TaskId{t})) EXPECT_GT(next, TaskId{t});
      if (program.tasks()[t].kind != TaskKind::kCompute) continue;
      if (!last.is_none()) {
        EXPECT_THAT(program.successors(last), ::testing::Contains(TaskId{t}));
      }
      last = TaskId{t};
    }
    EXPECT_EQ(program.name(last), "optimizer");
  }
}

TEST(Training, WaitsForWhatItUses) {
  TrainingSpec spec = small_spec();
  spec.parallelism.fsdp = true;
  const TaskGraph graph = make_training_graph(spec);
  const Program& p = graph.programs()[0];
  // The gathers of the first pass wait for nothing; that of layer 1 is asked for when layer 0 can begin, that is when the
  // embedding has computed; that of the next pass's first unit when this pass has its result, whose send is posted first.
  EXPECT_THAT(predecessors(p, "fwd.0.embedding.weights.all_gather"), ElementsAre());
  EXPECT_THAT(predecessors(p, "fwd.0.layer0.weights.all_gather"), ElementsAre());
  EXPECT_THAT(predecessors(p, "fwd.0.layer1.weights.all_gather"), ElementsAre("fwd.0.embedding"));
  EXPECT_THAT(predecessors(p, "fwd.0.layer2.weights.all_gather"), ElementsAre("fwd.0.layer0.mlp"));
  EXPECT_THAT(predecessors(p, "fwd.1.embedding.weights.all_gather"), ElementsAre("fwd.0.layer2.mlp.reduce_scatter"));
  EXPECT_THAT(predecessors(p, "fwd.0.layer1.attention"),
              ElementsAre("fwd.0.layer1.weights.all_gather", "fwd.0.layer0.mlp", "fwd.0.layer1.attention.all_gather"));
  EXPECT_THAT(predecessors(p, "fwd.0.send"), ElementsAre("fwd.0.layer2.mlp.reduce_scatter"));
  EXPECT_THAT(predecessors(p, "bwd.0.receive"), ElementsAre("fwd.1.layer2.mlp.reduce_scatter"));
  EXPECT_THAT(predecessors(p, "bwd.0.layer2.mlp.all_gather"), ElementsAre("bwd.0.receive"));
  EXPECT_THAT(predecessors(p, "bwd.0.layer2.gradients.reduce_scatter"), ElementsAre("bwd.0.layer2.attention"));
  // Four units (embedding and three layers) by four micro-batches, and the last compute task.
  EXPECT_EQ(predecessors(p, "optimizer").size(), 4u * 4u + 1u);
}

TEST(Training, RecomputeRunsALayerAgainBeforeItsBackwardPass) {
  TrainingSpec spec = small_spec();
  spec.recompute = Recompute::kFull;
  const TaskGraph graph = make_training_graph(spec);
  const Program& p = graph.programs()[0];
  const TaskId again = find_task(p, "bwd.0.again.layer1.mlp");
  EXPECT_LT(find_task(p, "bwd.0.layer2.attention"), again);
  EXPECT_LT(again, find_task(p, "bwd.0.layer1.mlp"));
  EXPECT_THAT(predecessors(p, "bwd.0.again.layer2.attention.all_gather"), ElementsAre("bwd.0.receive"));
}

TEST(Training, PipelineMessagesOfOneTurnFollowEachOther) {
  // Between two passes the rails carry pipeline messages only, so that data-parallel circuits are not asked for in
  // between. Stage 0 sends first, stage 1 receives first: neither waits for the other.
  TrainingSpec spec = small_spec();
  spec.model.layers = 2;  // one a stage: units embedding, layer0 | layer1, head
  spec.parallelism.fsdp = true;
  spec.global_batch = 8;  // two micro-batches
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_THAT(rail_tasks(graph, RankId{0}),
              ElementsAre("fwd.0.embedding.weights.all_gather", "fwd.0.layer0.weights.all_gather", "fwd.0.send",
                          "fwd.1.embedding.weights.all_gather", "fwd.1.layer0.weights.all_gather", "fwd.1.send",
                          "bwd.0.receive", "bwd.0.layer0.weights.all_gather", "bwd.0.embedding.weights.all_gather",
                          "bwd.0.layer0.gradients.reduce_scatter", "bwd.0.embedding.gradients.reduce_scatter",
                          "bwd.1.receive", "bwd.1.layer0.weights.all_gather", "bwd.1.embedding.weights.all_gather",
                          "bwd.1.layer0.gradients.reduce_scatter", "bwd.1.embedding.gradients.reduce_scatter"));
  EXPECT_THAT(
      rail_tasks(graph, RankId{4}),
      ElementsAre("fwd.0.receive", "fwd.0.layer1.weights.all_gather", "fwd.0.head.weights.all_gather",
                  "bwd.0.head.weights.all_gather", "bwd.0.layer1.weights.all_gather", "bwd.0.head.gradients.reduce_scatter",
                  "bwd.0.layer1.gradients.reduce_scatter", "fwd.1.receive", "bwd.0.send", "fwd.1.layer1.weights.all_gather",
                  "fwd.1.head.weights.all_gather", "bwd.1.head.weights.all_gather", "bwd.1.layer1.weights.all_gather",
                  "bwd.1.head.gradients.reduce_scatter", "bwd.1.layer1.gradients.reduce_scatter", "bwd.1.send"));
}

/// Whether the schedule exists for the specification.
bool exists(const TrainingSpec& spec) {
  try {
    spec.validate();
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

TEST(Training, FinishesEvenWhenEveryTaskBlocksItsRank) {
  // A job that finishes so has no cycle through sends and collectives, and ids in an order that even one communication
  // lane a GPU can follow.
  int jobs = 0;
  for (const PipelineScheduleInfo& info : pipeline_schedules()) {
    for (std::uint32_t pp = 1; pp <= 5; ++pp) {
      for (std::uint32_t m = 1; m <= 8; ++m) {
        for (const bool fsdp : {false, true}) {
          TrainingSpec spec = small_spec();
          spec.schedule = info.schedule;
          spec.parallelism.pp = pp;
          spec.parallelism.fsdp = fsdp;
          spec.global_batch = m * spec.parallelism.dp * spec.micro_batch;
          const bool loops =
              info.schedule == PipelineSchedule::kInterleaved || info.schedule == PipelineSchedule::kBreadthFirst;
          if (loops) spec.parallelism.virtual_stages = 2, spec.model.layers = 2 * pp;
          SCOPED_TRACE(std::string(info.name) + ", pp " + std::to_string(pp) + ", micro-batches " + std::to_string(m) +
                       (fsdp ? ", fsdp" : ""));
          if (!exists(spec)) continue;
          ++jobs;
          EXPECT_TRUE(BlockingRun(make_training_graph(spec)).finishes());
        }
      }
    }
  }
  // 5 of the 7 schedules exist always: 5 x 5 x 8 x 2 = 400; interleaved where pp divides m (8 + 4 + 2 + 2 + 1 = 17, twice);
  // DualPipe without fsdp for pp 2 (4, 6, 8 micro-batches) and pp 4 (8): 4.
  EXPECT_EQ(jobs, 400 + 34 + 4);
}

TEST(Training, RefusesABadSpecification) {
  TrainingSpec spec = small_spec();
  spec.parallelism.tp = 3;
  EXPECT_THROW(static_cast<void>(make_training_graph(spec)), ConfigError);
}

}  // namespace
}  // namespace photonrail
