// Crowds within an accuracy, against the exact solution of the same random networks.
#include "network/crossing_counts.hpp"
#include "network/epoch_flows.hpp"
#include "network/network.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <random>

namespace photonrail::network {
namespace {

/// A flow of a random crowd.
struct Message {
  std::int64_t at = 0;  // picoseconds
  Path path;
  std::int64_t bytes = 0;
};

struct Crowd {
  std::vector<double> rates;  // bytes per second
  std::vector<Message> messages;
};

class Trial : public DeliveryListener {
 public:
  Trial(const Crowd& crowd, double accuracy) : crowd_(crowd), network(engine, accuracy), ends(crowd.messages.size()) {
    network.attach(*this);
    network.resize(crowd.rates.size());
    for (CapacityId id = 0; id < crowd.rates.size(); ++id) network.set_rate(id, {crowd.rates[id]});
    for (std::size_t i = 0; i < crowd.messages.size(); ++i) {
      engine.schedule(Time{crowd.messages[i].at}, engine::Phase::kStart, engine::Action::to<&Trial::post>(*this, i));
    }
  }
  void post(std::uint64_t i) {
    const Message& message = crowd_.messages[i];
    network.post(Network::kNone, message.path, Bytes{message.bytes}, i);
  }
  void delivered(std::uint64_t tag) override { ends[tag] = engine.now().since_start().count(); }
  [[nodiscard]] std::int64_t makespan() const { return *std::max_element(ends.begin(), ends.end()); }

 private:
  const Crowd& crowd_;

 public:
  engine::Engine engine;
  Network network;
  std::vector<std::int64_t> ends;
};

/// Between so many ports of 50 GB/s each way, all to all at once or within 10 us, in leaves with uplinks that carry a part
/// of what their ports could send, or without; sizes over 0 to 2.4 decades. About every fifth path has random ports more.
Crowd random_crowd(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto ports = static_cast<CapacityId>(16 + random() % 17);
  const CapacityId leaf = random() % 2 == 0 ? ports : ports / 4;
  const CapacityId leaves = (ports + leaf - 1) / leaf;
  const double oversubscription = static_cast<double>(1 + random() % 4);
  const double decades = 2.4 * static_cast<double>(random() % 5) / 4.0;
  const std::int64_t latest = random() % 2 == 0 ? 0 : 10'000'000;
  Crowd crowd;
  crowd.rates.assign(2 * ports, 50e9);
  crowd.rates.resize(2 * ports + 2 * leaves, 50e9 * leaf / oversubscription);
  for (CapacityId from = 0; from < ports; ++from) {
    for (CapacityId to = 0; to < ports; ++to) {
      if (from == to || random() % 8 == 0) continue;
      Message message;
      message.path.add(from);
      if (from / leaf != to / leaf) {
        message.path.add(2 * ports + from / leaf);
        message.path.add(2 * ports + leaves + to / leaf);
      }
      message.path.add(ports + to);
      const double size = static_cast<double>(random() % 1'000'000) * 1e-6;
      message.bytes = static_cast<std::int64_t>(1e5 * std::pow(10.0, decades * size));
      message.at = latest == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(latest));
      crowd.messages.push_back(message);
    }
  }
  return crowd;
}

/// All to all at once on one switch, up to 2 MiB each.
Crowd all_to_all(CapacityId ports) {
  std::mt19937_64 random(ports);
  Crowd crowd;
  crowd.rates.assign(std::size_t{2} * ports, 50e9);
  for (CapacityId from = 0; from < ports; ++from) {
    for (CapacityId to = 0; to < ports; ++to) {
      if (from == to) continue;
      Message message;
      message.path.add(from);
      message.path.add(ports + to);
      message.bytes = 1 + static_cast<std::int64_t>(random() % (2 << 20));
      crowd.messages.push_back(message);
    }
  }
  return crowd;
}

struct Errors {
  std::vector<double> of_flows;                               // |end - exact end| / exact duration
  std::vector<std::pair<double, std::uint64_t>> of_networks;  // the greatest, and the network's seed
  double of_makespan = 0.0;                                   // the greatest
  std::int64_t where_busy_ps = 0;                             // the greatest of a makespan, by its last port
  std::uint64_t busy = 0;                                     // networks whose last port is busy from begin to end
  std::uint64_t in_epochs = 0;
};

/// How long the capacity could have sent more before the exact end of the crowd: 0, but for roundings, where it is the one
/// that the end waits for all the time.
double idle_ps(const Crowd& crowd, CapacityId capacity, std::int64_t end) {
  double bytes = 0.0;
  std::int64_t begin = end;
  for (const Message& message : crowd.messages) {
    const auto hops = message.path.hops();
    if (std::find(hops.begin(), hops.end(), capacity) == hops.end()) continue;
    bytes += static_cast<double>(message.bytes);
    begin = std::min(begin, message.at);
  }
  return static_cast<double>(end - begin) - bytes / crowd.rates[capacity] * 1e12;
}

bool last_port_is_busy(const Crowd& crowd, const Trial& exact) {
  constexpr double kRounding = 10.0;
  const auto last = std::max_element(exact.ends.begin(), exact.ends.end()) - exact.ends.begin();
  const auto hops = crowd.messages[static_cast<std::size_t>(last)].path.hops();
  return std::any_of(hops.begin(), hops.end(),
                     [&](CapacityId id) { return idle_ps(crowd, id, exact.makespan()) < kRounding; });
}

void compare(const Crowd& crowd, std::uint64_t seed, double accuracy, Errors& errors) {
  Trial exact(crowd, 0.0);
  Trial within(crowd, accuracy);
  exact.engine.run();
  within.engine.run();
  double greatest = 0.0;
  for (std::size_t i = 0; i < crowd.messages.size(); ++i) {
    const auto duration = static_cast<double>(exact.ends[i] - crowd.messages[i].at);
    errors.of_flows.push_back(std::abs(static_cast<double>(within.ends[i] - exact.ends[i])) / duration);
    greatest = std::max(greatest, errors.of_flows.back());
  }
  errors.of_networks.emplace_back(greatest, seed);
  const std::int64_t off = std::abs(within.makespan() - exact.makespan());
  errors.of_makespan = std::max(errors.of_makespan, static_cast<double>(off) / static_cast<double>(exact.makespan()));
  if (last_port_is_busy(crowd, exact)) {
    ++errors.busy;
    errors.where_busy_ps = std::max(errors.where_busy_ps, off);
  }
  errors.in_epochs += within.network.epochs().flows();
}

// An estimate inside an epoch is off by less than the epoch, which is the accuracy times the age at most; what it does to
// the rates of others is much less. Measured on 1,000 networks: docs/validation.md.
TEST(Accuracy, FlowsOfRandomCrowdsEndWithinIt) {
  constexpr double kAccuracy = 0.01;
  Errors errors;
  const std::uint64_t networks = test::test_cases(20);
  for (std::uint64_t seed = 1; seed <= networks; ++seed) compare(random_crowd(seed), seed, kAccuracy, errors);
  std::sort(errors.of_flows.begin(), errors.of_flows.end());
  std::sort(errors.of_networks.rbegin(), errors.of_networks.rend());
  const std::size_t flows = errors.of_flows.size();
  const double p99 = errors.of_flows[flows * 99 / 100];
  std::cout << networks << " networks, " << flows << " flows, " << errors.in_epochs << " in epochs: median "
            << errors.of_flows[flows / 2] << ", 99th percentile " << p99 << ", greatest " << errors.of_flows.back()
            << ", of a makespan " << errors.of_makespan << " (" << errors.where_busy_ps << " ps of the " << errors.busy
            << " whose last port is always busy); worst networks";
  for (std::size_t i = 0; i < 3; ++i)
    std::cout << ' ' << errors.of_networks[i].second << " (" << errors.of_networks[i].first << ')';
  std::cout << '\n';
  EXPECT_GT(errors.in_epochs, flows / 4) << "the exact solution was hardly left";
  EXPECT_LE(p99, kAccuracy);
  EXPECT_LE(errors.of_flows.back(), 3 * kAccuracy);
  EXPECT_LE(errors.of_makespan, 0.1 * kAccuracy);
  // No byte is lost and a port that is needed does not idle: it is done when it has sent them all.
  EXPECT_GT(errors.busy, networks / 4);
  EXPECT_LE(errors.where_busy_ps, 2);
}

// Capacity 0 has 1 byte a picosecond for four messages, of which the last goes on over capacity 1, of 0.4. All get 1/4
// until the first is done, at 120,000. Then the second and third, with 6,000 and 12,000 left, are an epoch: at the 1/4 that
// they had it lasts 48,000.
//   Exact: the last gets 1/3 until the second ends, 18,000 later, then 0.4: 30,000 = 6,000 + 0.4 x 60,000, so that it ends
//   at 198,000; the third gets 0.6 meanwhile and ends at 148,000.
//   In the epoch 3/8 of capacity 0 are theirs, and the last gets 0.4 from its beginning on: it ends at 195,000.
// It gains because its bottleneck changes within the epoch: capacity 1, which it ends on, is not busy all the time.
TEST(Accuracy, AMakespanMayMoveWhereTheLastPortIsNotAlwaysBusy) {
  Crowd crowd;
  crowd.rates = {1e12, 0.4e12};
  for (const std::int64_t bytes : {30'000, 36'000, 42'000, 60'000}) {
    Message message;
    message.path.add(0);
    message.bytes = bytes;
    crowd.messages.push_back(message);
  }
  crowd.messages.back().path.add(1);
  Trial exact(crowd, 0.0);
  Trial within(crowd, 0.7);
  exact.engine.run();
  within.engine.run();
  EXPECT_THAT(exact.ends, ::testing::ElementsAre(120'000, 138'000, 148'000, 198'000));
  EXPECT_THAT(within.ends, ::testing::ElementsAre(120'000, 144'000, 168'000, 195'000));
  EXPECT_FALSE(last_port_is_busy(crowd, exact));
}

// Of 24 ports each sends the same to two thirds of the others and a fifth more to the rest, another size each: two thirds
// of a port's messages end at once, and the rate that the rest have from then on is three times the one before, by which
// their ends are estimated. Where these did not count for the length of an epoch, the greatest error was 12 %.
TEST(Accuracy, EndsOfAnInstantCountForTheLengthOfAnEpoch) {
  Crowd crowd = all_to_all(24);
  for (Message& message : crowd.messages) {
    const double sender = message.path.hops().front() + 1.0;
    const bool more = (message.path.hops().back() - 24) % 3 == 0;
    message.bytes = static_cast<std::int64_t>(40'000.0 * std::pow(sender, -0.3) * (more ? 1.2 : 1.0));
  }
  Errors errors;
  compare(crowd, 24, 0.1, errors);
  EXPECT_GT(errors.in_epochs, 200u);
  EXPECT_LE(errors.of_networks[0].first, 0.02);
}

// Most of its solves are made from nothing (ProgressiveFilling).
TEST(Accuracy, FlowsOfALargeCrowdEndWithinIt) {
  Errors errors;
  compare(all_to_all(96), 96, 0.01, errors);
  EXPECT_GT(errors.in_epochs, 5'000u);
  EXPECT_LT(errors.of_networks[0].first, 0.01);
  EXPECT_LT(errors.of_makespan, 1e-4);
}

// Where many flows share each port, an epoch lasts until they change its level: 520 epochs. With none longer than 1 % of
// the flows' age there are 766.
TEST(Accuracy, EpochsAreLongerWhereManyShareEachPort) {
  std::mt19937_64 random(3);
  Crowd crowd = all_to_all(128);
  for (Message& message : crowd.messages) {
    const double size = static_cast<double>(random() % 1'000'000) * 1e-6;
    message.bytes = static_cast<std::int64_t>(4096 * std::pow(10.0, 3.0 * size));
  }
  Trial within(crowd, 0.01);
  within.engine.run();
  EXPECT_GT(within.network.epochs().flows(), crowd.messages.size() * 9 / 10);
  EXPECT_LT(within.network.epochs().epochs(), 650u);
}

// An epoch that is longer than the accuracy does not last when flows arrive, and no byte of it is lost: the greatest is
// 0.026, without that 0.037, and with no long epochs 0.016.
TEST(Accuracy, ACrowdThatArrivesEndsALongEpoch) {
  Crowd crowd = all_to_all(96);
  const std::size_t flows = crowd.messages.size();
  for (std::size_t i = 0; i < flows; ++i) {
    crowd.messages.push_back(crowd.messages[i]);
    crowd.messages.back().at = 1'000'000'000;
  }
  Errors errors;
  compare(crowd, 96, 0.01, errors);
  EXPECT_LT(errors.of_networks[0].first, 0.03);
  EXPECT_EQ(errors.busy, 1u);
  EXPECT_LE(errors.where_busy_ps, 1);
}

// What a flow costs may grow a little with the crowd. It took 40 s when solves that came to no rest went through all flows
// of all capacities again and again.
TEST(Accuracy, ALargeCrowdIsNoCliff) {
#if PHOTONRAIL_SANITIZED
  GTEST_SKIP() << "SKIPPED, NOT CHECKED: under a sanitizer";
#endif
  const Crowd crowd = all_to_all(384);
  const double before = test::processor_seconds();
  Trial within(crowd, 0.01);
  within.engine.run();
  const double seconds = test::processor_seconds() - before;
  std::cout << seconds << " s of the processor\n";
  EXPECT_LT(seconds, 8.0);
}

TEST(Accuracy, TheSameCrowdHasTheSameHistory) {
  const Crowd crowd = random_crowd(4);
  Trial first(crowd, 0.02);
  Trial second(crowd, 0.02);
  first.engine.run();
  second.engine.run();
  EXPECT_GT(first.network.epochs().epochs(), 0u);
  EXPECT_EQ(first.ends, second.ends);
}

/// 40 messages of 400 to 790 bytes on one capacity of 1 byte per picosecond.
Crowd on_one_capacity() {
  Crowd crowd;
  crowd.rates = {1e12};
  for (std::int64_t i = 0; i < 40; ++i) {
    Message message;
    message.path.add(0);
    message.bytes = 400 + 10 * i;
    crowd.messages.push_back(message);
  }
  return crowd;
}

// Below 2 / accuracy flows nothing is estimated.
TEST(Accuracy, FewFlowsAreExact) {
  const Crowd crowd = on_one_capacity();
  Trial exact(crowd, 0.0);
  Trial within(crowd, 0.04);
  exact.engine.run();
  within.engine.run();
  EXPECT_EQ(within.network.epochs().epochs(), 0u);
  EXPECT_EQ(within.ends, exact.ends);
}

// 200 to 1,000 messages at accuracies with which 2,000 would be a crowd: no rate differs in its last bits either, which
// grow to percents where jobs make different orders of them.
TEST(Accuracy, FewerThanACrowdHaveEveryEndOfTheExactRun) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Crowd crowd = random_crowd(seed);
    Trial exact(crowd, 0.0);
    Trial within(crowd, 0.001);
    exact.engine.run();
    within.engine.run();
    EXPECT_EQ(within.ends, exact.ends) << "network " << seed;
  }
}

// While an epoch is under way one capacity stops for 1 ms: its flows go back to the solver and wait, and all arrive.
TEST(Accuracy, ACapacityThatStopsInAnEpochStopsItsFlows) {
  const Crowd crowd = random_crowd(8);
  Trial trial(crowd, 0.05);
  while (trial.network.epochs().epochs() < 10) ASSERT_TRUE(trial.engine.step());
  const std::int64_t stopped = trial.engine.now().since_start().count();
  trial.network.set_rate(0, {0.0});
  struct Act {
    Network& network;
    void go_on(std::uint64_t) { network.set_rate(0, {50e9}); }
  } act{trial.network};
  trial.engine.schedule(Time{stopped + 1'000'000'000}, engine::Phase::kFinish, engine::Action::to<&Act::go_on>(act));
  trial.engine.run();
  for (std::size_t i = 0; i < crowd.messages.size(); ++i) {
    EXPECT_GT(trial.ends[i], 0) << "message " << i;
    if (crowd.messages[i].path.hops().front() != 0) continue;
    EXPECT_TRUE(trial.ends[i] <= stopped || trial.ends[i] > stopped + 1'000'000'000) << "message " << i;
  }
}

// Of two capacities with 40 messages each, one loses three quarters of its rate for 4,000 ps at each step of its first
// 20,000. It is busy all the time, so that its last message ends 3,000 later than without. When its part of an epoch had
// ended and the epoch had not, the change was counted twice: some messages got nothing more.
TEST(Accuracy, ARateThatChangesInAnEpochIsCountedOnce) {
  Crowd crowd = on_one_capacity();
  const auto on_first = static_cast<std::ptrdiff_t>(crowd.messages.size());
  crowd.rates.push_back(1e12);
  for (std::int64_t i = 0; i < on_first; ++i) {
    Message message;
    message.path.add(1);
    message.bytes = 405 + 10 * i;
    crowd.messages.push_back(message);
  }
  for (int steps = 1; steps > 0; ++steps) {
    Trial trial(crowd, 0.1);
    for (int left = steps; left > 0; --left) ASSERT_TRUE(trial.engine.step());
    if (trial.engine.now() > Time{20'000}) break;
    trial.network.set_rate(0, {0.25e12});
    struct Act {
      Network& network;
      void go_on(std::uint64_t) { network.set_rate(0, {1e12}); }
    } act{trial.network};
    trial.engine.schedule(trial.engine.now() + Duration{4000}, engine::Phase::kFinish,
                          engine::Action::to<&Act::go_on>(act));
    trial.engine.run();
    const std::int64_t last = *std::max_element(trial.ends.begin(), trial.ends.begin() + on_first);
    ASSERT_LE(std::abs(last - (40 * 400 + 10 * 780 + 3000)), 20) << "after step " << steps;
  }
}

// What is left of all flows on a capacity falls steadily, and is nothing at the end.
TEST(Accuracy, BytesLeftCountFlowsInEpochs) {
  const Crowd crowd = random_crowd(12);
  Trial trial(crowd, 0.05);
  std::int64_t sent = 0;
  for (const Message& message : crowd.messages) {
    if (message.path.hops().front() == 3) sent += message.bytes;
  }
  while (trial.network.epochs().epochs() < 5) ASSERT_TRUE(trial.engine.step());
  std::int64_t before = trial.network.bytes_left(3).count;
  EXPECT_LT(before, sent);
  EXPECT_GT(before, sent / 4);
  while (trial.engine.step()) {
    const std::int64_t left = trial.network.bytes_left(3).count;
    EXPECT_LE(left, before + crowd.messages.size());  // a byte of rounding for each
    before = left;
  }
  EXPECT_EQ(before, 0);
}

TEST(CrossingCounts, CountsWhatAMapCounts) {
  std::mt19937 random(7);
  CrossingCounts counts;
  std::map<CapacityId, std::uint32_t> expected;
  for (int step = 0; step < 5000; ++step) {
    const auto id = static_cast<CapacityId>((random() % 60) * 1000);
    if (expected[id] > 0 && random() % 2 == 0) {
      counts.remove(id);
      --expected[id];
    } else {
      counts.add(id);
      ++expected[id];
    }
    if (step == 2500) {
      counts.clear();
      expected.clear();
    }
    std::map<CapacityId, std::uint32_t> found;
    counts.for_each([&](CapacityId capacity, std::uint32_t flows) { EXPECT_TRUE(found.emplace(capacity, flows).second); });
    std::erase_if(expected, [](const auto& entry) { return entry.second == 0; });
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace photonrail::network
