#include "commands.hpp"
#include "console.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <system_error>

namespace photonrail::command {

namespace {

// The cycles of every rank as JSON, for those who do not read logs.
std::string cycles_json(const AnalyticalJob& job, const AnalyticalResult& result, const std::string& backend) {
  const auto list = [](const std::vector<std::uint64_t>& values) {
    std::string text;
    for (const std::uint64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
    return "[" + text + "]";
  };
  std::ostringstream out;
  out << "{\n  \"schema\": \"photonrail.astra_result/1\",\n  \"backend\": \"" << backend
      << "\",\n  \"ranks\": " << job.ranks.size() << ",\n  \"finish_cycles\": " << list(result.finish_ns)
      << ",\n  \"exposed_communication_cycles\": " << list(result.exposed_ns) << ",\n  \"messages\": " << result.messages
      << ",\n  \"events\": " << result.events << "\n}\n";
  return out.str();
}

}  // namespace

void astra_run(const AstraCommandOptions& options) {
  if (!options.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    if (error)
      throw ConfigError(options.out.string(), "cannot make the folder: " + error.message(), "choose another for --out");
  }
  const AnalyticalJob job = read_astra(options.files);
  const bool aware = options.backend == "aware" || options.backend == "congestion_aware";
  const AnalyticalResult result =
      simulate_analytical(job, aware ? AnalyticalBackend::kCongestionAware : AnalyticalBackend::kCongestionUnaware);
  if (!options.quiet) warn(options.files.workload.string(), job.warnings);
  const std::string log = astra_log(result);
  if (!options.quiet) std::cout << log;
  if (options.out.empty()) return;
  write_file(options.out / "log.log", log);
  write_file(options.out / "result.json", cycles_json(job, result, aware ? "congestion_aware" : "congestion_unaware"));
  for (const char* file : {"log.log", "result.json"})
    std::cout << (options.quiet ? "" : "wrote ") << (options.out / file).string() << '\n';
}

void astra_import(const AstraCommandOptions& options) {
  const auto directory = options.out.has_parent_path() ? options.out.parent_path() : std::filesystem::path(".");
  const std::string text = scenario_from_astra(options.files, directory);
  static_cast<void>(parse_scenario(text, directory, options.out.string()));  // or says what is wrong
  write_file(options.out, text);
  std::cout << "wrote " << options.out.string() << '\n';
}

}  // namespace photonrail::command
