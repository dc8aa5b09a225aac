#include "fabric/link_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {

using fabric::CapacityMap;
using fabric::LinkFaults;
using network::Network;
using network::Path;
using topology::CapacityId;
using topology::Plant;

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two servers of a ring of four, of which the link between GPUs 0 and 1 of server 1 fails from 5 ns to 10 ns.
class Site {
 public:
  Site() {
    spec.servers = 2;
    spec.gpus_per_server = 4;
    spec.scale_up.latency = Duration{1000};
    spec.scale_up.shape.kind = ScaleUpShape::Kind::kTorus;
    spec.scale_up.shape.sides = {4};
    spec.scale_up.shape.wraps = {true};
    ScaleUpFault fault;
    fault.server = 1;
    fault.gpu = 0;
    fault.to = 1;
    fault.at = Time{} + Duration{5000};
    fault.lasts = Duration{5000};
    spec.scale_up.faults = {fault};
    plant.emplace(spec.plant());
    capacities.emplace(*plant, std::span<const GpuId>{});
    network.resize(capacities->count() + 1);  // one more, as between pods: it is no link
    faults.emplace(LinkFaults::Parts{engine, spec, *plant, *capacities, network});
  }

  void run_to(Duration at) {
    engine.schedule(Time{} + at, engine::Phase::kSettle, engine::Action::to<&Site::nothing>(*this));
    while (engine.now() < Time{} + at) engine.run(1);
  }
  void nothing(std::uint64_t) {}

  engine::Engine engine;
  ClusterSpec spec;
  std::optional<Plant> plant;
  std::optional<CapacityMap> capacities;
  Network network{engine};
  std::optional<LinkFaults> faults;
};

TEST(LinkFaultsOfAFabric, AWayIsAroundTheLinkOnlyWhileItHasFailed) {
  Site site;
  EXPECT_EQ(site.faults->detour(1, 0, 1), nullptr);
  site.run_to(Duration{7000});
  const LinkFaults::Way* way = site.faults->detour(1, 0, 1);
  ASSERT_NE(way, nullptr);
  EXPECT_EQ(way->size(), 3u);  // 0, 3, 2, 1
  EXPECT_EQ(way->front().slot, 1u);
  EXPECT_EQ(site.faults->detour(0, 0, 1), nullptr) << "of the other server";
  EXPECT_EQ(site.faults->detour(1, 1, 2), nullptr) << "of another link";
  EXPECT_THAT(site.faults->lines(),
              ElementsAre(HasSubstr("server 1: the link between GPUs 0 and 1 failed from 0.000000 s")));
  site.run_to(Duration{11'000});
  EXPECT_EQ(site.faults->detour(1, 0, 1), nullptr);
}

TEST(LinkFaultsOfAFabric, APathThatWasFoundBeforeIsDiverted) {
  Site site;
  const CapacityId failing = site.capacities->scale_up_link(GpuId{4}, 0);
  const CapacityId behind = site.capacities->count();  // no link of a server
  Path path;
  path.add(failing);
  path.add(behind);
  path.latency = Duration{9000};  // 1000 of it of the link
  EXPECT_FALSE(site.faults->divert(path));
  site.run_to(Duration{7000});
  EXPECT_TRUE(site.faults->divert(path));
  EXPECT_THAT(path.hops(),
              ElementsAre(site.capacities->scale_up_link(GpuId{4}, 1), site.capacities->scale_up_link(GpuId{7}, 1),
                          site.capacities->scale_up_link(GpuId{6}, 1), behind));
  EXPECT_EQ(path.latency, Duration{11'000});
  EXPECT_FALSE(site.faults->divert(path)) << "it is on its way";
  site.run_to(Duration{11'000});
  EXPECT_TRUE(site.faults->divert(path)) << "the link is repaired";
  EXPECT_THAT(path.hops(), ElementsAre(failing, behind));
  EXPECT_EQ(path.latency, Duration{9000});
}

}  // namespace
}  // namespace photonrail
