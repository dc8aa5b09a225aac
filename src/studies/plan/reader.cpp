// `photonrail.plan/1`: the base, what is free in it, and what is to be least.
#include "studies/plan/reader.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "formats/input_file.hpp"
#include "json/file_kind.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/plan/objective.hpp"
#include "studies/sweep/axis.hpp"
#include "studies/sweep/sweep_fields.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace photonrail::plan {

namespace {

using config::into;
using fields::Field;
using fields::Reading;
using fields::Section;
using fields::Word;
using json::Json;
using json::JsonReader;

/// Values of a number, or the word that asks for those that suit the model and the cluster.
struct NumberChoice {
  std::vector<std::uint32_t> values;  ///< empty: that of the base
  bool automatic = false;
};
struct WordChoice {
  std::vector<std::string> values;
  bool automatic = false;
};

struct ShapesEntry {
  NumberChoice tp, cp, pp, ep, virtual_stages, micro_batch;
  WordChoice sharding, recompute;
};

/// A file as it is read; the base is read last, as `--set` changes it.
struct PlanEntry {
  Plan plan{};
  std::optional<JsonReader> base{};
  std::optional<ShapesEntry> shapes{};
};

constexpr fields::Shape kNumber = fields::whole_shape(1, 1'000'000);
std::vector<std::string> auto_word(const Registries& /*known*/) { return {"auto"}; }
constexpr fields::Shape kAuto = fields::text_shape(auto_word);

template <NumberChoice ShapesEntry::*Member>
constexpr Field numbers(std::string_view key, std::string_view doc, std::string_view automatic) {
  return fields::own(
             key, fields::either(fields::list_shape(kNumber), kAuto),
             [](const Reading& at) {
               NumberChoice& choice = into<ShapesEntry>(at).*Member;
               choice.automatic = at.value.is_string();
               if (choice.automatic) return static_cast<void>(at.value.choice<bool>({{"auto", true}}));
               for (const JsonReader& value : at.value.elements())
                 choice.values.push_back(static_cast<std::uint32_t>(whole_of(value, kNumber)));
               if (choice.values.empty()) at.value.fail("is empty", "at least one value, or \"auto\"");
             },
             doc)
      .or_else(automatic);
}

std::vector<std::string> shardings() { return {"none", "zero1", "fsdp"}; }
std::vector<std::string> recomputations() { return {"none", "selective", "full"}; }  // by Recompute
std::vector<std::string> sharding_words(const Registries& /*known*/) { return shardings(); }
std::vector<std::string> recompute_words(const Registries& /*known*/) { return recomputations(); }
constexpr fields::Shape kSharding = fields::text_shape(sharding_words);
constexpr fields::Shape kRecomputation = fields::text_shape(recompute_words);

template <WordChoice ShapesEntry::*Member, std::vector<std::string> (*Words)()>
void store_words(const Reading& at) {
  WordChoice& choice = into<ShapesEntry>(at).*Member;
  choice.automatic = at.value.is_string();
  if (choice.automatic) return static_cast<void>(at.value.choice<bool>({{"auto", true}}));
  for (const JsonReader& value : at.value.elements()) choice.values.push_back(value.word(Words()));
  if (choice.values.empty()) at.value.fail("is empty", "at least one word, or \"auto\"");
}

constexpr Field kShapesFields[] = {
    numbers<&ShapesEntry::tp>("tp", "Tensor parallelism; `auto`: divisors of the GPUs of a server.", "the base's"),
    numbers<&ShapesEntry::cp>("cp", "Context parallelism; `auto`: 1, 2, 4, 8.", "the base's"),
    numbers<&ShapesEntry::pp>("pp", "Pipeline stages; `auto`: divisors of the GPUs, up to the layers.", "the base's"),
    numbers<&ShapesEntry::ep>("ep", "Expert parallelism; `auto`: divisors of the experts, up to 64.", "the base's"),
    numbers<&ShapesEntry::virtual_stages>(
        "virtual_stages", "Model chunks of a stage; more than 1 is `interleaved`; `auto`: 1, 2, 4.", "the base's"),
    numbers<&ShapesEntry::micro_batch>("micro_batch", "Sequences of a micro-batch; `auto`: 1, 2, 4, 8.", "the base's"),
    fields::own("sharding", fields::either(fields::list_shape(kSharding), kAuto),
                store_words<&ShapesEntry::sharding, shardings>,
                "What data-parallel ranks share: nothing, the optimizer, all parameters.")
        .or_else("the base's"),
    fields::own("recompute", fields::either(fields::list_shape(kRecomputation), kAuto),
                store_words<&ShapesEntry::recompute, recomputations>, "Activations that are computed again.")
        .or_else("the base's"),
};
constexpr Section kShapes{kShapesFields};

constexpr Field kLimitFields[] = {
    fields::positive<&PlanLimits::usd>("usd", 1e15, "What the network may cost.").or_else("no limit"),
    fields::positive<&PlanLimits::power_w>("power_w", 1e12, "What the network may draw.").or_else("no limit"),
};
constexpr Section kLimits{kLimitFields};

constexpr Field kPriceFields[] = {
    fields::number<&PlanPrices::gpu_hour_usd>("gpu_hour_usd", 0.0, 1e6, "A GPU for an hour, with all but its network.")
        .must("the price of a GPU for an hour"),
    fields::positive<&PlanPrices::network_years>("network_years", 100.0, "Over which the network is paid.").or_else("4"),
    fields::number<&PlanPrices::usd_per_kwh>("usd_per_kwh", 0.0, 1e3, "Energy of network and GPUs.").or_else("0"),
};
constexpr Section kPrices{kPriceFields};

constexpr Word<PlanObjective> kObjectives[] = {{"step", PlanObjective::kStep},
                                               {"gpu_seconds_per_token", PlanObjective::kGpuSecondsAToken},
                                               {"gpu_seconds_per_request", PlanObjective::kGpuSecondsARequest},
                                               {"days", PlanObjective::kDays},
                                               {"usd_per_trillion_tokens", PlanObjective::kUsdATrillionTokens},
                                               {"usd_per_million_tokens", PlanObjective::kUsdAMillionTokens},
                                               {"usd", PlanObjective::kUsd},
                                               {"power_w", PlanObjective::kPower}};
constexpr fields::Shape kObjective = fields::text_shape(fields::words_of<kObjectives>);

void store_objective(const Reading& at) {
  std::vector<PlanObjective>& objectives = into<PlanEntry>(at).plan.objectives;
  objectives.clear();
  const auto add = [&](const JsonReader& value) {
    const PlanObjective objective = fields::meaning<kObjectives>(value);
    if (std::find(objectives.begin(), objectives.end(), objective) != objectives.end()) value.fail("stands twice");
    objectives.push_back(objective);
  };
  if (at.value.is_string()) return add(at.value);
  for (const JsonReader& value : at.value.elements()) add(value);
  constexpr std::size_t kMaxObjectives = 3;
  if (objectives.empty() || objectives.size() > kMaxObjectives)
    at.value.fail("has " + std::to_string(objectives.size()) + " objectives", "one, or two or three for their front");
}

void store_axes(const Reading& at) {
  Plan& plan = into<PlanEntry>(at).plan;
  const sweep::KnownParameters above;
  for (const JsonReader& section : at.value.elements()) {
    sweep::Axis axis = sweep::read_axis(section, above);
    PlanAxis& made = plan.axes.emplace_back();
    for (const std::string& name : axis.names) made.name += (made.name.empty() ? "" : ", ") + name;
    for (sweep::Choice& choice : axis.choices) {
      PlanValue& value = made.values.emplace_back();
      for (const auto& [name, of] : choice.parameters)
        value.label += (value.label.empty() ? "" : ", ") + (of.is_string() ? of.string() : name + " " + of.canonical());
      value.patch = std::move(choice.patch);
    }
  }
}

constexpr Field kPlanFields[] = {
    fields::known("schema", fields::text_shape(), "`\"photonrail.plan/1\"`.").must(),
    fields::text<&PlanEntry::plan, &Plan::name>("name", "Its name.").or_else("that of the file"),
    fields::text<&PlanEntry::plan, &Plan::why>("why", "The question.").or_else("none"),
    fields::own(
        "base", fields::Shape{}, [](const Reading& at) { into<PlanEntry>(at).base = at.value; },
        "The scenario that candidates change: an object, or the path of one.")
        .must("the scenario that candidates change"),
    fields::part<kShapes, &PlanEntry::shapes>("shapes", "Shapes of parallelism that are tried; dp follows from the GPUs.")
        .or_else("the base's"),
    fields::own("axes", fields::list_shape(fields::kObjectOf<sweep::kAxisSection>), store_axes,
                "Further free choices, as the axes of a [sweep](sweep.md) without `when`.")
        .or_else("none"),
    fields::own("objective", fields::either(fields::list_shape(kObjective), kObjective), store_objective,
                "What is to be least; of two or three the front is searched.")
        .or_else("`\"step\"`"),
    fields::positive<&PlanEntry::plan, &Plan::tokens>("tokens", 1e18, "With `days`: to train on.").or_else("none"),
    fields::part<kPrices, &PlanEntry::plan, &Plan::prices>("prices",
                                                           "With `usd_per_trillion_tokens` and `usd_per_million_tokens`.")
        .or_else("none"),
    fields::part<kLimits, &PlanEntry::plan, &Plan::limits>("limits", "What the bill of the network may say.")
        .or_else("none"),
};

std::vector<std::uint32_t> divisors(std::uint64_t of, std::uint64_t most) {
  std::vector<std::uint32_t> list;
  for (std::uint64_t d = 1; d <= std::min(of, most); ++d) {
    if (of % d == 0) list.push_back(static_cast<std::uint32_t>(d));
  }
  return list;
}

void read_base(const PlanEntry& entry, std::span<const Override> set, Plan& plan) {
  Json root;
  if (entry.base->is_object()) {
    root = entry.base->json();
    plan.base_directory = plan.file.parent_path();
  } else {
    const std::filesystem::path file = config::read_path(*entry.base, plan.file.parent_path());
    root = json::parse_json(formats::read_file(file), file.string());
    plan.base_directory = file.parent_path();
  }
  config::apply_overrides(root, set);
  plan.base = root.canonical();
}

template <class Value>
std::vector<Value> chosen(const std::vector<Value>& given, bool automatic, const std::vector<Value>& suggested,
                          const Value& base) {
  if (automatic) return suggested;
  return given.empty() ? std::vector<Value>{base} : given;
}

// The values of "auto", and those of the base where a list is not there.
ShapeSpace resolved(const ShapesEntry& entry, const Plan& plan) {
  const Json root = json::parse_json(plan.base, plan.file.string());
  JsonReader top(root);
  const ClusterSpec cluster = config::read_cluster(top.child("cluster"), plan.base_directory);
  const TrainingSpec spec = config::read_training_spec_of_file(root, plan.base_directory);
  const ParallelismSpec& p = spec.parallelism;
  const auto numbers_of = [](const NumberChoice& choice, const std::vector<std::uint32_t>& suggested, std::uint32_t base) {
    return chosen(choice.values, choice.automatic, suggested, base);
  };
  constexpr std::uint64_t kMaxExpertRanks = 64;
  const std::uint64_t gpus = std::uint64_t{cluster.servers} * cluster.gpus_per_server;
  ShapeSpace space;
  space.tp = numbers_of(entry.tp, divisors(cluster.gpus_per_server, cluster.gpus_per_server), p.tp);
  space.cp = numbers_of(entry.cp, {1, 2, 4, 8}, p.cp);
  space.pp = numbers_of(entry.pp, divisors(gpus, spec.model.layers), p.pp);
  space.ep = numbers_of(entry.ep, divisors(spec.model.moe ? spec.model.moe->experts : 1, kMaxExpertRanks), p.ep);
  space.virtual_stages = numbers_of(entry.virtual_stages, {1, 2, 4}, p.virtual_stages);
  space.micro_batch = numbers_of(entry.micro_batch, {1, 2, 4, 8}, spec.micro_batch);
  space.sharding = chosen<std::string>(entry.sharding.values, entry.sharding.automatic, shardings(),
                                       p.fsdp    ? "fsdp"
                                       : p.zero1 ? "zero1"
                                                 : "none");
  const std::size_t again = static_cast<std::size_t>(spec.recompute);
  space.recompute =
      chosen<std::string>(entry.recompute.values, entry.recompute.automatic, recomputations(), recomputations()[again]);
  return space;
}

// What shapes set an axis would set without effect.
void check_axes(JsonReader& top, const Plan& plan) {
  constexpr std::string_view kOfShapes[] = {"parallelism/tp",   "parallelism/cp",    "parallelism/pp",
                                            "parallelism/ep",   "parallelism/dp",    "parallelism/virtual_stages",
                                            "parallelism/fsdp", "parallelism/zero1", "micro_batch",
                                            "recompute"};
  constexpr std::string_view kJob = "/workload/training/";
  for (const PlanAxis& axis : plan.axes) {
    for (const PlanValue& value : axis.values) {
      for (const Override& set : value.patch) {
        const bool of_job = set.pointer.starts_with(kJob);
        const std::string_view key = of_job ? std::string_view(set.pointer).substr(kJob.size()) : std::string_view();
        if (std::find(std::begin(kOfShapes), std::end(kOfShapes), key) == std::end(kOfShapes)) continue;
        top.optional("axes")->fail("set " + set.pointer + ", which \"shapes\" sets too",
                                   "give its values to \"shapes\", or leave \"shapes\" out");
      }
    }
  }
}

void check_objectives(JsonReader& top, const Plan& plan) {
  const auto has = [&](PlanObjective objective) {
    return std::find(plan.objectives.begin(), plan.objectives.end(), objective) != plan.objectives.end();
  };
  const auto fail = [&](const char* problem, const char* hint) { top.optional("objective")->fail(problem, hint); };
  if (has(PlanObjective::kDays) && !plan.tokens) fail("\"days\" are those of so many tokens", "\"tokens\": 15e12");
  for (const PlanObjective of : {PlanObjective::kUsdATrillionTokens, PlanObjective::kUsdAMillionTokens}) {
    if (has(of) && !plan.prices)
      top.optional("objective")
          ->fail("\"" + std::string(name(of)) + "\" has no prices", "\"prices\": {\"gpu_hour_usd\": 2}");
  }
}

}  // namespace

constexpr Section kPlanSection{kPlanFields};

}  // namespace photonrail::plan

namespace photonrail {

Plan parse_plan(std::string_view text, const std::filesystem::path& file, std::span<const Override> set) {
  const json::Json root = json::parse_json(text, file.string());
  try {
    json::JsonReader top(root);
    json::require_schema(top, "photonrail.plan/1");
    plan::PlanEntry entry;
    entry.plan.file = file;
    entry.plan.name = file.stem().string();
    fields::read(top, plan::kPlanSection, &entry);
    plan::read_base(entry, set, entry.plan);
    if (entry.shapes) entry.plan.shapes = plan::resolved(*entry.shapes, entry.plan);
    if (entry.shapes) plan::check_axes(top, entry.plan);
    plan::check_objectives(top, entry.plan);
    if (!entry.plan.shapes && entry.plan.axes.empty())
      top.fail("leaves nothing free", "\"shapes\" or \"axes\"; `photonrail run` runs one scenario");
    return std::move(entry.plan);
  } catch (const ConfigError& e) {
    throw e.where().empty() || e.where().starts_with('/') ? e.inside(file.string()) : e;
  }
}

Plan read_plan(const std::filesystem::path& file, std::span<const Override> set) {
  return parse_plan(formats::read_file(file), file, set);
}

}  // namespace photonrail
