#include "fabric/switch_commands.hpp"

#include "fabric/rail_transitions_site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace photonrail::fabric::test {
namespace {

using ::testing::ElementsAre;

// Servers of one port; the switches take 100 us.
struct Commands : TransitionsSite {
  explicit Commands(std::uint32_t servers, const std::function<void(RailSpec&)>& change = {})
      : TransitionsSite(servers, 1, change), commands(site.context, site.shared, circuits, transitions, site.notifier) {}

  SentCommand send(std::vector<Circuit> connect, CommandTimes times = {}, std::vector<PortId> disconnect = {}) {
    const CircuitPlan change = changes(std::move(connect), std::move(disconnect));
    return commands.send(change, transitions.darken(change, false), times);
  }

  SwitchCommands commands;
};

TEST(SwitchCommands, TheCircuitsAreUsableAfterTheWayTheSwitchAndTheAcknowledgement) {
  Commands c(2);
  const SentCommand sent = c.send({circuit(0, 1)}, {Time{microseconds(10)}, microseconds(5)});
  EXPECT_EQ(sent.id, 0u);
  EXPECT_EQ(sent.usable, Time{microseconds(10 + 100 + 5)});
  c.site.engine.run();
  EXPECT_THAT(c.site.listener.calls, ElementsAre("115 lit 0-1", "115 done 0"));
  EXPECT_EQ(c.transitions.dark_port_time(), microseconds(100));
}

TEST(SwitchCommands, ACommandThatDarkensOnlyIsDoneAfterTheSwitch) {
  Commands c(2);
  c.connect({circuit(0, 1)});
  c.send({}, {}, {PortId{0u}});
  c.site.engine.run();
  EXPECT_THAT(c.site.listener.calls, ElementsAre("0 dark 0-1", "100 done 0"));
  EXPECT_EQ(c.transitions.dark_port_time(), Duration{}) << "no circuit is on its way";
}

TEST(SwitchCommands, ATimetableMayBeginInThePastButLightsNowAtTheEarliest) {
  Commands c(3);
  c.site.engine.schedule(
      Time{microseconds(300)}, engine::Phase::kDecide,
      {[](void* self, std::uint64_t) {
         auto& commands = *static_cast<Commands*>(self);
         EXPECT_EQ(commands.send({circuit(0, 1)}, {Time{microseconds(50)}, {}}).usable, Time{microseconds(150)});
       },
       &c});
  c.site.engine.run();
  EXPECT_THAT(c.site.listener.calls, ElementsAre("300 lit 0-1", "300 done 0"));
}

TEST(SwitchCommands, EachSwitchHasItsPartAndACircuitWaitsForTheLast) {
  Commands c(4, [](RailSpec& spec) {
    spec.pods.servers = 2;
    spec.optical.command_gap = microseconds(40);
  });
  EXPECT_EQ(c.send({circuit(3, 2)}).usable, std::nullopt) << "there is a queue";
  c.send({circuit(0, 1), circuit(1, 3)});
  c.site.engine.run();
  // Command 0 is on the switch of servers 2 and 3 from 0 to 100; command 1 on that of servers 0 and 1 from 0 to 100, and on
  // the other one from 40 to 140, without which 1-3 is not joined.
  EXPECT_THAT(c.site.listener.calls, ElementsAre("100 lit 3-2", "100 done 0", "100 lit 0-1", "140 lit 1-3", "140 done 1"));
}

TEST(SwitchCommands, ASwitchThatIsDarkAsAWholePausesTheCircuitsOfAllJobs) {
  const auto whole = [](RailSpec& spec) { spec.optical.darkness = DarkScope::kSwitch; };
  Commands c(4, whole);
  c.connect({circuit(0, 1)});
  // Another job's circuits on the same switches.
  RailCircuits other = c.site.circuits();
  CircuitLinks links(c.site.context, c.site.capacities, other);
  CircuitHolds holds(other, links, c.site.notifier);
  CircuitTransitions others(c.site.context, other, links, holds, c.site.notifier);
  c.site.shared.jobs.push_back(&others);
  light(other, {circuit(3, 2)});
  c.send({circuit(1, 0)}, {Time{microseconds(20)}, {}});
  c.site.engine.run();
  EXPECT_THAT(c.site.listener.calls,
              ElementsAre("20 dark 0-1", "20 switching 0-1", "20 dark 3-2", "20 switching 3-2", "120 lit 0-1",
                          "120 light back", "120 lit 3-2", "120 light back", "120 lit 1-0", "120 done 0"));
  EXPECT_EQ(c.transitions.dark_port_time(), microseconds(100 + 100)) << "the new circuit, and the paused one";
  EXPECT_EQ(others.dark_port_time(), microseconds(100));
}

TEST(SwitchCommands, DarkTimeIsThatOfAllCircuitsThatACircuitStandsFor) {
  Commands c(3);
  const std::vector<std::uint32_t> copies{4, 2, 1};  // by GPU
  c.commands.set_copies(copies);
  c.send({circuit(0, 1), circuit(1, 2)});
  EXPECT_EQ(c.transitions.dark_port_time(), microseconds((4 + 2) * 100));
}

}  // namespace
}  // namespace photonrail::fabric::test
