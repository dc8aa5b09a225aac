// A rail's ports as its controller is shown them: kept up to date port by port, so that showing them costs what changed.
#pragma once

#include "fabric/optical_rail.hpp"
#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::control_plane {

class PortMirror {
 public:
  /// `rail` must outlive the mirror. `shows_bytes`: PortView::bytes_left is kept up to date.
  PortMirror(fabric::OpticalRail& rail, const PlantSpec& plant, bool shows_bytes);

  /// Where the job's ranks are; without it every port is the job's.
  void seat(std::span<const GpuId> gpu_of_rank, const topology::Plant& plant, RailId rail);
  /// Takes over what changed since the last call.
  void sync();

  /// The ports that the last sync() changed.
  [[nodiscard]] std::span<const PortId> touched() const { return touched_; }
  [[nodiscard]] std::span<const PortView> transmit() const { return transmit_; }
  [[nodiscard]] std::span<const PortId> receive() const { return receive_; }
  /// See FabricView::own.
  [[nodiscard]] std::span<const ServerIndex> own() const { return own_; }
  /// The job has no port on the rail: its controller has nothing to decide.
  [[nodiscard]] bool foreign() const { return foreign_; }

 private:
  fabric::OpticalRail& rail_;
  std::uint32_t ports_per_gpu_;
  bool shows_bytes_;
  std::vector<PortView> transmit_;
  std::vector<PortId> receive_;
  std::vector<ServerIndex> own_;
  bool foreign_ = false;
  std::vector<PortId> touched_;
};

}  // namespace photonrail::control_plane
