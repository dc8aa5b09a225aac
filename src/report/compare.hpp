// Two results side by side: what differs and by how much. For regression checks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::report {

/// Values that differ. Elements of one array count as one place, whose index is "*", and the largest difference stands for
/// all of them.
struct Difference {
  std::string place;         ///< "per_rank_mean_s/compute", "ranks/*/peer_wait"; a JSON pointer without its first '/'
  std::string before;        ///< in A; "absent"
  std::string after;         ///< in B
  double relative = 0.0;     ///< (B - A) / |A| of numbers; infinite where A is 0, only one has it or they are no numbers
  std::uint64_t values = 1;  ///< number of values of the place that differ
  std::uint64_t of = 1;      ///< number of values of the place
  bool judged = true;        ///< false: reported, but never counted as beyond the tolerance
};

struct Comparison {
  std::vector<Difference> differences;  ///< of an object in the order of A's keys, then what B alone has
  std::uint64_t values = 0;             ///< that were compared

  [[nodiscard]] bool beyond(double tolerance) const;
};

/// Compares two texts of `photonrail.result/1`. `engine/wall_s` and `engine/peak_rss_mb` are left out. Names, version,
/// seed, warnings, choices, folding and engine are reported but not judged, because they describe the run and not its
/// result. Throws ConfigError naming the file that is no result.
[[nodiscard]] Comparison compare_results(std::string_view a, std::string_view b, std::string_view file_a = "A",
                                         std::string_view file_b = "B");

/// Compares two files: results, or the results.csv of two sweeps, whose rows are matched in order. Of two folders: all that
/// is result.json or results.csv in either, by its path; places then begin with that path. Throws ConfigError.
[[nodiscard]] Comparison compare_paths(const std::filesystem::path& a, const std::filesystem::path& b);

/// For people: a line a difference, those beyond the tolerance marked, and a last line that sums up.
[[nodiscard]] std::string to_table(const Comparison& comparison, double tolerance);

}  // namespace photonrail::report
