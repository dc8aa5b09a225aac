#include "photonrail/study/calibrate.hpp"

#include "core/printed.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"

#include <cmath>

namespace photonrail {

namespace {

constexpr double kMaxInverse = 1000.0;  // 1 / efficiency
constexpr std::uint32_t kMaxRuns = 60;
constexpr const char* kWhere = "measured step";

std::string seconds(Duration d) { return core::printed("%.6g s", to_seconds(d)); }

/// A tried 1 / efficiency, and by how many picoseconds its step is longer than the measured one.
struct Point {
  double inverse = 1.0;
  double excess = 0.0;
  Duration step{};
};

class Fit {
 public:
  Fit(Duration measured, const std::function<Duration(double)>& step_of, double tolerance)
      : measured_(measured), step_of_(step_of), slack_(tolerance * static_cast<double>(measured.count())) {}

  Calibration run() {
    Point low = at(1.0);
    if (is_close(low)) return answer(low);
    if (low.excess > 0.0) {
      throw ConfigError(
          kWhere, seconds(measured_) + " is shorter than the simulated step at compute efficiency 1, " + seconds(low.step),
          "communication or memory traffic alone take too long, or the GPU's peak is too low");
    }
    Point high = beyond(low);
    while (!is_close(high)) {
      if (runs_ >= kMaxRuns) fail_to_meet(low, high);
      narrow(low, high);
      if (is_close(low)) return answer(low);
    }
    return answer(high);
  }

 private:
  Point at(double inverse) {
    ++runs_;
    const Duration step = step_of_(1.0 / inverse);
    return {inverse, static_cast<double>((step - measured_).count()), step};
  }
  [[nodiscard]] bool is_close(const Point& p) const {
    return std::abs(static_cast<double>((p.step - measured_).count())) <= slack_;
  }
  [[nodiscard]] Calibration answer(const Point& p) const { return {1.0 / p.inverse, measured_, p.step, runs_}; }

  // A point whose step is not shorter than the measured one; moves `low` up on the way.
  Point beyond(Point& low) {
    Point high = low;
    while (high.excess < 0.0 && !is_close(high)) {
      if (high.inverse >= kMaxInverse) {
        throw ConfigError(kWhere,
                          seconds(measured_) + " is longer than the simulated step even at compute efficiency 0.001, " +
                              seconds(high.step),
                          "is it the step of this job? Computations of fixed time do not depend on the efficiency");
      }
      low = high;
      high = at(std::min(high.inverse * 2.0, kMaxInverse));
    }
    return high;
  }

  // One step of false position. The end that stays for a second time counts half (Illinois).
  void narrow(Point& low, Point& high) {
    const Point next = at((low.inverse * high.excess - high.inverse * low.excess) / (high.excess - low.excess));
    const bool is_high = next.excess >= 0.0;
    Point& moved = is_high ? high : low;
    Point& stays = is_high ? low : high;
    moved = next;
    if (last_moved_ == &moved) stays.excess /= 2.0;
    last_moved_ = &moved;
  }

  [[noreturn]] void fail_to_meet(const Point& low, const Point& high) const {
    throw ConfigError(kWhere,
                      "no efficiency gives " + seconds(measured_) + ": the simulated step jumps from " + seconds(low.step) +
                          " to " + seconds(high.step) + " near " + std::to_string(1.0 / high.inverse),
                      "a measured step of one of the two");
  }

  Duration measured_;
  const std::function<Duration(double)>& step_of_;
  double slack_;
  std::uint32_t runs_ = 0;
  const Point* last_moved_ = nullptr;
};

}  // namespace

Calibration fit_compute_efficiency(Duration measured, const std::function<Duration(double)>& step_of, double tolerance) {
  if (measured <= Duration{}) throw ConfigError(kWhere, "must be positive, but is " + seconds(measured));
  return Fit(measured, step_of, tolerance).run();
}

Calibration calibrate(const Scenario& scenario, Duration measured, double tolerance) {
  return calibrate(scenario, measured, tolerance, Registries{});
}

Calibration calibrate(const Scenario& scenario, Duration measured, double tolerance, const Registries& known) {
  Scenario tried = scenario;
  return fit_compute_efficiency(
      measured,
      [&](double efficiency) {
        tried.cluster.gpu.compute_efficiency = efficiency;
        return simulate(tried, {}, known).step_time();
      },
      tolerance);
}

}  // namespace photonrail
