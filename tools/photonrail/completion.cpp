// Completion scripts and manual pages, made from the tables that the command line is parsed with.
#include "commands.hpp"
#include "help_commands.hpp"
#include "photonrail/version.hpp"
#include "schema/schema.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace photonrail::command {

namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Returns the options of the command and of those that it is in: "--out", "-o".
std::vector<const CLI::Option*> named_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* const option : at->get_options()) {
      if (option->nonpositional() && (at == &app || at->get_help_ptr() != option)) options.push_back(option);
    }
  }
  return options;
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string joined(const std::vector<std::string>& words, const char* separator = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// The words that CLI::IsMember lets the option have, of its description "TEXT:{bash,zsh,fish}".
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  if (open == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, type.find('}', open) - open - 1), ',');
}

// Returns what may follow a command that is no file: its commands, or the words of its positional, where they are a list.
std::vector<std::string> words_after(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* const sub : subcommands(app)) words.push_back(sub->get_name());
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional()) continue;
    for (std::string& word : words_of(*option)) words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> all_spellings(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* const option : named_options(app)) {
    for (std::string& name : spellings(*option)) words.push_back(std::move(name));
  }
  return words;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "" : path_of(*app.get_parent()) + "/" + app.get_name();
}

// The cases of a shell's `case`, one a command: what the script does with options and words.
void write_cases(const CLI::App& app, const std::string& prefix, const std::string& suffix, std::ostream& text) {
  text << "    " << (app.get_parent() == nullptr ? "''" : path_of(app)) << ")" << prefix << "options='"
       << joined(all_spellings(app)) << "' words='" << joined(words_after(app)) << "'" << suffix << " ;;\n";
  for (const CLI::App* const sub : subcommands(app)) write_cases(*sub, prefix, suffix, text);
}

std::vector<std::string> paths(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::App* const sub : subcommands(app)) {
    all.push_back(path_of(*sub));
    for (std::string& path : paths(*sub)) all.push_back(std::move(path));
  }
  return all;
}

std::string bash_script(const CLI::App& app) {
  std::ostringstream text;
  text << "# Completion of photonrail for bash; made by `photonrail completion bash`.\n"
          "_photonrail() {\n"
          "  local current=${COMP_WORDS[COMP_CWORD]} path='' word options words\n"
          "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
          "    case \"$path/$word\" in\n"
          "    "
       << joined(paths(app), " | ")
       << ") path=$path/$word ;;\n"
          "    esac\n"
          "  done\n"
          "  case \"$path\" in\n";
  write_cases(app, " ", "", text);
  text << "  esac\n"
          "  if [[ ${COMP_WORDS[COMP_CWORD-1]} == --set && $path != /allocate ]]; then\n"
          "    compopt -o nospace 2>/dev/null\n"
          "    COMPREPLY=($(compgen -S = -W '"
       << joined(keys_of_scenario())
       << "' -- \"$current\"))\n"
          "  elif [[ $current == -* ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
          "  else\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$current\"))\n"
          "  fi\n"
          "}\n"
          "complete -o filenames -F _photonrail photonrail\n";
  return text.str();
}

std::string zsh_script(const CLI::App& app) {
  std::ostringstream text;
  text << "#compdef photonrail\n"
          "# Completion of photonrail for zsh; made by `photonrail completion zsh`.\n"
          "_photonrail() {\n"
          "  local path_of_command='' word options words_here\n"
          "  for word in ${words[2,CURRENT-1]}; do\n"
          "    case \"$path_of_command/$word\" in\n"
          "    "
       << joined(paths(app), " | ")
       << ") path_of_command=$path_of_command/$word ;;\n"
          "    esac\n"
          "  done\n"
          "  case \"$path_of_command\" in\n";
  std::ostringstream cases;
  write_cases(app, " ", "", cases);
  std::string body = cases.str();
  for (std::size_t at = 0; (at = body.find("' words='", at)) != std::string::npos; at += 3)
    body.replace(at, 9, "' words_here='");
  text << body
       << "  esac\n"
          "  if [[ ${words[CURRENT-1]} == --set && $path_of_command != /allocate ]]; then\n"
          "    compadd -S = -- "
       << joined(keys_of_scenario())
       << "\n"
          "  elif [[ ${words[CURRENT]} == -* ]]; then\n"
          "    compadd -- ${=options}\n"
          "  else\n"
          "    [[ -n $words_here ]] && compadd -- ${=words_here}\n"
          "    _files\n"
          "  fi\n"
          "}\n"
          "_photonrail \"$@\"\n";
  return text.str();
}

std::string fish_quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("'\\", at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return "'" + text + "'";
}

void write_fish(const CLI::App& app, std::ostream& text) {
  std::string condition = "__fish_use_subcommand";
  if (app.get_parent() != nullptr) condition = "__fish_seen_subcommand_from " + app.get_name();
  const std::string begin = "complete -c photonrail -n " + fish_quoted(condition);
  for (const CLI::App* const sub : subcommands(app)) {
    text << begin << " -a " << sub->get_name() << " -d " << fish_quoted(sub->get_description()) << '\n';
  }
  if (subcommands(app).empty()) {
    for (const std::string& word : words_after(app)) text << begin << " -a " << word << '\n';
  }
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->nonpositional()) continue;
    text << begin;
    for (const std::string& name : option->get_snames()) text << " -s " << name;
    for (const std::string& name : option->get_lnames()) text << " -l " << name;
    if (option->check_lname("set") && app.get_name() != "allocate")
      text << " -a " << fish_quoted(joined(keys_of_scenario(), "= ") + "=");
    text << (option->get_items_expected_max() > 0 ? " -r" : "") << " -d " << fish_quoted(option->get_description()) << '\n';
  }
  for (const CLI::App* const sub : subcommands(app)) write_fish(*sub, text);
}

// troff: a backslash and a line's first dot or apostrophe are commands.
std::string troff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
  }
  if (!safe.empty() && (safe.front() == '.' || safe.front() == '\'')) safe.insert(0, "\\&");
  return safe;
}

std::string with_value(const CLI::Option& option) {
  std::vector<std::string> bold;
  for (const std::string& name : spellings(option)) bold.push_back("\\fB" + troff(name) + "\\fR");
  return joined(bold, ", ") + (option.get_items_expected_max() > 0 ? " \\fI" + troff(option.get_type_name()) + "\\fR" : "");
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  std::ostringstream text;
  text << "# Completion of photonrail for fish; made by `photonrail completion fish`.\n";
  write_fish(app, text);
  return text.str();
}

std::string manual_page(const CLI::App& app, const std::string& path) {
  std::ostringstream text;
  text << ".TH " << path << " 1 \"\" \"photonrail " << version() << "\"\n.SH NAME\n"
       << troff(path) << " \\- " << troff(app.get_description()) << "\n.SH SYNOPSIS\n.B " << troff(path) << "\n";
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = "\\fI" + troff(option->get_name(true)) + "\\fR";
    text << (option->get_required() ? name : "[" + name + "]") << '\n';
  }
  text << "[\\fIOPTION\\fR ...]\n";
  const std::vector<const CLI::App*> subs = subcommands(app);
  if (!subs.empty()) text << ".SH COMMANDS\n";
  for (const CLI::App* const sub : subs) {
    text << ".TP\n\\fB" << troff(sub->get_name()) << "\\fR\n" << troff(sub->get_description()) << '\n';
  }
  text << ".SH OPTIONS\n";
  for (const CLI::Option* const option : app.get_options()) {
    if (option->nonpositional()) text << ".TP\n" << with_value(*option) << '\n' << troff(option->get_description()) << '\n';
  }
  text << ".SH EXIT STATUS\n"
          "0 done; 2 wrong input; 3 the simulated job cannot finish, or a point of a sweep failed; 1 an internal error, or "
          "a\n"
          "difference that compare found.\n.SH SEE ALSO\n"
       << (app.get_parent() == nullptr ? "photonrail COMMAND \\-\\-help" : "\\fBphotonrail\\fR(1)") << '\n';
  return text.str();
}

}  // namespace photonrail::command
