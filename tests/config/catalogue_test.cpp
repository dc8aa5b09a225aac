// Price catalogues, those that come with the library against what was published, and "cost" of a scenario.
#include "photonrail/config.hpp"
#include "photonrail/study/cost.hpp"
#include "support/errors.hpp"
#include "support/shared_data.hpp"

#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using enum NetworkFabric;

Pricing published(const std::string& catalogue) { return {price_catalogue(catalogue), CostRule::kOpusArtifact}; }

FabricCost priced(const std::string& catalogue, NetworkFabric fabric, std::uint32_t gpus) {
  const Pricing pricing = published(catalogue);
  for (const FabricCost& row : cost_of_fabrics(network_shape(pricing.catalogue, gpus), pricing)) {
    if (row.fabric == fabric) return row;
  }
  ADD_FAILURE() << "no such fabric";
  return {};
}

Json published_data(const fs::path& data) { return Json::parse(std::ifstream(data / "opus" / "cost_power.json")); }

/// `value` rounded to `digits` behind the point, as it was printed.
double printed(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

TEST(Catalogues, GiveThePublishedCostAndPowerToEveryPrintedDigit) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const Json table = published_data(data).at("h200_1024_gpus");
  const auto usd = [](NetworkFabric fabric) { return priced("h200_400g", fabric, 1024).usd; };
  const auto watts = [](NetworkFabric fabric) { return priced("h200_400g", fabric, 1024).power_w; };
  for (const NetworkFabric fabric : priced_fabrics(CostRule::kOpusArtifact)) {
    const std::string key(name(fabric));
    EXPECT_DOUBLE_EQ(printed(usd(fabric) / 1e6, 2), table.at("cost_musd").at(key)) << key;
    EXPECT_DOUBLE_EQ(printed(watts(fabric) / 1e3, 1), table.at("power_kw").at(key)) << key;
  }
  const Json& ratios = table.at("rail_over_photonic");
  EXPECT_DOUBLE_EQ(printed(watts(kRailOptimised) / watts(kPhotonicRail), 1), ratios.at("power"));
  EXPECT_DOUBLE_EQ(printed(usd(kRailOptimised) / usd(kPhotonicRail), 2), ratios.at("cost"));
}

TEST(Catalogues, HaveThePublishedPricesOfAPort) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const Json all = published_data(data);
  for (const std::string key : {"h200_400g", "gb200_800g"}) {
    const PriceCatalogue c = price_catalogue(key);
    const Json& there = all.at(key);
    const auto same = [&](const char* word, double value) {
      // Printed to 7 digits behind the point where they do not end before.
      EXPECT_NEAR(value, there.at(word).get<double>(), 5e-8) << key << " " << word;
    };
    same("switch_port_w", c.electrical_switch.watts / c.electrical_switch.ports);
    same("switch_port_usd", c.electrical_switch.usd / c.electrical_switch.ports);
    same("transceiver_w", c.transceiver.watts);
    same("transceiver_usd", c.transceiver.usd);
    same("ocs_port_w", c.optical_switch.watts / c.optical_switch.ports);
    same("ocs_port_usd", c.optical_switch.usd / c.optical_switch.ports);
    EXPECT_EQ(c.gpus_per_server, there.at("gpus_per_server").get<std::uint32_t>());
  }
}

// Port counts of the published rules, worked out by hand for each size.
//   fat tree: k = round((4 gpus)^(1/3)) and k (k^2 + floor(k^2 / 4)) ports
//     512: 12.7 -> 13, 13 x (169 + 42) = 2743          1024: 16, 16 x 320 = 5120      2048: 20.16 -> 20, 20 x 500 = 10000
//     4096: 25.4 -> 25, 25 x (625 + 156) = 19525       8192: 32, 32 x 1280 = 40960
//   rails of 8: k = round(sqrt(4 servers)), 16 floor(servers / floor(k / 2)) rail switches, floor(gpus / k) spines
//     512: 16, 16 x 8 + 32 = 160 of 16 = 2560          1024: 22.6 -> 23, 16 x 11 + 44 = 220 of 23 = 5060
//     2048: 32, 16 x 16 + 64 = 320 of 32 = 10240       4096: 45.3 -> 45, 16 x 23 + 91 = 459 of 45 = 20655
//     8192: 64, 16 x 32 + 128 = 640 of 64 = 40960
//   rails of 32: 64 floor(servers / floor(k / 2)) rail switches
//     512: 8, 64 x 4 + 64 = 320 of 8 = 2560            1024: 11.3 -> 11, 64 x 6 + 93 = 477 of 11 = 5247
//     2048: 16, 64 x 8 + 128 = 640 of 16 = 10240       4096: 22.6 -> 23, 64 x 11 + 178 = 882 of 23 = 20286
//     8192: 32, 64 x 16 + 256 = 1280 of 32 = 40960
struct Size {
  std::uint32_t gpus, fat_tree, rails_of_8, rails_of_32;
};
constexpr Size kSizes[] = {{512, 2743, 2560, 2560},
                           {1024, 5120, 5060, 5247},
                           {2048, 10000, 10240, 10240},
                           {4096, 19525, 20655, 20286},
                           {8192, 40960, 40960, 40960}};

TEST(Catalogues, FollowThePublishedRulesFrom512To8192Gpus) {
  for (const Size& size : kSizes) {
    const double gpus = size.gpus;
    const auto h200 = [&](NetworkFabric fabric, double ports) {
      const FabricCost cost = priced("h200_400g", fabric, size.gpus);
      EXPECT_NEAR(cost.usd, ports * 582.796875 + (gpus + ports) * 879, 0.005) << gpus;
      EXPECT_NEAR(cost.power_w, ports * 39.4375 + (gpus + ports) * 10, 0.0005) << gpus;
    };
    h200(kFatTree, size.fat_tree);
    h200(kRailOptimised, size.rails_of_8);
    const auto gb200 = [&](NetworkFabric fabric, double ports) {
      const FabricCost cost = priced("gb200_800g", fabric, size.gpus);
      EXPECT_NEAR(cost.usd, ports * 149939 / 144 + gpus * 879, 0.005) << gpus;
      EXPECT_NEAR(cost.power_w, ports * 7000 / 144 + gpus * 16, 0.0005) << gpus;
    };
    gb200(kFatTree, size.fat_tree);
    gb200(kRailOptimised, size.rails_of_32);
    EXPECT_NEAR(priced("h200_400g", kPhotonicRail, size.gpus).usd, 2 * gpus * 520 + gpus * 879, 0.005);
    EXPECT_NEAR(priced("h200_400g", kPhotonicRail, size.gpus).power_w, 2 * gpus * 0.390625 + gpus * 10, 0.0005);
    EXPECT_NEAR(priced("gb200_800g", kPhotonicRail, size.gpus).power_w, 2 * gpus * 0.390625 + gpus * 16, 0.0005);
  }
}

TEST(Catalogues, SayWhereEveryPriceComesFrom) {
  ASSERT_EQ(price_catalogues().size(), 2u);
  for (const PriceCatalogue& c : price_catalogues()) {
    EXPECT_FALSE(c.note.empty());
    for (const PricedItem* item : {&c.electrical_switch, &c.optical_switch, &c.transceiver, &c.fibre_pair}) {
      EXPECT_FALSE(item->source.empty()) << c.name << " " << item->name;
    }
    EXPECT_FALSE(c.spare_source.empty());
    EXPECT_FALSE(c.gpu_idle_source.empty());
    Pricing{c, CostRule::kPhysical}.validate();
  }
}

TEST(Catalogues, AreChosenByTheRateOfThePort) {
  EXPECT_EQ(price_catalogue_for(Bandwidth::from_gb_per_s(25)).name, "h200_400g");
  EXPECT_EQ(price_catalogue_for(Bandwidth::from_gb_per_s(50)).name, "h200_400g");
  EXPECT_EQ(price_catalogue_for(Bandwidth::from_gb_per_s(51)).name, "gb200_800g");
  EXPECT_EQ(price_catalogue_for(Bandwidth::from_gb_per_s(400)).name, "gb200_800g");  // none carries it
  const ConfigError none = error_of([] { static_cast<void>(price_catalogue("h200_800g")); });
  EXPECT_NE(none.hint().find("h200_400g"), std::string::npos) << none.what();
  EXPECT_EQ(error_of([] { static_cast<void>(cost_rule("opus")); }).where(), "rule");
}

class CatalogueFile : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    json_ = Json::parse(std::ifstream(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/catalogues/h200_400g.json"));
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string written() const {
    const fs::path file = folder_ / "mine.json";
    std::ofstream(file) << json_;
    return file.string();
  }
  ConfigError error() const {
    return error_of([&] { static_cast<void>(price_catalogue(written())); });
  }

  fs::path folder_ = fs::temp_directory_path() / ("photonrail_catalogue_" + std::to_string(::getpid()));
  Json json_;
};

TEST_F(CatalogueFile, IsReadByItsPath) {
  json_["transceiver"]["usd"] = 500;
  const PriceCatalogue mine = price_catalogue(written());
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.transceiver.usd, 500);
}

TEST_F(CatalogueFile, ComplaintsNameFileAndPlace) {
  const auto place_of = [&](const std::function<void(Json&)>& change) {
    const Json good = json_;
    change(json_);
    std::string where = error().where();
    json_ = good;
    EXPECT_TRUE(where.starts_with(folder_.string())) << where;
    return where.substr(std::min(where.size(), where.find(": ") + 2));
  };
  EXPECT_EQ(place_of([](Json& j) { j["electrical_switch"].erase("source"); }), "/electrical_switch/source");
  EXPECT_EQ(place_of([](Json& j) { j["transceiver"]["usd"] = -1; }), "/transceiver/usd");
  EXPECT_EQ(place_of([](Json& j) { j["transceiver"]["price"] = 1; }), "/transceiver/price");
  EXPECT_EQ(place_of([](Json& j) { j["optical_switch"]["ports"] = 2; }), "/optical_switch/ports");
  EXPECT_EQ(place_of([](Json& j) { j["spares"]["share"] = 1.5; }), "/spares/share");
  EXPECT_EQ(place_of([](Json& j) { j["schema"] = "photonrail.catalogue/2"; }), "/schema");
  EXPECT_EQ(place_of([](Json& j) { j["opus_artifact"]["transceivers"] = "two"; }), "/opus_artifact/transceivers");
  fs::remove(folder_ / "mine.json");
  EXPECT_EQ(error_of([&] { static_cast<void>(price_catalogue((folder_ / "mine.json").string())); }).where(),
            (folder_ / "mine.json").string());
}

Scenario scenario(const std::string& cost, double gb_per_s = 50, const fs::path& folder = {}) {
  return parse_scenario(R"({"schema": "photonrail.scenario/1", )" + cost +
                            R"("cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"port_gb_per_s": )" +
                            std::to_string(gb_per_s) + R"(}},
                               "workload": {"collective": {"op": "all_reduce", "bytes": 1000}}})",
                        folder);
}

TEST_F(CatalogueFile, AScenarioNamesItsPrices) {
  EXPECT_EQ(scenario("").pricing.value().catalogue.name, "h200_400g");
  EXPECT_EQ(scenario("").pricing.value().rule, CostRule::kPhysical);
  EXPECT_EQ(scenario("", 100).pricing.value().catalogue.name, "gb200_800g");
  const Pricing chosen =
      *scenario(R"("cost": {"catalogue": "gb200_800g", "rule": "opus_artifact", "spare_share": 0.5}, )").pricing;
  EXPECT_EQ(chosen.catalogue.name, "gb200_800g");
  EXPECT_EQ(chosen.rule, CostRule::kOpusArtifact);
  EXPECT_EQ(chosen.catalogue.spare_share, 0.5);
  static_cast<void>(written());
  EXPECT_EQ(scenario(R"("cost": {"catalogue": "mine.json"}, )", 50, folder_).pricing.value().catalogue.name, "mine");
  const auto where = [&](const std::string& cost) {
    return error_of([&] { static_cast<void>(scenario(R"("cost": {)" + cost + "}, ")); }).where();
  };
  EXPECT_EQ(where(R"("catalogue": "h100")"), "scenario: /cost/catalogue");
  EXPECT_EQ(where(R"("rule": "cheap")"), "scenario: /cost/rule");
  EXPECT_EQ(where(R"("spare_share": -1)"), "scenario: /cost/spare_share");
  EXPECT_EQ(where(R"("prices": 1)"), "scenario: /cost/prices");
  EXPECT_TRUE(where(R"("catalogue": "none.json")").starts_with("scenario: /cost/catalogue: "))
      << where(R"("catalogue": "none.json")");
}

}  // namespace
}  // namespace photonrail::test
