#include "help_commands.hpp"

#include "commands.hpp"
#include "json/file_text.hpp"
#include "photonrail/report.hpp"
#include "schema/schema.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <iostream>

namespace photonrail::command {

namespace {

void add_init(CLI::App& app, InitOptions& options, const Registries& known) {
  CLI::App* command = app.add_subcommand("init", "Write a commented scenario of a training job");
  command->add_option("FILE.json", options.file, "Where to; standard output without it");
  const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
    return command->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  add("--model", options.model, "A name of `list models`, or a model's file or folder (Hugging Face)", "NAME");
  add("--servers", options.servers, "Of the cluster", "N")->check(CLI::Range(1U, 1'000'000U));
  add("--gpus-per-server", options.gpus_per_server, "Of each server", "N")->check(CLI::Range(1U, 1024U));
  add("--gpu", options.gpu, "A name of `list gpus`", "NAME");
  add("--rail", options.rail, "optical or electrical", "KIND")
      ->transform(CLI::IsMember({"optical", "electrical"}, CLI::ignore_case));
  add("--switch", options.switches, "Of optical rails: a name of `list switches`", "NAME");
  command
      ->add_option("--controller", options.controller,
                   "Of optical rails: a name of `list controllers` (the first for all jobs)")
      ->type_name("NAME");
  command->add_option("--tp", options.tp, "Tensor parallelism (as wide as a server and the heads allow)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1024U));
  command->add_option("--pp", options.pp, "Pipeline stages (as few as the memory allows)")
      ->type_name("N")
      ->check(CLI::Range(1U, 10'000U));
  add("--sequence", options.sequence, "Tokens of a sequence", "N")->check(CLI::Range(1U, 100'000'000U));
  auto* questions = command->add_flag("--questions", options.questions,
                                      "Ask for the values (at a terminal also where no option is given)");
  command->callback([command, questions, &options, &known] {
    std::size_t given = 0;
    for (const CLI::Option* const option : command->get_options()) given += option->nonpositional() ? option->count() : 0;
    options.questions = questions->count() > 0 || (given == 0 && ::isatty(0) != 0 && ::isatty(2) != 0);
    init(options, known);
  });
}

std::string page_name(const CLI::App& app) {
  return (app.get_parent() == nullptr ? "" : page_name(*app.get_parent()) + "-") + app.get_name();
}

void write_pages(const CLI::App& app, const std::filesystem::path& folder) {
  const std::string name = page_name(app);
  write_file(folder / (name + ".1"), manual_page(app, name));
  for (const CLI::App* const sub : app.get_subcommands([](const CLI::App*) { return true; })) write_pages(*sub, folder);
}

void man(const CLI::App& app, const ManOptions& options) {
  if (options.folder.empty()) {
    std::cout << manual_page(app, app.get_name());
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  write_pages(app, options.folder);
}

void print_schema(const SchemaOptions& options, const Registries& known) {
  if (!options.page.empty()) {
    std::cout << page_with_keys(json::file_text(options.page), known);
  } else if (options.python) {
    std::cout << python_types(known);
  } else if (options.format.empty()) {
    throw CLI::RequiredError("FORMAT");
  } else {
    std::cout << json_schema(options.format, known);
  }
}

}  // namespace

void add_help_commands(CLI::App& app, HelpOptions& options, const Registries& known) {
  add_init(app, options.init, known);
  CLI::App* schema = app.add_subcommand("schema", "JSON Schema of a format, for editors");
  schema->add_option("FORMAT", options.schema.format)->transform(CLI::IsMember(schema_formats(), CLI::ignore_case));
  schema->add_option("--page", options.schema.page, "Print this page of reference with its tables of keys made anew")
      ->option_text("FILE")
      ->excludes("FORMAT");
  schema->add_flag("--python", options.schema.python, "Print typed objects of Python for the sections of a scenario")
      ->excludes("FORMAT")
      ->excludes("--page");
  schema->callback([&options, &known] { print_schema(options.schema, known); });
  CLI::App* completion = app.add_subcommand("completion", "A script that completes command lines");
  completion->add_option("SHELL", options.completion.shell)
      ->required()
      ->transform(CLI::IsMember({"bash", "zsh", "fish"}, CLI::ignore_case));
  completion->callback([&app, &options] { std::cout << completion_script(app, options.completion.shell); });
  CLI::App* pages = app.add_subcommand("man", "The manual page, or all of them as files");
  pages->add_option("DIR", options.man.folder, "Write a page for each command here");
  pages->callback([&app, &options] { man(app, options.man); });
}

}  // namespace photonrail::command
