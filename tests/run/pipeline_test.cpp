// Pipeline schedules under the strictest conditions: each stage does one thing at a time, in the order of
// workload::pipeline_actions(), and no message fits a buffer.
#include "photonrail/workload/pipeline.hpp"
#include "run/job.hpp"
#include "workload/pipeline/actions.hpp"

#include <gtest/gtest.h>

namespace photonrail {
namespace {

using enum PipelineSchedule;
using test::Job;
using test::ms;

constexpr std::int64_t kHuge = std::int64_t{1} << 30;  // 1 GiB, far more than the 4 MiB that are buffered

Job blocking_job(const PipelineShape& shape) {
  Job job(shape.stages);
  const auto actions = workload::pipeline_actions(shape);
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    for (const workload::PipelineAction& action : actions[s]) {
      const std::uint32_t maker = action.kind == workload::PipelineAction::Kind::kReceive ? action.peer : s;
      const std::uint32_t part = shape.virtual_stage({maker, action.step.chunk});
      const std::uint32_t forward = action.step.kind == PassKind::kForward ? 1 : 0;
      const std::uint32_t tag = (action.step.micro_batch * shape.virtual_stages() + part) * 2 + forward;
      switch (action.kind) {
        case workload::PipelineAction::Kind::kPass:
          job.compute(s, action.step.kind == PassKind::kBackward ? ms(2) : ms(1));
          break;
        case workload::PipelineAction::Kind::kSend:
          job.send(s, action.peer, kHuge, tag);
          break;
        case workload::PipelineAction::Kind::kReceive:
          job.receive(action.peer, s, kHuge, tag);
          break;
      }
    }
  }
  return job;
}

TEST(PipelineRun, HugeMessagesNeverLock) {
  const std::vector<PipelineShape> shapes{{kGPipe, 4, 1, 8},        {kOneFOneB, 4, 1, 8},     {kInterleaved, 4, 2, 8},
                                          {kInterleaved, 2, 3, 4},  {kBreadthFirst, 4, 2, 6}, {kBreadthFirst, 3, 3, 2},
                                          {kZeroBubbleH1, 4, 1, 8}, {kZeroBubbleH2, 4, 1, 8}, {kZeroBubbleH2, 3, 1, 2},
                                          {kDualPipe, 4, 1, 8},     {kDualPipe, 6, 1, 14}};
  for (const PipelineShape& shape : shapes) {
    for (const CommLanes lanes : {CommLanes::kPerCommunicator, CommLanes::kOne}) {
      for (const bool optical : {false, true}) {
        SCOPED_TRACE(std::string(name(shape.schedule)) + (optical ? " optical" : " electrical") + " stages " +
                     std::to_string(shape.stages) + (lanes == CommLanes::kOne ? " one lane" : ""));
        Job job = blocking_job(shape);
        job.scenario.executor.comm_lanes = lanes;
        if (optical) job.optical(ms(1));
        const RunResult result = job.run();
        // A stage computes 3 ms for each micro-batch and chunk.
        EXPECT_GT(result.makespan, ms(3) * (shape.micro_batches * shape.chunks));
      }
    }
  }
}

}  // namespace
}  // namespace photonrail
