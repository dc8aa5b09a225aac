#include "report/page_details.hpp"

#include "core/csv.hpp"
#include "core/number_in.hpp"
#include "json/file_text.hpp"
#include "photonrail/error.hpp"
#include "photonrail/workload/serving.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace photonrail::report {

namespace {

using json::Json;

constexpr std::size_t kCurvePoints = 200;
constexpr std::size_t kActivityBins = 200;
constexpr std::size_t kMaxEngines = 64;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// These are shares of requests, by their time to the first token, between which the parts of that time are averaged.
constexpr std::array kBands{0.5, 0.9, 0.99, 1.0};

/// The columns of requests.csv, in seconds where they are times.
class RequestTable {
 public:
  RequestTable(const std::filesystem::path& file, const std::string& text) {
    const auto rows = core::parse_csv(text);
    if (rows.empty()) return;
    for (std::size_t c = 0; c < rows.front().size(); ++c) {
      const std::string& name = rows.front()[c];
      std::vector<double>& column = columns_[name];
      const double unit = name.ends_with("_ms") ? 1e-3 : 1.0;
      for (std::size_t r = 1; r < rows.size(); ++r) {
        if (rows[r].size() != rows.front().size())
          throw ConfigError(file.string(),
                            "line " + std::to_string(r + 1) + " has " + std::to_string(rows[r].size()) + " cells of " +
                                std::to_string(rows.front().size()),
                            "run the scenario again");
        column.push_back(unit * core::number_in<double>(rows[r][c]).value_or(kNone));
      }
    }
    count_ = rows.size() - 1;
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Nothing where the file has no such column.
  [[nodiscard]] const std::vector<double>* find(const std::string& name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::vector<double>> columns_;
  std::size_t count_ = 0;
};

// Requests whose times count: not those of the warm-up, which are the first to arrive.
std::vector<bool> counted_requests(const RequestTable& requests, const Json& serving) {
  std::vector<bool> counted(requests.count(), true);
  const Json* const offered = serving.find("requests");
  const Json* const warm_up = offered == nullptr ? nullptr : offered->find("warm_up");
  const std::vector<double>* const numbers = requests.find("number");
  if (warm_up == nullptr || !warm_up->is_number() || numbers == nullptr) return counted;
  for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = (*numbers)[i] >= warm_up->number();
  return counted;
}

// Takes of the ascending numbers those at equal steps of their share, from the least to the most.
Json quantiles_of_column(const std::vector<double>& column, const std::vector<bool>& counted) {
  std::vector<double> values;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (counted[i] && !std::isnan(column[i])) values.push_back(column[i]);
  }
  std::sort(values.begin(), values.end());
  Json list = Json::array();
  if (values.empty()) return list;
  const std::size_t points = std::min(kCurvePoints, std::max<std::size_t>(values.size() - 1, 1));
  for (std::size_t i = 0; i <= points; ++i) list.push_back(values[i * (values.size() - 1) / points]);
  return list;
}

// The mean parts of the time to the first token, for requests in order of that time.
Json bands_of(const RequestTable& requests, const std::vector<bool>& counted) {
  Json bands = Json::array();
  const std::vector<double>* const ttft = requests.find("ttft_ms");
  std::vector<const std::vector<double>*> parts;
  for (int p = 0; p < kTtftPartCount; ++p)
    parts.push_back(requests.find("part_" + std::string(photonrail::name(static_cast<TtftPart>(p))) + "_ms"));
  if (ttft == nullptr || std::find(parts.begin(), parts.end(), nullptr) != parts.end()) return bands;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < requests.count(); ++i) {
    if (counted[i] && !std::isnan((*ttft)[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return (*ttft)[a] < (*ttft)[b]; });
  std::size_t from = 0;
  double below = 0.0;
  for (const double share : kBands) {
    const auto to = static_cast<std::size_t>(std::ceil(share * static_cast<double>(order.size())));
    if (to > from) {
      Json means = Json::array();
      for (const auto* part : parts) {
        double sum = 0.0;
        for (std::size_t i = from; i < to; ++i) sum += std::isnan((*part)[order[i]]) ? 0.0 : (*part)[order[i]];
        means.push_back(sum / static_cast<double>(to - from));
      }
      bands.push_back({{"from", below}, {"to", share}, {"requests", to - from}, {"parts_s", std::move(means)}});
    }
    from = to;
    below = share;
  }
  return bands;
}

/// Requests in an engine, mean over each of equal stretches of time.
class EngineActivity {
 public:
  EngineActivity(std::size_t engines, double end_s)
      : bin_(end_s / kActivityBins), in_flight_(engines, std::vector<double>(kActivityBins, 0.0)) {}

  void add(double engine, double from, double to) {
    if (std::isnan(engine) || std::isnan(from) || std::isnan(to) || !(to > from) || !(bin_ > 0.0)) return;
    const auto at = static_cast<std::size_t>(engine);
    if (at >= in_flight_.size()) return;
    const auto first = static_cast<std::size_t>(std::max(0.0, from / bin_));
    for (std::size_t i = first; i < kActivityBins && static_cast<double>(i) * bin_ < to; ++i) {
      const double begin = std::max(from, static_cast<double>(i) * bin_);
      in_flight_[at][i] += (std::min(to, static_cast<double>(i + 1) * bin_) - begin) / bin_;
    }
  }

  [[nodiscard]] Json json() const {
    Json engines = Json::array();
    for (const std::vector<double>& bins : in_flight_) {
      Json& list = engines.push_back(Json::array());
      for (const double value : bins) list.push_back(std::round(value * 1e4) / 1e4);
    }
    return {{"bin_s", bin_}, {"engines", std::move(engines)}};
  }

 private:
  double bin_;
  std::vector<std::vector<double>> in_flight_;
};

Json activity_of(const RequestTable& requests, std::size_t engines) {
  const auto column = [&](const char* name) { return requests.find(name); };
  const auto* const last = column("last_ms");
  const std::array all{column("prefill_engine"),
                       column("decode_engine"),
                       column("scheduled_ms"),
                       column("prefilled_ms"),
                       column("decoding_ms"),
                       column("first_ms"),
                       last};
  if (engines == 0 || engines > kMaxEngines || std::find(all.begin(), all.end(), nullptr) != all.end()) return Json();
  double end = 0.0;
  for (const double time : *last) end = std::isnan(time) ? end : std::max(end, time);
  EngineActivity activity(engines, end);
  for (std::size_t i = 0; i < requests.count(); ++i) {
    const auto at = [&](std::size_t of) { return (*all[of])[i]; };
    const bool apart = !std::isnan(at(4));  // it is decoded by another engine than its prompt
    activity.add(at(0), at(2), apart ? at(3) : at(6));
    if (apart) activity.add(at(1), at(4), at(6));
  }
  return activity.json();
}

Json serving_detail(const Json& serving, const std::filesystem::path& requests) {
  Json detail = {{"kind", "serving"}, {"result", serving}};
  Json& parts = detail["parts"] = Json::array();
  for (int p = 0; p < kTtftPartCount; ++p) parts.push_back(std::string(photonrail::name(static_cast<TtftPart>(p))));
  if (requests.empty() || !std::filesystem::exists(requests)) return detail;
  const RequestTable table(requests, json::file_text(requests));
  const std::vector<bool> counted = counted_requests(table, serving);
  Json& curves = detail["curves"] = Json::object();
  for (const char* of : {"ttft", "tpot", "e2e"}) {
    if (const auto* column = table.find(std::string(of) + "_ms"))
      curves[std::string(of) + "_s"] = quantiles_of_column(*column, counted);
  }
  detail["bands"] = bands_of(table, counted);
  const Json* const engines = serving.find("engines");
  Json activity = activity_of(table, engines != nullptr && engines->is_array() ? engines->size() : 0);
  if (!activity.is_null()) detail["activity"] = std::move(activity);
  return detail;
}

void add_of(const Json& node, const std::string& name, const std::filesystem::path& requests, Json& details) {
  const Json* const serving = node.find("serving");
  const Json* const rl = node.find("rl");
  if (serving != nullptr && serving->is_object()) {
    details.push_back(serving_detail(*serving, requests))["name"] = name;
  }
  if (rl != nullptr && rl->is_object()) details.push_back(Json{{"kind", "rl"}, {"name", name}, {"result", *rl}});
}

}  // namespace

void add_details(const Json& root, const std::string& name, const std::filesystem::path& folder, Json& details) {
  add_of(root, name, folder / "requests.csv", details);
  const Json* const jobs = root.find("jobs");
  if (jobs == nullptr || !jobs->is_array()) return;
  std::size_t number = 0;
  for (const Json& job : jobs->elements()) {
    const Json* const own = job.find("name");
    const std::string requests = "requests-" + std::to_string(number++) + ".csv";
    add_of(job, name + ", " + (own != nullptr && own->is_string() ? own->string() : "job"), folder / requests, details);
  }
}

}  // namespace photonrail::report
