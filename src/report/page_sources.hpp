// What a page is made of, read from the files of runs and sweeps.
#pragma once

#include "json/json.hpp"
#include "report/table_columns.hpp"
#include "report/told_once.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace photonrail::report {

struct PageTables {
  bool include_infeasible = false;  ///< given: numbers of points that could not run on such GPUs are read too
  std::string title;
  std::string why;             ///< of a sweep
  std::set<std::string> runs;  ///< names of the results that were added
  Table points;                ///< roles: info, parameter, replicate, metric
  Table windows;               ///< row, change, length_s, count; in order of row, change and length
  std::size_t failed = 0;
  std::vector<std::string> notes;
  std::vector<Told> explanations;            ///< notes of runs: why numbers are what they are
  json::Json about = json::Json::array();    ///< what was simulated: [{ "topic", "text" }]
  json::Json details = json::Json::array();  ///< of single runs, see add_details()
};

/// `photonrail.results/1`. Throws ConfigError.
void read_results_database(const std::filesystem::path& file, PageTables& tables);

/// Adds the result of a run as a row, and returns its name, with that of its folder where another run has the same. Throws
/// ConfigError.
std::string read_run_result(const std::filesystem::path& file, PageTables& tables);

/// Adds the sentences of the notes of a file, a list; `about` comes before each, if it is not empty.
void add_explanations(const json::Json& notes, const std::string& about, PageTables& tables);

/// The spans of a trace.json, packed: { "name", "end_s", "note", "cluster", "tracks", "spans" }. Throws ConfigError.
[[nodiscard]] json::Json read_trace(const std::filesystem::path& file, const std::string& name);

}  // namespace photonrail::report
