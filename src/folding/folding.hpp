// Folding: ranks that nothing tells apart are run once, and reported for all.
//
// A folded run is the run of a smaller job. Each class of ranks (sim/symmetry.hpp) is one rank, each type of communicator
// one communicator, and each class of GPUs one GPU with its ports. A group whose classes repeat with period p runs the part
// of its plan that p members have (SendPlan::folded); which way a send goes is asked of the GPUs of one whole group. The
// job is a covering of the smaller one: every port of it carries, flow for flow, what the port that stands for it carries,
// so that the max-min rates and with them all times are the same (the fair allocation is unique).
//
// On optical rails a circuit between two classes must stand for one circuit of each of their GPUs: so a GPU may send to one
// GPU of a class only, and a round of an operation must be a matching.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/simulate.hpp"
#include "execution/operation.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail {

/// Why a run cannot be folded.
struct FoldingFailed {
  std::string why;
};

/// A smaller job that stands for a scenario's.
struct Folding {
  TaskGraph graph;  ///< a rank for each class
  MemberPlacement roster;    ///< of its communicators
  FoldedPlant plant;
  std::vector<RailId> rail_image;            ///< by rail of the cluster: the one of `plant` that stands for it, or none
  std::vector<std::uint32_t> class_of_rank;  ///< by rank of the job
};

/// The folding of a scenario on a cluster: its own, or the electrical rails of the profiling run. Throws FoldingFailed when
/// there is none.
[[nodiscard]] Folding fold(const Scenario& scenario, const ClusterSpec& cluster, const ControllerSpec& controller,
                           const Registries& registries);

}  // namespace photonrail
