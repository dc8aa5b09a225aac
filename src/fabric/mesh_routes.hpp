// The meshes of a rail whose switches are programmable photonics: which ways of light the circuits of all jobs take, and
// which further circuits have a way beside them. Passive, and deterministic: what is asked twice is answered from memory.
//
// Model: a mesh for each plane. A circuit is a way of light that shares no waveguide with another (BlockingSwitch), from
// the transmit fibre of one NIC port to the receive fibre of another. Where nic.optical_budget_db is given, all ways
// together must leave every receiver the power that it needs: loss of its way and penalty for the crosstalk of all others.
//
// Leaves out: ways that negotiated congestion does not find, and light of ports without a circuit.
#pragma once

#include "fabric/blocking_switch.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/core/circuit.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::fabric {

class MeshAdmission;

/// A circuit and its way through the mesh of its plane.
struct MeshWay {
  Circuit circuit;
  LightWay route;
  std::uint32_t job = 0;
};

class MeshRoutes {
 public:
  /// `planes`, `ports_per_gpu`: of each rail. REQUIRES: cluster.validate() throws nothing, and the switches block.
  explicit MeshRoutes(const ClusterSpec& cluster);
  /// With a switch of its own for each plane, all alike. REQUIRES: it is not null.
  MeshRoutes(const ClusterSpec& cluster, std::unique_ptr<const BlockingSwitch> of_plane);

  /// Registers a job, and returns its number: jobs count from 0. It must outlive the object.
  std::uint32_t add(MeshAdmission& job);
  [[nodiscard]] const std::vector<MeshAdmission*>& jobs() const { return jobs_; }

  [[nodiscard]] std::uint32_t planes() const { return planes_; }
  [[nodiscard]] std::uint32_t plane(Circuit circuit) const { return circuit.from.value % ports_per_gpu_ % planes_; }

  /// Ways for all circuits, which are on one plane, beside those that are taken; none: no way was found.
  [[nodiscard]] std::optional<std::vector<MeshWay>> find(std::span<const Circuit> circuits, std::span<const MeshWay> taken);
  /// Returns true when every receiver has the power that it needs when these ways, of one plane, are lit. True without a
  /// budget.
  [[nodiscard]] bool bright(std::span<const MeshWay> ways);

  /// Indexed by transmit port: the ways of circuits that are lit or switching.
  [[nodiscard]] std::map<PortId, MeshWay>& ways() { return ways_; }

  /// Cells that light passes on a way.
  [[nodiscard]] static std::uint32_t cells(const MeshWay& way) {
    return static_cast<std::uint32_t>(way.route.waveguides.size()) - 1;
  }
  /// Returns the loss of a way of `cells` cells alone, from fibre to fibre.
  [[nodiscard]] double loss_db(std::uint32_t cells) const { return switch_->loss_db(cells); }
  [[nodiscard]] std::string describe() const { return switch_->describe(); }  ///< "mesh of 9x9 hexagons"

 private:
  using Key = std::vector<std::uint32_t>;

  [[nodiscard]] FibrePair ends(Circuit circuit) const;
  [[nodiscard]] std::uint32_t fibre(PortId port, bool receive) const;

  std::uint32_t planes_;
  std::uint32_t ports_per_gpu_;
  double budget_db_;
  std::unique_ptr<const BlockingSwitch> switch_;
  std::map<PortId, MeshWay> ways_;
  std::vector<MeshAdmission*> jobs_;
  std::map<Key, std::optional<std::vector<LightWay>>> known_;  // by the pairs and the waveguides that are taken
  std::map<Key, bool> bright_;                                 // by the waveguides of all ways
};

/// The switch of each plane of a cluster's rails. REQUIRES: the switches block. Throws ConfigError: too many ports for it.
[[nodiscard]] std::unique_ptr<BlockingSwitch> switch_of(const ClusterSpec& cluster);
/// The shortest ways of the circuits that the mesh may have to light: from the transmit fibre of one NIC port (even) to the
/// receive fibre of another (odd), each alone.
[[nodiscard]] LightReach reach_of_circuits(const BlockingSwitch& mesh);

}  // namespace photonrail::fabric
