#include "help_commands.hpp"
#include "photonrail/error.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::command {

namespace {

const CLI::Option* option_of(const CLI::App* app, const std::string& name) {
  for (; app != nullptr; app = app->get_parent()) {
    if (const CLI::Option* const found = app->get_option_no_throw(name)) return found;
  }
  return nullptr;
}

std::vector<std::string> long_options(const CLI::App* app) {
  std::vector<std::string> names;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* const option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::string full_name(const CLI::App& app) {
  return (app.get_parent() == nullptr ? "" : full_name(*app.get_parent()) + " ") + app.get_name();
}

}  // namespace

std::string unknown_word(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_option = word.starts_with("-") && word.size() > 1 && word != "--";
    if (is_option) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* const option = option_of(at, name);
      if (option == nullptr) {
        return full_name(*at) + " has no option " + name + " (" + suggest(name, long_options(at)) + ")";
      }
      if (option->get_items_expected_max() > 0 && name.size() == word.size()) ++i;  // its value
      continue;
    }
    const std::vector<std::string> commands = commands_of(*at);
    if (commands.empty()) continue;
    if (std::find(commands.begin(), commands.end(), word) != commands.end()) {
      at = at->get_subcommand(word);
    } else if (at->get_require_subcommand_min() > 0) {
      return full_name(*at) + " has no command \"" + word + "\" (" + suggest(word, commands) + ")";
    }
  }
  return {};
}

}  // namespace photonrail::command
