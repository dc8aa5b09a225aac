#include "photonrail/study/calibrate.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "json/file_text.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/result.hpp"
#include "photonrail/study/work.hpp"
#include "read.hpp"
#include "work_limit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <system_error>

namespace photonrail::command {

namespace {

constexpr double kLongestStep = 1e6;  // seconds
constexpr double kTolerance = 1e-4;   // of the measured step

std::filesystem::path folder_of(const std::filesystem::path& file) {
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(file, problem);
  const std::filesystem::path real = std::filesystem::weakly_canonical(absolute, problem);
  return (problem ? absolute.lexically_normal() : real).parent_path();
}

// Relative paths in a scenario are relative to its folder, so that they would break elsewhere.
void check_out(const CalibrateOptions& options) {
  if (options.out.empty() || folder_of(options.out) == folder_of(options.scenario)) return;
  throw ConfigError(options.out.string(), "is in another folder than the scenario, whose paths are relative to its own",
                    "write it beside " + options.scenario.string());
}

}  // namespace

void calibrate(const CalibrateOptions& options, const Registries& known) {
  if (!std::isfinite(options.step_s) || options.step_s <= 0.0 || options.step_s > kLongestStep) {
    throw ConfigError("--step-s", "must be above 0 and at most 1e6 seconds");
  }
  check_out(options);
  const std::string json = json::file_text(options.scenario);  // once: it may be a pipe
  const std::vector<Override> set = parse_set(options.set);
  const std::string name = options.scenario.string();
  const Scenario scenario =
      one_job(parse_scenario(json, options.scenario.parent_path(), name, set, known), options.scenario);
  warn(scenario.name, scenario.warnings());
  constexpr double kRuns = 8.0;  // 2 to 60
  WorkEstimate work;
  work.add(about(options.scenario, [&] { return work_of(scenario, known); }), kRuns);
  admit(work, options.scenario.string(), options.work_limit_s);
  const Calibration found = about(
      options.scenario, [&] { return photonrail::calibrate(scenario, from_seconds(options.step_s), kTolerance, known); });
  std::string text = fmt::format("compute efficiency {:.6g}: step {}, measured {} ({})\n", found.compute_efficiency,
                                 to_text(found.simulated), to_text(found.measured), core::counted(found.runs, "run"));
  if (!options.out.empty()) {
    write_file(options.out, calibrated_scenario(json, name, set, found, options.source));
    text += "wrote " + options.out.string() + "\n";
  }
  std::cout << text;
}

}  // namespace photonrail::command
