#include "control/matrix_circuits.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace photonrail::test {
namespace {

using control::RailPorts;
using control::ShareMatrix;

// By (sender, receiver), after it was seen that no port has two circuits, and that both ends are of one plane.
std::map<std::pair<std::uint32_t, std::uint32_t>, int> counts(const ShareMatrix& matrix, const RailPorts& ports) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> of;
  std::set<std::uint32_t> sends;
  std::set<std::uint32_t> receives;
  for (const Circuit circuit : control::circuits_by_shares(matrix, ports).connect) {
    ++of[{circuit.from.value / ports.of_server, circuit.to.value / ports.of_server}];
    EXPECT_TRUE(sends.insert(circuit.from.value).second && receives.insert(circuit.to.value).second);
    EXPECT_EQ(circuit.from.value % ports.of_server % ports.planes, circuit.to.value % ports.of_server % ports.planes);
  }
  return of;
}

// Eight ports by 5, 1, 1, 1: one each, and the other four to the first, whose share a circuit is then 5/2, 5/3, 5/4 and 1.
TEST(MatrixCircuits, PortsAreInProportionToShares) {
  const auto of = counts({{0}, {1, 2, 3, 4}, {{5, 1, 1, 1}}}, {5, 8});
  EXPECT_EQ(of.at({0, 1}), 5);
  for (const std::uint32_t to : {2U, 3U, 4U}) EXPECT_EQ(of.at({0, to}), 1);
}

// Receivers are as scarce as senders: of two senders with two ports each, to one receiver with two, each gets one.
TEST(MatrixCircuits, AReceiversPortsAreDividedToo) {
  const auto of = counts({{0, 1}, {2}, {{9}, {1}}}, {3, 2});
  EXPECT_EQ(of.at({0, 2}), 1);
  EXPECT_EQ(of.at({1, 2}), 1);
}

TEST(MatrixCircuits, PlanesAreMatchedAlone) {
  const auto of = counts({{0, 1}, {2, 3}, {{1, 1}, {1, 1}}}, {4, 4, 2});
  for (const std::uint32_t from : {0U, 1U}) {
    for (const std::uint32_t to : {2U, 3U}) EXPECT_EQ(of.at({from, to}), 2);
  }
}

TEST(MatrixCircuits, APairWithoutAWayIsNamed) {
  const ShareMatrix matrix{{0, 1}, {2, 3}, {{1, 1}, {1, 1}}};
  const RailPorts one{4, 1};
  const CircuitPlan plan = control::circuits_by_shares(matrix, one);  // 0 to 2 and 1 to 3
  EXPECT_EQ(control::without_way(matrix, plan, one, false), (ServerPair{0, 3}));
  EXPECT_EQ(control::without_way(matrix, plan, one, true), (ServerPair{0, 3}));
  const ShareMatrix ring{{0, 1, 2}, {0, 1, 2}, {{0, 2, 1}, {1, 0, 2}, {2, 1, 0}}};
  const CircuitPlan round = control::circuits_by_shares(ring, {3, 1});
  EXPECT_EQ(control::without_way(ring, round, {3, 1}, false), (ServerPair{0, 2}));
  EXPECT_EQ(control::without_way(ring, round, {3, 1}, true), std::nullopt);
}

}  // namespace
}  // namespace photonrail::test
