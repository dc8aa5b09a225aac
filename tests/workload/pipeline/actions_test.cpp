#include "workload/pipeline/actions.hpp"
#include "photonrail/workload/pipeline.hpp"
#include "workload/pipeline/pipeline_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace photonrail {
namespace {

using enum PipelineSchedule;
using test::pipeline_shapes;
using ::testing::PrintToString;
using Kind = workload::PipelineAction::Kind;

/// Whether stages that do one action at a time, and wait in a message until both ends are there, come to the end.
bool finishes(const std::vector<std::vector<workload::PipelineAction>>& actions) {
  std::vector<std::size_t> at(actions.size(), 0);
  const auto head = [&](std::size_t s) { return at[s] < actions[s].size() ? &actions[s][at[s]] : nullptr; };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < actions.size(); ++s) {
      const workload::PipelineAction* mine = head(s);
      if (mine == nullptr || mine->kind == Kind::kReceive) continue;
      if (mine->kind == Kind::kSend) {
        const workload::PipelineAction* other = head(mine->peer);
        if (other == nullptr || other->kind != Kind::kReceive || other->peer != s || other->step != mine->step) continue;
        ++at[mine->peer];
      }
      ++at[s];
      moved = true;
    }
  }
  for (std::size_t s = 0; s < actions.size(); ++s) {
    if (at[s] != actions[s].size()) return false;
  }
  return true;
}

TEST(PipelineActions, EndWhenEveryMessageBlocksBothEnds) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    EXPECT_TRUE(finishes(workload::pipeline_actions(shape))) << PrintToString(shape);
  }
}

TEST(PipelineActions, EverySendFollowsItsPassAndEveryReceiveComesBeforeItsUse) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    SCOPED_TRACE(PrintToString(shape));
    const auto actions = workload::pipeline_actions(shape);
    for (std::uint32_t s = 0; s < shape.stages; ++s) {
      std::vector<PipelineStep> passes;
      std::vector<workload::PipelineAction> received;
      std::size_t sent = 0;
      for (const workload::PipelineAction& action : actions[s]) {
        if (action.kind == Kind::kReceive) {
          EXPECT_NE(action.peer, s);
          received.push_back(action);
        } else if (action.kind == Kind::kSend) {
          EXPECT_NE(action.peer, s);
          ASSERT_FALSE(passes.empty());
          EXPECT_EQ(passes.back(), action.step);
          ++sent;
        } else {
          passes.push_back(action.step);
          const std::uint32_t v = shape.virtual_stage({s, action.step.chunk});
          const bool forward = action.step.kind == PassKind::kForward;
          if (action.step.kind == PassKind::kBackwardWeight) continue;
          if (forward ? v == 0 : v + 1 == shape.virtual_stages()) continue;
          const PipelinePlace from = shape.place(forward ? v - 1 : v + 1, action.step.micro_batch);
          if (from.stage == s) continue;
          const auto is_input = [&](const workload::PipelineAction& a) {
            return a.peer == from.stage && a.step.chunk == from.chunk && a.step.micro_batch == action.step.micro_batch &&
                   (a.step.kind == PassKind::kForward) == forward;
          };
          EXPECT_EQ(std::count_if(received.begin(), received.end(), is_input), 1);
        }
      }
      EXPECT_EQ(passes, pipeline_steps(shape, s));
    }
  }
}

/// "F0 >F0 <B0 B0 ...": '>' is a send, '<' a receive.
std::string written(const std::vector<workload::PipelineAction>& actions) {
  std::string text;
  for (const workload::PipelineAction& a : actions) {
    const std::string mark = a.kind == Kind::kSend ? ">" : a.kind == Kind::kReceive ? "<" : "";
    text += (text.empty() ? "" : " ") + mark + test::written({a.step});
  }
  return text;
}

TEST(PipelineActions, ReceiveRightBeforeTheUseWhereTheyCan) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    if (shape.schedule != kGPipe && shape.schedule != kOneFOneB && shape.schedule != kZeroBubbleH1) continue;
    SCOPED_TRACE(PrintToString(shape));
    for (const auto& actions : workload::pipeline_actions(shape)) {
      for (auto at = actions.begin(); at != actions.end(); ++at) {
        if (at->kind != Kind::kReceive) continue;
        const auto use = std::find_if(at, actions.end(), [](const auto& a) { return a.kind == Kind::kPass; });
        ASSERT_NE(use, actions.end());
        EXPECT_EQ(use->step.micro_batch, at->step.micro_batch);
        EXPECT_EQ(use->step.kind, at->step.kind);
      }
    }
  }
}

TEST(PipelineActions, OfTwoNeighboursThatExchangeTheOddOneReceivesFirst) {
  const auto actions = workload::pipeline_actions({kOneFOneB, 2, 1, 3});
  EXPECT_EQ(written(actions[0]), "F0 >F0 F1 >F1 <B0 B0 F2 >F2 <B1 B1 <B2 B2");
  EXPECT_EQ(written(actions[1]), "<F0 F0 B0 <F1 >B0 F1 B1 <F2 >B1 F2 B2 >B2");
}

TEST(PipelineActions, SendBeforeTheyReceiveWhereNobodyWaitsInACircle) {
  const auto actions = workload::pipeline_actions({kGPipe, 3, 1, 2});
  EXPECT_EQ(written(actions[1]), "<F0 F0 >F0 <F1 F1 >F1 <B0 B0 >B0 <B1 B1 >B1");
}

}  // namespace
}  // namespace photonrail
