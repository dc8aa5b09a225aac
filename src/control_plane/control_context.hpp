// The parts of the control plane of one job work on this context.
#pragma once

#include "core/field.hpp"
#include "engine/engine.hpp"
#include "execution/observer_list.hpp"
#include "execution/operation_table.hpp"
#include "execution/time_accounting.hpp"
#include "fabric/fabric.hpp"
#include "photonrail/controller.hpp"

#include <cstdint>

namespace photonrail::control_plane {

/// All must outlive what is made with it. `spec` is complete (ControllerFactory::complete).
struct ControlContext {
  engine::Engine& engine;
  fabric::Fabric& fabric;
  execution::OperationTable& operations;
  execution::TimeAccounting& accounting;
  const execution::ObserverList& observers;
  const ControllerSpec& spec;
  const ControllerFactory& factory;
  std::uint64_t seed = 1;
  core::Field holder{};  ///< what holds the job's "controller": the scenario, or jobs[1]

  [[nodiscard]] const PlantSpec& plant() const { return fabric.plant().spec(); }
};

}  // namespace photonrail::control_plane
