// Whether circuits conflict, against the definition: all pairs of one demand beside all pairs of the others.
#include "control/needed_circuits.hpp"
#include "photonrail/core/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail::control {
namespace {

using Pairs = std::vector<ServerPair>;

bool conflict_by_definition(const Pairs& one, const Pairs& other) {
  for (const ServerPair x : one) {
    for (const ServerPair y : other) {
      if ((x.from == y.from) != (x.to == y.to)) return true;
    }
  }
  return false;
}

TEST(NeededCircuits, ConflictsAreThoseOfTheDefinition) {
  RandomStream random(7, "circuits");
  NeededCircuits needed;
  int conflicts = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t servers = 2 + random.below(9);
    const auto server = [&] { return static_cast<ServerIndex>(random.below(servers)); };
    const auto draw = [&] {
      Pairs pairs(random.below(4));
      for (ServerPair& pair : pairs) pair = {server(), server()};
      return pairs;
    };
    needed.clear();
    Pairs added;
    for (int demand = 0; demand < 3; ++demand) {
      const Pairs pairs = draw();
      needed.add(pairs);
      added.insert(added.end(), pairs.begin(), pairs.end());
      const Pairs asked = draw();
      conflicts += conflict_by_definition(added, asked) ? 1 : 0;
      ASSERT_EQ(needed.conflict(asked), conflict_by_definition(added, asked)) << round;
    }
  }
  EXPECT_GT(conflicts, 1000);
  EXPECT_LT(conflicts, 5000);
}

}  // namespace
}  // namespace photonrail::control
