// A request board with a job of three ranks, for tests of the parts of the control plane.
#pragma once

#include "control_plane/control_context.hpp"
#include "control_plane/request_board.hpp"
#include "control_plane/request_channel.hpp"
#include "execution/part_fixture.hpp"

namespace photonrail::test {

inline Job ring_of_three() {
  Job job(3);
  const auto dp = job.group({0, 1, 2});
  job.collective(dp, {0, 1, 2}, CollectiveOp::kAllGather, 30'000'000);
  job.optical(us(10));
  return job;
}

/// A request board that writes down what it would tell the agents.
struct BoardFixture : PartFixture, control_plane::RequestBoardListener {
  BoardFixture() : PartFixture(ring_of_three()) {}
  void requests_changed(RailId, execution::CriticalPathTag) override { ++changes; }
  [[nodiscard]] bool hears(RailId) const override { return true; }
  [[nodiscard]] execution::OpId operation() {
    return operations.seat(RankId{0u}, graph().program(RankId{0u}).task(TaskId{0u}), 0).op;
  }

  ControllerRegistry controllers = ControllerRegistry::builtin();
  ControllerSpec spec = controllers.find("opus").complete(job_.scenario.controller);
  control_plane::ControlContext run{engine, fabric, operations, accounting, observers, spec, controllers.find("opus"), 1};
  PolicyNeeds needs{};
  control_plane::RequestChannel channel{engine, spec, 1, 1};
  control_plane::RequestBoard board{run, needs, channel, *this, nullptr};
  int changes = 0;
};

}  // namespace photonrail::test
