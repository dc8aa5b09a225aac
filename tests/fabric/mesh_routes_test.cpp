// The ways of a rail's circuits on a switch of the test: what is asked of it, and what is answered from memory.
#include "fabric/mesh_routes.hpp"

#include "fabric/rail_site.hpp"
#include "photonrail/core/circuit.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::fabric::test {
namespace {

/// Every pair of fibres crosses the one waveguide of this switch, which counts the questions.
class SingleFile final : public BlockingSwitch {
 public:
  explicit SingleFile(int& questions) : questions_(questions) {}

  [[nodiscard]] std::uint32_t open_ends() const override { return 64; }
  [[nodiscard]] std::optional<std::vector<LightWay>> route(std::span<const FibrePair> pairs,
                                                           std::span<const LightWay> taken) const override {
    ++questions_;
    if (pairs.size() + taken.size() > 1) return std::nullopt;
    return std::vector<LightWay>{{pairs.front(), {0, 1}}};
  }
  [[nodiscard]] bool bright(std::span<const LightWay> ways, double budget_db) const override {
    ++questions_;
    return static_cast<double>(ways.size()) <= budget_db;
  }
  [[nodiscard]] double loss_db(std::uint32_t cells) const override { return cells; }
  [[nodiscard]] LightReach reach(bool (*)(std::uint32_t, std::uint32_t)) const override { return {}; }
  [[nodiscard]] std::string describe() const override { return "single file"; }

 private:
  int& questions_;
};

TEST(MeshRoutes, AskASwitchOnceForTheSameWays) {
  ClusterSpec cluster = RailSite::describe(4, 1, [](RailSpec& spec) { spec.optical.pip = PipMeshSpec{1, 6}; });
  cluster.nic.optical_budget_db = 1.0;
  int questions = 0;
  MeshRoutes routes(cluster, std::make_unique<SingleFile>(questions));
  const std::vector<Circuit> first{circuit(0, 2)};
  const std::vector<Circuit> second{circuit(1, 3)};
  const auto way = routes.find(first, {});
  ASSERT_TRUE(way);
  // Port 0 sends from fibre 0, and port 2 receives with fibre 2 x 2 + 1.
  EXPECT_EQ(way->front().route.ends.a, 0u);
  EXPECT_EQ(way->front().route.ends.b, 5u);
  EXPECT_EQ(MeshRoutes::cells(way->front()), 1u);
  EXPECT_TRUE(routes.find(first, {}));
  EXPECT_EQ(questions, 1);
  EXPECT_FALSE(routes.find(second, *way)) << "the first has the waveguide";
  EXPECT_FALSE(routes.find(second, *way));
  EXPECT_EQ(questions, 2);
  EXPECT_TRUE(routes.bright(*way));
  EXPECT_TRUE(routes.bright(*way));
  EXPECT_EQ(questions, 3);
  EXPECT_EQ(routes.describe(), "single file");
}

}  // namespace
}  // namespace photonrail::fabric::test
