#include "workload/training/stage_writer.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"
#include "workload/pipeline/actions.hpp"
#include "workload/training/small_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {

using workload::StageWriter;

namespace {

using ::testing::HasSubstr;

void write(std::size_t max_tasks) {
  const TrainingSpec spec = test::small_spec();
  TaskGraphBuilder builder(spec.parallelism.ranks());
  StageWriter writer(builder, spec, 0, nullptr, max_tasks);
  static_cast<void>(writer.write(workload::pipeline_actions(spec.pipeline())[0]));
}

// Each of the 4 micro-batches is forward and backward through 3 layers of at least 2 computations: 48 tasks or more. Two
// stages have 2 x 20 tasks at most here, so that this one is stopped on its way.
TEST(StageWriter, StopsAtItsShareOfTheTasks) {
  const ConfigError error = test::error_of([] { write(40); });
  EXPECT_EQ(error.where(), "global_batch");
  EXPECT_THAT(error.problem(),
              HasSubstr("4 micro-batches are too many for a task graph: the stages have more than 40 tasks"));
  EXPECT_NO_THROW(write(StageWriter::kMaxTasks));
}

}  // namespace
}  // namespace photonrail
