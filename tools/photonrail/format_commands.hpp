// The commands about files of other formats: trace, card, import, export, collective.
#pragma once

#include "commands.hpp"

namespace CLI {
class App;
}

namespace photonrail::command {

struct ImportTraceOptions {
  bool kineto = false;
  std::filesystem::path from{};
  std::filesystem::path out{};
  std::uint32_t gpus_per_server = 0;  ///< 0: guessed
};
/// Writes a scenario of recorded traces, and says what it guessed. Throws ConfigError.
void import_trace(const ImportTraceOptions& options, const Registries& known);

/// Writes a training scenario of a model of Hugging Face's, on as many GPUs as it needs. Throws ConfigError.
struct ImportHfOptions {
  std::filesystem::path from{};  ///< a folder with a config.json, or the file
  std::filesystem::path out{};
  std::uint32_t servers = 0;  ///< 0: the fewest that hold it
  std::string gpu = "h100";
};
void import_hf(const ImportHfOptions& options, const Registries& known);
/// The same of ASTRA-sim's files in a folder, which their names tell where `options` does not.
void import_astra_folder(AstraCommandOptions options, const std::filesystem::path& folder);

/// What becomes of a scenario that is imported.
struct ImportedRun {
  std::filesystem::path folder{};  ///< it is run, and its table, timeline and page go here; empty: only say how to run it
  double work_limit_s = kWorkLimit;
};
void run_imported(const std::filesystem::path& file, const ImportedRun& options, const Registries& known);

/// Holds what the commands of this file parse into.
struct FormatOptions {
  ImportedRun run{};
  ImportTraceOptions import_chakra{};
  ImportTraceOptions import_kineto{.kineto = true};
  TraceOptions trace;
  CardOptions card;
  AstraCommandOptions astra;
  std::filesystem::path astra_folder{};
  ImportHfOptions hf;
  InfragraphOptions infragraph;
  CollectiveOptions collective;
};

void add_format_commands(CLI::App& app, FormatOptions& options, const Registries& known);

}  // namespace photonrail::command
