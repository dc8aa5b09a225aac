#include "operators.hpp"

#include "collective/scale_up.hpp"
#include "columns.hpp"
#include "core/counted.hpp"
#include "formats/operators/operators.hpp"
#include "options.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <system_error>

namespace photonrail::command {

namespace {

std::vector<std::string> chosen(const OperatorsOptions& options) {
  return options.gpus.empty() ? formats::operators::operator_gpus(options.folder) : options.gpus;
}

std::string one_decimal(double value) { return fmt::format("{:.1f}", value); }

void operators_info(const OperatorsOptions& options) {
  std::vector<std::vector<std::string>> rows{{"gpu", "kind", "precision", "rows", "file; source"}};
  for (const std::string& gpu : chosen(options)) {
    for (const formats::operators::OperatorTableInfo& table :
         formats::operators::operator_table_info(gpu, options.folder)) {
      rows.push_back({gpu, table.kind, table.precision, std::to_string(table.rows),
                      table.file + "; " + table.source + (table.licence.empty() ? "" : " (" + table.licence + ")")});
    }
  }
  std::cout << in_columns(rows);
}

void operators_check(const OperatorsOptions& options) {
  std::vector<std::vector<std::string>> rows{
      {"gpu", "kind", "precision", "left out", "points", "median %", "p95 %", "bias %"}};
  for (const std::string& gpu : chosen(options)) {
    for (const formats::operators::OperatorTableError& error :
         formats::operators::operator_table_errors(gpu, options.large, options.folder)) {
      rows.push_back({gpu, error.kind, error.precision, error.left_out, std::to_string(error.points),
                      one_decimal(100.0 * error.median), one_decimal(100.0 * error.p95), one_decimal(100.0 * error.bias)});
    }
  }
  std::cout << in_columns(rows);
}

void operators_import(const OperatorsOptions& options) {
  const formats::operators::ImportedOperatorTable table = formats::operators::import_operator_table(options.file);
  const std::filesystem::path file = options.out / table.name;
  std::error_code error;  // write_file() says what is wrong
  std::filesystem::create_directories(file.parent_path(), error);
  write_file(file, table.text);
  std::cout << "wrote " << file.string() << ", " << core::counted(table.rows, "row") << '\n';
}

// All protocols of the fabric, the chosen one marked.
void operators_exchange(const OperatorsOptions& options) {
  const collective::ScaleUpFabric& fabric = collective::scale_up_fabric(options.fabric);
  const auto named = collective_op_from(options.op);
  if (!named)
    throw ConfigError("OP", "\"" + options.op + "\" is no collective",
                      "known: all_reduce, all_gather, reduce_scatter, all_to_all");
  const CollectiveOp op = *named;
  const Bytes bytes{options.bytes};
  const collective::ScaleUpTime best = scale_up_time(fabric, op, options.ranks, bytes);
  std::vector<std::vector<std::string>> rows{{"protocol", "us", ""}};
  for (int p = 0; p <= static_cast<int>(collective::ScaleUpProtocol::kPairwiseSimple); ++p) {
    const auto protocol = static_cast<collective::ScaleUpProtocol>(p);
    if (!collective::scale_up_serves(fabric, op, protocol)) continue;
    const Duration time = scale_up_time(fabric, op, options.ranks, bytes, protocol);
    rows.push_back(
        {std::string(to_string(protocol)), one_decimal(1e6 * to_seconds(time)),
         protocol == best.protocol ? (best.extrapolated ? "fastest; beyond what was measured" : "fastest") : ""});
  }
  std::cout << in_columns(rows);
}

}  // namespace

void add_operators(CLI::App& app, OperatorsOptions& options) {
  CLI::App* command =
      app.add_subcommand("operators", "Tables of measured operators: which there are, how well they predict");
  command->require_subcommand(1);
  CLI::App* info = command->add_subcommand("info", "The tables of GPUs, with their sources");
  CLI::App* check = command->add_subcommand("check", "The error of each table at points that it is not shown");
  for (CLI::App* sub : {info, check}) {
    sub->add_option("GPU", options.gpus, "A name of a GPU (all)");
    sub->add_option("--tables", options.folder, "A folder of tables, which go before those of the library")
        ->type_name("DIR");
  }
  check->add_flag("--large", options.large, "Only sizes of 1,024 and more");
  CLI::App* read = command->add_subcommand("import", "Check a table and put it into a folder of tables");
  read->add_option("TABLE.csv", options.file, "A table, plain or gzip (docs/formats/operator-tables.md)")->required();
  add_out_folder(*read, options.out, "The folder")->required();
  CLI::App* exchange = command->add_subcommand("exchange", "A collective inside a server, by protocol, as it was measured");
  std::vector<std::string> fabrics;
  for (const collective::ScaleUpFabric& fabric : collective::scale_up_fabrics()) fabrics.push_back(fabric.name);
  exchange->add_option("FABRIC", options.fabric, "A server's scale-up fabric")->required()->check(CLI::IsMember(fabrics));
  exchange->add_option("OP", options.op, "all_reduce, all_gather, reduce_scatter, all_to_all")->required();
  exchange->add_option("--ranks", options.ranks, "Members")->check(CLI::Range(2U, 1'000'000U))->capture_default_str();
  exchange->add_option("--bytes", options.bytes, "Of the whole tensor; all-to-all: of a member's input")
      ->capture_default_str();
  exchange->callback([&options] { operators_exchange(options); });
  info->callback([&options] { operators_info(options); });
  check->callback([&options] { operators_check(options); });
  read->callback([&options] { operators_import(options); });
}

}  // namespace photonrail::command
