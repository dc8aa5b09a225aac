// The keys of a mixture of experts: its router, and how its tokens move.
#include "config/scenario_parts.hpp"

namespace photonrail::config {

namespace {

std::vector<std::vector<double>> read_weights(const JsonReader& value) {
  std::vector<std::vector<double>> rows;
  for (const JsonReader& line : value.elements()) {
    std::vector<double>& row = rows.emplace_back();
    for (const JsonReader& weight : line.elements()) row.push_back(weight.number(0.0, 1e100));
  }
  return rows;
}

RouterKind read_kind(const JsonReader& value) {
  using enum RouterKind;
  return value.choice<RouterKind>(
      {{"uniform", kUniform}, {"zipf", kZipf}, {"dirichlet", kDirichlet}, {"weights", kWeights}});
}

RouterSpec read_router(JsonReader section, const std::filesystem::path& directory) {
  RouterSpec router;
  if (section.is_string()) {
    router.kind = read_kind(section);
    if (router.kind == RouterKind::kWeights)
      section.fail("weights need an object", "{\"kind\": \"weights\", \"weights\": ...}");
    return router;
  }
  router.kind = read_kind(section.child("kind"));
  const auto read = [&](const char* key, double least, double greatest, double& into) {
    if (const auto v = section.optional(key)) into = v->number(least, greatest);
  };
  const bool zipf = router.kind == RouterKind::kZipf;
  const bool dirichlet = router.kind == RouterKind::kDirichlet;
  if (!zipf) section.refuse("exponent", "only zipf has an exponent");
  if (!dirichlet) section.refuse("concentration", "only dirichlet has a concentration");
  if (!zipf && !dirichlet) section.refuse("fresh_layers", "nothing is drawn for a layer", "it is for zipf and dirichlet");
  read("exponent", 0.0, 100.0, router.exponent);
  read("concentration", 1e-6, 1e6, router.concentration);
  if (const auto v = section.optional("fresh_layers")) router.fresh_layers = v->boolean();
  if (router.kind == RouterKind::kWeights) {
    router.weights = inline_or_file(section.child("weights"), directory, read_weights);
    if (const auto v = section.optional("rows")) {
      router.weight_rows = v->choice<WeightRows>({{"layers", WeightRows::kLayers}, {"members", WeightRows::kMembers}});
    }
  }
  read("layer_drift", 0.0, 100.0, router.layer_drift);
  read("iteration_drift", 0.0, 100.0, router.iteration_drift);
  read("source_spread", 0.0, 100.0, router.source_spread);
  section.finish();
  return router;
}

}  // namespace

std::uint32_t read_precision(const JsonReader& value) {
  return value.choice<std::uint32_t>({{"fp8", 1}, {"bf16", 2}, {"fp16", 2}, {"fp32", 4}});
}

void read_moe_layer(JsonReader& section, const std::filesystem::path& directory, MoeSpec& into) {
  into.experts = section.child("experts").count(1, 1'000'000);
  into.top_k = section.child("top_k").count(1, 1'000'000);
  into.tokens = section.child("tokens").integer(1, std::uint64_t{1} << 32);
  into.hidden = section.child("hidden").count(1, 1'000'000);
  read_moe(section, directory, into);
}

void read_moe(JsonReader& section, const std::filesystem::path& directory, MoeSpec& into) {
  if (const auto v = section.optional("router")) into.router = read_router(*v, directory);
  if (const auto v = section.optional("capacity_factor")) into.capacity_factor = v->number(0.0, 1e6);
  if (const auto v = section.optional("padded")) into.padded = v->boolean();
  if (const auto v = section.optional("dispatch")) into.dispatch_bytes = read_precision(*v);
  if (const auto v = section.optional("combine")) into.combine_bytes = read_precision(*v);
}

}  // namespace photonrail::config
