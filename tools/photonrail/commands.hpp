// The subcommands, each in a file of its own. They throw what went wrong; main() tells it and chooses the exit status.
// Standard output is written last, so that a command that fails leaves it empty.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace photonrail::command {

struct RunOptions {
  std::vector<std::filesystem::path> scenarios;
  std::vector<std::string> set;  ///< "/json/pointer=value"
  std::filesystem::path out;     ///< empty: write nothing
  bool trace = false;
  bool ccl_bench = false;  ///< also write ccl_bench.json
  bool quiet = false;  ///< no table, no warnings, no progress; only the paths of what was written
};
void run(const RunOptions& options);

struct ValidateOptions {
  std::vector<std::filesystem::path> scenarios;
  std::vector<std::string> set;
  std::filesystem::path graphviz;  ///< empty: none
};
void validate(const ValidateOptions& options);

/// What list() takes.
[[nodiscard]] const std::vector<std::string>& list_kinds();
void list(const std::string& kind);

struct TraceOptions {
  std::filesystem::path scenario;  ///< info: empty when a prefix is given
  std::vector<std::string> set;
  std::filesystem::path prefix;  ///< info: of the trace to read; export: of the trace to write
  std::filesystem::path groups;
  bool schedule = false;      ///< info: the chart of the pipeline schedule instead
  std::filesystem::path svg;  ///< info --schedule: empty: none
};
void trace_info(const TraceOptions& options);
/// The pipeline schedule of a training scenario as a chart.
void trace_schedule(const TraceOptions& options);
void trace_export(const TraceOptions& options);

struct CardOptions {
  std::filesystem::path from;  ///< import: the card; export: the scenario
  std::vector<std::string> set;
  std::filesystem::path out;
};
void card_import(const CardOptions& options);
void card_export(const CardOptions& options);

struct CalibrateOptions {
  std::filesystem::path scenario;
  std::vector<std::string> set;
  double step_s = 0.0;        ///< measured
  std::string source;         ///< where that comes from
  std::filesystem::path out;  ///< empty: only say the efficiency
};
void calibrate(const CalibrateOptions& options);

/// An error that was told from further out, with the exit status of the original.
class CommandError : public std::runtime_error {
 public:
  CommandError(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

/// 2: the input is wrong; 3: the job cannot finish; 1: a fault of ours.
[[nodiscard]] int exit_status(const std::exception& error);

}  // namespace photonrail::command
