// Laws of the uplinks of leaves, on drawn jobs: which of their keys change nothing, to the last picosecond.
#include "photonrail/error.hpp"
#include "run/drawing.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::test {
namespace {

/// A drawn job on electrical rails of two tiers, with one NIC port.
std::optional<Scenario> drawn_on_leaves(std::uint64_t seed) {
  Scenario scenario = Drawing(seed, {.rail = RailKind::kElectrical}).scenario;
  scenario.cluster.rail.switch_radix = 2 + static_cast<std::uint32_t>(seed % 3);
  scenario.run.critical_path = false;
  if (!scenario.cluster.plant().two_tier()) return std::nullopt;
  return scenario;
}

std::uint64_t history_with(Scenario scenario, const UplinkSpec& uplinks) {
  scenario.cluster.rail.uplinks = uplinks;
  testing::HistoryHash hash;
  Observer* const observers[] = {&hash};
  static_cast<void>(simulate(scenario, observers));
  return hash.value();
}

// Uplinks that are one capacity are today's leaves, however many they are and however their rates are said, and so is the
// only uplink of a leaf under each routing.
TEST(UplinkLaws, FluidIsTheLeafAsOneCapacity) {
  std::uint64_t rates_compared = 0;
  std::uint64_t jobs = 0;
  for (std::uint64_t seed = 0; seed < test_cases(120); ++seed) {
    const std::optional<Scenario> scenario = drawn_on_leaves(seed);
    if (!scenario) continue;
    ++jobs;
    const std::uint64_t history = history_with(*scenario, {});
    const PlantSpec plant = scenario->cluster.plant();
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(seed % 4);
    ASSERT_EQ(history_with(*scenario, {.count = count}), history) << "seed " << seed;
    const Bandwidth each{plant.leaf_rate().bytes_per_second / count};
    UplinkSpec said{.rates = std::vector<Bandwidth>(count, each)};
    PlantSpec with = plant;
    with.uplinks = said;
    if (with.leaf_rate().bytes_per_second == plant.leaf_rate().bytes_per_second && plant.oversubscription > 1.0) {
      ++rates_compared;
      ASSERT_EQ(history_with(*scenario, said), history) << "seed " << seed;
    }
    for (const auto routing :
         {UplinkRouting::kHash, UplinkRouting::kEqual, UplinkRouting::kLeastLoaded, UplinkRouting::kShares}) {
      ASSERT_EQ(history_with(*scenario, {.count = 1, .routing = routing}), history) << "seed " << seed;
    }
  }
  EXPECT_GT(jobs, 50u);
  EXPECT_GT(rates_compared, 10u);
}

// Equal parts are shares that are alike, and those of equal rates.
TEST(UplinkLaws, EqualPartsAreAlikeShares) {
  std::uint64_t jobs = 0;
  for (std::uint64_t seed = 0; seed < test_cases(120); ++seed) {
    const std::optional<Scenario> scenario = drawn_on_leaves(seed);
    if (!scenario) continue;
    ++jobs;
    const std::uint32_t count = 2 + static_cast<std::uint32_t>(seed % 4);
    const std::uint64_t history = history_with(*scenario, {.count = count, .routing = UplinkRouting::kEqual});
    UplinkSpec shares{.count = count, .routing = UplinkRouting::kShares};
    ASSERT_EQ(history_with(*scenario, shares), history) << "by rate, seed " << seed;
    shares.shares.assign(count, 1.0 / count);
    ASSERT_EQ(history_with(*scenario, shares), history) << "seed " << seed;
  }
  EXPECT_GT(jobs, 50u);
}

}  // namespace
}  // namespace photonrail::test
