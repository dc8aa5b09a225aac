// What is kept of one point, and the line of JSON that it is in results.jsonl and in the files of shards.
#pragma once

#include "photonrail/result.hpp"
#include "studies/sweep/axis.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::sweep {

struct Phase {
  std::string name;
  std::int64_t bytes = 0;
  std::uint64_t operations = 0;
  double busy_s = 0.0;
  double exposed_s = 0.0;
};

struct Window {
  std::string before;
  std::string after;
  double length_s = 0.0;
  std::uint64_t count = 0;
};

/// The only values that may differ between two runs of a sweep.
struct Provenance {
  std::string host;
  std::string started;  ///< UTC, ISO 8601
  double wall_s = 0.0;
  double peak_rss_mb = 0.0;
};

/// What a point says of itself besides its numbers.
struct Remarks {
  std::vector<std::string> warnings;
  std::vector<std::string> choices;  ///< what "auto" took; RunResult's
  std::string infeasible;            ///< why the point could not run on such GPUs; empty where it could
};

struct Record {
  std::uint32_t point = 0;
  std::string name;
  std::uint64_t seed = 0;
  std::uint32_t repetition = 0;
  int exit_status = 0;  ///< 0: the point came to its end
  std::string error;
  Remarks remarks;
  std::string scenario_hash;
  std::string version;
  Parameters parameters;
  std::vector<std::pair<std::string, double>> metrics;  ///< by name, ascending
  std::vector<Phase> phases;                            ///< by name, ascending
  std::vector<Window> windows;                          ///< by before, after and length, ascending
  Provenance provenance;

  [[nodiscard]] const char* status() const { return exit_status == 0 ? "done" : "failed"; }
  /// The job does not fit its GPUs, and only that is recorded.
  [[nodiscard]] bool was_not_run() const;
};

/// As the tables have them: "a; b".
[[nodiscard]] std::string cell_of_lines(const std::vector<std::string>& lines);

/// Puts the numbers and warnings of `result` into `record`.
void take_result(const RunResult& result, Record& record);

/// One line, without its end. `sweep_hash`: which sweep the point is of.
[[nodiscard]] std::string to_line(const Record& record, std::string_view sweep_hash);
/// None when the line is no record of that sweep: cut short, or of another.
[[nodiscard]] std::optional<Record> from_line(std::string_view line, std::string_view sweep_hash);

}  // namespace photonrail::sweep
