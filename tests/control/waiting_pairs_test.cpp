// What waits by pair, against a table that is searched in full.
#include "photonrail/control/waiting.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace photonrail {
namespace {

struct Entry {
  std::int64_t bytes = 0;
  std::int64_t since = 0;
};

using Model = std::map<ServerPair, std::map<std::uint32_t, Entry>>;  // by pair and request

void expect_same(const WaitingPairs& waiting, const Model& model, ServerIndex positions) {
  std::vector<std::uint32_t> senders(positions, 0);
  for (ServerIndex from = 0; from < positions; ++from) {
    std::vector<WaitingPair> shown;
    waiting.each_from(from, [&](const WaitingPair& w) { shown.push_back(w); });
    auto of = model.lower_bound({from, 0});
    for (const WaitingPair& w : shown) {
      ASSERT_TRUE(of != model.end() && of->first == w.pair);
      Entry sum{0, of->second.begin()->second.since};
      for (const auto& [request, entry] : of->second) {
        sum.bytes += entry.bytes;
        sum.since = std::min(sum.since, entry.since);
      }
      ASSERT_EQ(w.bytes.count, sum.bytes);
      ASSERT_EQ(w.since, Time{sum.since});
      ++senders[w.pair.to];
      ++of;
    }
    ASSERT_TRUE(of == model.end() || of->first.from > from);
    ASSERT_EQ(waiting.receivers(from), shown.size());
  }
  for (ServerIndex to = 0; to < positions; ++to) ASSERT_EQ(waiting.senders(to), senders[to]);
}

// Three requests want pairs among 7 positions, more of one pair and less, in random order.
TEST(WaitingPairs, AreWhatWasAddedAndNotRemoved) {
  constexpr ServerIndex kPositions = 7;
  std::mt19937_64 random(5);
  WaitingPairs waiting;
  Model model;
  for (int step = 0; step < 4000; ++step) {
    const ServerPair pair{static_cast<ServerIndex>(random() % kPositions), static_cast<ServerIndex>(random() % kPositions)};
    const auto request = static_cast<std::uint32_t>(random() % 3);
    const bool known = model.contains(pair) && model[pair].contains(request);
    const auto bytes = static_cast<std::int64_t>(random() % 100);
    if (!known || random() % 3 == 0) {
      const std::int64_t since = known ? model[pair][request].since : step;
      waiting.add(RequestId{request}, pair, Bytes{bytes}, Time{since});
      model[pair][request].bytes += bytes;
      model[pair][request].since = since;
    } else if (random() % 2 == 0) {
      waiting.remove(RequestId{request}, pair, Bytes{1}, false);
      model[pair][request].bytes -= 1;
    } else {
      waiting.remove(RequestId{request}, pair, Bytes{model[pair][request].bytes}, true);
      model[pair].erase(request);
      if (model[pair].empty()) model.erase(pair);
    }
    ASSERT_EQ(waiting.waits(pair), model.contains(pair));
    ASSERT_EQ(waiting.find(pair).has_value(), model.contains(pair));
    if (step % 16 == 0) expect_same(waiting, model, kPositions);
  }
  EXPECT_FALSE(waiting.waits({kPositions, 0}));
  EXPECT_FALSE(waiting.find({0, kPositions}));
}

}  // namespace
}  // namespace photonrail
