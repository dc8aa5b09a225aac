#include "photonrail/config.hpp"
#include "photonrail/version.hpp"
#include "support/folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace photonrail::test {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string gpu_scenario(const std::string& gpu) {
  return R"({ "workload": { "collective": { "op": "barrier" } }, // the order of the file stays
    "schema": "photonrail.scenario/1", "cluster": { "servers": 2, )" +
         gpu + R"("gpus_per_server": 1 } })";
}

constexpr Calibration kFitted{0.5, std::chrono::seconds(2), std::chrono::milliseconds(2001), 3};

OrderedJson calibrated(const std::string& gpu, std::string_view source = "", std::span<const Override> set = {}) {
  const Folder folder;
  const std::string text = calibrated_scenario(folder.write("s.json", gpu_scenario(gpu)), set, kFitted, source);
  // What is written can be read, and has the efficiency.
  EXPECT_EQ(parse_scenario(text, folder.path()).cluster.gpu.compute_efficiency, 0.5);
  return OrderedJson::parse(text);
}

TEST(CalibratedScenario, SaysWhereItsEfficiencyComesFrom) {
  const OrderedJson gpu = calibrated(R"("gpu": "h200", )", "table 5 of a paper")["cluster"]["gpu"];
  EXPECT_EQ(gpu["preset"], "h200");
  EXPECT_EQ(gpu["compute_efficiency"], 0.5);
  EXPECT_EQ(gpu["calibration"]["measured_step_s"], 2.0);
  EXPECT_EQ(gpu["calibration"]["simulated_step_s"], 2.001);
  EXPECT_EQ(gpu["calibration"]["source"], "table 5 of a paper");
  EXPECT_EQ(gpu["calibration"]["photonrail_version"], std::string(version()));
}

TEST(CalibratedScenario, KeepsTheRestAndItsOrder) {
  const OrderedJson json = calibrated(R"("gpu": { "preset": "h200", "compute_efficiency": 0.9 }, )");
  EXPECT_EQ(json.begin().key(), "workload");
  EXPECT_EQ((++json.begin()).key(), "schema");
  EXPECT_EQ(json["cluster"].begin().key(), "servers");
  EXPECT_FALSE(json["cluster"]["gpu"]["calibration"].contains("source"));
}

TEST(CalibratedScenario, WithoutAGpuTheDefaultIsSpelledOut) {
  const OrderedJson gpu = calibrated("")["cluster"]["gpu"];
  EXPECT_EQ(gpu["peak_tflops"], GpuSpec{}.peak_tflops);
  EXPECT_EQ(gpu["memory_gb_per_s"], GpuSpec{}.memory_gb_per_s);
}

TEST(CalibratedScenario, HoldsTheOverridesThatItWasFittedWith) {
  const std::vector<Override> set{Override::parse("/cluster/servers=4")};
  EXPECT_EQ(calibrated("", "", set)["cluster"]["servers"], 4);
}

TEST(CalibratedScenario, AProvenanceIsChecked) {
  const auto wrong = [](const std::string& calibration) {
    return message_of([&] {
      static_cast<void>(
          parse_scenario(gpu_scenario(R"("gpu": { "preset": "h200", "calibration": )" + calibration + " }, "), "."));
    });
  };
  EXPECT_NE(wrong(R"({ "measured_step": 1 })").find("unknown key"), std::string::npos);
  EXPECT_NE(wrong(R"({ "measured_step_s": -1 })").find("must be positive"), std::string::npos);
}

}  // namespace
}  // namespace photonrail::test
