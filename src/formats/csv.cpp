#include "formats/csv.hpp"

#include "core/csv.hpp"
#include "core/number_in.hpp"
#include "formats/input_file.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace photonrail::formats {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  auto rows = core::parse_csv(line);
  return rows.empty() ? std::vector<std::string>(1) : std::move(rows.front());
}

[[noreturn]] void fail_line(const std::filesystem::path& file, std::size_t line, const std::string& what,
                            const std::string& hint = {}) {
  throw ConfigError(file.string() + ":" + std::to_string(line), what, hint);
}

}  // namespace

std::size_t length_of_mark(std::string_view text) { return text.starts_with("\xef\xbb\xbf") ? 3 : 0; }

void read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns,
              const std::function<void(std::size_t, const std::vector<std::string>&)>& use) {
  std::istringstream text(read_file(file));
  std::string line;
  if (!std::getline(text, line)) fail_line(file, 1, "is empty", "a head with the names of the columns");
  const std::vector<std::string> head = cells_of(line.substr(length_of_mark(line)));
  std::vector<std::size_t> places;
  for (const std::string& column : columns) {
    places.push_back(static_cast<std::size_t>(std::find(head.begin(), head.end(), column) - head.begin()));
  }
  for (std::size_t number = 2; std::getline(text, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const std::vector<std::string> cells = cells_of(line);
    std::vector<std::string> chosen;
    for (const std::size_t place : places) {
      if (place < head.size() && place >= cells.size()) fail_line(file, number, "has fewer cells than the head");
      chosen.push_back(place < head.size() ? cells[place] : "");
    }
    use(number, chosen);
  }
}

double csv_number(const std::filesystem::path& file, std::size_t line, const std::string& cell, double least,
                  double greatest) {
  const std::optional<double> value = core::number_in<double>(cell);
  if (!value) fail_line(file, line, "\"" + cell + "\" is no number");
  if (!(*value >= least && *value <= greatest)) {
    fail_line(file, line, cell + " is out of range", json::readable(least) + " to " + json::readable(greatest));
  }
  return *value;
}

}  // namespace photonrail::formats
