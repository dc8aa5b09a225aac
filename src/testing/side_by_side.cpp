#include "photonrail/testing/laws.hpp"

#include "core/printed.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "testing/own_registries.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::testing {

namespace {

PolicyResult run(const Scenario& scenario, const PolicyUnderTest& policy, const ControllerSpec& setting) {
  PolicyResult contender{testing::describe(setting), {}, {}};
  const Registries known = only_electrical_and(policy.factory);
  try {
    contender.result = simulate(under(policy, setting, scenario), {}, known);
  } catch (const Error& error) {
    contender.problem = error.what();
  }
  return contender;
}

std::string percent(double share) { return core::printed("%.1f %%", 100 * share); }

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string row(const PolicyResult& c, Duration base) {
  if (!c.problem.empty()) return "| " + c.name + " | – | – | – | – | – | " + one_line(c.problem) + " |\n";
  const double more = base > Duration{} ? to_seconds(c.result.makespan) / to_seconds(base) - 1 : 0.0;
  const ReconfigurationSummary& r = c.result.reconfigurations;
  const std::optional<double> hidden = r.hidden_share();
  return "| " + c.name + " | " + to_text(c.result.makespan) + " | " + (more < 0 ? "" : "+") + percent(more) + " | " +
         std::to_string(r.count) + " | " + to_text(c.result.mean_rank_time().reconfiguration_wait) + " | " +
         (hidden ? percent(*hidden) : "–") + " | |\n";
}

}  // namespace

std::vector<PolicyResult> run_side_by_side(const Scenario& scenario, std::span<const PolicyUnderTest> policies) {
  std::vector<PolicyResult> contenders;
  for (const PolicyUnderTest& policy : policies) {
    for (const ControllerSpec& setting : policy.settings) contenders.push_back(run(scenario, policy, setting));
  }
  return contenders;
}

std::string to_markdown(std::span<const PolicyResult> contenders) {
  std::vector<const PolicyResult*> order;
  for (const PolicyResult& c : contenders) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(), [](const PolicyResult* a, const PolicyResult* b) {
    if (a->problem.empty() != b->problem.empty()) return a->problem.empty();
    return a->problem.empty() && a->result.makespan < b->result.makespan;
  });
  if (order.empty()) return "";
  const PolicyResult* base = order.front();
  for (const PolicyResult* c : order) {
    if (c->name == kNoPolicy && c->problem.empty()) base = c;
  }
  std::string text = "| policy | makespan | more than " + base->name +
                     " | reconfigurations | wait for them | hidden | |\n|---|---:|---:|---:|---:|---:|---|\n";
  for (const PolicyResult* c : order) text += row(*c, base->result.makespan);
  return text;
}

}  // namespace photonrail::testing
