// Sweep files: axes become points.
#include "config/scenario_parts.hpp"
#include "core/fnv1a.hpp"
#include "formats/input_file.hpp"
#include "json/file_kind.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/study/sweep.hpp"
#include "photonrail/version.hpp"
#include "studies/sweep/clash.hpp"
#include "studies/sweep/derived.hpp"
#include "studies/sweep/inputs.hpp"
#include "studies/sweep/parallelism_axis.hpp"
#include "studies/sweep/short_names.hpp"
#include "studies/sweep/sweep_fields.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <system_error>

namespace photonrail {

using core::fnv1a;
using core::hex;

namespace sweep {

namespace {

constexpr std::string_view kSchema = "photonrail.sweep/1";
constexpr std::uint64_t kMaxPoints = 1'000'000;

// What the file says, before the points are made of it.
struct Plan {
  std::vector<Axis> axes;
  std::vector<Derived> derived;
  std::vector<Condition> exclude;
  std::vector<std::uint64_t> seeds;  ///< empty: the base's
  std::uint32_t repetitions = 1;
};

struct Draft {
  Parameters parameters;
  std::vector<Override> patch;
};

Json read_base(const JsonReader& value, std::span<const Override> set, Sweep& sweep) {
  const auto beside = sweep.file.parent_path();
  Json root;
  if (value.is_object()) {
    root = value.json();
    sweep.base_directory = beside;
    sweep.base_name = sweep.file.string() + ": " + value.pointer();
  } else {
    const auto file = config::read_path(value, beside);
    if (std::error_code error; !std::filesystem::exists(file, error))
      value.fail(file.string() + ": no such file", "check the path, which starts at the folder of the sweep's file");
    root = json::parse_json(formats::read_file(file), file.string());
    sweep.base_directory = file.parent_path();
    sweep.base_name = file.string();
  }
  config::apply_overrides(root, set);
  return root;
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Axis& axis : plan.axes) names.insert(names.end(), axis.names.begin(), axis.names.end());
  for (const Derived& derived : plan.derived) names.push_back(derived.name);
  return names;
}

void check_names(const JsonReader& top, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) top.fail("a parameter has no name");
    if (is_column_of_tables(name))
      top.fail("a parameter is called \"" + name + "\", as a column of every table is", "give it another \"name\"");
    if (!seen.insert(name).second)
      top.fail("there are two parameters \"" + name + "\"", "give one of them another \"name\"");
  }
}

void read_seeds(const JsonReader& seeds, Plan& plan) {
  std::set<std::uint64_t> seen;
  for (const JsonReader& seed : seeds.elements()) {
    plan.seeds.push_back(whole_of(seed, kSeedShape));
    if (!seen.insert(plan.seeds.back()).second) seed.fail("is there twice");
  }
  if (plan.seeds.empty()) seeds.fail("is empty", "at least one seed");
}

Plan read_plan(JsonReader& top, const Json& base, const std::filesystem::path& directory) {
  Plan plan;
  KnownParameters known;
  if (const auto axes = top.optional("axes")) {
    for (JsonReader section : axes->elements()) {
      const auto all = section.optional("parallelism");
      if (all) section.finish();
      Axis axis = all ? read_parallelism_axis(*all, base, directory) : read_axis(section, known);
      for (const Choice& choice : plan.axes.emplace_back(std::move(axis)).choices) {
        for (const auto& [name, value] : choice.parameters) known.add(name, value);
      }
    }
  }
  if (const auto derived = top.optional("derived")) {
    for (const JsonReader& section : derived->elements()) {
      known.add_computed(plan.derived.emplace_back(read_derived(section)).name);
    }
  }
  if (const auto exclude = top.optional("exclude")) {
    for (const JsonReader& section : exclude->elements()) {
      plan.exclude.push_back(known.read(section));
      if (plan.exclude.back().any_of.empty()) section.fail("is empty, and would leave out every point");
    }
  }
  if (const auto seeds = top.optional("seeds")) read_seeds(*seeds, plan);
  if (const auto repetitions = top.optional("repetitions"))
    plan.repetitions = static_cast<std::uint32_t>(whole_of(*repetitions, kRepetitionsShape));
  return plan;
}

[[noreturn]] void fail_of_many_points(const JsonReader& top) {
  top.fail("makes more than " + std::to_string(kMaxPoints) + " points");
}

constexpr const char* kClashHint =
    "one parameter for each place: \"zip\" or \"variants\" for values that go together, \"when\" for axes that exclude "
    "each "
    "other";

// Throws when the choice sets what an axis above, or another list of its zip, has set in the same point.
void check_clash(const std::vector<Override>& set, const Choice& choice, const std::string& axis) {
  for (std::size_t i = 0; i < choice.patch.size(); ++i) {
    const Override* earlier = overwritten(set, choice.patch[i]);
    const bool zipped = choice.parameters.size() > 1;
    if (earlier == nullptr && zipped) earlier = overwritten(std::span(choice.patch).first(i), choice.patch[i]);
    if (earlier != nullptr) throw ConfigError(axis, clash_text(choice.patch[i], *earlier), kClashHint);
  }
}

// The product of the axes; an axis whose condition does not hold adds nothing.
std::vector<Draft> product(const std::vector<Axis>& axes, const JsonReader& top) {
  std::vector<Draft> drafts(1);
  for (const Axis& axis : axes) {
    const std::string where = "/axes/" + std::to_string(&axis - axes.data());
    std::vector<Draft> longer;
    for (Draft& draft : drafts) {
      if (!axis.when.holds(draft.parameters)) {
        longer.push_back(std::move(draft));
        continue;
      }
      if (longer.size() + axis.choices.size() > kMaxPoints) fail_of_many_points(top);
      for (const Choice& choice : axis.choices) {
        check_clash(draft.patch, choice, where);
        Draft next = &choice == &axis.choices.back() ? std::move(draft) : draft;
        next.parameters.insert(next.parameters.end(), choice.parameters.begin(), choice.parameters.end());
        next.patch.insert(next.patch.end(), choice.patch.begin(), choice.patch.end());
        longer.push_back(std::move(next));
      }
    }
    drafts = std::move(longer);
  }
  return drafts;
}

// Adds the derived values; returns what is wrong with them.
std::string derive(const std::vector<Derived>& list, const Json& base, Draft& draft) {
  if (list.empty()) return {};
  std::string clash;  // where, if there is one: that is an error of the file, not of a point
  try {
    Json scenario = base;
    config::apply_overrides(scenario, draft.patch);
    for (const Derived& derived : list) {
      Json value = evaluate(derived, scenario);
      const Override set{derived.pointer, value.canonical()};
      if (const Override* earlier = overwritten(draft.patch, set)) {
        clash = "/derived/" + std::to_string(&derived - list.data());
        throw ConfigError(clash, clash_text(set, *earlier), kClashHint);
      }
      draft.patch.push_back(set);
      config::apply_overrides(scenario, {&draft.patch.back(), 1});
      draft.parameters.emplace_back(derived.name, std::move(value));
    }
    return {};
  } catch (const ConfigError& error) {
    if (!clash.empty()) throw;
    return error.what();
  }
}

bool is_excluded(const Draft& draft, const Plan& plan) {
  return std::any_of(plan.exclude.begin(), plan.exclude.end(),
                     [&](const Condition& c) { return c.holds(draft.parameters); });
}

// `point` has the name and what is wrong with it.
void add_points(const Draft& draft, SweepPoint point, const Plan& plan, std::uint64_t base_seed, Sweep& sweep) {
  point.patch = draft.patch;
  for (const auto& [name, value] : draft.parameters) point.parameters.emplace_back(name, value.canonical());
  const std::vector<std::uint64_t> seeds = plan.seeds.empty() ? std::vector{base_seed} : plan.seeds;
  for (const std::uint64_t seed : seeds) {
    for (point.repetition = 0; point.repetition < plan.repetitions; ++point.repetition) {
      SweepPoint& added = sweep.points.emplace_back(point);
      added.index = static_cast<std::uint32_t>(sweep.points.size() - 1);
      if (!plan.seeds.empty() || plan.repetitions > 1) {
        added.patch.push_back({"/run/seed", std::to_string(repeated_seed(seed, point.repetition))});
      }
    }
  }
}

// Before anything is computed for a draft: what is excluded by a derived value only counts as a point when it is known.
void check_count(const JsonReader& top, const Plan& plan, const std::vector<Draft>& drafts, std::uint64_t of_each) {
  const auto names_derived = [&](const Condition& c) {
    return std::any_of(plan.derived.begin(), plan.derived.end(),
                       [&](const Derived& d) { return c.any_of.contains(d.name); });
  };
  if (std::any_of(plan.exclude.begin(), plan.exclude.end(), names_derived)) return;
  std::uint64_t points = 0;
  for (const Draft& draft : drafts) {
    if (!is_excluded(draft, plan)) points += of_each;
    if (points > kMaxPoints) fail_of_many_points(top);
  }
}

void make_points(const JsonReader& top, const Plan& plan, const Json& base, Sweep& sweep) {
  std::uint64_t base_seed = RunSpec{}.seed;
  if (const Json* const seed = json::find_at(base, "/run/seed"); seed != nullptr && seed->is_natural())
    base_seed = seed->natural();
  const std::uint64_t of_each = std::max<std::uint64_t>(plan.seeds.size(), 1) * plan.repetitions;
  std::vector<Draft> drafts = product(plan.axes, top);
  check_count(top, plan, drafts, of_each);
  const ShortNames names(plan.axes);
  for (Draft& draft : drafts) {
    SweepPoint point;
    point.problem = derive(plan.derived, base, draft);
    if (is_excluded(draft, plan)) continue;
    if (sweep.points.size() + of_each > kMaxPoints) fail_of_many_points(top);
    point.name = names.of(draft.parameters);
    add_points(draft, std::move(point), plan, base_seed, sweep);
    draft = {};  // its points have what was in it
  }
  if (sweep.points.empty()) top.fail_at("exclude", "leaves out every point");
}

std::string hash_of(const Sweep& sweep) {
  std::uint64_t hash = fnv1a(sweep.base, fnv1a(version()));
  for (const SweepPoint& point : sweep.points) {
    hash = fnv1a(point.name + "\n", hash);
    for (const Override& set : point.patch) hash = fnv1a(set.pointer + "=" + set.value + "\n", hash);
  }
  return hex(fold(sweep.plugins, hash));
}

void read_top(JsonReader top, std::span<const Override> set, Sweep& sweep) {
  json::require_schema(top, kSchema);
  sweep.name = sweep.file.stem().string();
  if (const auto v = top.optional("name")) sweep.name = v->string();
  if (const auto v = top.optional("why")) sweep.why = v->string();
  const JsonReader base_section = top.child("base", "the scenario that the points change");
  const Json base = read_base(base_section, set, sweep);
  const Plan plan = read_plan(top, base, sweep.base_directory);
  top.finish();
  sweep.parameters = names_of(plan);
  check_names(top, sweep.parameters);
  make_points(top, plan, base, sweep);
  sweep.base = base.canonical();
  sweep.inputs = inputs_of(sweep, base);
}

}  // namespace

}  // namespace sweep

Sweep read_sweep(const std::filesystem::path& file, std::span<const Override> set,
                 std::span<const std::filesystem::path> plugins) {
  return parse_sweep(formats::read_file(file), file, set, plugins);
}

Sweep parse_sweep(std::string_view json, const std::filesystem::path& file, std::span<const Override> set,
                  std::span<const std::filesystem::path> plugins) {
  Sweep sweep;
  sweep.file = file;
  sweep.set.assign(set.begin(), set.end());
  const json::Json root = json::parse_json(json, file.string());
  try {
    sweep::read_top(json::JsonReader(root), set, sweep);
  } catch (const ConfigError& error) {
    throw error.where().empty() || error.where().starts_with('/') ? error.inside(file.string()) : error;
  }
  for (const std::filesystem::path& plugin : plugins) sweep.plugins.push_back(sweep::input_of(plugin));
  sweep.hash = sweep::hash_of(sweep);
  return sweep;
}

std::vector<std::string> sweep::overrides_of(const Sweep& sweep, const SweepPoint& point) {
  std::vector<std::string> lines;
  for (const auto* list : {&sweep.set, &point.patch}) {
    for (const Override& set : *list) lines.push_back(set.pointer + "=" + set.value);
  }
  return lines;
}

Scenario scenario_of(const Sweep& sweep, const SweepPoint& point, const Registries& known) {
  if (!point.problem.empty()) throw ConfigError(sweep.file.string(), point.problem);
  Scenario scenario = parse_scenario(sweep.base, sweep.base_directory, sweep.base_name, point.patch, known);
  scenario.source.overrides = sweep::overrides_of(sweep, point);
  return scenario;
}

Shard Shard::parse(std::string_view text) {
  const std::string copy(text);
  unsigned index = 0;
  unsigned count = 0;
  char rest = 0;
  const bool fits = std::sscanf(copy.c_str(), "%u/%u%c", &index, &count, &rest) == 2;
  if (!fits || index < 1 || count < 1 || index > count || copy.find('-') != std::string::npos) {
    throw ConfigError("shard " + copy, "is not a shard", "I/N with I from 1 to N, for example 2/8");
  }
  return {index, count};
}

}  // namespace photonrail
