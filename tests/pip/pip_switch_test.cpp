#include "photonrail/pip/pip_switch.hpp"

#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace photonrail::pip {

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string error_of(std::uint32_t rows, std::uint32_t columns, std::uint32_t ports) {
  try {
    PipMesh(rows, columns, ports);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

// Of the 6rc sides of r x c hexagons, (c-1)r are shared in rows and (2c-1)(r-1) between shifted rows: 3rc + 2r + 2c - 1.
TEST(PipMesh, CountsItsCells) {
  EXPECT_THAT(PipMesh(1, 1, 2).cells(), SizeIs(6));
  EXPECT_THAT(PipMesh(1, 3, 2).cells(), SizeIs(16));
  EXPECT_THAT(PipMesh(2, 2, 2).cells(), SizeIs(19));
  EXPECT_THAT(PipMesh(9, 9, 2).cells(), SizeIs(278));
}

// Every cell has two waveguides at each end, and every waveguide that is not open two cells: 4 cells = 2 waveguides - open.
TEST(PipMesh, JoinsEveryEndOfEveryCell) {
  for (const auto& [rows, columns] : {std::pair{1u, 1u}, {1u, 4u}, {5u, 1u}, {3u, 4u}, {9u, 9u}}) {
    const PipMesh mesh(rows, columns, 2);
    EXPECT_EQ(4 * mesh.cells().size(), 2 * mesh.waveguides() - mesh.open_ends());
    std::vector<std::set<std::uint32_t>> cells(mesh.waveguides());
    for (std::uint32_t c = 0; c < mesh.cells().size(); ++c) {
      const PipMesh::Cell& cell = mesh.cells()[c];
      const std::set<std::uint32_t> around{cell.near[0], cell.near[1], cell.far[0], cell.far[1]};
      EXPECT_THAT(around, SizeIs(4));
      for (const std::uint32_t w : around) cells[w].insert(c);
    }
    for (std::uint32_t w = 0; w < mesh.waveguides(); ++w) {
      const auto [first, second] = mesh.cells_at(w);
      const std::set<std::uint32_t> expected =
          second == PipMesh::kNoCell ? std::set<std::uint32_t>{first} : std::set<std::uint32_t>{first, second};
      EXPECT_EQ(cells[w], expected);
    }
  }
}

TEST(PipMesh, SaysWhatDoesNotFit) {
  EXPECT_THAT(error_of(0, 3, 2), HasSubstr("0x3 hexagons"));
  EXPECT_THAT(error_of(3, 65, 2), HasSubstr("1x1 to 64x64"));
  // A hexagon alone: two open ends at each of six corners.
  EXPECT_THAT(error_of(1, 1, 13), HasSubstr("12 open ends"));
  EXPECT_THAT(error_of(1, 1, 1), HasSubstr("1 port on"));
  EXPECT_EQ(error_of(1, 1, 12), "none");
}

/// All matchings that some setting of the cells makes, by trying each.
class EverySetting {
 public:
  explicit EverySetting(const PipMesh& mesh) : mesh_(mesh) {
    for (std::uint32_t states = 0; states < 1u << mesh.cells().size(); ++states) {
      std::set<PortPair> made;
      for (std::uint32_t p = 0; p < mesh.ports(); ++p) {
        const std::uint32_t end = follow(mesh.waveguide_of(p), states);
        for (std::uint32_t q = p + 1; q < mesh.ports(); ++q) {
          if (mesh.waveguide_of(q) == end) made.insert({p, q});
        }
      }
      made_.insert(std::move(made));
    }
  }

  [[nodiscard]] bool makes(std::span<const PortPair> pairs) const {
    return std::any_of(made_.begin(), made_.end(), [&](const std::set<PortPair>& made) {
      return std::all_of(pairs.begin(), pairs.end(), [&](PortPair pair) { return made.contains(pair); });
    });
  }

 private:
  [[nodiscard]] std::uint32_t follow(std::uint32_t waveguide, std::uint32_t states) const {
    std::uint32_t at = mesh_.cells_at(waveguide)[0];
    while (at != PipMesh::kNoCell) {
      const PipMesh::Cell& cell = mesh_.cells()[at];
      const std::uint32_t cross = states >> at & 1;
      for (const std::uint32_t i : {0u, 1u}) {
        if (cell.near[i] == waveguide) {
          waveguide = cell.far[i ^ cross];
          break;
        }
        if (cell.far[i] == waveguide) {
          waveguide = cell.near[i ^ cross];
          break;
        }
      }
      at = mesh_.cells_at(waveguide)[0] == at ? mesh_.cells_at(waveguide)[1] : mesh_.cells_at(waveguide)[0];
    }
    return waveguide;
  }

  const PipMesh& mesh_;
  std::set<std::set<PortPair>> made_;
};

void each_matching(std::uint32_t ports, std::uint32_t from, std::vector<PortPair>& pairs, const auto& visit) {
  visit(pairs);
  for (std::uint32_t a = from; a < ports; ++a) {
    for (std::uint32_t b = a + 1; b < ports; ++b) {
      const auto meets = [&](PortPair p) { return p.a == a || p.a == b || p.b == a || p.b == b; };
      if (std::any_of(pairs.begin(), pairs.end(), meets)) continue;
      pairs.push_back({a, b});
      each_matching(ports, a + 1, pairs, visit);
      pairs.pop_back();
    }
  }
}

// The exhaustive search and the settings of all cells (2^11) must agree about every matching of 6 ports on two hexagons.
TEST(PipRouting, FindsRoutesExactlyWhereSomeSettingOfTheCellsMakesTheMatching) {
  const PipMesh mesh(1, 2, 6);
  const EverySetting settings(mesh);
  int made = 0;
  int refused = 0;
  std::vector<PortPair> pairs;
  each_matching(mesh.ports(), 0, pairs, [&](std::span<const PortPair> matching) {
    const PipSearch search = search_routes(mesh, matching, 100'000);
    ASSERT_NE(search.routable, Routable::kUnknown);
    EXPECT_EQ(search.routable == Routable::kYes, settings.makes(matching));
    EXPECT_THAT(fault_of(mesh, search.routes), IsEmpty());
    ++(search.routable == Routable::kYes ? made : refused);
  });
  EXPECT_EQ(made + refused, 76);  // matchings of 6 points: 1 + 15 + 45 + 15
  EXPECT_GT(made, 16);
  EXPECT_GT(refused, 0);
}

TEST(PipRouting, BreaksOffAnExhaustiveSearch) {
  const PipMesh mesh(1, 3, 8);
  const std::vector<PortPair> pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_EQ(search_routes(mesh, pairs, 1).routable, Routable::kUnknown);
}

TEST(PipRouting, LeavesAloneWhatIsTaken) {
  const PipMesh mesh(4, 4, 8);
  const std::vector<PortPair> first{{0, 4}};
  const std::vector<PortPair> second{{1, 5}, {2, 6}};
  std::vector<PipRoute> routes = *route_matching(mesh, first);
  const std::vector<PipRoute> more = *route_matching(mesh, second, routes);
  routes.insert(routes.end(), more.begin(), more.end());
  EXPECT_THAT(routes, SizeIs(3));
  EXPECT_THAT(fault_of(mesh, routes), IsEmpty());
  EXPECT_FALSE(route_matching(mesh, std::vector<PortPair>{{0, 3}}, routes));  // port 0 itself is taken
}

TEST(PipRouting, RefusesWhatIsNoMatching) {
  const PipMesh mesh(2, 2, 4);
  EXPECT_THROW(static_cast<void>(route_matching(mesh, std::vector<PortPair>{{0, 4}})), ConfigError);
  EXPECT_THROW(static_cast<void>(route_matching(mesh, std::vector<PortPair>{{0, 1}, {1, 2}})), ConfigError);
}

TEST(PipCheck, NamesEveryKindOfFault) {
  const PipMesh mesh(3, 3, 6);
  std::vector<PipRoute> routes = *route_matching(mesh, std::vector<PortPair>{{0, 3}, {1, 4}});
  ASSERT_THAT(fault_of(mesh, routes), IsEmpty());
  std::vector<PipRoute> bad = routes;
  bad.push_back({{2, 5}, routes[0].waveguides});
  EXPECT_THAT(fault_of(mesh, bad), HasSubstr("2-5 shares waveguide"));
  bad = routes;
  bad[0].waveguides.erase(bad[0].waveguides.begin() + 1);
  EXPECT_THAT(fault_of(mesh, bad), HasSubstr("0-3 jumps to waveguide"));
  bad = routes;
  bad[0].waveguides.pop_back();
  EXPECT_THAT(fault_of(mesh, bad), HasSubstr("light of 0-3 goes elsewhere"));
  bad = routes;
  bad[1].ends.b = 5;
  EXPECT_THAT(fault_of(mesh, bad), HasSubstr("light of 1-5 goes elsewhere"));
  bad[1].ends.b = 6;
  EXPECT_THAT(fault_of(mesh, bad), HasSubstr("not two ports"));
  bad[1] = {{1, 4}, {mesh.waveguides()}};
  EXPECT_THAT(fault_of(mesh, bad), HasSubstr("does not exist"));
  PipCover cover = cover_all_pairs(mesh);
  ASSERT_THAT(fault_of(mesh, cover), IsEmpty());
  const PortPair dropped = cover.matchings[2].back().ends;
  cover.matchings[2].pop_back();
  EXPECT_EQ(fault_of(mesh, cover), std::to_string(dropped.a) + "-" + std::to_string(dropped.b) + " are never joined");
}

struct Case {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t ports;
  std::uint32_t matchings;
  std::uint32_t bound;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.ports << " ports on " << c.rows << "x" << c.columns;
}

class PipCoverOf : public ::testing::TestWithParam<Case> {};

TEST_P(PipCoverOf, JoinsEveryTwoPortsInAsManyMatchings) {
  const Case c = GetParam();
  const PipMesh mesh(c.rows, c.columns, c.ports);
  const PipCover cover = cover_all_pairs(mesh);
  EXPECT_THAT(fault_of(mesh, cover), IsEmpty());
  EXPECT_THAT(cover.matchings, SizeIs(c.matchings));
  EXPECT_EQ(cover.lower_bound, c.bound);
}

// A matching of n ports joins floor(n/2) of n(n-1)/2 pairs: n-1 matchings at least, n odd: n. Where there are as many, they
// are proven minimal. Three and four hexagons in a row block: 7 do not suffice for 8 ports, which the next test proves
// without the search.
INSTANTIATE_TEST_SUITE_P(Meshes, PipCoverOf,
                         ::testing::ValuesIn(std::vector<Case>{
                             Case{2, 2, 4, 3, 3}, Case{2, 2, 7, 7, 7}, Case{2, 2, 8, 7, 7}, Case{4, 4, 16, 15, 15},
                             Case{9, 9, 8, 7, 7}, Case{9, 9, 16, 15, 15}, Case{9, 9, 31, 31, 31}, Case{9, 9, 32, 31, 31},
                             Case{1, 3, 8, 8, 8}, Case{1, 4, 8, 9, 9}}));

// 7 matchings that join every two of 8 ports are perfect ones, each pair in one of them. Of the 105 perfect matchings,
// those that a setting of the 16 cells makes are tried in all combinations.
TEST(PipCover, SevenMatchingsOnThreeHexagonsAreRuledOutByTryingThemAll) {
  const PipMesh mesh(1, 3, 8);
  const EverySetting settings(mesh);
  std::vector<std::vector<PortPair>> perfect;
  std::vector<PortPair> pairs;
  each_matching(8, 0, pairs, [&](std::span<const PortPair> m) {
    if (m.size() == 4 && settings.makes(m)) perfect.emplace_back(m.begin(), m.end());
  });
  ASSERT_FALSE(perfect.empty());
  std::set<PortPair> joined;
  const auto disjoint = [&](const auto& self, std::size_t from, int more) -> bool {
    if (more == 0) return true;
    for (std::size_t i = from; i < perfect.size(); ++i) {
      if (std::any_of(perfect[i].begin(), perfect[i].end(), [&](PortPair p) { return joined.contains(p); })) continue;
      joined.insert(perfect[i].begin(), perfect[i].end());
      if (self(self, i + 1, more - 1)) return true;
      for (const PortPair pair : perfect[i]) joined.erase(pair);
    }
    return false;
  };
  EXPECT_FALSE(disjoint(disjoint, 0, 7));
}

TEST(PipCover, SaysWhichPortsNoWayJoins) {
  try {
    static_cast<void>(cover_all_pairs(PipMesh(1, 1, 4)));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no way from port 0 to port 2"));
  }
}

// Random matchings of 32 ports: whatever is routed is sound, and the same the second time.
TEST(PipRouting, RandomMatchingsThatAreRoutedAreSound) {
  const PipMesh mesh(9, 9, 32);
  RandomStream random(7, "matchings");
  int routed = 0;
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<std::uint32_t> ports(mesh.ports());
    for (std::uint32_t p = 0; p < ports.size(); ++p) std::swap(ports[p] = p, ports[random.below(p + 1)]);
    std::vector<PortPair> pairs;
    for (std::size_t i = 0; i < 12; i += 2) pairs.push_back({ports[i], ports[i + 1]});
    const auto routes = route_matching(mesh, pairs);
    EXPECT_EQ(routes, route_matching(mesh, pairs));
    if (!routes) continue;
    ++routed;
    EXPECT_THAT(fault_of(mesh, *routes), IsEmpty());
  }
  EXPECT_GT(routed, 20);
}

}  // namespace

}  // namespace photonrail::pip
