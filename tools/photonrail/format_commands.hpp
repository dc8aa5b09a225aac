// The commands about files of other formats: trace, card, import, export, collective.
#pragma once

#include "commands.hpp"

namespace CLI {
class App;
}

namespace photonrail::command {

/// Holds what the commands of this file parse into.
struct FormatOptions {
  TraceOptions trace;
  CardOptions card;
  AstraCommandOptions astra;
  InfragraphOptions infragraph;
  CollectiveOptions collective;
};

void add_format_commands(CLI::App& app, FormatOptions& options, const Registries& known);

}  // namespace photonrail::command
