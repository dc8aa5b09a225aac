// Dense decoder-only transformers: their published dimensions and how many parameters these give.
// Dimensions: Llama 3: arXiv 2407.21783, table 3, and the 128,256 words of its released configurations; Llama 2:
// arXiv 2307.09288 and its released configurations.
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"

#include <algorithm>

namespace photonrail {

double ModelSpec::parameters() const {
  const double h = hidden;
  const double kv = h * kv_heads / heads;
  const double attention = h * (h + 2.0 * kv) + h * h;  // query, key, value; output
  const double mlp = 3.0 * h * ffn;                     // gate, up, down
  const double norms = 2.0 * h;
  return layers * (attention + mlp + norms) + 2.0 * h * vocabulary + h;  // embedding, output head, last norm
}

const std::vector<ModelPreset>& model_presets() {
  static const std::vector<ModelPreset> kPresets{
      {"llama3_8b", "Llama 3 8B, 8.03e9 parameters", {"llama3_8b", 32, 4096, 14336, 32, 8, 128256}},
      {"llama3_70b", "Llama 3 70B, 70.55e9 parameters", {"llama3_70b", 80, 8192, 28672, 64, 8, 128256}},
      {"llama2_7b", "Llama 2 7B, 6.74e9 parameters", {"llama2_7b", 32, 4096, 11008, 32, 32, 32000}},
  };
  return kPresets;
}

const ModelSpec& model_preset(std::string_view key) {
  const auto& presets = model_presets();
  const auto found = std::find_if(presets.begin(), presets.end(), [&](const ModelPreset& p) { return p.key == key; });
  if (found != presets.end()) return found->spec;
  std::vector<std::string> known;
  for (const ModelPreset& preset : presets) known.emplace_back(preset.key);
  throw ConfigError("/model", "there is no model '" + std::string(key) + "'", suggest(key, known));
}

}  // namespace photonrail
