// A setup is what a run of one job needs, as one value.
#pragma once

#include "core/field.hpp"
#include "engine/engine.hpp"
#include "execution/schedule.hpp"
#include "execution/slack_profile.hpp"
#include "execution/time_accounting.hpp"
#include "fabric/shared_fabric.hpp"
#include "folding/folding.hpp"
#include "photonrail/simulate.hpp"
#include "run/step_hashes.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace photonrail::run {

/// Holds what a job has of a cluster that several jobs share.
struct SharedJobContext {
  engine::Engine& engine;
  fabric::SharedFabric& fabric;
  std::uint32_t job = 0;
  core::Field holder{};  ///< what holds the job's "controller": the scenario where jobs share it, or jobs[1]
};

/// Holds what profiling runs on electrical rails say of a job, where its policy wants it.
struct Profile {
  std::optional<execution::Schedule> order;
  std::optional<execution::SlackProfile> slack;
  std::optional<execution::TailBound> tail;
};

/// Thrown by a rehearsal that cannot end by JobSetup::give_up.
struct GaveUp {};

/// What a run of many steps leaves behind for EqualSteps.
struct StepRecord {
  bool hashed = false;  ///< `hashes` are wanted
  std::optional<StepHashes> hashes{};
  std::array<execution::TrafficMeans, kDimensionCount> means{};
};

/// What a run fills, or null.
struct Recordings {
  execution::Schedule* order = nullptr;  ///< of rail operations
  StepRecord* steps = nullptr;
  bool* stood_still = nullptr;  ///< becomes true when controllers had another look because no event was left
};

/// All that is referred to must outlive the run.
struct JobSetup {
  const Scenario& scenario;
  const Registries& registries;
  const ClusterSpec& cluster;        ///< the scenario's, or the electrical rails of a profiling run
  const ControllerSpec& controller;  ///< complete (ControllerFactory::complete)
  PolicyNeeds needs{};
  RunSpec run{};
  std::span<const StragglerSpec> stragglers{};
  std::span<Observer* const> observers{};
  const folding::Folding* folding = nullptr;  ///< the smaller job that is run in place of the scenario's, or null
  const Profile* profile = nullptr;           ///< null: none is wanted
  Recordings recorded{};
  bool shows_classes = false;                ///< a folded run notifies its observers, of classes in place of ranks
  std::optional<Time> give_up{};             ///< a rehearsal that ends later than this has lost, and may stop
  const SharedJobContext* shared = nullptr;  ///< of one of several jobs, which is not folded; else null
  WorkloadAgent* agent = nullptr;            ///< decides the workload; null: the ranks repeat their programs

  [[nodiscard]] const TaskGraph& graph() const { return folding != nullptr ? folding->graph : scenario.graph; }
  [[nodiscard]] bool optical() const { return cluster.rail.kind == RailKind::kOptical; }
  /// Messages may go over circuits of other pairs, and share them with what these send.
  [[nodiscard]] bool forwards() const {
    return optical() && (needs.hops > 1 || (needs.hops == 0 && cluster.rail.forwarding));
  }
};

}  // namespace photonrail::run
