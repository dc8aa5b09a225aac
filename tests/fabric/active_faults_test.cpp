#include "fabric/active_faults.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail {
namespace {

// Shares multiply, a failure leaves nothing, and what has ended leaves the rate as it was, to the last bit.
TEST(ActiveFaults, LeaveTheProductOfTheirShares) {
  std::vector<PortFault> faults(3);
  faults[0].kind = faults[1].kind = PortFault::Kind::kSlow;
  faults[0].rate = 0.3;
  faults[1].rate = 0.7;
  faults[1].server = 1;
  faults[2].kind = PortFault::Kind::kFailed;
  fabric::ActiveFaults now(faults);
  const auto all = [](const PortFault&) { return true; };
  EXPECT_EQ(now.share(all), 1.0);
  now.begin(1);
  now.begin(0);
  EXPECT_EQ(now.share(all), 0.3 * 0.7);
  EXPECT_EQ(now.share([](const PortFault& fault) { return fault.server.has_value(); }), 0.7);
  now.begin(2);
  EXPECT_EQ(now.share(all), 0.0);
  now.end(2);
  now.end(1);
  EXPECT_EQ(now.share(all), 0.3);
  now.end(0);
  EXPECT_EQ(now.share(all), 1.0);
}

}  // namespace
}  // namespace photonrail
