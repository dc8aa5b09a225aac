// The subcommands, each in a file of its own. They throw what went wrong; command_main() tells it and chooses the exit
// status. Standard output is written last, so that a command that fails leaves it empty. `known`: the controllers and
// collectives that scenarios may name.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/formats/astra.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "report/cost_report.hpp"
#include "report/page.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace photonrail::command {

/// ASTRA-sim's own inputs.
struct AstraCommandOptions {
  AstraOptions files;
  std::string backend = "unaware";  ///< unaware, aware; with congestion_ before it too
  std::filesystem::path out;        ///< import: the scenario; run: the folder of RunOptions
  bool quiet = false;
};
/// Runs them under ASTRA-sim's rules, and prints the cycles of every rank as its log has them.
void astra_run(const AstraCommandOptions& options);
/// Writes a scenario from them.
void astra_import(const AstraCommandOptions& options);

/// InfraGraph's infrastructures.
struct InfragraphOptions {
  std::filesystem::path from;  ///< import: the infrastructure; export: the scenario
  std::vector<std::string> set;
  std::filesystem::path out;
};
void infragraph_import(const InfragraphOptions& options);
void infragraph_export(const InfragraphOptions& options, const Registries& known);

struct RunOptions {
  AstraCommandOptions astra;  ///< in place of scenarios where it has a system file
  std::vector<std::filesystem::path> scenarios;
  std::vector<std::string> set;  ///< "/json/pointer=value"
  std::filesystem::path out;     ///< empty: write nothing
  bool trace = false;
  std::string trace_ranks;  ///< "0-7,12"; empty: all
  bool ccl_bench = false;   ///< also write ccl_bench.json
  bool quiet = false;       ///< no table, no warnings, no progress; only the paths of what was written
  bool explain = false;     ///< also print what the time of computations rests on, and the costliest operators
  double work_limit_s = kWorkLimit;
  std::vector<std::filesystem::path> plugins;  ///< absolute: those that were loaded, for the result
};
void run(const RunOptions& options, const Registries& known);

/// run(), of scenarios that are read already; `options.scenarios` is what errors call them.
void run_scenarios(const std::vector<Scenario>& scenarios, const RunOptions& options, const Registries& known);

struct ValidateOptions {
  std::vector<std::filesystem::path> scenarios;
  std::vector<std::string> set;
  std::filesystem::path graphviz;  ///< empty: none
};
void validate(const ValidateOptions& options, const Registries& known);

/// Returns what list() takes.
[[nodiscard]] const std::vector<std::string>& list_kinds();
void list(const std::string& kind, const Registries& known);

/// Holds what one collective would cost with each algorithm.
struct ExplainOptions {
  std::string op = "all_reduce";
  std::int64_t bytes = 1 << 30;  ///< as the scenario counts them
  std::uint32_t ranks = 8;
  std::uint32_t ranks_per_server = 1;
  std::uint32_t root = 0;
  std::uint32_t chunks = 1;
  std::uint32_t ports = 1;
  double port_gb_per_s = 50.0;
  double latency_ns = 0.0;
  double overhead_ns = 0.0;
  double scale_up_gb_per_s = 450.0;
  double scale_up_latency_ns = 0.0;
  std::optional<double> reconfiguration_ms;  ///< optical rails
};
void explain_collectives(const ExplainOptions& options, const CollectiveRegistry& known);

struct ExplainScenarioOptions {
  std::filesystem::path scenario;
  std::vector<std::string> set;
  bool json = false;
  double work_limit_s = kWorkLimit;
};
/// What bounds the run of a scenario, the worth of its resources, and its notes.
void explain(const ExplainScenarioOptions& options, const Registries& known);

struct TraceOptions {
  std::filesystem::path scenario;  ///< info: empty when a prefix is given
  std::vector<std::string> set;
  std::filesystem::path prefix;  ///< info: of the trace to read; export: of the trace to write
  std::filesystem::path groups;
  bool schedule = false;      ///< info: the chart of the pipeline schedule instead
  std::filesystem::path svg;  ///< info --schedule: empty: none
};
void trace_info(const TraceOptions& options, const Registries& known);
/// The pipeline schedule of a training scenario as a chart.
void trace_schedule(const TraceOptions& options);
void trace_export(const TraceOptions& options, const Registries& known);

struct CardOptions {
  std::filesystem::path from;  ///< import: the card; export: the scenario
  std::vector<std::string> set;
  std::filesystem::path out;
};
void card_import(const CardOptions& options);
void card_export(const CardOptions& options, const Registries& known);

struct CalibrateOptions {
  std::filesystem::path scenario;
  std::vector<std::string> set;
  double step_s = 0.0;        ///< measured
  std::string source;         ///< where that comes from
  std::filesystem::path out;  ///< empty: only say the efficiency
  double work_limit_s = kWorkLimit;
};
void calibrate(const CalibrateOptions& options, const Registries& known);

struct CollectiveOptions {
  std::filesystem::path file;    ///< info: the collective; synthesize: the topology
  std::filesystem::path sketch;  ///< synthesize; empty: none
  std::filesystem::path out;     ///< empty: standard output
  std::string op;
  std::string algorithm;
  std::uint32_t ranks = 2;
  std::uint32_t chunks = 1;
  std::int64_t bytes = 1 << 20;
  std::uint64_t seed = 1;
  std::uint32_t tries = 20;
  double work_limit_s = kWorkLimit;
};
/// Proves a collective that comes as a file, and counts what it sends.
void collective_info(const CollectiveOptions& options);
/// A plan of an algorithm of `known` as MSCCL XML.
void collective_export(const CollectiveOptions& options, const CollectiveRegistry& known);
/// A new plan for a topology as MSCCL XML.
void collective_synthesize(const CollectiveOptions& options);

struct CostOptions {
  std::filesystem::path scenario;  ///< or a folder of results; empty: clusters of `gpus`
  std::vector<std::string> set;
  std::string catalogue;            ///< empty: the scenario's; without one h200_400g
  std::string rule;                 ///< empty: the scenario's; without one physical
  std::vector<std::uint32_t> gpus;  ///< empty: 512 to 8,192
  bool json = false;
  report::ResultPrices prices{};  ///< with a folder of results
};
void cost(const CostOptions& options, const Registries& known);

struct CompareOptions {
  std::filesystem::path a, b;
  double tolerance = 0.01;
};
/// Throws CommandError with status 1 when the two differ by more than the tolerance.
void compare(const CompareOptions& options);

struct ReportOptions {
  std::filesystem::path folder;
  std::filesystem::path out;    ///< empty: in the folder
  std::string format = "html";  ///< html, svg, png, pdf, csv
  report::PageChoices choices;
  std::vector<std::string> where;  ///< "name=value"
  std::string size;                ///< "900x400", "900"; empty: the default
  double work_limit_s = kWorkLimit;
};
/// A folder of results as a page, or its figures as files.
void report(const ReportOptions& options);

struct FuzzOptions {
  std::string policy;
  std::uint32_t cases = 500;
  std::uint64_t seed = 1;
  std::filesystem::path out;  ///< empty: to standard output
  double work_limit_s = kWorkLimit;
  std::vector<std::filesystem::path> plugins;  ///< absolute, for the command that repeats what was found
};
/// Searches small jobs for one in which the policy breaks a promise. Throws CommandError with status 1 when there is one.
void fuzz(const FuzzOptions& options, const Registries& known);

struct PipSwitchOptions {
  std::uint32_t ports = 16;
  std::string mesh = "9x9";  ///< rows x columns of hexagons
  bool json = false;
  std::filesystem::path svg;  ///< a picture of one matching; empty: none
  std::uint32_t matching = 0;
  std::optional<double> cell_loss_db{};  ///< with it also loss and crosstalk of the matchings
  double port_loss_db = 1.0;
  double crosstalk_db = -30.0;
};
/// Matchings that join every two ports of a switch on a mesh of programmable cells, with their routes.
void pip_switch(const PipSwitchOptions& options);

/// What the subcommand of a study is given.
struct StudyContext {
  const Registries& known;
  const std::vector<std::filesystem::path>& plugins;  ///< absolute: those that were loaded
  double work_limit_s = kWorkLimit;
  std::vector<std::shared_ptr<const void>> options{};  ///< of the subcommands: parsing writes into them

  /// Options of a subcommand, which live as long as the context.
  template <class Options>
  [[nodiscard]] Options& keep() {
    const auto kept = std::make_shared<Options>();
    options.push_back(kept);
    return *kept;
  }
};
/// Each in src/studies/<study>/command.cpp, with its options. The context must outlive the command.
void add_sweep(CLI::App& app, StudyContext& context);
/// Failures, recoveries and goodput over months.
void add_goodput(CLI::App& app, StudyContext& context);
/// Searches the best way to build and to run a job.
void add_plan(CLI::App& app, StudyContext& context);
/// Slices of a pod. Throws CommandError with status 1 when a decision is not as the file expects it.
void add_allocate(CLI::App& app, StudyContext& context);

/// The exit status of a command that ran what it could: points of a sweep or rows of measured steps failed.
inline constexpr int kSomeFailed = 3;

/// An error that was told from further out, with the exit status of the original.
class CommandError : public std::runtime_error {
 public:
  CommandError(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

/// The command does what its arguments say, or only parses them.
enum class Act : std::uint8_t { kRun, kParse };

/// Throws what goes wrong: CommandError for arguments, and what the subcommands throw. `argv` is main()'s.
void parse_and_act(int argc, const char* const* argv, const Registries& known, Act act);

/// 2: the input is wrong; 3: the job cannot finish; 1: a fault of ours.
[[nodiscard]] int exit_status(const std::exception& error);

}  // namespace photonrail::command
