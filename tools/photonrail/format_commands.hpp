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

/// Holds what the commands of this file parse into.
struct FormatOptions {
  ImportTraceOptions import_chakra{};
  ImportTraceOptions import_kineto{.kineto = true};
  TraceOptions trace;
  CardOptions card;
  AstraCommandOptions astra;
  InfragraphOptions infragraph;
  CollectiveOptions collective;
};

void add_format_commands(CLI::App& app, FormatOptions& options, const Registries& known);

}  // namespace photonrail::command
