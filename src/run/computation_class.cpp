#include "run/computation_class.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace photonrail::run {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The common beginning of the names of like computations: up to the first digit.
std::string common_name(std::string_view name) {
  std::string text(name.begin(), std::find_if(name.begin(), name.end(), is_digit));
  while (!text.empty() && (std::ispunct(static_cast<unsigned char>(text.back())) != 0 || text.back() == ' '))
    text.pop_back();
  return text;
}

std::string_view take_word(std::string_view& name) {
  const std::size_t dot = name.find('.');
  const std::string_view word = name.substr(0, dot);
  name.remove_prefix(dot == std::string_view::npos ? name.size() : dot + 1);
  return word;
}

// The generator's names: PASS.MICRO-BATCH.[chunkN.][again.]UNIT.PART. "" where the name is none of them.
std::string part_of_model(std::string_view name) {
  const std::string_view pass = take_word(name);
  if (pass != "fwd" && pass != "bwd" && pass != "wgt") return {};
  const std::string_view number = take_word(name);
  if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit)) return {};
  std::string_view word = take_word(name);
  const auto counts = [](std::string_view of, std::string_view what) {
    return of.substr(0, what.size()) == what && of.size() > what.size() && is_digit(of[what.size()]);
  };
  while (!name.empty() && (word == "again" || counts(word, "chunk") || counts(word, "layer"))) word = take_word(name);
  return counts(word, "layer") ? "layer" : std::string(word);
}

// Names of ASTRA-sim's symbolic generator: mbN.transformer.M.BLOCK.TENSOR@... "" where the name is none of them.
std::string block_of_model(std::string_view name) {
  const std::string_view batch = take_word(name);
  if (batch.size() < 3 || batch.substr(0, 2) != "mb" || !std::all_of(batch.begin() + 2, batch.end(), is_digit)) return {};
  std::string_view word = take_word(name);
  if (word == "transformer") {
    take_word(name);  // its number
    word = take_word(name);
  }
  return std::string(word.substr(0, word.find('@')));
}

using Words = std::vector<std::string_view>;

// Words of the names of kernels, as libraries call them: those of the first class that fits count.
std::string class_of_kernel(std::string_view name) {
  static const std::array<std::pair<std::string_view, Words>, 4> kClasses{
      {{kOptimizer, {"adam", "optimizer", "multi_tensor"}},
       {"attention", {"flash", "fmha", "attention", "sdpa", "attn_kernel", ".mha."}},
       {"products", {"gemm", "cutlass", "cublas", "matmul", "nvjet", "aten::mm", "aten::bmm", "aten::linear"}},
       {"memory",
        {"elementwise", "norm", "softmax", "reduce", "memcpy", "memset", "copy", "embedding", "dropout", "gelu", "silu",
         "cast"}}}};
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& [what, words] : kClasses) {
    const bool fits = std::any_of(words.begin(), words.end(),
                                  [&](std::string_view word) { return lower.find(word) != std::string::npos; });
    if (fits) return std::string(what);
  }
  return {};
}

}  // namespace

std::string computation_class(std::string_view name) {
  if (std::string part = part_of_model(name); !part.empty()) return part;
  if (std::string kernels = class_of_kernel(name); !kernels.empty()) return kernels;
  if (std::string block = block_of_model(name); !block.empty()) return block;
  return common_name(name);
}

}  // namespace photonrail::run
