#include "work_limit.hpp"

#include "photonrail/error.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <thread>

namespace photonrail::command {

namespace {

double seconds_of(const std::string& text, const char* option = "--work-limit") {
  if (text == "none") return std::numeric_limits<double>::infinity();
  static const std::map<std::string, double> kUnits{{"s", 1.0}, {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const auto unit = kUnits.find(end);
  if (end == text.c_str() || unit == kUnits.end() || !std::isfinite(number) || number <= 0.0)
    throw ConfigError(option, "\"" + text + "\" is no time", "90s, 30min, 24h, 7d, or none");
  return number * unit->second;
}

std::string memory_text(double bytes) { return std::to_string(std::lround(bytes / 1e9)) + " GB"; }

}  // namespace

void add_work_limit(CLI::App& app, const std::vector<double*>& limits) {
  app.add_option_function<std::string>(
         "--work-limit",
         [limits](const std::string& text) {
           for (double* const limit : limits) *limit = seconds_of(text);
         },
         "Refuse what is expected to take longer: 90s, 30min, 7d, none (24h)")
      ->type_name("TIME");
}

void add_time(CLI::App& app, const char* name, double& seconds, const std::string& help) {
  app.add_option_function<std::string>(
         name, [&seconds, name](const std::string& text) { seconds = seconds_of(text, name); }, help)
      ->type_name("TIME");
}

void admit(const WorkEstimate& work, const std::string& what, double limit_s, Announce announce, std::uint32_t threads) {
  check_work(work, what, limit_s, threads);
  const double seconds = work.seconds() / threads;
  if (announce == Announce::kQuiet || seconds < kWorthTelling) return;
  std::cerr << "photonrail: " << what << " will take about " << rough_time(seconds) << " (" << work.in_words() << ")\n";
}

void admit_memory(const WorkEstimate& work, const std::string& what, double limit_s) {
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (work.bytes <= there || std::isinf(limit_s)) return;
  const std::string levers = work.largest().levers;
  throw ConfigError(what, "would take more memory than this machine's " + memory_text(there) + " (" + work.in_words() + ")",
                    "make less of it: " + levers + "; --work-limit none begins all the same");
}

std::uint32_t working_threads(std::uint32_t jobs) {
  const std::uint32_t cores = std::max(1U, std::thread::hardware_concurrency());
  return jobs > 0 ? std::min(jobs, cores) : cores;
}

}  // namespace photonrail::command
