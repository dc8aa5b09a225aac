// Entry points of the fuzzers: what reads a format, given bytes in place of a file. libFuzzer drives them
// (fuzz_target.cpp), and the tests replay them over seeds, a kept corpus and a fixed number of mutations (fuzz_test.cpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::fuzz {

struct Entry {
  const char* name;
  /// Reads `data` by way of files in `folder`, which is the caller's alone. Throws ConfigError for what is wrong with it.
  void (*read)(std::string_view data, const std::filesystem::path& folder);
  /// Inputs that are sound, or nearly so. They are made in `folder` where files have to be written first.
  std::vector<std::string> (*seeds)(const std::filesystem::path& folder);
};
std::ostream& operator<<(std::ostream& out, const Entry& entry);

[[nodiscard]] const std::vector<Entry>& entries();

/// What is wrong with how `entry` takes `data`; "" when it reads it or refuses it with a proper ConfigError: one line, with
/// a place, in words of the project.
[[nodiscard]] std::string verdict(const Entry& entry, std::string_view data, const std::filesystem::path& folder);

/// Whether a message has a word of a library that the input, which messages quote, does not have.
[[nodiscard]] bool is_raw(std::string_view message, std::string_view word, std::string_view input);

/// Two files in one input: a decimal length, a line break, the first file, the second.
[[nodiscard]] std::string joined(std::string_view first, std::string_view second);
struct Two {
  std::string_view first, second;
};
[[nodiscard]] Two split(std::string_view data);

void write(const std::filesystem::path& file, std::string_view data);
[[nodiscard]] std::string content(const std::filesystem::path& file);

// Of entries_command.cpp, for the table: one argument a line.
void read_command(std::string_view data, const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> command_seeds(const std::filesystem::path& folder);

/// Carries out a command line in `folder`, where relative paths begin: a command and its file. Throws std::logic_error for
/// exit status 1, for messages that are not the project's, and for refusals that do not name the file.
void act(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// Of entries_runs.cpp, for the table: what is read is also carried out, where it is small.
void run_links(std::string_view data, const std::filesystem::path& folder);
void run_goodput_text(std::string_view data, const std::filesystem::path& folder);
void run_allocation(std::string_view data, const std::filesystem::path& folder);
void run_agents(std::string_view data, const std::filesystem::path& folder);
void run_rows(std::string_view data, const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> serving_run_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> rl_run_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> rows_run_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> links_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> goodput_run_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> allocation_run_seeds(const std::filesystem::path& folder);

// Of entries_results.cpp, for the table.
void read_result(std::string_view data, const std::filesystem::path& folder);
void read_trace(std::string_view data, const std::filesystem::path& folder);
void read_table(std::string_view data, const std::filesystem::path& folder);
void read_database(std::string_view data, const std::filesystem::path& folder);
void read_shard(std::string_view data, const std::filesystem::path& folder);
void read_manifest(std::string_view data, const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> result_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> trace_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> table_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> database_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> shard_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> manifest_seeds(const std::filesystem::path& folder);

// Of entries_inputs.cpp, for the table.
void read_astra_machine(std::string_view data, const std::filesystem::path& folder);
void read_astra_workload(std::string_view data, const std::filesystem::path& folder);
void read_infragraph(std::string_view data, const std::filesystem::path& folder);
void read_goodput_text(std::string_view data, const std::filesystem::path& folder);
void read_faults_text(std::string_view data, const std::filesystem::path& folder);
void read_allocation(std::string_view data, const std::filesystem::path& folder);
void read_plan_text(std::string_view data, const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> plan_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> astra_machine_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> astra_workload_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> infragraph_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> goodput_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> faults_seeds(const std::filesystem::path& folder);
[[nodiscard]] std::vector<std::string> allocation_seeds(const std::filesystem::path& folder);

/// A small job on two servers, which the seeds are made of.
extern const char* const kScenario;

}  // namespace photonrail::fuzz
