// From a point to its record: the scenario, an estimate of what it needs, the run.
#pragma once

#include "config/graph_cache.hpp"
#include "photonrail/study/sweep.hpp"
#include "studies/study.hpp"
#include "studies/sweep/goodput_point.hpp"
#include "studies/sweep/inputs.hpp"
#include "studies/sweep/record.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace photonrail::sweep {

using studies::Estimate;
using studies::Stop;
using studies::Stopped;

/// Holds what is known of a point before it runs.
struct PointPreview {
  std::vector<std::string> warnings;        ///< Scenario::warnings()
  std::string infeasible;                   ///< Scenario::infeasible()
  std::optional<double> peak_memory_bytes;  ///< of a generated training job
  double seconds = 0.0;                     ///< what its run takes on one core, roughly: within a factor of about three
};

/// Returns a preview of every point, in order. Throws as check_sweep().
[[nodiscard]] std::vector<PointPreview> preview_sweep(const Sweep& sweep, const Registries& known);

/// The points of one sweep. Safe to use from several threads.
class PointRunner : public studies::Study<Record> {
 public:
  /// `sweep` and `known`, the controllers and collectives that points may name, must outlive it.
  /// A point that takes more than `point_limit_s` of processor time fails; 0: none does. Points that do not fit their GPUs
  /// are run if `run_infeasible`.
  PointRunner(const Sweep& sweep, const Registries& known, double point_limit_s = 0.0, bool run_infeasible = false);

  /// The estimate of each of `points`, in their order, found by so many threads. Throws ConfigError that lists all that are
  /// no scenarios; Stopped.
  /// `previews`: in the order of `points`, where it is not null.
  [[nodiscard]] std::vector<Estimate> check(std::span<const std::uint32_t> points, std::uint32_t threads, const Stop& stop,
                                            std::vector<PointPreview>* previews = nullptr) const;
  [[nodiscard]] std::vector<std::string> expand() const override;
  [[nodiscard]] Estimate estimate(std::size_t point) const override {
    return examine(static_cast<std::uint32_t>(point), nullptr);
  }
  /// As in the record of the point. Throws ConfigError.
  [[nodiscard]] std::string scenario_hash(std::uint32_t point) const;
  /// The record of an equal scenario as that of the point.
  [[nodiscard]] Record taken_over(std::uint32_t point, const Record& record) const;
  /// The name of one of `files`, as a manifest has them, that the point reads; empty: it reads none of them.
  [[nodiscard]] std::string reads_one_of(std::uint32_t point, const std::set<std::string>& files) const;
  /// What goes wrong in the run is in the record. Throws Stopped.
  [[nodiscard]] Record run(std::size_t point, const Stop& stop) const override;

 private:
  [[nodiscard]] std::string hash_of(const Json& scenario) const;
  [[nodiscard]] Record blank(std::uint32_t point) const;
  [[nodiscard]] Json scenario_json(const SweepPoint& point) const;
  [[nodiscard]] PointScenario scenario(const Json& json) const;
  /// Throws ConfigError for a point that is neither a scenario nor a study.
  [[nodiscard]] Estimate examine(std::uint32_t point, PointPreview* preview) const;
  void simulate_into(const PointScenario& scenario, const Stop& stop, Record& record) const;

  const Sweep* sweep_;
  const Registries* known_;
  double point_limit_s_;
  bool run_infeasible_;
  Json base_;
  bool studies_;                             ///< the base is a study of slices
  mutable config::GraphCache graphs_;        ///< locks itself
  mutable InputsOfPoints inputs_;            ///< locks itself
  mutable goodput::KnownSteps known_steps_;  ///< of points whose months differ and whose steps do not; locks itself
};

}  // namespace photonrail::sweep
