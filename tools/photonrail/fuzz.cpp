#include "photonrail/testing/fuzz.hpp"

#include "commands.hpp"
#include "core/counted.hpp"
#include "photonrail/report.hpp"
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

}  // namespace

void fuzz(const FuzzOptions& options, const Registries& known) {
  const testing::PolicyUnderTest subject = subject_of(options.policy, known);
  constexpr double kCase = 1.5e-3;  // seconds, under policies of the library: 0.5 to 2 ms
  admit({{{"small jobs", static_cast<double>(options.cases), kCase * options.cases, "--cases"}}}, "fuzz " + options.policy,
        options.work_limit_s);
  const testing::FuzzReport report = testing::fuzz(subject, {.seed = options.seed, .cases = options.cases});
  if (!report.found) {
    std::cout << core::counted(report.cases, "small job") << " under " << options.policy << ": no promise is broken\n";
    return;
  }
  const testing::Finding& found = *report.found;
  const std::string scenario = testing::to_json(found.small, found.scenario, found.factory);
  std::string command = "photonrail";
  for (const auto& plugin : options.plugins) command += " --plugin " + plugin.string();
  command += " run " + (options.out.empty() ? std::string("FILE") : options.out.string());
  if (options.out.empty())
    std::cout << scenario << '\n';
  else
    write_file(options.out, scenario + "\n");
  throw CommandError(1, "the policy " + testing::describe(found.scenario.controller) + " breaks \"" +
                            std::string(testing::name(found.violation.invariant)) + "\": " + found.violation.what +
                            "\nrepeat it with: " + command);
}

}  // namespace photonrail::command
