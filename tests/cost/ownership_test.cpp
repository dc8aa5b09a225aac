#include "cost/ownership.hpp"

#include <gtest/gtest.h>

namespace photonrail::cost {
namespace {

TEST(Ownership, WhatIsBoughtIsPaidOverItsYears) {
  // 1,000 for the network, 16 GPUs of 100 and 2 servers of 200: 3,000 over two years of 365 days.
  const OwnershipPrices prices{.gpu_usd = 100.0, .server_usd = 200.0, .years = 2.0};
  const OwnedCluster cluster{1000.0, 16.0, 2.0};
  EXPECT_DOUBLE_EQ(usd_bought(prices, cluster), 3000.0);
  EXPECT_DOUBLE_EQ(usd_per_second(prices, cluster), 3000.0 / (2.0 * 365.0 * 86400.0));
}

TEST(Ownership, RentAndEnergyAreByTheHour) {
  const OwnershipPrices prices{.gpu_hour_usd = 3.6, .usd_per_kwh = 0.1};
  EXPECT_DOUBLE_EQ(usd_per_second(prices, {0.0, 10.0, 0.0}), 0.01);
  EXPECT_DOUBLE_EQ(usd_of_energy(prices, 3.6e6), 0.1);  // a kilowatt-hour
}

}  // namespace
}  // namespace photonrail::cost
