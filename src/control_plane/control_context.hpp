// What the parts of the control plane of one job work on.
#pragma once

#include "engine/engine.hpp"
#include "execution/observer_list.hpp"
#include "execution/operation_table.hpp"
#include "execution/time_accounting.hpp"
#include "fabric/fabric.hpp"
#include "photonrail/controller.hpp"

#include <cstdint>
#include <string>

namespace photonrail::control_plane {

/// All must outlive what is made with it. `spec` is complete (ControllerFactory::complete).
struct ControlContext {
  engine::Engine& engine;
  Fabric& fabric;
  execution::OperationTable& operations;
  execution::TimeAccounting& accounting;
  const execution::ObserverList& observers;
  const ControllerSpec& spec;
  const ControllerFactory& factory;
  std::uint64_t seed = 1;
  std::string pointer{};  ///< to what holds the job's "/controller": "", or "/jobs/1"

  [[nodiscard]] const PlantSpec& plant() const { return fabric.plant().spec(); }
};

}  // namespace photonrail::control_plane
