#include "photonrail/testing/fuzz.hpp"

#include "commands.hpp"
#include "core/counted.hpp"
#include "photonrail/report.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "work_limit.hpp"

#include <algorithm>
#include <iostream>

namespace photonrail::command {

namespace {

testing::PolicyUnderTest subject_of(const std::string& name, const Registries& known) {
  static_cast<void>(known.controllers.find(name));
  const auto subjects = testing::subjects_of(known.controllers);
  const auto at = std::find_if(subjects.begin(), subjects.end(), [&](const auto& s) { return s.factory.name == name; });
  return at == subjects.end() ? testing::PolicyUnderTest(known.controllers.find(name)) : *at;
}

std::string repeating(const FuzzOptions& options, const std::string& scenario) {
  std::string command = "photonrail";
  for (const auto& plugin : options.plugins) command += " --plugin " + plugin.string();
  command += " run " + (options.out.empty() ? std::string("FILE") : options.out.string());
  if (options.out.empty())
    std::cout << scenario << '\n';
  else
    write_file(options.out, scenario + "\n");
  return "\nrepeat it with: " + command;
}

void admit_cases(const FuzzOptions& options, double case_s) {
  admit({{{"small jobs", static_cast<double>(options.cases), case_s * options.cases, "--cases"}}}, "fuzz " + options.policy,
        options.work_limit_s);
}

template <class Registry>
bool has(const Registry& registry, const std::string& name) {
  return std::any_of(registry.all().begin(), registry.all().end(), [&](const auto& of) { return of.name == name; });
}

void say_that_nothing_is_broken(std::uint64_t cases, const std::string& policy) {
  std::cout << core::counted(cases, "small job") << " under " << policy << ": no promise is broken\n";
}

void fuzz_scheduler(const FuzzOptions& options, const Registries& known) {
  constexpr double kCase = 5e-3;  // seconds
  admit_cases(options, kCase);
  const testing::SchedulerFinding found =
      testing::fuzz_scheduler(known.schedulers, options.policy, options.cases, options.seed);
  if (found.problem.empty()) return say_that_nothing_is_broken(options.cases, options.policy);
  throw CommandError(
      1, "the scheduler " + options.policy + " breaks a promise: " + found.problem + repeating(options, found.scenario));
}

}  // namespace

void fuzz(const FuzzOptions& options, const Registries& known) {
  if (has(known.schedulers, options.policy) && !has(known.controllers, options.policy))
    return fuzz_scheduler(options, known);
  const testing::PolicyUnderTest subject = subject_of(options.policy, known);
  constexpr double kCase = 1.5e-3;  // seconds, under policies of the library: 0.5 to 2 ms
  admit_cases(options, kCase);
  const testing::FuzzReport report = testing::fuzz(subject, {.seed = options.seed, .cases = options.cases});
  if (!report.found) return say_that_nothing_is_broken(report.cases, options.policy);
  const testing::Finding& found = *report.found;
  const std::string scenario = testing::to_json(found.small, found.scenario, found.factory);
  throw CommandError(1, "the policy " + testing::describe(found.scenario.controller) + " breaks \"" +
                            std::string(testing::name(found.violation.invariant)) + "\": " + found.violation.what +
                            repeating(options, scenario));
}

}  // namespace photonrail::command
