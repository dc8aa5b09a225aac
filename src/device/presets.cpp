#include "photonrail/cluster/device.hpp"
#include "photonrail/error.hpp"

#include <string>

namespace photonrail {

namespace {

DelayDistribution takes(double seconds) { return DelayDistribution::constant(from_seconds(seconds)); }

template <class Preset>
const auto& find(const std::vector<Preset>& presets, std::string_view key, const char* what) {
  std::vector<std::string> known;
  for (const Preset& preset : presets) {
    if (preset.key == key) return preset.spec;
    known.emplace_back(preset.key);
  }
  throw ConfigError("", std::string("no ") + what + " is called \"" + std::string(key) + "\"", suggest(key, known));
}

// Name, dense BF16 TFLOP/s, memory GB/s, memory GB, share of the peak, W (the most that the sheet allows the GPU).
std::vector<GpuPreset> make_gpu_presets() {
  return {
      {"a100", "NVIDIA A100 80 GB SXM data sheet, BF16 dense", {"a100", 312, 2039, 80, 1.0, 400}},
      {"h100",
       "NVIDIA H100 SXM data sheet, BF16 dense (half of the figure with sparsity)",
       {"h100", 989, 3350, 80, 1.0, 700}},
      {"h200",
       "NVIDIA H200 SXM data sheet, BF16 dense (half of the figure with sparsity)",
       {"h200", 989, 4800, 141, 1.0, 700}},
      {"b200",
       "NVIDIA HGX and DGX B200 data sheets, an eighth of the system, BF16 dense (half of the figure with sparsity); "
       "180 GB usable of 192 GB",
       {"b200", 2250, 8000, 180, 1.0, 1000}},
      {"gb200",
       "NVIDIA GB200 NVL72 data sheet, a GPU's share, BF16 dense (half of the figure with sparsity)",
       {"gb200", 2500, 8000, 186, 1.0, 1200}},
      {"gb200_opus",
       "the GB200-style GPU of the Opus simulations (arXiv 2602.12521): half the dense BF16 peak of the data sheet; gives "
       "no memory capacity; power of the gb200",
       {"gb200_opus", 1250, 8000, 0, 1.0, 1200}},
  };
}

// Name, ports, switching, link bring-up, W, USD a port. Where a range is published, the preset has its slower end.
// Link bring-up depends on transceivers and drivers, not on the switch: 0 here.
std::vector<OpticalSwitchPreset> make_optical_switch_presets() {
  return {
      {"palomar_mems",
       "Google Palomar: 128 ports and 8 spares; milliseconds, about 1.2 ms median and under 3 ms at the 99th percentile "
       "(secondary source): 3 ms. Its circulators let one fibre carry both directions, which is not modelled",
       {"palomar_mems", 136, takes(3e-3), {}, 108, 0}},
      {"lumentum_r300", "Lumentum R300, MEMS: of the 10 ms class", {"lumentum_r300", 300, takes(10e-3), {}, 0, 0}},
      {"polatis_6000",
       "Polatis Series 6000, piezo: 10 to 25 ms, here 25 ms; the Opus testbed saw 200 ms end to end, most of it link "
       "bring-up (arXiv 2602.12521): set link_up for that",
       {"polatis_6000", 192, takes(25e-3), {}, 75, 520}},
      {"polatis_7000",
       "Polatis Series 7000, piezo: 10 to 25 ms, here 25 ms",
       {"polatis_7000", 576, takes(25e-3), {}, 0, 0}},
      {"dicon_mems", "DiCon, MEMS: about 20 ms", {"dicon_mems", 192, takes(20e-3), {}, 0, 0}},
      {"telescent_robotic",
       "Telescent, a robot that moves fibres: seconds to minutes, here 60 s; holds its state without power",
       {"telescent_robotic", 1008, takes(60), {}, 0, 0}},
      {"mems_2d", "two-dimensional MEMS: 11.5 us to 1 ms, here 1 ms", {"mems_2d", 300, takes(1e-3), {}, 0, 0}},
      {"silicon_photonic",
       "silicon photonic switches: 900 ns to 80 us, here 80 us (transceivers that switch: 60 to 80 us)",
       {"silicon_photonic", 256, takes(80e-6), {}, 0, 0}},
      {"mzi_interposer",
       "Lumorph, Mach-Zehnder interferometers on an interposer: 3.7 us; of server scale, so with as many ports as needed",
       {"mzi_interposer", 0, takes(3.7e-6), {}, 0, 0}},
      {"rotor",
       "rotor switch: about 10 us between fixed matchings; 64 to 128 ports, here 128",
       {"rotor", 128, takes(10e-6), {}, 0, 0}},
      {"awgr_tunable_laser",
       "Sirius, tunable lasers on a passive wavelength router (AWGR): 3.84 ns",
       {"awgr_tunable_laser", 128, takes(3.84e-9), {}, 0, 0}},
  };
}

}  // namespace

const std::vector<GpuPreset>& gpu_presets() {
  static const std::vector<GpuPreset> presets = make_gpu_presets();
  return presets;
}

const std::vector<OpticalSwitchPreset>& optical_switch_presets() {
  static const std::vector<OpticalSwitchPreset> presets = make_optical_switch_presets();
  return presets;
}

const GpuSpec& gpu_preset(std::string_view key) { return find(gpu_presets(), key, "GPU"); }

const OpticalSwitchSpec& optical_switch_preset(std::string_view key) {
  return find(optical_switch_presets(), key, "optical switch");
}

}  // namespace photonrail
