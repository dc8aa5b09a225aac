#include "formats/serving/request_traces.hpp"

#include "core/number_in.hpp"
#include "formats/csv.hpp"
#include "formats/input_file.hpp"
#include "json/json.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <cstdio>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

namespace photonrail::formats {

namespace {

constexpr double kMaxTokens = 1 << 24;
constexpr double kMaxSeconds = 9e6;  // what Time holds: those that are used may be fewer, or come faster

std::string place(const std::filesystem::path& file, std::size_t line) {
  return file.string() + ":" + std::to_string(line);
}

/// A day by its number, and seconds in it: together in one double they would lose what is below a microsecond.
struct DateTime {
  int day = 0;
  double second = 0.0;
};

// Reads "2023-11-16 18:15:46.6805900", without leap seconds (days by Hinnant's days_from_civil).
std::optional<DateTime> date_time(const std::string& text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  double second = 0.0;
  if (std::sscanf(text.c_str(), "%d-%d-%d%*[ T]%d:%d:%lf", &year, &month, &day, &hour, &minute, &second) != 6)
    return std::nullopt;
  year -= month <= 2 ? 1 : 0;
  const int era = year / 400;
  const int of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return DateTime{days, hour * 3600.0 + minute * 60.0 + second};
}

/// Collects rows, whose times are checked and made to count from the first.
class TraceRows {
 public:
  explicit TraceRows(const std::filesystem::path& file) : file_(file) {}

  void add(std::size_t line, double seconds, double prompt, double output, std::vector<std::uint64_t> hashes,
           double priority) {
    if (first_ && seconds < last_)
      throw ConfigError(place(file_, line), "the request comes before the one above it", "sort the rows by time");
    if (!first_) first_ = seconds;
    last_ = seconds;
    if (seconds - *first_ > kMaxSeconds)
      throw ConfigError(place(file_, line), "the trace is longer than 104 days", "fewer rows");
    if (output < 1.0 || prompt < 1.0) {
      ++trace.left_out;
      return;
    }
    serving::TraceRow row;
    row.at = Time{from_seconds(seconds - *first_)};
    row.prompt = static_cast<std::uint32_t>(prompt);
    row.output = static_cast<std::uint32_t>(output);
    row.priority = static_cast<std::int32_t>(priority);
    row.hashes = std::move(hashes);
    trace.rows.push_back(std::move(row));
  }

  serving::Trace trace;

 private:
  std::filesystem::path file_;
  std::optional<double> first_;
  double last_ = 0.0;
};

std::vector<std::uint64_t> hashes_of(const std::filesystem::path& file, std::size_t line, const std::string& cell) {
  std::vector<std::uint64_t> hashes;
  std::istringstream words(cell);
  for (std::string word; words >> word;) {
    const auto value = core::number_in<std::uint64_t>(word);
    if (!value)
      throw ConfigError(place(file, line), "\"" + word + "\" is no hash of a block", "whole numbers with spaces between");
    hashes.push_back(*value);
  }
  return hashes;
}

/// Which columns of a CSV have the arrival and the tokens.
struct TraceColumns {
  const char* arrival;
  const char* prompt;
  const char* output;
  double seconds = 1.0;  ///< in one of the arrival; 0: a date
};
constexpr TraceColumns kTraces[] = {{"TIMESTAMP", "ContextTokens", "GeneratedTokens", 0.0},
                                    {"Timestamp", "Request tokens", "Response tokens", 1.0},
                                    {"arrival_ms", "input_tokens", "output_tokens", 1e-3},
                                    {"arrival_s", "input_tokens", "output_tokens", 1.0}};
constexpr const char* kKnownColumns =
    "arrival_ms (or arrival_s), input_tokens, output_tokens; or Azure's, BurstGPT's or Mooncake's own";

TraceColumns columns_of(const std::filesystem::path& file, const std::string& head) {
  const auto has = [&head](const std::string& column) {
    return ("," + head + ",").find("," + column + ",") != std::string::npos;
  };
  for (const TraceColumns& known : kTraces) {
    if (has(known.arrival) && has(known.prompt) && has(known.output)) return known;
  }
  throw ConfigError(place(file, 1), "the columns are those of no known trace of requests, or one is missing",
                    kKnownColumns);
}

serving::Trace read_columns(const std::filesystem::path& file, const TraceColumns& columns) {
  TraceRows rows(file);
  std::optional<int> first_day;
  read_csv(file, {columns.arrival, columns.prompt, columns.output, "block_hashes", "priority"},
           [&](std::size_t line, const std::vector<std::string>& cells) {
             double seconds = 0.0;
             if (columns.seconds == 0.0) {
               const auto date = date_time(cells[0]);
               if (!date) throw ConfigError(place(file, line), "\"" + cells[0] + "\" is no time", "2023-11-16 18:15:46.68");
               if (!first_day) first_day = date->day;
               seconds = (date->day - *first_day) * 86400.0 + date->second;
             } else {
               seconds = csv_number(file, line, cells[0], 0.0, 1e15) * columns.seconds;
             }
             rows.add(line, seconds, csv_number(file, line, cells[1], 0.0, kMaxTokens),
                      csv_number(file, line, cells[2], 0.0, kMaxTokens), hashes_of(file, line, cells[3]),
                      cells[4].empty() ? 0.0 : csv_number(file, line, cells[4], -1e6, 1e6));
           });
  return std::move(rows.trace);
}

serving::Trace read_mooncake(const std::filesystem::path& file, const std::string& text) {
  TraceRows rows(file);
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line == "\r") continue;
    try {
      const json::Json row = json::parse_json(line, "");
      json::JsonReader reader(row);
      std::vector<std::uint64_t> hashes;
      if (const auto list = reader.optional("hash_ids")) {
        for (const auto& id : list->elements()) hashes.push_back(id.integer(0, std::uint64_t{1} << 53));
      }
      rows.add(number, reader.child("timestamp").number(0.0, 1e15) * 1e-3,
               reader.child("input_length").number(0.0, kMaxTokens), reader.child("output_length").number(0.0, kMaxTokens),
               std::move(hashes), 0.0);
    } catch (const ConfigError& error) {
      if (error.where().starts_with(file.string())) throw;
      if (error.where().starts_with(':')) throw ConfigError(place(file, number), error.problem(), error.hint());
      throw error.inside(place(file, number));
    }
  }
  return std::move(rows.trace);
}

}  // namespace

serving::Trace read_request_trace(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::string head = text.substr(0, text.find_first_of("\r\n")).substr(length_of_mark(text));
  if (head.empty()) throw ConfigError(file.string(), "is empty", kKnownColumns);
  serving::Trace trace = head.front() == '{' ? read_mooncake(file, text) : read_columns(file, columns_of(file, head));
  if (trace.rows.empty())
    throw ConfigError(file.string(), "has no requests",
                      trace.left_out > 0 ? "rows without a prompt or without an answer do not count" : "");
  return trace;
}

}  // namespace photonrail::formats
