// Names of the points of sweeps: what differs, and no more.
#include "studies/sweep/short_names.hpp"
#include "studies/sweep/sweep_support.hpp"

#include <gmock/gmock.h>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;

class ShortNamesOfPoints : public InFolder {
 protected:
  [[nodiscard]] std::vector<std::string> names(const std::string& axes) const {
    const std::string text =
        R"({"schema": "photonrail.sweep/1", "base": )" + small_scenario(2).dump() + R"(, "axes": )" + axes + "}";
    std::vector<std::string> names;
    for (const SweepPoint& point : read_sweep(write("names.json", text)).points) names.push_back(point.name);
    return names;
  }
};

// 1000 us are 1 ms, and 2e-3 ms are 2 us. A rate has the unit of its name; a number without one says of what it is.
TEST_F(ShortNamesOfPoints, WordsAndQuantitiesStandAlone) {
  EXPECT_THAT(
      names(
          R"([{"name": "rails", "variants": {"optical, 2 ports": {}}}, {"pointer": "/a/delay_us", "values": [0, 0.5, 1000]}])"),
      ElementsAre("0 s", "500 ns", "1 ms"));
  EXPECT_THAT(
      names(
          R"([{"name": "rails", "variants": {"optical": {}, "none": {}}}, {"pointer": "/a/delay_ms", "values": [2e-3]}])"),
      ElementsAre("optical", "none"));
  EXPECT_THAT(
      names(R"([{"pointer": "/a/port_gb_per_s", "values": [50, 12.5]}, {"pointer": "/a/spine_ports", "values": [4, 8]}])"),
      ElementsAre("50 GB/s, spine ports 4", "50 GB/s, spine ports 8", "12.5 GB/s, spine ports 4",
                  "12.5 GB/s, spine ports 8"));
}

// A sweep of bytes, and times of hours in the seconds of their name.
TEST_F(ShortNamesOfPoints, LargeNumbersStayReadable) {
  EXPECT_THAT(names(R"([{"pointer": "/a/bytes", "values": [0, 8, 1000000, 50000000, 2.5e9]}])"),
              ElementsAre("0 B", "8 B", "1 MB", "50 MB", "2.5 GB"));
  EXPECT_THAT(names(R"([{"pointer": "/a/interval_s", "values": [100, 86400]}])"), ElementsAre("100 s", "86400 s"));
  EXPECT_THAT(names(R"([{"pointer": "/a/tokens", "values": [1048576, 12345678]}])"),
              ElementsAre("tokens 1048576", "tokens 12345678"));
}

// Two times, and two parameters that are "on", would not be told apart.
TEST_F(ShortNamesOfPoints, WhatTwoParametersHaveIsNamed) {
  EXPECT_THAT(
      names(R"([{"pointer": "/a/late_ms", "values": [1, 2]}, {"pointer": "/a/delay_us", "values": [3, 4]}])"),
      ElementsAre("late 1 ms, delay 3 us", "late 1 ms, delay 4 us", "late 2 ms, delay 3 us", "late 2 ms, delay 4 us"));
  EXPECT_THAT(
      names(R"([{"pointer": "/a/ahead", "values": ["on", "off"]}, {"pointer": "/a/shared", "values": ["on", "late"]}])"),
      ElementsAre("ahead on, shared on", "ahead on, late", "off, shared on", "off, late"));
  EXPECT_THAT(names(R"([{"pointer": "/a/shared", "values": [true, null]}])"), ElementsAre("shared true", "shared null"));
}

// Of a zip the first list that tells all apart; of factorisations, of which none does, those that differ.
TEST_F(ShortNamesOfPoints, OfWhatChangesTogetherOneIsNamed) {
  EXPECT_THAT(names(R"([{"zip": {"/a/kind": ["x", "x"], "/a/servers": [4, 8], "/a/ranks": [16, 32]}}])"),
              ElementsAre("servers 4", "servers 8"));
  EXPECT_THAT(names(R"([{"zip": {"/a/kind": ["x", "x", "x"], "/a/tp": [1, 1, 2], "/a/pp": [1, 2, 2]}}])"),
              ElementsAre("tp 1, pp 1", "tp 1, pp 2", "tp 2, pp 2"));
}

TEST_F(ShortNamesOfPoints, AValueWithMembersIsItsWords) {
  EXPECT_THAT(
      names(
          R"([{"pointer": "/controller", "values": [{"name": "opus", "mode": "on_demand"}, {"name": "lru", "at_once": 4}]}])"),
      ElementsAre("opus on_demand", "lru at_once 4"));
  EXPECT_THAT(names(R"([{"pointer": "/a/servers", "values": [[0, 1], [2, 3]]}])"), ElementsAre("0 1", "2 3"));
}

// Marks, quotes and letters of any alphabet come as they are.
TEST_F(ShortNamesOfPoints, KeepWhatTheirAuthorWrote) {
  EXPECT_THAT(names(R"([{"name": "rails", "variants": {"<b>Ü</b> & \"光\"": {}, "a=b": {}}}])"),
              ElementsAre("<b>Ü</b> & \"光\"", "a=b"));
}

}  // namespace
}  // namespace photonrail::test
