// Files of recorded faults.
#include "studies/goodput/section/faults.hpp"
#include "json/in_file.hpp"

#include "formats/csv.hpp"
#include "formats/input_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::goodput {

namespace {

using json::Json;
using json::JsonReader;

constexpr std::size_t kMaxFaults = 10'000'000;
constexpr double kMaxDay = 1e6;

std::vector<TraceFault> from_csv(const std::filesystem::path& file) {
  std::vector<TraceFault> faults;
  formats::read_csv(file, {"server", "start_day", "end_day", "class"}, [&](std::size_t line, const auto& cells) {
    TraceFault fault;
    fault.server = static_cast<std::uint32_t>(formats::csv_number(file, line, cells[0], 0.0, 999'999.0));
    fault.start_d = formats::csv_number(file, line, cells[1], 0.0, kMaxDay);
    fault.end_d = formats::csv_number(file, line, cells[2], 0.0, kMaxDay);
    fault.cause = cells[3];
    faults.push_back(std::move(fault));
    if (faults.size() > kMaxFaults) throw ConfigError(file.string(), "has more than 10,000,000 faults");
  });
  return faults;
}

std::vector<TraceFault> from_json(const Json& root) {
  std::vector<TraceFault> faults;
  for (JsonReader entry : JsonReader(root).elements()) {
    TraceFault fault;
    fault.start_d = entry.child("start_day").number(0.0, kMaxDay);
    fault.end_d = entry.child("end_day").number(0.0, kMaxDay);
    fault.server = entry.child("server").count(0, 999'999);
    if (const auto v = entry.optional("class")) fault.cause = v->string();
    entry.finish();
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace

std::vector<TraceFault> read_faults(const std::filesystem::path& file) {
  std::vector<TraceFault> faults;
  if (file.extension() == ".json") {
    json::in_file(formats::read_file(file), file.string(), [&](const Json& root) { faults = from_json(root); });
  } else {
    faults = from_csv(file);
  }
  std::stable_sort(faults.begin(), faults.end(),
                   [](const TraceFault& a, const TraceFault& b) { return a.start_d < b.start_d; });
  return faults;
}

}  // namespace photonrail::goodput
