// Circuits inside one collective: keep them, or re-point them before the next step? Dynamic programming over the steps with
// the delay as the price. Model: Harvest (arXiv 2602.09188): steps are barriers, and a reconfiguration stops all circuits.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::slices {

/// A step in which node u sends so many bytes to node u + offset, for all u at once.
struct RotationStep {
  std::uint32_t offset = 1;
  double bytes = 0.0;
};

/// Steps t = 1 .. n - 1 of offset t, bytes / n each.
[[nodiscard]] std::vector<RotationStep> direct_all_to_all(std::uint32_t nodes, double bytes);
/// Reduce-scatter with offsets 1, 2, 4 .. and halves of the bytes, all-gather in reverse. REQUIRES: nodes is a power of 2.
[[nodiscard]] std::vector<RotationStep> halving_doubling_all_reduce(std::uint32_t nodes, double bytes);

/// Nodes with one circuit out and one in. On the ring of shift k node u is joined to u + k.
struct RotationFabric {
  std::uint32_t nodes = 2;      ///< 2 to 1,024
  Bandwidth circuit{};          ///< more than 0
  Duration alpha{};             ///< of a step
  Duration hop{};               ///< of a circuit that a byte passes
  Duration reconfiguration{};   ///< of all circuits together
  std::uint32_t max_hops = 64;  ///< a step that needs more cannot use the ring
};

/// Steps first .. last, from 1 on, on the ring of `shift`.
struct ShiftSegment {
  std::uint32_t first = 1;
  std::uint32_t last = 1;
  std::uint32_t shift = 1;

  friend bool operator==(const ShiftSegment&, const ShiftSegment&) = default;
};

struct ShiftSchedule {
  Duration cost{};
  std::uint32_t reconfigurations = 0;  ///< segments - 1: the first circuits are free
  std::vector<ShiftSegment> segments{};
  Duration fixed_ring{};  ///< all steps on the ring of shift 1
  Duration every_step{};  ///< each step on circuits of its own
};

/// The cheapest schedule; among equals the fewest reconfigurations, then the smallest shifts. A step of h hops costs
/// alpha + h (transfer + hop): congestion and detours multiply both. Throws ConfigError for fields out of range, and when a
/// step has offset 0 modulo the nodes.
[[nodiscard]] ShiftSchedule cheapest_shifts(const std::vector<RotationStep>& steps, const RotationFabric& fabric);

}  // namespace photonrail::slices
