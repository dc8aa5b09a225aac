// Options that several commands have: each with one letter and one meaning.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace photonrail::command {

struct AstraCommandOptions;

/// A file that is read: `-` is standard input, which messages call `<stdin>`, and whose relative paths begin at the working
/// directory.
CLI::Option* add_input(CLI::App& app, const char* name, std::filesystem::path& file, const std::string& help);
/// The scenarios of a command that takes several.
CLI::Option* add_scenarios(CLI::App& app, std::vector<std::filesystem::path>& scenarios);

/// `--set`; `of`: what it changes.
CLI::Option* add_set(CLI::App& app, std::vector<std::string>& set, const std::string& of = "the scenario");

/// `-o,--out DIR`. An empty name, as of `--out "$DIR"` with an unset variable, is refused.
CLI::Option* add_out_folder(CLI::App& app, std::filesystem::path& out, const char* help);
/// `-o,--out FILE`, with the same check.
CLI::Option* add_out_file(CLI::App& app, std::filesystem::path& out, const char* help);

/// The inputs of ASTRA-sim besides the system file.
void add_astra(CLI::App& command, AstraCommandOptions& options, CLI::Option* system);

}  // namespace photonrail::command
