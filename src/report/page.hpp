// A folder of results as one HTML page that needs nothing else, or as a program that draws its figures as files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::report {

/// What the figures show first, by names of columns of the table; empty: chosen from the data.
struct PageChoices {
  std::string metric;   ///< what is shown: "makespan_s"
  std::string against;  ///< the parameter along the axis
  /// The parameter that tells lines or groups of bars apart, or those of its values that are shown, with commas: "a,b".
  std::string series;
  /// The value of `series` (of `against` when there is no series) that the others are compared with; "none", or "fastest"
  /// for the least of all; empty: a value that is called electrical, baseline or reference, where there is one.
  std::string baseline;
  std::vector<std::pair<std::string, std::string>>
      where{};           ///< only points that have these values of parameters, or have none
  std::string log{};     ///< logarithmic axes: "x", "y", "xy", "none"; empty: chosen from the data
  std::string title{};   ///< before the titles of figures, and of the page; empty: the name of the sweep for the page alone
  std::string figure{};  ///< of the figures as files this one alone, by its id: "comparison"; empty: all
  std::uint32_t width = 0;          ///< of figures as files, pixels; 0: 900
  std::uint32_t height = 0;         ///< the same; 0: what each needs
  std::uint32_t font = 0;           ///< size of the letters of axes, pixels; 0: 12
  bool include_infeasible = false;  ///< also rank points that could not run on such GPUs (Scenario::infeasible)
};

/// What was read of a folder.
struct PageData {
  std::string title;
  std::string subtitle;
  std::size_t points = 0;          ///< rows of the table
  std::size_t failed = 0;          ///< of these, points of a sweep that ended with an error
  std::vector<std::string> notes;  ///< what a reader must know: what failed, what was left out
  std::string document;            ///< everything that the figures show, as JSON
};

/// Reads a folder that `photonrail run --out` wrote (result.json and, for the timeline and the circuits, trace.json), a
/// folder of such folders, one of `photonrail sweep` (results.db; folders of runs in it add their traces), of `photonrail
/// goodput` or of `photonrail allocate`. Throws
/// ConfigError when there is nothing, when a file cannot be read, or when a choice is none of the columns.
[[nodiscard]] PageData read_page_data(const std::filesystem::path& folder, const PageChoices& choices = {});

/// Why this build has no page; empty when it has. The three functions below then throw ConfigError with it.
[[nodiscard]] std::string why_no_page();

/// One HTML file with data, figures and scripts: it loads nothing. Readers need a browser of 2023 or later.
[[nodiscard]] std::string to_html(const PageData& data);

/// Writes the page of `folder` into it as `name`, and returns its path; nothing, and no file, where this build has no page.
std::filesystem::path write_page(const std::filesystem::path& folder, const std::string& name,
                                 const PageChoices& choices = {});

/// A program for Node (18 or later) that writes each figure to a folder, its first argument, as `format`: "svg" or "csv";
/// or a file "error" that says why it could not.
[[nodiscard]] std::string to_figures_program(const PageData& data, const std::string& format);

}  // namespace photonrail::report
