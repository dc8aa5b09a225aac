#include "device/optical_switch.hpp"
#include "photonrail/cluster/device.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

std::ostream& operator<<(std::ostream& out, const Circuit& c) { return out << c.from.value << "->" << c.to.value; }

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = CircuitState;

Circuit circuit(std::size_t from, std::size_t to) { return {PortId{from}, PortId{to}}; }

/// Carries out a plan and lights it at once.
void connect(device::OpticalSwitch& ocs, const CircuitPlan& plan) {
  const CircuitPlan change = ocs.changes(plan);
  ocs.light(change.connect, ocs.begin(change));
}

template <class Action>
std::string controller_error(Action action) {
  try {
    action();
  } catch (const ControllerError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OpticalSwitchTest, IsDarkAtFirst) {
  const device::OpticalSwitch ocs(4);
  EXPECT_EQ(ocs.ports(), 4u);
  for (const auto& fibre : ocs.transmit()) EXPECT_EQ(fibre.state, State::kDark);
  EXPECT_FALSE(ocs.is_lit(circuit(0, 1)));
}

TEST(OpticalSwitchTest, ACircuitSwitchesThenLights) {
  device::OpticalSwitch ocs(4);
  const std::uint32_t begun = ocs.begin(ocs.changes({{circuit(0, 1)}, {}}));
  EXPECT_EQ(ocs.transmit()[0].peer, PortId{1u});
  EXPECT_EQ(ocs.transmit()[0].state, State::kSwitching);
  EXPECT_EQ(ocs.receive()[1].peer, PortId{0u});
  EXPECT_EQ(ocs.receive()[1].state, State::kSwitching);
  EXPECT_FALSE(ocs.is_lit(circuit(0, 1)));

  EXPECT_THAT(ocs.light({circuit(0, 1)}, begun), ElementsAre(circuit(0, 1)));
  EXPECT_TRUE(ocs.is_lit(circuit(0, 1)));
  EXPECT_FALSE(ocs.is_lit(circuit(1, 0)));  // the other direction has fibres of its own
  EXPECT_EQ(ocs.receive()[1].state, State::kLit);
}

TEST(OpticalSwitchTest, ChangesAreOnlyWhatDiffers) {
  device::OpticalSwitch ocs(6);
  connect(ocs, {{circuit(0, 1), circuit(1, 2)}, {}});
  ocs.begin({{circuit(2, 3)}, {}});

  // Lit as wanted, on its way as wanted, and dark as wanted: nothing to do.
  EXPECT_EQ(ocs.changes({{circuit(0, 1), circuit(2, 3)}, {PortId{4u}}}), CircuitPlan{});
  // The new ones stay in the order of the plan.
  EXPECT_EQ(ocs.changes({{circuit(5, 5), circuit(0, 1), circuit(4, 0)}, {PortId{1u}, PortId{3u}}}),
            (CircuitPlan{{circuit(5, 5), circuit(4, 0)}, {PortId{1u}}}));
}

TEST(OpticalSwitchTest, DarkenedAreTheCircuitsOnTakenFibres) {
  device::OpticalSwitch ocs(6);
  connect(ocs, {{circuit(0, 1), circuit(2, 3), circuit(4, 5)}, {}});
  // 0->3 takes the transmit fibre of 0->1 and the receive fibre of 2->3.
  EXPECT_THAT(ocs.darkened_by({{circuit(0, 3)}, {}}), ElementsAre(circuit(0, 1), circuit(2, 3)));
  // A swap touches the same two circuits twice each.
  EXPECT_THAT(ocs.darkened_by({{circuit(2, 1), circuit(0, 3)}, {}}), ElementsAre(circuit(0, 1), circuit(2, 3)));
  EXPECT_THAT(ocs.darkened_by({{}, {PortId{4u}}}), ElementsAre(circuit(4, 5)));
  EXPECT_THAT(ocs.darkened_by({{circuit(1, 0)}, {}}), IsEmpty());
}

TEST(OpticalSwitchTest, TakingFibresFreesTheOtherEnds) {
  device::OpticalSwitch ocs(4);
  connect(ocs, {{circuit(0, 1), circuit(2, 3)}, {}});
  ocs.begin(ocs.changes({{circuit(0, 3)}, {}}));
  EXPECT_TRUE(ocs.receive()[1].peer.is_none());  // was the end of 0->1
  EXPECT_EQ(ocs.receive()[1].state, State::kDark);
  EXPECT_TRUE(ocs.transmit()[2].peer.is_none());  // was the start of 2->3
  EXPECT_EQ(ocs.transmit()[2].state, State::kDark);
  EXPECT_EQ(ocs.receive()[3].peer, PortId{0u});
}

// Sheets of one receive side are one fibre: another sheet takes it, and what it carried is named with the sheet that it
// had.
TEST(OpticalSwitchTest, SheetsOfAReceiveSideAreOneFibre) {
  device::OpticalSwitch ocs(2);
  const PortId other{on_sheet(0, 3)};
  connect(ocs, {.connect = {circuit(0, 0)}, .disconnect = {}});
  const CircuitPlan change = ocs.changes({.connect = {{PortId{0u}, other}}, .disconnect = {}});
  EXPECT_THAT(change.connect, ElementsAre(Circuit{PortId{0u}, other}));
  EXPECT_THAT(ocs.darkened_by(change), ElementsAre(circuit(0, 0)));
  ocs.light(change.connect, ocs.begin(change));
  EXPECT_TRUE(ocs.is_lit({PortId{0u}, other}));
  EXPECT_FALSE(ocs.is_lit(circuit(0, 0)));
  const CircuitPlan taken = ocs.changes({.connect = {circuit(1, 0)}, .disconnect = {}});
  EXPECT_THAT(ocs.darkened_by(taken), ElementsAre(Circuit{PortId{0u}, other}));
  ocs.begin(taken);
  EXPECT_TRUE(ocs.transmit()[0].peer.is_none());
  EXPECT_THAT(controller_error([&] {
                static_cast<void>(
                    ocs.changes({.connect = {circuit(0, 1), {PortId{1u}, PortId{on_sheet(1, 2)}}}, .disconnect = {}}));
              }),
              HasSubstr("not a matching"));
}

TEST(OpticalSwitchTest, DisconnectLeavesBothFibresDark) {
  device::OpticalSwitch ocs(4);
  connect(ocs, {{circuit(0, 1), circuit(2, 3)}, {}});
  ocs.begin(ocs.changes({{}, {PortId{0u}}}));
  EXPECT_FALSE(ocs.is_lit(circuit(0, 1)));
  EXPECT_TRUE(ocs.receive()[1].peer.is_none());
  EXPECT_TRUE(ocs.is_lit(circuit(2, 3)));
}

TEST(OpticalSwitchTest, ALateLightLeavesACircuitAloneThatWasTakenAndMadeAgain) {
  device::OpticalSwitch ocs(4);
  const std::uint32_t first = ocs.begin({{circuit(0, 1)}, {}});
  ocs.begin({{circuit(2, 1)}, {}});
  const std::uint32_t third = ocs.begin({{circuit(0, 1)}, {}});
  EXPECT_THAT(ocs.light({circuit(0, 1)}, first), IsEmpty());
  EXPECT_FALSE(ocs.is_lit(circuit(0, 1)));
  EXPECT_THAT(ocs.light({circuit(0, 1)}, third), ElementsAre(circuit(0, 1)));
}

TEST(OpticalSwitchTest, ALateLightLeavesATakenCircuitAlone) {
  device::OpticalSwitch ocs(4);
  const std::uint32_t begun = ocs.begin({{circuit(0, 1)}, {}});
  ocs.begin({{circuit(0, 2)}, {}});
  EXPECT_THAT(ocs.light({circuit(0, 1)}, begun), IsEmpty());
  EXPECT_EQ(ocs.transmit()[0].peer, PortId{2u});
  EXPECT_EQ(ocs.transmit()[0].state, State::kSwitching);
  EXPECT_EQ(ocs.receive()[1].state, State::kDark);
}

TEST(OpticalSwitchTest, WhatIsNoMatchingIsRefusedByPort) {
  const device::OpticalSwitch ocs(4);
  const auto error = [&](const CircuitPlan& plan) { return controller_error([&] { (void)ocs.changes(plan); }); };
  EXPECT_THAT(error({{circuit(1, 0), circuit(1, 2)}, {}}), HasSubstr("transmit side of port 1"));
  EXPECT_THAT(error({{circuit(0, 3), circuit(1, 3)}, {}}), HasSubstr("receive side of port 3"));
  EXPECT_THAT(error({{circuit(0, 3), circuit(0, 3)}, {}}), HasSubstr("transmit side of port 0"));
  EXPECT_THAT(error({{circuit(2, 3)}, {PortId{2u}}}), HasSubstr("transmit side of port 2"));  // both lit and dark
  EXPECT_THAT(error({{circuit(4, 0)}, {}}), HasSubstr("port 4, but the rail has ports 0 to 3"));
  EXPECT_THAT(error({{circuit(0, 17)}, {}}), HasSubstr("port 17"));
  EXPECT_THAT(error({{}, {PortId{5u}}}), HasSubstr("port 5"));
  EXPECT_EQ(error({{circuit(0, 1), circuit(1, 0)}, {PortId{2u}}}), "no error");
}

TEST(OpticalSwitchTest, ACircuitInUseIsNotTornDown) {
  device::OpticalSwitch ocs(4);
  connect(ocs, {{circuit(0, 1), circuit(2, 3)}, {}});
  ocs.use(PortId{2u});
  ocs.use(PortId{2u});
  const CircuitPlan swap{{circuit(0, 3), circuit(2, 1)}, {}};
  EXPECT_EQ(controller_error([&] { ocs.begin(swap); }),
            "the circuit from port 2 to port 3 would go dark while 2 operations use it");
  EXPECT_TRUE(ocs.is_lit(circuit(0, 1)));
  EXPECT_TRUE(ocs.is_lit(circuit(2, 3)));
  ocs.release(PortId{2u});
  EXPECT_THAT(controller_error([&] { ocs.begin(swap); }), HasSubstr("1 operation uses it"));
  ocs.release(PortId{2u});
  ocs.begin(swap);
  EXPECT_EQ(ocs.transmit()[2].peer, PortId{1u});
}

TEST(OpticalSwitchTest, WhatNobodyUsesCannotBeReleased) {
  device::OpticalSwitch ocs(4);
  connect(ocs, {{circuit(0, 1)}, {}});
  ocs.use(PortId{0u});
  ocs.release(PortId{0u});
  EXPECT_THROW(ocs.release(PortId{0u}), InternalError);
}

/// A switch driven at random beside a plain model of what it should be: state and users by transmit port.
class RandomDrive {
 public:
  explicit RandomDrive(std::uint64_t seed) : ocs_(kPorts), model_(kPorts), random_(seed, "optical switch property") {}

  void step() {
    switch (random_.below(4)) {
      case 0:
        use_or_release();
        break;
      case 1:
        light_some();
        break;
      default:
        apply_plan();
    }
    compare();
  }

  [[nodiscard]] std::uint32_t refused() const { return refused_; }
  [[nodiscard]] std::uint32_t carried_out() const { return carried_out_; }

 private:
  static constexpr std::uint32_t kPorts = 24;
  struct Expected {
    std::optional<std::uint32_t> to;
    bool lit = false;
    std::uint32_t users = 0;
  };

  std::vector<std::uint32_t> shuffled() {
    std::vector<std::uint32_t> ports(kPorts);
    std::iota(ports.begin(), ports.end(), 0u);
    for (std::size_t i = ports.size(); i > 1; --i) std::swap(ports[i - 1], ports[random_.below(i)]);
    return ports;
  }

  void use_or_release() {
    const auto p = static_cast<std::uint32_t>(random_.below(kPorts));
    if (model_[p].users > 0 && random_.below(4) != 0) {
      ocs_.release(PortId{p});
      --model_[p].users;
    } else if (model_[p].lit && random_.below(3) == 0) {
      ocs_.use(PortId{p});
      ++model_[p].users;
    }
  }

  void light_some() {
    for (std::uint32_t p = 0; p < kPorts; ++p) {
      if (!model_[p].to || random_.below(2) == 0) continue;
      ocs_.light({circuit(p, *model_[p].to)}, ocs_.transmit()[p].begun);
      model_[p].lit = true;
    }
  }

  void apply_plan() {
    const auto from = shuffled();
    const auto to = shuffled();
    const auto connects = random_.below(5);
    const auto disconnects = random_.below(3);
    CircuitPlan plan;
    for (std::size_t i = 0; i < connects; ++i) plan.connect.push_back(circuit(from[i], to[i]));
    for (std::size_t i = connects; i < connects + disconnects; ++i) plan.disconnect.push_back(PortId{from[i]});

    auto wanted = model_;
    bool tears_down_use = false;
    const auto darken = [&](std::uint32_t p) {
      tears_down_use |= wanted[p].users > 0;
      wanted[p] = {};
    };
    for (const PortId p : plan.disconnect) darken(p.value);
    for (const Circuit c : plan.connect) {
      if (model_[c.from.value].to == c.to.value) continue;
      darken(c.from.value);
      for (std::uint32_t p = 0; p < kPorts; ++p) {
        if (wanted[p].to == c.to.value) darken(p);
      }
      wanted[c.from.value] = {c.to.value, false, 0};
    }
    const auto error = controller_error([&] { ocs_.begin(ocs_.changes(plan)); });
    ASSERT_EQ(error != "no error", tears_down_use) << error;
    ++(tears_down_use ? refused_ : carried_out_);
    if (!tears_down_use) model_ = wanted;
  }

  void compare() const {
    std::uint32_t joined = 0;
    for (std::uint32_t p = 0; p < kPorts; ++p) {
      const auto& fibre = ocs_.transmit()[p];
      const Expected& expected = model_[p];
      ASSERT_EQ(fibre.peer, expected.to ? PortId{*expected.to} : PortId::none());
      ASSERT_EQ(fibre.state, !expected.to ? State::kDark : expected.lit ? State::kLit : State::kSwitching);
      ASSERT_EQ(fibre.in_use, expected.users);
      if (!expected.to) continue;
      ++joined;
      ASSERT_EQ(ocs_.receive()[*expected.to].peer, PortId{p});
      ASSERT_EQ(ocs_.receive()[*expected.to].state, fibre.state);
    }
    // Each circuit has a receive fibre of its own, and no other receive fibre points anywhere.
    const auto receiving = std::count_if(ocs_.receive().begin(), ocs_.receive().end(),
                                         [](const auto& fibre) { return !fibre.peer.is_none(); });
    ASSERT_EQ(receiving, joined);
  }

  device::OpticalSwitch ocs_;
  std::vector<Expected> model_;
  RandomStream random_;
  std::uint32_t refused_ = 0;
  std::uint32_t carried_out_ = 0;
};

TEST(OpticalSwitchTest, FiveThousandRandomStepsKeepAMatchingAndWhatIsInUse) {
  RandomDrive drive(1);
  for (int i = 0; i < 5000 && !::testing::Test::HasFatalFailure(); ++i) drive.step();
  EXPECT_GT(drive.refused(), 200u);
  EXPECT_GT(drive.carried_out(), 1000u);
}

}  // namespace
}  // namespace photonrail
