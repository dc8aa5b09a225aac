// The execution of one job works on this context.
#pragma once

#include "engine/engine.hpp"
#include "execution/launch_table.hpp"
#include "execution/lockstep_groups.hpp"
#include "execution/observer_list.hpp"
#include "execution/operation_table.hpp"
#include "execution/rank_gpus.hpp"
#include "execution/straggler_injector.hpp"
#include "execution/time_accounting.hpp"
#include "fabric/fabric.hpp"

namespace photonrail::execution {

/// All must outlive what is made with it.
struct RunContext {
  engine::Engine& engine;
  fabric::Fabric& fabric;
  OperationTable& operations;
  TimeAccounting& accounting;
  const StragglerInjector& stragglers;
  const RankGpus& gpus;
  const ObserverList& observers;
  bool remembers_loads = false;              ///< CapacityLoads::load_of() will be asked
  const LockstepGroups* lockstep = nullptr;  ///< null: every rank is run by itself
  LaunchTable* launches = nullptr;           ///< null: the ranks repeat their programs

  /// The ranks that may run as one whose communicator this is, or null.
  [[nodiscard]] const LockstepGroup* group_of(CommunicatorId communicator) const {
    return lockstep != nullptr ? lockstep->of(communicator) : nullptr;
  }
};

}  // namespace photonrail::execution
