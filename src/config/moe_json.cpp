// The keys of a mixture of experts: its router, and how its tokens move.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

constexpr Shape kWeight = fields::number_shape(0.0, 1e100);
constexpr Shape kWeightRow = fields::list_shape(kWeight);

std::vector<std::vector<double>> read_weights(const JsonReader& value) {
  std::vector<std::vector<double>> rows;
  for (const JsonReader& line : value.elements()) {
    std::vector<double>& row = rows.emplace_back();
    for (const JsonReader& weight : line.elements()) row.push_back(number_of(weight, kWeight));
  }
  return rows;
}

constexpr Word<RouterKind> kRouters[] = {{"uniform", RouterKind::kUniform},
                                         {"zipf", RouterKind::kZipf},
                                         {"dirichlet", RouterKind::kDirichlet},
                                         {"weights", RouterKind::kWeights}};
constexpr Word<WeightRows> kRows[] = {{"layers", WeightRows::kLayers}, {"members", WeightRows::kMembers}};

constexpr Field kRouterFields[] = {
    fields::word<kRouters, &RouterSpec::kind>("kind", "How choices spread.").must(),
    fields::number<&RouterSpec::exponent>("exponent", 0.0, 100.0, "The r-th most popular expert has weight r^-exponent.")
        .refuse_unless("kind=zipf", "only zipf has an exponent")
        .or_else("1"),
    fields::number<&RouterSpec::concentration>("concentration", 1e-6, 1e6, "Of each expert.")
        .refuse_unless("kind=dirichlet", "only dirichlet has a concentration")
        .or_else("1"),
    fields::flag<&RouterSpec::fresh_layers>("fresh_layers", "Every layer has a draw of its own.")
        .refuse_unless("kind=zipf|dirichlet", "nothing is drawn for a layer", "it is for zipf and dirichlet")
        .or_else("false"),
    fields::own(
        "weights", fields::either(fields::list_shape(kWeightRow), kPathShape),
        [](const Reading& at) { into<RouterSpec>(at).weights = inline_or_file(at.value, folder_of(at), read_weights); },
        "Rows of a number for each expert, or the path of such a JSON file.")
        .only_if("kind=weights")
        .must(),
    fields::word<kRows, &RouterSpec::weight_rows>("rows", "What a row is for; layer or rank i has row i modulo rows.")
        .only_if("kind=weights")
        .or_else("`\"layers\"`"),
    fields::number<&RouterSpec::layer_drift>("layer_drift", 0.0, 100.0,
                                             "Deviation of a step of every expert's log-popularity from layer to layer.")
        .or_else("0"),
    fields::number<&RouterSpec::iteration_drift>("iteration_drift", 0.0, 100.0,
                                                 "The same from iteration to iteration, in each layer apart.")
        .or_else("0"),
    fields::number<&RouterSpec::source_spread>("source_spread", 0.0, 100.0,
                                               "Deviation of a rank's log-popularities from the layer's.")
        .or_else("0"),
};
constexpr Section kRouter{kRouterFields};

void store_router(const Reading& at) {
  RouterSpec& router = into<MoeSpec>(at).router;
  router = {};
  if (!at.value.is_string()) return fields::read(at.value, kRouter, &router, at.context);
  router.kind = fields::meaning<kRouters>(at.value);
  if (router.kind == RouterKind::kWeights)
    at.value.fail("weights need an object", "{\"kind\": \"weights\", \"weights\": ...}");
}

constexpr Word<std::uint32_t> kMoePrecisions[] = {{"fp8", 1}, {"bf16", 2}, {"fp16", 2}, {"fp32", 4}};
constexpr Shape kRouterName = fields::text_shape(fields::words_of<kRouters>);

constexpr Field kTrafficFields[] = {
    fields::own("router", fields::either(fields::object_shape(kRouter), kRouterName), store_router,
                "How tokens choose experts: a kind, or its values.")
        .or_else("`\"uniform\"`"),
    fields::number<&MoeSpec::capacity_factor>("capacity_factor", 0.0, 1e6,
                                              "A rank sends an expert at most factor x `top_k` x `tokens` / `experts` "
                                              "tokens, rounded up.")
        .or_else("0: dropless"),
    fields::flag<&MoeSpec::padded>("padded", "Always send the whole capacity.").or_else("false"),
    fields::word<kMoePrecisions, &MoeSpec::dispatch_bytes>("dispatch", "Of an element on the way to the expert.")
        .or_else("`\"bf16\"`"),
    fields::word<kMoePrecisions, &MoeSpec::combine_bytes>("combine", "Of an element on the way back.")
        .or_else("`\"bf16\"`"),
};

constexpr Field kMoeFields[] = {
    fields::count<&MoeSpec::experts>("experts", 1, 1'000'000,
                                     "Routed experts, a multiple of the ranks; expert e is on rank e / (experts / ranks).")
        .must(),
    fields::count<&MoeSpec::top_k>("top_k", 1, 1'000'000, "Experts that a token chooses.").must(),
    fields::count<&MoeSpec::tokens>("tokens", 1, 0x1p32, "Of a rank.").must(),
    fields::count<&MoeSpec::hidden>("hidden", 1, 1'000'000, "Elements of a token.").must(),
    fields::include<kMoeTrafficSection>(),
};

}  // namespace

constexpr Section kMoeTrafficSection{kTrafficFields};
constexpr Section kMoeSection{kMoeFields};

std::vector<std::string> precision_words(const Registries& known) { return fields::words_of<kMoePrecisions>(known); }

std::uint32_t read_precision(const JsonReader& value) { return fields::meaning<kMoePrecisions>(value); }

}  // namespace photonrail::config
