// Products that are in another precision than the rest.
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/timed_spec.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

using test::timed;
using test::with_experts;

// Of 5 layers (3 on the first stage) the last two are in bf16, and of the others attention but for its output; 4 GPUs a
// stage and 2 micro-batches, forward and twice backward.
TEST(MixedPrecision, ProductsMayBeKeptInAnotherPrecision) {
  const auto used = [](MixedPrecision mixed, std::uint32_t predicted) {
    OperatorRoofline every;
    every.bf16_tflops = every.fp8_tflops = every.fp4_tflops = 1.0;
    TrainingSpec spec = with_experts([&](TrainingOperators& how) {
      how.times = OperatorTimes(every);
      how.precision = OperatorPrecision::kFp4;
      how.expert_kernels.grouped = false;
      how.mixed = std::move(mixed);
    });
    spec.model.predicted_tokens = predicted;
    return *make_training_step(spec).work.operators;
  };
  const auto of = [](const OperatorUsage& usage, const std::string& name, const std::string& precision) {
    double sum = 0.0;
    for (const OperatorUse& use : usage.operators) {
      sum += use.name.starts_with(name) && use.name.ends_with(" " + precision) ? use.times : 0.0;
    }
    return sum;
  };
  const double layer = 4 * 2 * 3.0;
  MixedPrecision mixed;
  mixed.products = {{"attention", OperatorPrecision::kBf16},
                    {"attention.output", OperatorPrecision::kFp8Block},
                    {"shared", OperatorPrecision::kFp8}};
  mixed.last_layers = 2;
  const OperatorUsage some = used(mixed, 0);
  EXPECT_EQ(of(some, "attention.qkv", "bf16"), 5 * layer);
  EXPECT_EQ(of(some, "attention.output", "fp8_block"), 3 * layer);
  EXPECT_EQ(of(some, "attention.output", "bf16"), 2 * layer);
  EXPECT_EQ(of(some, "shared.up", "fp8"), 3 * layer);
  EXPECT_EQ(of(some, "experts.down", "fp4"), 3 * 4 * layer);
  EXPECT_EQ(of(some, "experts.down", "bf16"), 2 * 4 * layer);
  EXPECT_EQ(of(some, "head", "bf16"), layer);

  const OperatorUsage first = used({.first_layers = 1}, 1);  // and a prediction, with its layer, in four bits
  EXPECT_EQ(of(first, "attention.qkv", "bf16"), layer);
  EXPECT_EQ(of(first, "attention.qkv", "fp4"), 5 * layer);
  EXPECT_EQ(of(first, "prediction", "fp4"), layer);
  const OperatorUsage predictions = used({.predictions = true}, 1);
  EXPECT_EQ(of(predictions, "attention.qkv", "bf16"), layer);
  EXPECT_EQ(of(predictions, "experts.up", "bf16"), 4 * layer);
  EXPECT_EQ(of(predictions, "prediction", "bf16"), layer);
}

// Each name that a user may give is one that a step of some model has.
TEST(MixedPrecision, NamesOfProductsAreThoseOfTheirUses) {
  TrainingSpec latent = with_experts([](TrainingOperators& how) { how.expert_kernels.grouped = false; });
  latent.model.latent = LatentAttention{24, 16, 8, 4, 8};
  latent.model.moe->latent = 32;
  latent.model.predicted_tokens = 1;
  TrainingSpec grouped = with_experts();
  grouped.model.latent = LatentAttention{0, 16, 8, 4, 8};
  TrainingSpec mamba = timed();
  mamba.model.pattern = "M*-M-";
  mamba.model.mamba = MambaSpec{.heads = 8, .head_dim = 8, .state = 16, .groups = 2};
  std::vector<OperatorUse> uses;
  for (const TrainingSpec& spec : {latent, grouped, mamba}) {
    const auto step = make_training_step(spec);
    uses.insert(uses.end(), step.work.operators->operators.begin(), step.work.operators->operators.end());
  }
  std::set<std::string> names;
  for (const OperatorUse& use : uses) {
    const std::string name = use.name.substr(0, use.name.find(' '));
    const bool product = use.kind == OperatorClass::kProducts || use.kind == OperatorClass::kExperts;
    if (product && !name.ends_with("_gradient")) names.insert(name);
  }
  names.erase("head");
  names.erase("experts.router");
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            std::vector<std::string>(product_names().begin(), product_names().end()));
}

TEST(MixedPrecision, MixedPrecisionIsChecked) {
  const auto message = [](MixedPrecision mixed) {
    TrainingSpec spec = timed([&](TrainingOperators& how) { how.mixed = std::move(mixed); });
    try {
      spec.validate();
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.first_layers = 3, .last_layers = 2}), "");
  EXPECT_NE(message({.first_layers = 3, .last_layers = 3}).find("more than the model's 5 layers"), std::string::npos);
  EXPECT_EQ(message({.products = {{"mlp", OperatorPrecision::kBf16}}}), "");
  EXPECT_NE(message({.products = {{"ml", OperatorPrecision::kBf16}}}).find("names no product"), std::string::npos);
  EXPECT_NE(message({.products = {{"", OperatorPrecision::kBf16}}}).find("names no product"), std::string::npos);
}

}  // namespace
}  // namespace photonrail
