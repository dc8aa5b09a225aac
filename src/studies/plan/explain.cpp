// The grounds of a plan's answer: its best candidates run again with one number changed.
#include "studies/plan/explain.hpp"

#include "config/scenario_parts.hpp"
#include "json/text.hpp"
#include "studies/plan/candidate_runs.hpp"
#include "studies/plan/objective.hpp"
#include "studies/plan/space.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace photonrail::plan {

namespace {

using json::Json;

constexpr double kLow = 0.8;
constexpr double kHigh = 1.2;
constexpr std::size_t kMaxContenders = 5;
constexpr double kLeastDelay = 1e-3;  // ms, of break-even
constexpr double kMostDelay = 1e4;
constexpr int kHalvingsOfDelay = 10;
constexpr std::size_t kOfBreakEven = kHalvingsOfDelay + 3;  // runs

Override with_number(const std::string& pointer, double value) { return {pointer, Json(value).dump()}; }

/// Returns the overrides that make a number of a scenario `factor` times as large; empty: it has no such number.
using Change = std::vector<Override> (*)(const Json& scenario, const std::filesystem::path& directory, double factor);

std::vector<Override> of_delay(const Json& scenario, const std::filesystem::path& directory, double factor) {
  json::JsonReader top(scenario);
  const ClusterSpec cluster = config::read_cluster(top.child("cluster"), directory);
  if (cluster.rail.kind != RailKind::kOptical) return {};
  const std::string at = "/cluster/rail/switch";
  if (const Json* device = json::find_at(scenario, at); device != nullptr && device->is_object()) {
    for (const auto& [key, value] : device->members()) {
      if (!key.starts_with("reconfiguration")) continue;
      if (!value.is_number()) return {};  // a distribution
      return {with_number(at + "/" + key, value.number() * factor)};
    }
  }
  const double seconds = to_seconds(cluster.rail.optical.reconfiguration.typical());
  return {with_number(at + "/reconfiguration_us", seconds * 1e6 * factor)};
}

std::vector<Override> of_efficiency(const Json& scenario, const std::filesystem::path& /*directory*/, double factor) {
  const Json* there = json::find_at(scenario, "/cluster/gpu/compute_efficiency");
  const double efficiency = there != nullptr && there->is_number() ? there->number() : 1.0;
  return {with_number("/cluster/gpu/compute_efficiency", std::min(1.0, efficiency * factor))};
}

std::vector<Override> of_failures(const Json& scenario, const std::filesystem::path& /*directory*/, double factor) {
  const Json* failures = json::find_at(scenario, "/reliability/failures");
  std::vector<Override> changes;
  if (failures == nullptr || !failures->is_array()) return changes;
  for (std::size_t i = 0; i < failures->elements().size(); ++i) {
    for (const auto& [key, value] : failures->elements()[i].members()) {
      const bool rate = key == "per_1000_server_days" || key == "fit" || key == "share_per_day";
      if (!rate && key != "mtbf_h") continue;
      changes.push_back(with_number("/reliability/failures/" + std::to_string(i) + "/" + key,
                                    rate ? value.number() * factor : value.number() / factor));
    }
  }
  return changes;
}

constexpr std::pair<const char*, Change> kUncertain[] = {
    {"switching delay", of_delay}, {"efficiency of GPUs", of_efficiency}, {"rate of failures", of_failures}};

std::string label_of(const PlannedRun& run) {
  std::string label;
  for (const std::string& part : run.labels) label += (label.empty() ? "" : "; ") + part;
  return label;
}

class Explanation {
 public:
  Explanation(const Plan& plan, const PlanResult& result, const PlanOptions& options, const Registries& known)
      : plan_(plan), result_(result), options_(options), runs_(plan, known, [this] {
          tell();
          return is_over();
        }) {}

  PlanExplanation make() {
    PlanExplanation of;
    if (result_.best.empty() || plan_.objectives.size() > 1) return of;
    expected_ = plan_.axes.size() + 2 + 2 * std::size(kUncertain) * contenders() + kOfBreakEven;
    try {
      add_ladder(of);
      for (const auto& [what, change] : kUncertain) add_robustness(what, change, of);
      add_break_even(of);
    } catch (const OutOfTime&) {
      of.is_whole = false;
    }
    return of;
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_over() const {
    return (options_.stop != nullptr && *options_.stop) ||
           std::chrono::duration<double>(Clock::now() - begun_).count() >= options_.limit_s;
  }

  [[nodiscard]] std::size_t contenders() const { return std::min(kMaxContenders, result_.best.size()); }

  /// Within long runs, too.
  void tell() const {
    if (options_.progress) options_.progress(done_, std::max(done_, expected_));
  }

  /// None: the candidate cannot be run so.
  [[nodiscard]] std::optional<double> objective(const std::vector<Override>& patch) {
    tell();
    if (is_over()) throw OutOfTime{};
    ++done_;
    Outcome outcome = runs_.run(patch);
    if (outcome.kind != Outcome::Kind::kDone) return std::nullopt;
    if (const NetworkBill bill = bill_of(plan_, patch); bill.problem.empty()) {
      outcome.run.usd = bill.usd;
      outcome.run.power_w = bill.power_w;
    }
    return values(plan_, measured(outcome.run)).front();
  }

  [[nodiscard]] std::optional<double> objective(const PlannedRun& run, Change change, double factor) {
    Json scenario = json::parse_json(plan_.base, plan_.file.string());
    config::apply_overrides(scenario, run.patch);
    std::vector<Override> patch = run.patch;
    for (Override& set : change(scenario, plan_.base_directory, factor)) patch.push_back(std::move(set));
    return objective(patch);
  }

  // From the base by one group of choices after the other.
  void add_ladder(PlanExplanation& of) {
    std::vector<Override> patch;
    of.ladder.push_back({"the base as it is", objective(patch)});
    const std::vector<Override>& whole = result_.best.front().patch;
    std::size_t at = 0;
    const auto climb = [&](const std::string& name, std::size_t count) {
      patch.insert(patch.end(), whole.begin() + static_cast<std::ptrdiff_t>(at),
                   whole.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      of.ladder.push_back({name, objective(patch)});
    };
    for (const PlanAxis& axis : plan_.axes) {
      const auto chosen = std::find_if(axis.values.begin(), axis.values.end(), [&](const PlanValue& value) {
        return value.patch.size() <= whole.size() - at &&
               std::equal(
                   value.patch.begin(), value.patch.end(), whole.begin() + static_cast<std::ptrdiff_t>(at),
                   [](const Override& a, const Override& b) { return a.pointer == b.pointer && a.value == b.value; });
      });
      if (chosen == axis.values.end()) return;
      const bool says_axis = chosen->label.starts_with(axis.name + " ");
      climb(says_axis ? chosen->label : axis.name + " " + chosen->label, chosen->patch.size());
    }
    if (at < whole.size()) climb(result_.best.front().labels.front(), whole.size() - at);
  }

  void add_robustness(const char* what, Change change, PlanExplanation& of) {
    const std::size_t count = contenders();
    PlanRobustness robust{what, {}, {}, {}, {}};
    bool matters = false;
    for (const double factor : {kLow, kHigh}) {
      std::size_t winner = 0;
      std::optional<double> least;
      for (std::size_t i = 0; i < count; ++i) {
        const PlannedRun& run = result_.best[i];
        const auto value = objective(run, change, factor);
        if (!value) continue;
        matters = matters || *value != run.objectives.front();
        if (!least || *value < *least) winner = i;
        least = std::min(*value, least.value_or(*value));
      }
      if (!matters) return;
      (factor == kLow ? robust.at_low : robust.at_high) = least;
      if (winner > 0) find_change(change, factor, winner, robust);
    }
    of.robustness.push_back(std::move(robust));
  }

  // The factor next to 1 from which on the other is better.
  void find_change(Change change, double end, std::size_t other, PlanRobustness& robust) {
    double stays = 1.0;
    double changes = end;
    constexpr int kHalvings = 5;
    expected_ += 2 * kHalvings;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (stays + changes) / 2.0;
      const auto best = objective(result_.best.front(), change, middle);
      const auto value = objective(result_.best[other], change, middle);
      (best && value && *value < *best ? changes : stays) = middle;
    }
    if (robust.changes_at && std::abs(*robust.changes_at - 1.0) < std::abs(changes - 1.0)) return;
    robust.changes_at = changes;
    robust.to = label_of(result_.best[other]);
  }

  // Of the best candidate on optical rails against the same on electrical ones.
  void add_break_even(PlanExplanation& of) {
    for (const PlannedRun& run : result_.best) {
      Json scenario = json::parse_json(plan_.base, plan_.file.string());
      config::apply_overrides(scenario, run.patch);
      const auto now = of_delay(scenario, plan_.base_directory, 1.0);
      if (now.empty()) continue;
      std::vector<Override> twin = run.patch;
      twin.push_back({"/cluster/rail", R"({"kind": "electrical"})"});
      twin.push_back({"/controller", Json{{"name", std::string(kNoPolicy)}}.dump()});
      const auto electrical = objective(twin);
      if (!electrical) return;
      const double allowed = *electrical * (is_money() ? 1.0 : 1.01);
      const auto within = [&](double delay_ms) {
        std::vector<Override> patch = run.patch;
        Override set = now.front();
        const double unit = set.pointer.ends_with("_ms")   ? 1.0
                            : set.pointer.ends_with("_ns") ? 1e6
                            : set.pointer.ends_with("_s")  ? 1e-3
                                                           : 1e3;
        set.value = Json(delay_ms * unit).dump();
        patch.push_back(std::move(set));
        const auto value = objective(patch);
        return value && *value <= allowed;
      };
      of.break_even = PlanBreakEven{label_of(run), *electrical, {}};
      double low = kLeastDelay;
      double high = kMostDelay;
      if (!within(low)) return;
      if (within(high)) low = high;
      for (int i = 0; i < kHalvingsOfDelay; ++i) {
        const double middle = std::sqrt(low * high);
        (within(middle) ? low : high) = middle;
      }
      of.break_even->delay_ms = low;
      return;
    }
  }

  [[nodiscard]] bool is_money() const { return reads_bill(plan_.objectives.front()); }

  const Plan& plan_;
  const PlanResult& result_;
  const PlanOptions& options_;
  const Clock::time_point begun_ = Clock::now();
  std::uint64_t done_ = 0;      // runs
  std::uint64_t expected_ = 0;  // about so many in all
  CandidateRuns runs_;
};

}  // namespace

PlanExplanation explain_plan(const Plan& plan, const PlanResult& result, const PlanOptions& options,
                             const Registries& known) {
  return Explanation(plan, result, options, known).make();
}

}  // namespace photonrail::plan
