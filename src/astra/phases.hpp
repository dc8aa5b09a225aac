// Phases are what a chunk of a collective does, dimension by dimension.
#pragma once

#include "photonrail/formats/astra.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace photonrail::astra {

/// The members of one dimension that a rank belongs to: rank, rank + stride ..., or the ranks of a group.
struct Circle {
  std::uint32_t members = 1;
  std::uint32_t stride = 1;
  bool of_all = false;                                      // every rank is in it, in order
  std::shared_ptr<const std::vector<std::uint32_t>> ranks;  // of a group; else null

  [[nodiscard]] std::uint32_t place(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank(std::uint32_t of, std::uint32_t place) const;  ///< `of`: any rank of the circle
};

/// A message of halving and doubling.
struct HalvingStep {
  std::uint32_t distance = 0;  // between the partners
  std::uint64_t bytes = 0;
};

struct Phase {
  CollectiveOp op = CollectiveOp::kAllReduce;
  AnalyticalImplementation how;
  Circle circle;
  std::uint32_t dimension = 0;      // whose queue the chunk waits in
  std::uint64_t bytes = 0;          // that a member begins with
  std::uint64_t message_bytes = 0;  // ring, direct, tree
  std::uint64_t bytes_after = 0;    // that a member ends with
  std::uint32_t messages = 0;       // that a member sends
  std::uint32_t at_once = 1;        // of them without waiting for one to come
  std::uint32_t sources = 1;        // members that a member hears from, as far as they are told apart
  bool other_tree = false;          // of the double binary tree: the one whose root is the first member
  bool fast_endpoint = false;       // a group's: the endpoint delay is 10 ns whatever the system says
  std::vector<HalvingStep> halving;

  [[nodiscard]] bool reduces() const { return op == CollectiveOp::kAllReduce || op == CollectiveOp::kReduceScatter; }
};

/// The dimensions that a collective of all ranks runs on; each implementation is with its circle.
struct Topology {
  std::vector<Circle> circles;
  AnalyticalImplementations how;
};
[[nodiscard]] Topology topology_of(const AnalyticalJob& job, CollectiveOp op);
[[nodiscard]] const AnalyticalImplementations& implementations(const AnalyticalSystem& system, CollectiveOp op);

/// The phases of a chunk of `bytes`; none where no dimension of more than one member takes part.
/// `dimensions`: a bit for each that takes part.
[[nodiscard]] std::vector<Phase> phases_of(CollectiveOp op, std::uint64_t bytes, const Topology& topology,
                                           std::uint32_t dimensions, bool hierarchical);

/// Returns how `bytes` are cut into chunks. A chunk is no smaller than a byte a rank, but for an all-gather's.
[[nodiscard]] std::vector<std::uint64_t> chunks_of(CollectiveOp op, std::uint64_t bytes, std::uint32_t chunks,
                                                   std::uint32_t ranks);

}  // namespace photonrail::astra
