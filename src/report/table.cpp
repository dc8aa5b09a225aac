// Runs side by side: bars over the whole width first, then a column a run, in blocks of as many as the width holds.
#include "photonrail/report.hpp"
#include "report/rank_spread.hpp"
#include "report/rl_report.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail {

namespace {

using report::columns;
using report::fit;
using report::fit_apart;
using report::number;
using report::pad_left;
using report::pad_right;

constexpr std::size_t kLabelColumns = 26;
constexpr std::size_t kMinColumn = 12;
constexpr const char* kNothing = "–";

/// One of the parts of a rank's time. The glyphs tell them apart without colour.
struct Part {
  Duration RankTime::*time;
  const char* glyph;
  const char* colour;  ///< SGR code
  const char* label;
};
constexpr std::array<Part, 6> kParts{{{&RankTime::compute, "█", "34", "compute"},
                                      {&RankTime::exposed_communication, "▒", "33", "exposed communication"},
                                      {&RankTime::reconfiguration_wait, "╳", "31", "reconfiguration wait"},
                                      {&RankTime::peer_wait, "·", "90", "waiting for peers"},
                                      {&RankTime::detection, "?", "35", "failure not detected"},
                                      {&RankTime::idle, " ", "90", "idle"}}};

struct Row {
  std::string label;
  std::vector<std::string> cells;  ///< one a run; none: a heading
};

Duration first_step(const RunResult& run) { return run.iterations.empty() ? run.makespan : run.iterations.front(); }

std::string percent(double share) { return number("%.1f %%", 100.0 * share); }

std::string share_of(Duration part, Duration whole) {
  if (whole == Duration::zero()) return kNothing;
  return percent(static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::string relative(const RunResult& run, const RunResult& base) {
  const auto step = static_cast<double>(run.step_time().count());
  const auto reference = static_cast<double>(base.step_time().count());
  if (reference == 0.0) return kNothing;
  return number("%+.1f %%", 100.0 * (step - reference) / reference);
}

/// The subject of a column: a run, one of several jobs, or several jobs together.
struct Role {
  bool together = false;
  std::size_t against = 0;  ///< the column that it is compared with; its own number: none
};

class Rows {
 public:
  /// REQUIRES: a role for each run.
  Rows(std::span<const RunResult> runs, std::vector<Role> roles) : runs_(runs), roles_(std::move(roles)) {}

  void heading(std::string text) { rows_.push_back({std::move(text), {}}); }

  template <class Cell>
  void add(std::string label, Cell&& cell) {
    Row row{std::move(label), {}};
    for (const RunResult& run : runs_) row.cells.push_back(cell(run));
    rows_.push_back(std::move(row));
  }

  template <class Predicate>
  [[nodiscard]] bool any(Predicate&& predicate) const {
    return std::any_of(runs_.begin(), runs_.end(), predicate);
  }

  [[nodiscard]] std::span<const RunResult> runs() const { return runs_; }
  [[nodiscard]] const std::vector<Row>& all() const { return rows_; }
  /// REQUIRES: `run` is one of runs().
  [[nodiscard]] bool together(const RunResult& run) const { return roles_[number(run)].together; }
  /// What the run is compared with; null: nothing is like it.
  [[nodiscard]] const RunResult* against(const RunResult& run) const {
    const std::size_t other = roles_[number(run)].against;
    return other == number(run) ? nullptr : &runs_[other];
  }

 private:
  [[nodiscard]] std::size_t number(const RunResult& run) const { return static_cast<std::size_t>(&run - runs_.data()); }

  std::span<const RunResult> runs_;
  std::vector<Role> roles_;
  std::vector<Row> rows_;
};

// The lines of the first run that has some; the others' where they have them.
void add_rl(Rows& rows) {
  const auto with =
      std::find_if(rows.runs().begin(), rows.runs().end(), [](const RunResult& run) { return run.rl.has_value(); });
  if (with == rows.runs().end()) return;
  for (const auto& [label, text] : report::rl_lines(*with->rl)) {
    rows.add(label, [label](const RunResult& run) -> std::string {
      if (!run.rl) return std::string(kNothing);
      for (const auto& [own, value] : report::rl_lines(*run.rl)) {
        if (own == label) return value;
      }
      return std::string(kNothing);
    });
  }
}

// Several jobs together have no step: each has its own. Neither have launches of an agent.
void add_steps(Rows& rows) {
  const auto stepless = [&rows](const RunResult& run) { return rows.together(run) || !run.launches.empty(); };
  const bool many = rows.any([](const RunResult& run) { return run.iterations.size() > 1; });
  const bool several = rows.any(stepless);
  if (rows.any([&stepless](const RunResult& run) { return !stepless(run); })) {
    rows.add(many ? "first step" : "step time", [&stepless](const RunResult& run) {
      return stepless(run) ? std::string(kNothing) : to_text(first_step(run));
    });
  }
  if (many) {
    rows.add("later steps, mean", [](const RunResult& run) {
      const auto steady = run.steady_iteration();
      return steady ? to_text(*steady) : std::string(kNothing);
    });
  }
  if (rows.any([&rows](const RunResult& run) { return rows.against(run) != nullptr; })) {
    rows.add("  against " + rows.runs().front().name, [&rows](const RunResult& run) {
      const RunResult* const base = rows.against(run);
      return base == nullptr ? std::string(kNothing) : relative(run, *base);
    });
  }
  if (many || several) rows.add("whole run", [](const RunResult& run) { return to_text(run.makespan); });
  if (!rows.any([](const RunResult& run) { return run.alone.has_value(); })) return;
  rows.add("with the cluster to itself", [](const RunResult& run) { return run.alone ? to_text(*run.alone) : kNothing; });
  rows.add("  slowdown",
           [](const RunResult& run) { return run.alone ? number("%.4g", run.slowdown()) : std::string(kNothing); });
}

std::string paint(const std::string& text, const char* colour, bool coloured) {
  return coloured && !text.empty() ? "\x1b[" + std::string(colour) + "m" + text + "\x1b[0m" : text;
}

void add_shares(Rows& rows) {
  rows.heading("share of the time");
  const bool detection = std::any_of(rows.runs().begin(), rows.runs().end(), report::has_detection);
  const bool idle = std::any_of(rows.runs().begin(), rows.runs().end(), report::has_idle);
  for (const Part& part : kParts) {
    if (part.time == &RankTime::detection && !detection) continue;
    if (part.time == &RankTime::idle && !idle) continue;
    rows.add(std::string("  ") + part.glyph + " " + part.label, [&part](const RunResult& run) {
      const RankTime mean = run.mean_rank_time();
      return share_of(mean.*part.time, mean.total());
    });
  }
}

std::string delay_of(const RunResult& run) {
  const RailSpec& rail = run.cluster.rail;
  return rail.kind == RailKind::kElectrical ? std::string(kNothing) : to_text(rail.optical.typical());
}

// "opus, mode on_demand, order free" word by word, each a line of the table: columns stay narrow.
std::string word_of_controller(const RunResult& run, std::size_t word) {
  std::string text = run.controller.describe();
  for (; word > 0; --word) {
    const std::size_t comma = text.find(", ");
    if (comma == std::string::npos) return "";
    text.erase(0, comma + 2);
  }
  return text.substr(0, text.find(", "));
}

// This was simulated, after all overrides.
void add_subject(Rows& rows) {
  constexpr std::size_t kMaxWords = 6;
  for (std::size_t w = 0; w < kMaxWords; ++w) {
    if (!rows.any([w](const RunResult& run) { return !word_of_controller(run, w).empty(); })) break;
    rows.add(w == 0 ? "controller" : "", [w](const RunResult& run) { return word_of_controller(run, w); });
  }
  if (rows.any([](const RunResult& run) { return run.cluster.rail.kind == RailKind::kOptical; })) {
    rows.add("  reconfiguration", delay_of);
  }
}

// Generated training jobs have these.
void add_training(Rows& rows) {
  const auto cell = [](const std::optional<double>& value, auto text) {
    return value ? text(*value) : std::string(kNothing);
  };
  if (rows.any([](const RunResult& run) { return run.work.has_value(); })) {
    rows.add("tokens/s",
             [&](const RunResult& run) { return cell(run.tokens_per_s(), [](double x) { return number("%.4g", x); }); });
    rows.add("model FLOPs utilisation",
             [&](const RunResult& run) { return cell(run.mfu(), [](double x) { return percent(x); }); });
  }
  if (!rows.any([](const RunResult& run) { return run.peak_memory_bytes().has_value(); })) return;
  rows.add("memory of the fullest GPU", [&](const RunResult& run) {
    return cell(run.peak_memory_bytes(), [](double x) { return to_text(Bytes{static_cast<std::int64_t>(x)}); });
  });
  if (!rows.any([](const RunResult& run) { return !run.infeasible.empty(); })) return;
  rows.add("  fits the GPU", [](const RunResult& run) { return run.infeasible.empty() ? "yes" : "NO"; });
}

void add_reconfigurations(Rows& rows) {
  rows.add("reconfigurations", [](const RunResult& run) { return std::to_string(run.reconfigurations.count); });
  if (!rows.any([](const RunResult& run) { return run.reconfigurations.count > 0; })) return;
  rows.add("  on the critical path",
           [](const RunResult& run) { return std::to_string(run.reconfigurations.critical_path); });
  rows.add("  hidden", [](const RunResult& run) {
    const std::optional<double> hidden = run.reconfigurations.hidden_share();
    return hidden ? percent(*hidden) : kNothing;
  });
  if (!rows.any([](const RunResult& run) { return run.reconfigurations.blocking.has_value(); })) return;
  const auto of_mesh = [&rows](const char* label, std::uint64_t BlockingSummary::*count) {
    rows.add(label, [count](const RunResult& run) {
      const std::optional<BlockingSummary>& blocking = run.reconfigurations.blocking;
      return blocking ? std::to_string((*blocking).*count) : kNothing;
    });
  };
  of_mesh("  circuits that waited", &BlockingSummary::waited);
  of_mesh("  circuits displaced", &BlockingSummary::displaced);
}

// The capacities of the job's GPUs, mean over the run.
void add_utilisation(Rows& rows) {
  const auto share = [&rows](const char* label, auto of) {
    if (!rows.any([&](const RunResult& run) { return run.utilisation && of(*run.utilisation) > 0.0; })) return;
    rows.add(label, [of](const RunResult& run) {
      const double busy = run.utilisation ? of(*run.utilisation) : 0.0;
      return busy > 0.0 ? percent(busy) : std::string(kNothing);
    });
  };
  const auto sends = [](const RunResult& run) {
    return run.utilisation && run.utilisation->rail_ports + run.utilisation->scale_up > 0.0;
  };
  if (!rows.any(sends)) return;
  rows.heading("busy, mean over the run");
  share("  NIC ports", [](const Utilisation& u) { return u.rail_ports; });
  share("  scale-up ports", [](const Utilisation& u) { return u.scale_up; });
  share("  circuits while lit", [](const Utilisation& u) { return u.switching > 0.0 ? u.circuits() : 0.0; });
  share("  uplinks", [](const Utilisation& u) { return u.uplinks ? u.uplinks->mean : 0.0; });
  share("  uplinks, the busiest", [](const Utilisation& u) { return u.uplinks ? u.uplinks->busiest : 0.0; });
  share("  busiest link of sites", [](const Utilisation& u) {
    double most = 0.0;
    for (const Utilisation::Link& link : u.site_links) most = std::max(most, link.busy);
    return most;
  });
  share("  busiest single uplink", [](const Utilisation& u) {
    return u.uplinks && !u.uplinks->single.empty() ? u.uplinks->single.front().busy : 0.0;
  });
}

// The longest part of the critical path.
void add_path(Rows& rows) {
  const auto has = [](const RunResult& run) { return run.critical_path && !run.critical_path->parts.empty(); };
  if (!rows.any(has)) return;
  rows.heading("most of the critical path");
  rows.add("", [has](const RunResult& run) { return has(run) ? run.critical_path->parts.front().label() : kNothing; });
  rows.add("  its share", [has](const RunResult& run) {
    return has(run) ? share_of(run.critical_path->parts.front().time, run.makespan) : kNothing;
  });
  const auto busiest = [](const RunResult& run) { return run.critical_path && run.critical_path->busiest.has_value(); };
  if (rows.any(busiest)) {
    rows.add("  busiest on it", [busiest](const RunResult& run) {
      return busiest(run) ? std::string(name(run.critical_path->busiest->place)) + ", " +
                                percent(run.critical_path->busiest->utilisation)
                          : kNothing;
    });
  }
}

// Ranks that wait for their peers: what for.
void add_waits(Rows& rows) {
  const auto mean = [](const RunResult& run, WaitCause cause) {
    return run.critical_path ? run.critical_path->mean_waits()[static_cast<std::size_t>(cause)] : Duration{};
  };
  const auto any = [&rows, mean](WaitCause cause) {
    return rows.any([mean, cause](const RunResult& run) { return mean(run, cause) > Duration{}; });
  };
  bool headed = false;
  for (int c = 0; c < kWaitCauseCount; ++c) {
    const auto cause = static_cast<WaitCause>(c);
    if (!any(cause)) continue;
    if (!std::exchange(headed, true)) rows.heading("waits for peers, by cause");
    rows.add("  " + std::string(name(cause)),
             [mean, cause](const RunResult& run) { return share_of(mean(run, cause), run.makespan); });
  }
}

void add_traffic(Rows& rows, std::size_t dimension) {
  if (!rows.any([dimension](const RunResult& run) { return run.traffic[dimension].operations > 0; })) return;
  const auto cell = [dimension](auto text) {
    return [dimension, text](const RunResult& run) {
      const DimensionTraffic& traffic = run.traffic[dimension];
      return traffic.operations == 0 ? std::string(kNothing) : text(traffic);
    };
  };
  rows.add(std::string(name(static_cast<Dimension>(dimension))) + " on the wire",
           cell([](const DimensionTraffic& t) { return to_text(t.bytes); }));
  rows.add("  operations", cell([](const DimensionTraffic& t) { return std::to_string(t.operations); }));
  rows.add("  busy, mean of ranks", cell([](const DimensionTraffic& t) { return to_text(t.busy); }));
  rows.add("  exposed, mean of ranks", cell([](const DimensionTraffic& t) { return to_text(t.exposed); }));
}

std::string bar(const RankTime& time, Duration longest, std::size_t width, bool coloured) {
  if (longest == Duration::zero()) return {};
  const auto cells_until = [&](Duration end) {
    const double share = static_cast<double>(end.count()) / static_cast<double>(longest.count());
    return static_cast<std::size_t>(std::llround(static_cast<double>(width) * share));
  };
  std::string text;
  Duration end{};
  std::size_t drawn = 0;  // rounding the ends and not the parts keeps the bar's length right
  for (const Part& part : kParts) {
    end += time.*part.time;
    std::string cells;
    for (; drawn < cells_until(end); ++drawn) cells += part.glyph;
    text += paint(cells, part.colour, coloured);
  }
  return text + std::string(width - std::min(width, drawn), ' ');
}

std::vector<std::string> names_of(std::span<const RunResult> runs) {
  std::vector<std::string> names;
  for (const RunResult& run : runs) names.push_back(run.name);
  return names;
}

std::string bars(std::span<const RunResult> runs, std::size_t width, bool coloured) {
  std::size_t name_width = 3;
  std::size_t time_width = 0;
  Duration longest{};
  const std::vector<std::string> names = fit_apart(names_of(runs), width / 3);
  for (const std::string& name : names) name_width = std::max(name_width, columns(name));
  for (const RunResult& run : runs) {
    time_width = std::max(time_width, columns(to_text(run.mean_rank_time().total())));
    longest = std::max(longest, run.mean_rank_time().total());
  }
  std::string text = "where the time of a rank goes, mean of ranks\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RankTime time = runs[i].mean_rank_time();
    text += pad_right(names[i], name_width) + "  " + bar(time, longest, width - name_width - time_width - 4, coloured) +
            "  " + pad_left(to_text(time.total()), time_width) + "\n";
  }
  return text;
}

/// Which runs share a block, and how wide their columns are.
struct Layout {
  std::size_t column = kMinColumn;
  std::size_t runs_in_block = 1;
};

Layout lay_out(const Rows& rows, std::size_t width) {
  std::size_t widest_cell = kMinColumn - 2;
  for (const Row& row : rows.all()) {
    for (const std::string& cell : row.cells) widest_cell = std::max(widest_cell, columns(cell));
  }
  std::size_t widest = widest_cell;
  for (const RunResult& run : rows.runs()) widest = std::max(widest, columns(run.name));
  const std::size_t room = width - kLabelColumns;
  Layout layout;
  layout.runs_in_block = std::clamp<std::size_t>(room / (widest_cell + 2), 1, rows.runs().size());
  layout.column = std::min(room / layout.runs_in_block, widest + 2);
  return layout;
}

std::string block(const Rows& rows, std::size_t first, std::size_t last, std::size_t column) {
  std::string text = std::string(kLabelColumns, ' ');
  const std::vector<std::string> names = fit_apart(names_of(rows.runs()), column - 1);
  for (std::size_t i = first; i < last; ++i) text += pad_left(names[i], column);
  text += "\n";
  for (const Row& row : rows.all()) {
    const std::string label = fit(row.label, kLabelColumns);
    text += row.cells.empty() ? label : pad_right(label, kLabelColumns);
    if (!row.cells.empty()) {
      for (std::size_t i = first; i < last; ++i) text += pad_left(row.cells[i], column);
    }
    text += "\n";
  }
  return text;
}

// Each of several jobs is a column of its own, after that of all together.
std::vector<RunResult> with_jobs(std::span<const RunResult> results) {
  std::vector<RunResult> all;
  for (const RunResult& result : results) {
    all.push_back(result);
    all.back().jobs.clear();
    if (!result.jobs.empty()) all.back().controller.name = "of each job";
    for (const RunResult& job : result.jobs) all.push_back(job);
  }
  return all;
}

// Like is compared with like: runs of one job with the first scenario when it is such a run, several jobs together with
// those of the first, and each of them with the job of its name there.
std::vector<Role> roles_of(std::span<const RunResult> results) {
  std::vector<Role> roles;
  const RunResult& first = results.front();
  for (const RunResult& result : results) {
    const bool together = !result.jobs.empty();
    const bool alike = together == !first.jobs.empty();
    roles.push_back({together, alike ? 0 : roles.size()});
    for (const RunResult& job : result.jobs) {
      const auto other =
          std::find_if(first.jobs.begin(), first.jobs.end(), [&](const RunResult& j) { return j.name == job.name; });
      const auto place = static_cast<std::size_t>(other - first.jobs.begin());
      roles.push_back({false, other == first.jobs.end() ? roles.size() : place + 1});
    }
  }
  return roles;
}

}  // namespace

std::string to_table(std::span<const RunResult> given, bool colour, int width) {
  if (given.empty()) return {};
  const bool several = std::any_of(given.begin(), given.end(), [](const RunResult& run) { return !run.jobs.empty(); });
  const std::vector<RunResult> expanded = several ? with_jobs(given) : std::vector<RunResult>{};
  const std::span<const RunResult> results = several ? expanded : given;
  const auto room = static_cast<std::size_t>(std::max(width, 60));
  Rows rows(results, roles_of(given));
  add_subject(rows);
  add_steps(rows);
  add_rl(rows);
  add_training(rows);
  add_shares(rows);
  add_waits(rows);
  add_path(rows);
  add_reconfigurations(rows);
  add_utilisation(rows);
  for (std::size_t d = 0; d < kDimensionCount; ++d) add_traffic(rows, d);

  std::string text = bars(results, room, colour);
  const Layout layout = lay_out(rows, room);
  for (std::size_t first = 0; first < results.size(); first += layout.runs_in_block) {
    text += "\n" + block(rows, first, std::min(first + layout.runs_in_block, results.size()), layout.column);
  }
  return text;
}

}  // namespace photonrail
