// Folding: equivalent ranks are run once, and the result is reported for all of them.
//
// A folded run is the run of a smaller job. Each class of ranks (colour_refinement.hpp) is one rank, each type of
// communicator one communicator, and each class of GPUs one GPU with its ports. A group whose classes repeat with period p
// runs the part of its plan that p members have (SendPlan::folded); which way a send goes is asked of the GPUs of one whole
// group. The job is a covering of the smaller one: every port of it carries, flow for flow, what the port that stands for
// it carries, so that the max-min rates and with them all times are the same (the fair allocation is unique).
//
// On optical rails a circuit between two classes must stand for one circuit of each of their GPUs, and a round of an
// operation must be a matching. Where a GPU has circuits to several of a class, sheets tell them apart
// (circuit_sheets.hpp); where there are none, the members of a group are told apart, every second, third .. of them, until
// it has not. A controller that counts the GPUs or the requests of a rail is shown another rail by that; where whole rails
// alone are folded (FoldingInput::whole_rails) it is shown the same.
#pragma once

#include "collective/algorithm_table.hpp"
#include "fabric/fabric.hpp"
#include "folding/member_placement.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::folding {

/// The job that is to be folded. All must outlive what is made with it.
struct FoldingInput {
  const TaskGraph& graph;
  std::span<const GpuId> gpu_of_rank;
  const ClusterSpec& cluster;  ///< its rails: those of the scenario, or the electrical ones of a profiling run
  const collective::AlgorithmTable& algorithms;
  std::span<const std::uint32_t> labels{};  ///< by rank: ranks of different labels are never alike; empty: no labels
  /// Only ranks of one server may be alike: a rail of the cluster is one of the plant, GPU for GPU, with its groups in
  /// their order, and not a part of one.
  bool whole_rails = false;
  /// The controller tells sheets (core/circuit.hpp), and GPUs have one port on one plane of optical rails.
  bool sheets = false;

  [[nodiscard]] bool optical() const { return cluster.rail.kind == RailKind::kOptical; }
};

/// A smaller job that stands for a scenario's.
struct Folding {
  TaskGraph graph;            ///< a rank for each class
  MemberPlacement placement;  ///< of its communicators
  fabric::FoldedPlant plant;
  std::vector<RailId> rail_image;            ///< by rail of the cluster: the one of `plant` that stands for it, or none
  std::vector<std::uint32_t> class_of_rank;  ///< by rank of the job
};

struct FoldingAttempt {
  std::optional<Folding> folding;
  std::string why_not;  ///< where there is no folding
};

/// The folding of a job whose rails and controller treat equal ranks (`whole_rails`: equal rails) equally.
[[nodiscard]] FoldingAttempt fold(const FoldingInput& job);

}  // namespace photonrail::folding
