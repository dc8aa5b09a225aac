#include "fabric/nic_faults.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace photonrail {

using fabric::CapacityMap;
using fabric::NicFaults;
using topology::Plant;

namespace {

/// Two servers of two GPUs, each with a NIC of 10 GB/s.
class NicSite {
 public:
  explicit NicSite(std::vector<PortFault> of) : given(std::move(of)) {
    spec.servers = 2;
    spec.gpus_per_server = 2;
    plant.emplace(spec.plant());
    capacities.emplace(*plant, std::span<const GpuId>{});
    network.resize(capacities->count());
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
      network.set_rate(capacities->nic_out(GpuId{gpu}, 0), nic);
      network.set_rate(capacities->nic_in(GpuId{gpu}, 0), nic);
    }
    faults.emplace(NicFaults::Parts{engine, given, *plant, *capacities, network}, nic);
  }

  /// GB/s that the GPU sends, and receives, after so many events.
  [[nodiscard]] double out(std::uint32_t gpu) const { return rate(capacities->nic_out(GpuId{gpu}, 0)); }
  [[nodiscard]] double in(std::uint32_t gpu) const { return rate(capacities->nic_in(GpuId{gpu}, 0)); }

  std::vector<PortFault> given;
  Bandwidth nic = Bandwidth::from_gb_per_s(10);
  engine::Engine engine;
  ClusterSpec spec;
  std::optional<Plant> plant;
  std::optional<CapacityMap> capacities;
  network::Network network{engine};
  std::optional<NicFaults> faults;

 private:
  [[nodiscard]] double rate(topology::CapacityId capacity) const {
    network::Path path;
    path.add(capacity);
    return network.rate_alone(path).bytes_per_second / 1e9;
  }
};

PortFault nic_fault(PortFault::Kind kind, std::int64_t at, std::int64_t lasts, double rate = 1.0) {
  PortFault fault;
  fault.kind = kind;
  fault.at = Time{Duration{at}};
  fault.lasts = Duration{lasts};
  fault.rate = rate;
  return fault;
}

// From 10 to 40 server 1 is slow, from 20 to 30 the NICs of rail 0 have failed.
TEST(NicFaultsOfAFabric, ChangeBothDirectionsAndGiveTheRateBack) {
  std::vector<PortFault> faults{nic_fault(PortFault::Kind::kSlow, 10, 30, 0.5),
                                nic_fault(PortFault::Kind::kFailed, 20, 10)};
  faults[0].server = 1;
  faults[1].rail = RailId{0u};
  NicSite site(faults);
  EXPECT_DOUBLE_EQ(site.out(2), 10.0);
  site.engine.run(1);
  EXPECT_DOUBLE_EQ(site.out(0), 10.0);
  EXPECT_DOUBLE_EQ(site.out(2), 5.0);
  EXPECT_DOUBLE_EQ(site.in(3), 5.0);
  site.engine.run(1);
  EXPECT_EQ(site.out(0), 0.0);
  EXPECT_EQ(site.in(2), 0.0);
  EXPECT_DOUBLE_EQ(site.out(3), 5.0) << "on rail 1";
  site.engine.run(1);
  EXPECT_DOUBLE_EQ(site.out(0), 10.0);
  EXPECT_DOUBLE_EQ(site.out(2), 5.0);
  site.engine.run(1);
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) EXPECT_DOUBLE_EQ(site.in(gpu), 10.0);
}

}  // namespace
}  // namespace photonrail
