#include "studies/goodput/report.hpp"

#include "json/json.hpp"
#include "photonrail/version.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::goodput {

namespace {

using json::Json;

std::string share_text(double share) { return report::number("%.2f", share * 100.0) + " %"; }

std::string spread(const Estimate& e, const char* format, double unit) {
  return report::number(format, e.mean * unit) + " [" + report::number(format, e.low * unit) + ", " +
         report::number(format, e.high * unit) + "]";
}

std::string source_lines(const GoodputSummary& summary) {
  if (summary.sources.empty()) return {};
  std::vector<std::vector<std::string>> lines{
      {"failures of " + summary.name, "parts", "failures", "of the job", "GPUs hit", "GPU-hours each"}};
  for (const auto& s : summary.sources) {
    lines.push_back({s.name, std::to_string(s.parts), report::number("%.1f", s.failures), report::number("%.1f", s.on_job),
                     std::to_string(s.gpus_hit), report::number("%.1f", s.gpu_hours_each)});
  }
  return report::in_columns(lines);
}

Json estimate_json(const Estimate& e) { return Json{{"mean", e.mean}, {"low", e.low}, {"high", e.high}}; }

// JSON has no infinity: a job without failures has no mean time to one.
Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json row_json(const GoodputRow& row, const GoodputRow& first) {
  const GoodputSummary& s = row.summary;
  Json shares = Json::object();
  for (std::size_t u = 0; u < kTimeUses; ++u) {
    shares.insert(std::string(name(static_cast<TimeUse>(u))), estimate_json(s.shares[u]));
  }
  Json sources = Json::array();
  for (const auto& source : s.sources) {
    sources.push_back(Json{{"name", source.name},
                           {"parts", source.parts},
                           {"failures", source.failures},
                           {"on_job", source.on_job},
                           {"gpus_hit", source.gpus_hit},
                           {"gpu_hours_each", source.gpu_hours_each}});
  }
  Json configurations = Json::array();
  for (const auto& [text, step_s] : row.configurations) {
    configurations.push_back(Json{{"configuration", text}, {"step_s", step_s < 0.0 ? Json(nullptr) : Json(step_s)}});
  }
  Json parameters = Json::object();
  for (const auto& [key, value] : row.parameters) parameters.insert(key, value);
  return Json{{"name", s.name},
              {"parameters", parameters},
              {"seeds", s.seeds},
              {"job_gpus", s.job_gpus},
              {"all_gpus", s.all_gpus},
              {"step_s", s.step_s},
              {"checkpoint_interval_s", s.interval_s},
              {"checkpoint_stall_s", s.stall_s},
              {"checkpoint_copy_s", s.copy_s},
              {"wall_d", s.wall_d},
              {"ettr", estimate_json(s.ettr)},
              {"goodput", estimate_json(s.goodput)},
              {"shares", shares},
              {"failures", estimate_json(s.failures)},
              {"interruptions", estimate_json(s.interruptions)},
              {"mttf_h", estimate_json(s.mttf_h)},
              {"mttf_by_rates_h", finite(s.job_mttf_h)},
              {"swaps", s.swaps},
              {"drops", s.drops},
              {"steps_per_day", s.steps_per_day()},
              {"worth_gpus", finite(worth_gpus(first.summary, s))},
              {"sources", sources},
              {"configurations", configurations}};
}

}  // namespace

std::string goodput_table(const std::vector<GoodputRow>& rows) {
  std::vector<std::vector<std::string>> lines{{"", "GPUs", "step", "goodput [95 %]", "ETTR", "failures", "MTTF h",
                                               "checkpoint", "lost", "detect", "recover", "degraded", "waiting", "planned",
                                               "worth GPUs"}};
  for (const GoodputRow& row : rows) {
    const GoodputSummary& s = row.summary;
    std::vector<std::string> line{s.name,
                                  std::to_string(s.all_gpus),
                                  report::number("%.4g", s.step_s) + " s",
                                  spread(s.goodput, "%.2f", 100.0) + " %",
                                  share_text(s.ettr.mean),
                                  report::number("%.1f", s.failures.mean),
                                  report::number("%.2f", s.mttf_h.mean)};
    for (const TimeUse use : {TimeUse::kCheckpoint, TimeUse::kLost, TimeUse::kDetecting, TimeUse::kRecovering,
                              TimeUse::kDegraded, TimeUse::kWaiting, TimeUse::kPlanned}) {
      line.push_back(share_text(s.shares[static_cast<std::size_t>(use)].mean));
    }
    line.push_back(report::number("%+.0f", worth_gpus(rows.front().summary, s)));
    lines.push_back(line);
  }
  return report::in_columns(lines) + "\n" + source_lines(rows.front().summary);
}

std::string goodput_json(const std::vector<GoodputRow>& rows) {
  Json list = Json::array();
  for (const GoodputRow& row : rows) list.push_back(row_json(row, rows.front()));
  return Json{{"schema", "photonrail.goodput/1"}, {"photonrail_version", version()}, {"scenarios", list}}.dump(2) + "\n";
}

}  // namespace photonrail::goodput
