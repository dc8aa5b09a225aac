// Loss and crosstalk of a mesh, against an elimination of its own and closed forms.
#include "photonrail/pip/pip_switch.hpp"

#include "photonrail/error.hpp"
#include "support/processor_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::pip {
namespace {

/// The share of light that enters at a port on each waveguide and direction: x = e + M x by Gauss and Jordan, with M
/// written down cell by cell.
std::vector<double> steady_light(const PipMesh& mesh, const std::vector<CellState>& states, double meant, double leaked,
                                 std::uint32_t port) {
  const std::size_t n = std::size_t{2} * mesh.waveguides();
  std::vector<std::vector<double>> rows(n, std::vector<double>(n + 1, 0.0));
  for (std::size_t i = 0; i < n; ++i) rows[i][i] = 1.0;
  const auto towards = [&](std::uint32_t waveguide, std::uint32_t cell) {
    return 2 * waveguide + (mesh.cells_at(waveguide)[0] == cell ? 0U : 1U);
  };
  for (std::uint32_t c = 0; c < mesh.cells().size(); ++c) {
    const PipMesh::Cell& cell = mesh.cells()[c];
    for (const auto& [in, out] : {std::pair{cell.near, cell.far}, std::pair{cell.far, cell.near}}) {
      for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t o = 0; o < 2; ++o) {
          const bool straight = i == o;
          const double share = straight == (states[c] == CellState::kBar) ? meant : leaked;
          rows[towards(out[o], c) ^ 1U][towards(in[i], c)] -= share;
        }
      }
    }
  }
  rows[2 * mesh.waveguide_of(port)][n] = 1.0;
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t pivot = p;
    for (std::size_t r = p; r < n; ++r) pivot = std::abs(rows[r][p]) > std::abs(rows[pivot][p]) ? r : pivot;
    std::swap(rows[p], rows[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == p || rows[r][p] == 0.0) continue;
      const double factor = rows[r][p] / rows[p][p];
      for (std::size_t c = p; c <= n; ++c) rows[r][c] -= factor * rows[p][c];
    }
  }
  std::vector<double> light(n);
  for (std::size_t i = 0; i < n; ++i) light[i] = rows[i][n] / rows[i][i];
  return light;
}

// Fibres without loss. In the larger mesh most light is on rings of cells that no route passes, and loses little there.
TEST(PipTransfer, IsTheSolutionOfItsEquations) {
  for (const auto& [size, loss_db, crosstalk_db] : {std::tuple{2U, 1.0, -10.0}, {4U, 0.05, -20.0}}) {
    const PipMesh mesh(size, size, 6);
    const std::vector<PortPair> pairs{{0, 3}, {1, 2}};
    const auto routes = route_matching(mesh, pairs);
    ASSERT_TRUE(routes.has_value());
    const PipTransfer transfer(mesh, *routes, {loss_db, 0.0, crosstalk_db});
    const double ratio = std::pow(10.0, crosstalk_db / 10.0);
    const double meant = std::pow(10.0, -loss_db / 10.0) / (1.0 + ratio);
    for (std::uint32_t from = 0; from < mesh.ports(); ++from) {
      const auto light = steady_light(mesh, states_of(mesh, *routes), meant, meant * ratio, from);
      double sum = 0.0;
      for (std::uint32_t to = 0; to < mesh.ports(); ++to) {
        EXPECT_NEAR(transfer.power(from, to), light[2 * mesh.waveguide_of(to) + 1], 1e-12) << from << " to " << to;
        EXPECT_NEAR(transfer.power(from, to), transfer.power(to, from), 1e-12) << "light goes both ways alike";
        sum += transfer.power(from, to);
      }
      EXPECT_GT(sum, 0.0);
      EXPECT_LT(sum, 1.0);
    }
  }
}

// Light on a ring of cells of 0.01 dB goes round hundreds of times: followed pass by pass it takes 15,000 of them, minutes.
TEST(PipBudget, OfCellsThatLoseLittleIsQuick) {
  const PipMesh mesh(12, 12, 32);
  std::vector<PortPair> pairs;
  for (std::uint32_t p = 0; p < 8; ++p) pairs.push_back({2 * p, 2 * p + 1});
  const auto routes = route_matching(mesh, pairs);
  ASSERT_TRUE(routes.has_value());
  const double before = test::processor_seconds();
  EXPECT_LT(budget_of(mesh, *routes, {0.01, 1.0, -30.0}).loss_db, 4.0);
  EXPECT_LT(test::processor_seconds() - before, 1.0);
}

// With cells that hardly leak, a route of k cells of 0.3 dB between two ends of 1.5 dB loses 0.3 k + 3 dB.
TEST(PipBudget, LossIsThatOfTheLongestRoute) {
  const PipMesh mesh(4, 4, 16);
  const PipCover cover = cover_all_pairs(mesh);
  for (const std::vector<PipRoute>& matching : cover.matchings) {
    const PipBudget budget = budget_of(mesh, matching, {0.3, 1.5, -100.0});
    EXPECT_NEAR(budget.loss_db, 0.3 * budget.cells + 3.0, 1e-3);
    EXPECT_LT(budget.crosstalk_db, -60.0);
    EXPECT_LT(budget.penalty_db, 0.1);
  }
}

// One circuit has no crosstalk but its own light that comes back to its sender; two have it from each other.
TEST(PipBudget, CrosstalkIsTheSumOfAllSenders) {
  const PipMesh mesh(2, 2, 4);
  const std::vector<PortPair> pairs{{0, 1}, {2, 3}};
  const auto routes = route_matching(mesh, pairs);
  ASSERT_TRUE(routes.has_value());
  const PipOptics optics{0.2, 1.0, -25.0};
  const PipTransfer t(mesh, *routes, optics);
  double crosstalk = 0.0;
  double beating = 0.0;
  for (const auto& [from, to] : {std::pair{0U, 1U}, {1U, 0U}, {2U, 3U}, {3U, 2U}}) {
    double power = 0.0;
    double fields = 0.0;
    for (std::uint32_t other = 0; other < 4; ++other) {
      if (other == from) continue;
      power += t.power(other, to) / t.power(from, to);
      fields += std::sqrt(t.power(other, to) / t.power(from, to));
    }
    crosstalk = std::max(crosstalk, power);
    beating = std::max(beating, fields);
  }
  const PipBudget budget = budget_of(mesh, *routes, optics);
  EXPECT_NEAR(budget.crosstalk_db, 10.0 * std::log10(crosstalk), 1e-9);
  EXPECT_NEAR(budget.penalty_db, -10.0 * std::log10(1.0 - 2.0 * beating), 1e-9);
  EXPECT_DOUBLE_EQ(budget.needed_db(), budget.loss_db + budget.penalty_db);
  EXPECT_EQ(budget_of(mesh, {}, optics).needed_db(), 0.0);
}

TEST(PipOptics, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(PipOptics({0.0, 1.0, -30.0}).check(), ConfigError);
  EXPECT_THROW(PipOptics({0.2, -1.0, -30.0}).check(), ConfigError);
  EXPECT_THROW(PipOptics({0.2, 1.0, -2.0}).check(), ConfigError);
  EXPECT_THROW(PipOptics({0.2, 1.0, std::nan("")}).check(), ConfigError);
}

}  // namespace
}  // namespace photonrail::pip
