#include "photonrail/cluster/device.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {
namespace {

using ::testing::HasSubstr;

struct Gpu {
  std::string_view key;
  double peak_tflops;  // dense BF16
  double memory_gb_per_s;
};

std::ostream& operator<<(std::ostream& out, const Gpu& gpu) { return out << gpu.key; }

class GpuPresets : public ::testing::TestWithParam<Gpu> {};

TEST_P(GpuPresets, HaveTheFiguresOfTheDataSheet) {
  const GpuSpec& spec = gpu_preset(GetParam().key);
  EXPECT_EQ(spec.name, GetParam().key);
  EXPECT_EQ(spec.peak_tflops, GetParam().peak_tflops);
  EXPECT_EQ(spec.memory_gb_per_s, GetParam().memory_gb_per_s);
  EXPECT_EQ(spec.compute_efficiency, 1.0);
}

// With sparsity the data sheets say twice as much: 624, 1979, 1979; 36 PFLOP/s for 8 and 360 PFLOP/s for 72 GPUs.
INSTANTIATE_TEST_SUITE_P(All, GpuPresets,
                         ::testing::ValuesIn(std::vector<Gpu>{Gpu{"a100", 312, 2039}, Gpu{"h100", 989, 3350},
                                                              Gpu{"h200", 989, 4800}, Gpu{"b200", 36000.0 / 8 / 2, 8000},
                                                              Gpu{"gb200", 360000.0 / 72 / 2, 8000},
                                                              Gpu{"gb200_opus", 1250, 8000}}),
                         [](const auto& tested) { return std::string(tested.param.key); });

struct Switch {
  std::string_view key;
  std::uint32_t ports;
  double least_s;  // the published range of switching
  double greatest_s;
};

std::ostream& operator<<(std::ostream& out, const Switch& ocs) { return out << ocs.key; }

class SwitchPresets : public ::testing::TestWithParam<Switch> {};

TEST_P(SwitchPresets, HaveTheSlowerEndOfThePublishedRange) {
  const OpticalSwitchSpec& spec = optical_switch_preset(GetParam().key);
  EXPECT_EQ(spec.name, GetParam().key);
  EXPECT_EQ(spec.ports, GetParam().ports);
  EXPECT_EQ(spec.reconfiguration.kind, DelayDistribution::Kind::kConstant);
  EXPECT_GE(spec.reconfiguration.typical(), from_seconds(GetParam().least_s));
  EXPECT_EQ(spec.reconfiguration.typical(), from_seconds(GetParam().greatest_s));
  EXPECT_EQ(spec.link_up, Duration{});
}

INSTANTIATE_TEST_SUITE_P(All, SwitchPresets,
                         ::testing::ValuesIn(std::vector<Switch>{
                             Switch{"palomar_mems", 136, 1.2e-3, 3e-3}, Switch{"lumentum_r300", 300, 10e-3, 10e-3},
                             Switch{"polatis_6000", 192, 10e-3, 25e-3}, Switch{"polatis_7000", 576, 10e-3, 25e-3},
                             Switch{"dicon_mems", 192, 20e-3, 20e-3}, Switch{"telescent_robotic", 1008, 1, 60},
                             Switch{"mems_2d", 300, 11.5e-6, 1e-3}, Switch{"silicon_photonic", 256, 900e-9, 80e-6},
                             Switch{"mzi_interposer", 0, 3.7e-6, 3.7e-6}, Switch{"rotor", 128, 10e-6, 10e-6},
                             Switch{"awgr_tunable_laser", 128, 3.84e-9, 3.84e-9}}),
                         [](const auto& tested) { return std::string(tested.param.key); });

TEST(Presets, TablesHaveNothingTwiceAndSayWhereItComesFrom) {
  std::set<std::string_view> keys;
  for (const auto& preset : gpu_presets()) {
    EXPECT_TRUE(keys.insert(preset.key).second) << preset.key;
    EXPECT_FALSE(preset.note.empty()) << preset.key;
  }
  for (const auto& preset : optical_switch_presets()) {
    EXPECT_TRUE(keys.insert(preset.key).second) << preset.key;
    EXPECT_FALSE(preset.note.empty()) << preset.key;
  }
  EXPECT_EQ(gpu_presets().size(), 6u);
  EXPECT_EQ(optical_switch_presets().size(), 11u);
}

TEST(Presets, PolatisHasThePowerAndPriceOfThePublishedCostModel) {
  // 75 W over 192 ports is the 0.390625 W a port of the Opus cost model, which pays 520 USD a port.
  const OpticalSwitchSpec& spec = optical_switch_preset("polatis_6000");
  EXPECT_EQ(spec.power_w / spec.ports, 0.390625);
  EXPECT_EQ(spec.usd_per_port, 520);
}

TEST(Presets, AnUnknownKeyIsAnErrorThatHelps) {
  try {
    (void)gpu_preset("h20");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.problem(), "no GPU is called \"h20\"");
    EXPECT_THAT(error.hint(), HasSubstr("h200"));
  }
  try {
    (void)optical_switch_preset("something");
    FAIL();
  } catch (const ConfigError& error) {
    for (const auto& preset : optical_switch_presets()) EXPECT_THAT(error.hint(), HasSubstr(std::string(preset.key)));
  }
}

}  // namespace
}  // namespace photonrail
