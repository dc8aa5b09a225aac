// The command that serves requests.
#pragma once

#include "commands.hpp"

#include <filesystem>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace photonrail::command {

struct ServeOptions {
  RunOptions run;
  bool find_rate = false;
};
/// run(), of scenarios that serve requests.
void serve(ServeOptions options, const Registries& known);

/// `options`, `plugins` and `known` must outlive the parsing.
void add_serve(CLI::App& app, ServeOptions& options, const std::vector<std::filesystem::path>& plugins,
               const Registries& known);

}  // namespace photonrail::command
