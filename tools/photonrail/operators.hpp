// The subcommand "operators": tables of measured operators, and measured exchanges inside a server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace photonrail::command {

struct OperatorsOptions {
  std::vector<std::string> gpus;  ///< empty: all
  std::filesystem::path folder;   ///< tables that go before those of the library; empty: none
  std::filesystem::path file;     ///< import
  std::filesystem::path out;      ///< import: the folder of tables
  bool large = false;             ///< check: large operators only
  std::string fabric;             ///< exchange: of scale_up_fabrics()
  std::string op;                 ///< exchange
  std::uint32_t ranks = 8;        ///< exchange
  std::int64_t bytes = 1 << 26;   ///< exchange
};

void add_operators(CLI::App& app, OperatorsOptions& options);

}  // namespace photonrail::command
