#include "options.hpp"

#include "commands.hpp"
#include "json/file_text.hpp"

#include <CLI/CLI.hpp>

namespace photonrail::command {

namespace {

CLI::Validator standard_input() {
  const auto named = [](std::string& file) {
    if (file == "-") file = json::kStandardInput;
    return std::string();
  };
  return {named, ""};
}

CLI::Option* add_out(CLI::App& app, std::filesystem::path& out, const char* help, const std::string& what) {
  const auto check = [hint = "is empty: name a " + what](const std::string& name) { return name.empty() ? hint : ""; };
  return app.add_option("-o,--out", out, help)->type_name(what == "folder" ? "DIR" : "FILE")->check(check);
}

}  // namespace

CLI::Option* add_input(CLI::App& app, const char* name, std::filesystem::path& file, const std::string& help) {
  return app.add_option(name, file, help + "; - is standard input")->transform(standard_input());
}

CLI::Option* add_scenarios(CLI::App& app, std::vector<std::filesystem::path>& scenarios) {
  return app.add_option("SCENARIO.json", scenarios, "Scenario files; - is standard input")->transform(standard_input());
}

// Taken one at a time, so that `--set /a=1 scenario.json` leaves the scenario alone.
CLI::Option* add_set(CLI::App& app, std::vector<std::string>& set, const std::string& of) {
  return app.add_option("--set", set, "Replace a value of " + of + ": /json/pointer=value; may be given more than once")
      ->type_name("POINTER=VALUE")
      ->allow_extra_args(false);
}

CLI::Option* add_out_folder(CLI::App& app, std::filesystem::path& out, const char* help) {
  return add_out(app, out, help, "folder");
}

CLI::Option* add_out_file(CLI::App& app, std::filesystem::path& out, const char* help) {
  return add_out(app, out, help, "file");
}

void add_astra(CLI::App& command, AstraCommandOptions& options, CLI::Option* system) {
  const auto add = [&](const char* name, std::filesystem::path& value, const char* help, const char* type) {
    return command.add_option(name, value, help)->type_name(type)->needs(system);
  };
  system->needs(add("--network", options.files.network, "With --astra: its network file", "NETWORK.yml"));
  system->needs(add("--workload", options.files.workload, "With --astra: its Chakra traces, PREFIX.RANK.et", "PREFIX"));
  add("--comm-group", options.files.comm_groups, "With --astra: its communicator groups", "FILE");
  add("--remote-memory", options.files.remote_memory, "With --astra: must say that there is none", "FILE");
}

}  // namespace photonrail::command
