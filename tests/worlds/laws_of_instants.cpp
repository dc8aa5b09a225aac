// The law of instants: what fails, stops or is repaired may do so at the very instant at which an operation begins or ends.
// Times that are drawn seldom meet these instants: the law takes them from a run.
#include "worlds/laws.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::worlds {

namespace {

using Pointer = Json::json_pointer;

void add_failures(const Json& scenario, const Pointer& list, std::vector<Pointer>& found) {
  if (!scenario.contains(list) || !scenario[list].is_array()) return;
  for (std::size_t i = 0; i < scenario[list].size(); ++i) {
    const Json& entry = scenario[list][i];
    const bool begins = std::any_of(entry.items().begin(), entry.items().end(),
                                    [](const auto& item) { return item.key().starts_with("at_"); });
    if (begins || list == "/server_faults"_json_pointer) found.push_back(list / i);
  }
}

std::vector<Pointer> failures_of(const Json& scenario) {
  std::vector<Pointer> found;
  for (const char* const list : {"/cluster/scale_up/faults", "/cluster/rail/faults", "/server_faults", "/stragglers"}) {
    add_failures(scenario, Pointer(list), found);
  }
  const Json jobs = scenario.value("jobs", Json::array());
  for (std::size_t j = 0; j < jobs.size(); ++j) add_failures(scenario, "/jobs"_json_pointer / j / "stragglers", found);
  return found;
}

void erase_time(Json& failure, const std::string& key) {
  for (const char* const unit : {"_ps", "_ns", "_us", "_ms", "_s"}) failure.erase(key + unit);
}

void set_time(Json& failure, const std::string& key, Duration time) {
  erase_time(failure, key);
  failure[key + "_ps"] = time.count();
}

// A message leaves as long before it arrives as it is on its way.
Duration draw_way(Dice& dice, const Json& cluster) {
  const auto ns = [&](const char* key) {
    return Duration{static_cast<std::int64_t>(1000.0 * cluster.value(Pointer(key), 0.0))};
  };
  const Duration inside = ns("/scale_up/latency_ns");
  const Duration nic = ns("/nic/latency_ns");
  return dice.pick<Duration>({Duration{}, inside, inside, nic, nic + ns("/nic/message_overhead_ns")});
}

std::vector<Time> later_than(Time from, std::vector<Time> instants) {
  std::erase_if(instants, [&](Time at) { return at <= from; });
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  return instants;
}

// At an instant, between two of them, where messages are on their way, or from the beginning on.
Time draw_begin(Dice& dice, const std::vector<Time>& instants) {
  const std::uint32_t i = dice.from_to(0, static_cast<std::uint32_t>(instants.size()) - 1);
  switch (dice.from_to(0, 3)) {
    case 0:
      return Time{};
    case 1:
      return instants[i];
    default: {
      const Time before = i == 0 ? Time{} : std::min(instants[i - 1], instants[i]);
      return before + (instants[i] - before) / 2;
    }
  }
}

// More often the next one, at which messages end that were on their way.
Time draw_end(Dice& dice, const std::vector<Time>& later) {
  const std::uint32_t last = static_cast<std::uint32_t>(later.size()) - 1;
  return later[dice.from_to(0, dice.from_to(0, 2) > 0 ? std::min(last, 2U) : last)];
}

// What is wrong with the end of the twin by itself. It may be stuck: the failure is another.
std::string wrong_by_itself(const Outcome& twin) {
  if (!twin.symptom.empty()) return twin.symptom + ": " + twin.message;
  return twin.ending == Ending::kDone ? worlds::problem_of(twin.result) : "";
}

// First it fails for good, which shows what ends while it does; then it is repaired at such an instant.
LawAnswer failures_meet_instants(const World& world, const Outcome& first, Verdict& verdict) {
  constexpr int kTries = 4;
  const std::vector<Pointer> failures = failures_of(world.scenario);
  if (failures.empty() || first.instants.empty()) return {};
  Dice dice(world.seed, "instants");
  for (int i = 0; i < kTries; ++i) {
    Json twin = world.scenario;
    Json& failure = twin[dice.pick(failures)];
    const Time begin = draw_begin(dice, first.instants);
    set_time(failure, "at", begin.since_start());
    erase_time(failure, "lasts");
    verdict.runs += 2;
    const Outcome for_good = run(twin);
    if (std::string text = wrong_by_itself(for_good); !text.empty()) return {true, text};
    const std::vector<Time> later = later_than(begin, for_good.instants);
    if (later.empty()) continue;
    const Duration lasts = draw_end(dice, later) - begin - draw_way(dice, twin["cluster"]);
    set_time(failure, "lasts", std::max(lasts, Duration{1}));
    if (std::string text = wrong_by_itself(run(twin)); !text.empty()) return {true, text};
  }
  return {true, ""};
}

}  // namespace

std::vector<PolicyProperty> laws_of_instants() {
  return {{"instants", "what fails or is repaired when an operation begins or ends leaves nothing undone",
           failures_meet_instants, true, true}};
}

}  // namespace photonrail::worlds
