#include "photonrail/workload/training_operators.hpp"

#include <cstddef>

namespace photonrail {

const std::vector<std::string_view>& product_names() {
  static const std::vector<std::string_view> kNames{"attention.kv_down",  "attention.kv_up",
                                                    "attention.output",   "attention.qkv",
                                                    "attention.query",    "attention.query_down",
                                                    "attention.query_up", "experts",
                                                    "experts.down",       "experts.latent_down",
                                                    "experts.latent_up",  "experts.up",
                                                    "mamba.in",           "mamba.out",
                                                    "mlp.down",           "mlp.up",
                                                    "prediction",         "shared.down",
                                                    "shared.up"};
  return kNames;
}

OperatorPrecision MixedPrecision::of(std::string_view product, OperatorPrecision other) const {
  std::size_t longest = 0;
  for (const auto& [name, precision] : products) {
    const bool fits = product.starts_with(name) && (product.size() == name.size() || product[name.size()] == '.');
    if (!fits || name.size() <= longest) continue;
    longest = name.size();
    other = precision;
  }
  return other;
}

bool MixedPrecision::in_bf16(std::uint32_t layer, std::uint32_t layers) const {
  if (layer >= layers) return predictions;
  return layer < first_layers || layers - layer <= last_layers;
}

}  // namespace photonrail
