#include "control/port_colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace photonrail {

using control::PortColouring;

namespace {

// Every drawn set of pairs in which no position has more partners than ports finds its ports, whatever the order.
TEST(PortColouring, AsManyPortsAsPartnersAreEnough) {
  std::mt19937_64 random(5);
  std::size_t moved = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const auto positions = static_cast<ServerIndex>(2 + random() % 6);
    const auto ports = static_cast<std::uint32_t>(1 + random() % 4);
    std::vector<std::uint32_t> sends(positions);
    std::vector<std::uint32_t> receives(positions);
    std::vector<ServerPair> pairs;
    for (int draw = 0; draw < 60; ++draw) {
      const ServerPair pair{static_cast<ServerIndex>(random() % positions), static_cast<ServerIndex>(random() % positions)};
      if (pair.from == pair.to || sends[pair.from] == ports || receives[pair.to] == ports) continue;
      ++sends[pair.from];
      ++receives[pair.to];
      pairs.push_back(pair);
    }
    const std::vector<bool> all(std::size_t{positions} * ports, true);
    PortColouring colouring(ports, all, all);
    std::vector<Circuit> first;
    for (const ServerPair pair : pairs) {
      ASSERT_TRUE(colouring.add(pair)) << "trial " << trial;
      first.push_back(colouring.circuit(colouring.pairs() - 1));
    }
    std::set<PortId> from;
    std::set<PortId> to;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Circuit c = colouring.circuit(i);
      EXPECT_EQ(c.from.value / ports, pairs[i].from);
      EXPECT_EQ(c.to.value / ports, pairs[i].to);
      EXPECT_EQ(c.from.value % ports, c.to.value % ports);
      EXPECT_TRUE(from.insert(c.from).second && to.insert(c.to).second) << "trial " << trial;
      moved += c == first[i] ? 0 : 1;
    }
  }
  EXPECT_GT(moved, 100u) << "first come is not enough";
}

TEST(PortColouring, AFibreThatIsTakenIsLeftAlone) {
  std::vector<bool> transmit(4, true);
  std::vector<bool> receive(4, true);
  transmit[0] = receive[3] = false;  // port 0 of the sender, port 1 of the receiver
  PortColouring colouring(2, transmit, receive);
  EXPECT_FALSE(colouring.add({0, 1}));
  EXPECT_TRUE(colouring.add({1, 0}, 1u));
  EXPECT_EQ(colouring.circuit(0), (Circuit{PortId{3u}, PortId{1u}}));
}

}  // namespace
}  // namespace photonrail
