// "refit": the weights of a trained model on their way to the engines that generate with it.
#include "config/refit_words.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "workload/weights.hpp"

namespace photonrail::config {

namespace {

using collective::RefitSpec;
using collective::WeightLayout;
using fields::Field;
using fields::Reading;

struct RefitFields {
  RefitSpec spec;
  ModelSpec model;
  std::uint32_t element_bytes = 2;
  double share = 1.0;
};

constexpr double kMaxLayoutRanks = 1 << 20;
constexpr Field kLayoutFields[] = {
    fields::count<&WeightLayout::ranks>("ranks", 1, kMaxLayoutRanks, "How many.").must(),
    fields::count<&WeightLayout::pp>("pp", 1, kMaxLayoutRanks, "Pipeline stages, which divide the layers evenly.")
        .or_else("1"),
    fields::count<&WeightLayout::tp>("tp", 1, kMaxLayoutRanks, "Tensor parallel, innermost.").or_else("1"),
    fields::count<&WeightLayout::ep>("ep", 1, kMaxLayoutRanks, "Experts over the ranks of a stage.").or_else("1"),
    fields::count<&WeightLayout::etp>("etp", 1, kMaxLayoutRanks, "Ranks that share the matrices of an expert.")
        .or_else("1"),
};

constexpr Field kRefitFields[] = {
    fields::own(
        "model", fields::text_shape(model_words, true),
        [](const Reading& at) {
          if (!at.value.is_string()) at.value.fail("a model is named here", "the name of a preset, or the path of a model");
          into<RefitFields>(at).model = read_model_section(at.value, folder_of(at));
        },
        "A name of `photonrail list models`, or the path of a model.")
        .must("the name of a preset"),
    fields::own(
        "precision", fields::text_shape(precision_words),
        [](const Reading& at) { into<RefitFields>(at).element_bytes = read_precision(at.value); },
        "Of a weight on the wire.")
        .or_else("`\"bf16\"`"),
    fields::own(
        "share", fields::positive_shape(1.0), [](const Reading& at) { into<RefitFields>(at).share = number_of(at); },
        "Of the bytes; below 1: a delta to the weights before.")
        .or_else("1"),
    fields::part<kWeightLayoutSection, &RefitFields::spec, &RefitSpec::training>(
        "training", "Ranks that hold the weights, from rank 0.")
        .must(),
    fields::part<kWeightLayoutSection, &RefitFields::spec, &RefitSpec::engine>("engine", "Ranks of one engine.").must(),
    fields::count<&RefitFields::spec, &RefitSpec::engines>("engines", 1, kMaxLayoutRanks, "How many engines.").or_else("1"),
    fields::flag<&RefitFields::spec, &RefitSpec::colocated>(
        "colocated", "Engines are on the training ranks from rank 0, else on the ranks behind them.")
        .or_else("false"),
    fields::word<kRefitWays, &RefitFields::spec, &RefitSpec::way>(
        "by",
        "One rank collects and sends all; a ring over all ranks; a ring of servers on each rail with a gather inside; each "
        "shard from a holder, all at once or in matchings.")
        .or_else("`\"ring_per_rail\"`"),
    fields::count<&RefitFields::spec, &RefitSpec::pieces>(
        "pieces", 1, 1'000'000, "That what a rail carries is cut into, so that hops follow each other.")
        .or_else("64"),
};

constexpr Alias kRefitAliases[] = {{"units", "model"}};

}  // namespace

constexpr Section kWeightLayoutSection{kLayoutFields};
constexpr Section kRefitSection{kRefitFields, nullptr, kRefitAliases};

std::shared_ptr<const collective::RefitTraffic> read_refit(const JsonReader& section,
                                                           const std::filesystem::path& directory) {
  RefitFields read;
  const FileContext context(directory);
  fields::read(section, kRefitSection, &read, &context);
  read.spec.units = workload::weight_units(read.model, read.element_bytes * read.share);
  return in_section(section, kRefitSection,
                    [&] { return std::make_shared<const collective::RefitTraffic>(std::move(read.spec)); });
}

}  // namespace photonrail::config
