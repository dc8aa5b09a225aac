// The commands that help to write files and command lines: init, schema, completion, man.
#pragma once

#include "photonrail/simulate.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace photonrail::command {

struct InitOptions {
  std::filesystem::path file;  ///< empty: standard output
  std::string model = "llama3_8b";
  std::string gpu = "h200";
  std::uint32_t servers = 4;
  std::uint32_t gpus_per_server = 8;
  std::string rail = "optical";  ///< or electrical
  std::string switches = "polatis_6000";
  std::string controller;               ///< empty: the first that decides something and takes no list of circuits
  std::optional<std::uint32_t> tp, pp;  ///< none: as the model fits
  std::uint32_t sequence = 8192;
  bool questions = false;  ///< asks on standard error for what is not given
};
struct SchemaOptions {
  std::string format;
  std::string page;
  bool python = false;
};
struct CompletionOptions {
  std::string shell;
};
struct ManOptions {
  std::filesystem::path folder;  ///< empty: the page of the command to standard output
};

/// Holds what the commands of this file parse into.
struct HelpOptions {
  InitOptions init;
  SchemaOptions schema;
  CompletionOptions completion;
  ManOptions man;
};

/// Adds them to `app`, which must have all other commands already: completion and manual pages are made of its tables.
void add_help_commands(CLI::App& app, HelpOptions& options, const Registries& known);

/// A commented scenario of a training job. Throws ConfigError: no such model, GPU, switch or controller.
[[nodiscard]] std::string commented_scenario(const InitOptions& given, const Registries& known);
void init(InitOptions options, const Registries& known);

/// The script that completes the words of a command line: "bash", "zsh" or "fish".
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);
/// The manual page of a command in troff; `path`: "photonrail-run".
[[nodiscard]] std::string manual_page(const CLI::App& app, const std::string& path);

/// Returns what a wrong command line should have said, or "": the first word that is no command, no option of its command.
[[nodiscard]] std::string unknown_word(const CLI::App& app, int argc, const char* const* argv);

}  // namespace photonrail::command
