#include "studies/slices/slice_map.hpp"

#include "core/counted.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace photonrail::slices {

namespace {

constexpr double kLeft = 60.0;
constexpr double kTop = 90.0;      // below the title and the curve
constexpr double kWidth = 1100.0;  // of the time axis
constexpr double kCurve = 50.0;    // height of the curve
constexpr std::array<const char*, 12> kFills{"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948",
                                             "#b07aa1", "#ff9da7", "#9c755f", "#86bcb6", "#8cd17d", "#d4a6c8"};

/// Cubes of a pod as rows.
class CubeRows {
 public:
  explicit CubeRows(const PodSpec& pod) : torus_(pod.torus) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      edge_[d] = d < torus_.dimensions ? std::min(pod.block, torus_[d]) : 1;
      cubes_.sides[d] = (torus_[d] + edge_[d] - 1) / edge_[d];
    }
  }

  [[nodiscard]] std::uint32_t rows() const { return cubes_.size(); }
  [[nodiscard]] double height() const { return std::clamp(640.0 / rows(), 3.0, 24.0); }
  [[nodiscard]] std::uint32_t row_of(std::uint32_t accelerator) const {
    const Coordinates at = torus_.at(accelerator);
    return cubes_.index({at[0] / edge_[0], at[1] / edge_[1], at[2] / edge_[2]});
  }
  [[nodiscard]] double of_cube() const { return double{1} * edge_[0] * edge_[1] * edge_[2]; }

  /// By row: the number of accelerators, and the least position of them inside the cube.
  struct Part {
    std::uint32_t count = 0;
    std::uint32_t first = UINT32_MAX;
  };
  [[nodiscard]] std::map<std::uint32_t, Part> parts(const std::vector<std::uint32_t>& accelerators) const {
    std::map<std::uint32_t, Part> parts;
    for (const std::uint32_t a : accelerators) {
      const Coordinates at = torus_.at(a);
      Part& part = parts[cubes_.index({at[0] / edge_[0], at[1] / edge_[1], at[2] / edge_[2]})];
      ++part.count;
      const Shape cube{edge_, 3};
      part.first = std::min(part.first, cube.index({at[0] % edge_[0], at[1] % edge_[1], at[2] % edge_[2]}));
    }
    return parts;
  }

 private:
  Shape torus_;
  Coordinates edge_{};
  Shape cubes_{};
};

/// The circuits of a slice: how many, and which cubes they join.
struct SliceCircuits {
  std::size_t count = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> rows{};
};

SliceCircuits circuits_of(const PodSpec& pod, SliceFabric fabric, const CubeRows& rows, const SliceRun& run) {
  SliceCircuits circuits;
  if (run.slice.accelerators.empty()) return circuits;
  if (fabric == SliceFabric::kRing) {  // between one server and the next
    std::set<std::uint32_t> servers;
    for (const std::uint32_t a : run.slice.accelerators) servers.insert(server_of(pod, a).front());
    circuits.count = servers.size() - 1;
  }
  if (fabric == SliceFabric::kServers && !run.slice.fibres.empty()) {
    for (const auto& boundary : run.slice.fibres) circuits.count += boundary.circuits;
  } else if (fabric == SliceFabric::kServers || fabric == SliceFabric::kCubes) {
    const SliceWiring wiring = wiring_of(pod, run.slice, fabric);
    circuits.count = wiring.circuits.size();
    for (const auto& circuit : wiring.circuits) {
      const auto ends = std::minmax({rows.row_of(circuit.from), rows.row_of(circuit.to)});
      if (ends.first != ends.second) circuits.rows.insert(ends);
    }
  }
  return circuits;
}

class MapDrawing {
 public:
  MapDrawing(const ScheduleResult& result, const PodSpec& pod, SliceFabric fabric)
      : result_(result),
        pod_(pod),
        fabric_(fabric),
        rows_(pod),
        scale_(kWidth / std::max(1.0, static_cast<double>(result.makespan.count()))) {}

  [[nodiscard]] std::string svg(const std::string& title) {
    const double bottom = kTop + rows_.rows() * rows_.height();
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kLeft + kWidth + 20 << "\" height=\"" << bottom + 40
         << "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
            "fill=\"#ffffff\"/>\n<text x=\""
         << kLeft << "\" y=\"18\" font-size=\"14\">" << report::escaped(title) << "</text>\n";
    std::vector<std::pair<Instant, double>> in_use;
    std::vector<std::pair<Instant, double>> lit;
    grid(bottom);
    for (const SliceRun& run : result_.runs) {
      in_use.emplace_back(run.start, run.accelerators);
      in_use.emplace_back(run.end, -double{1} * run.accelerators);
      if (run.slice.accelerators.empty()) continue;
      const SliceCircuits circuits = circuits_of(pod_, fabric_, rows_, run);
      lit.emplace_back(run.start, static_cast<double>(circuits.count));
      lit.emplace_back(run.end, -static_cast<double>(circuits.count));
      bar(run, circuits.count);
      join(run, circuits);
    }
    curve(std::move(in_use), pod_.torus.size(), "slices", "#333333");
    label(8, "100 %");
    label(kCurve, "in use");
    if (const double most = curve(std::move(lit), 0.0, "circuits", "#c0392b"); most > 0.0) {
      out_ << "<text x=\"" << kLeft + kWidth << "\" y=\"18\" text-anchor=\"end\" fill=\"#c0392b\">circuits, at most "
           << report::number("%.0f", most) << "</text>\n";
    }
    for (const Outage& outage : result_.outages) dark(outage);
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  [[nodiscard]] double x(Instant at) const {
    return kLeft + static_cast<double>(std::min(at, result_.makespan).count()) * scale_;
  }

  void rectangle(Instant from, Instant to, std::uint32_t row, const CubeRows::Part& part, const std::string& look) {
    const double y = kTop + (row + part.first / rows_.of_cube()) * rows_.height();
    out_ << "<rect x=\"" << report::number("%.2f", x(from)) << "\" y=\"" << report::number("%.2f", y) << "\" width=\""
         << report::number("%.2f", std::max(0.2, x(to) - x(from))) << "\" height=\""
         << report::number("%.2f", rows_.height() * part.count / rows_.of_cube()) << "\" " << look;
  }

  void bar(const SliceRun& run, std::size_t circuits) {
    const char* how = run.how == RunEnd::kDone      ? "done"
                      : run.how == RunEnd::kFailure ? "stopped by a failure"
                                                    : "preempted";
    std::ostringstream look;
    look << "fill=\"" << kFills[run.job % kFills.size()] << "\"><title>job " << run.job << ", " << run.slice.shape.text()
         << ", " << report::number("%.0f", static_cast<double>(run.start.count()) / 1e6) << " to "
         << report::number("%.0f", static_cast<double>(run.end.count()) / 1e6) << " s, " << how;
    if (circuits > 0) look << ", " << core::counted(circuits, "circuit");
    look << "</title></rect>\n";
    for (const auto& [row, part] : rows_.parts(run.slice.accelerators))
      rectangle(run.start, run.end, row, part, look.str());
  }

  void dark(const Outage& outage) {
    if (outage.start >= result_.makespan) return;
    for (const auto& [row, part] : rows_.parts(server_of(pod_, outage.server))) {
      rectangle(outage.start, outage.end, row, part, "fill=\"#111111\"><title>server down</title></rect>\n");
    }
  }

  /// Arcs between the cubes that the circuits of a slice join.
  void join(const SliceRun& run, const SliceCircuits& circuits) {
    constexpr std::size_t kMaxArcs = 20'000;
    for (const auto& [upper, lower] : circuits.rows) {
      if (++arcs_ > kMaxArcs) return;
      const double from = kTop + (upper + 0.5) * rows_.height();
      const double to = kTop + (lower + 0.5) * rows_.height();
      out_ << "<path class=\"joined\" fill=\"none\" stroke=\"#c0392b\" stroke-width=\"0.4\" d=\"M"
           << report::number("%.2f", x(run.start)) << ' ' << report::number("%.2f", from) << " q6 "
           << report::number("%.2f", (to - from) / 2) << " 0 " << report::number("%.2f", to - from) << "\"/>\n";
    }
  }

  void label(double below_top, const char* text) {
    out_ << "<text x=\"4\" y=\"" << kTop - kCurve - 8 + below_top << "\">" << text << "</text>\n";
  }

  /// A sum of changes over time, as high as `all` (0: as its greatest value, which is the result).
  double curve(std::vector<std::pair<Instant, double>> changes, double all, const char* name, const char* stroke) {
    std::sort(changes.begin(), changes.end());
    double most = all;
    double sum = 0.0;
    for (const auto& [at, change] : changes) most = std::max(most, sum += change);
    if (most == 0.0) return 0.0;
    const double top = kTop - kCurve - 8;
    out_ << "<polyline class=\"" << name << "\" fill=\"none\" stroke=\"" << stroke << "\""
         << (all == 0.0 ? " stroke-dasharray=\"4 3\"" : "") << " points=\"";
    sum = 0.0;
    const auto point = [&](Instant at) {
      out_ << report::number("%.2f", x(at)) << ',' << report::number("%.2f", top + kCurve * (1.0 - sum / most)) << ' ';
    };
    for (const auto& [at, change] : changes) {
      point(at);
      sum += change;
      point(at);
    }
    out_ << "\"/>\n";
    return most;
  }

  void grid(double bottom) {
    for (std::uint32_t row = 0; row < rows_.rows(); row += std::max(1U, rows_.rows() / 16)) {
      out_ << "<text x=\"4\" y=\"" << kTop + (row + 0.8) * rows_.height() << "\">cube " << row << "</text>\n";
    }
    for (int mark = 0; mark <= 10; ++mark) {
      const double hours = static_cast<double>(result_.makespan.count()) / 3.6e9 * mark / 10;
      const double at = kLeft + kWidth * mark / 10;
      out_ << "<line x1=\"" << at << "\" x2=\"" << at << "\" y1=\"" << kTop << "\" y2=\"" << bottom
           << "\" stroke=\"#dddddd\"/><text x=\"" << at << "\" y=\"" << bottom + 16 << "\" text-anchor=\"middle\">"
           << report::number("%.1f", hours) << " h</text>\n";
    }
  }

  const ScheduleResult& result_;
  const PodSpec& pod_;
  SliceFabric fabric_;
  CubeRows rows_;
  double scale_;
  std::size_t arcs_ = 0;
  std::ostringstream out_;
};

}  // namespace

std::string slice_map_svg(const ScheduleResult& result, const PodSpec& pod, SliceFabric fabric, const std::string& title) {
  return MapDrawing(result, pod, fabric).svg(title);
}

}  // namespace photonrail::slices
