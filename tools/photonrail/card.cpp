#include "commands.hpp"
#include "photonrail/config.hpp"
#include "photonrail/report.hpp"
#include "read.hpp"

#include <iostream>

namespace photonrail::command {

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  write_file(file, text);
  std::cout << "wrote " << file.string() << '\n';
}

}  // namespace

void card_import(const CardOptions& options) {
  write(options.out, scenario_from_card(options.from));
  std::cout << "guessed:\n"
            << "  electrical rails without oversubscription, rank r on GPU r (/cluster/rail, /placement)\n"
            << "  GPUs that reach their peak (/cluster/gpu/compute_efficiency)\n";
}

void card_export(const CardOptions& options, const Registries& known) {
  write(options.out, card_from_scenario(options.from, parse_set(options.set), known));
}

}  // namespace photonrail::command
