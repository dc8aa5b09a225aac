#include "fabric/shared_fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace photonrail::fabric {
namespace {

using ::testing::ElementsAre;

/// Three servers of two GPUs on electrical rails, 1 byte per picosecond a port, without latencies.
struct SharedSite {
  static ClusterSpec cluster() {
    ClusterSpec spec;
    spec.servers = 3;
    spec.gpus_per_server = 2;
    spec.nic.ports = 1;
    spec.nic.per_port = Bandwidth{1e12};
    return spec;
  }
  network::Path path(GpuId from, GpuId to) {
    network::Path way;
    way.add(fabric.capacities().nic_out(from, 0));
    way.add(fabric.capacities().nic_in(to, 0));
    return way;
  }

  ClusterSpec spec = cluster();
  topology::Plant plant{spec.plant()};
  engine::Engine engine;
  SharedFabric fabric{engine, spec, plant, fabric::FabricSettings{}};
};

struct Deliveries : network::DeliveryListener {
  void delivered(std::uint64_t tag) override { tags.push_back(tag); }
  std::vector<std::uint64_t> tags;
};

// Job 0 has GPU 0 of server 0, job 1 has GPU 1 of server 0 and GPU 2, the first of server 1.
TEST(SharedFabric, AGpuWithoutARankBelongsToTheFirstJobOfItsServer) {
  SharedSite site;
  const std::array<GpuId, 1> first{GpuId{0u}};
  const std::array<GpuId, 2> second{GpuId{1u}, GpuId{2u}};
  const std::array<std::span<const GpuId>, 2> jobs{first, second};
  site.fabric.seat(jobs);
  EXPECT_EQ(site.fabric.owner(GpuId{0u}), 0u);
  EXPECT_EQ(site.fabric.owner(GpuId{1u}), 1u);
  EXPECT_EQ(site.fabric.owner(GpuId{2u}), 1u);
  EXPECT_EQ(site.fabric.owner(GpuId{3u}), 1u) << "its server has ranks of job 1 only";
  EXPECT_EQ(site.fabric.owner(GpuId{4u}), SharedFabric::kNoJob) << "no job is in server 2";
}

// Two messages into one port share it: 100 bytes at half a byte per picosecond take 200 ps, whichever job they are of. Each
// job is told of its own, by the tag that it gave.
TEST(SharedFabric, JobsShareCapacitiesAndHearOfTheirOwnMessages) {
  SharedSite site;
  std::array<Deliveries, 2> jobs;
  for (std::uint32_t job = 0; job < 2; ++job) site.fabric.attach(job, jobs[job]);
  for (std::uint64_t job = 0; job < 2; ++job) {
    site.fabric.network().post(network::Network::kNone, site.path(GpuId{2 * job}, GpuId{4u}), Bytes{100},
                               (job << SharedFabric::kJobShift) | (7 + job));
  }
  site.engine.run();
  EXPECT_EQ(site.engine.now(), Time{Duration{200}});
  EXPECT_THAT(jobs[0].tags, ElementsAre(7u));
  EXPECT_THAT(jobs[1].tags, ElementsAre(8u));
}

}  // namespace
}  // namespace photonrail::fabric
