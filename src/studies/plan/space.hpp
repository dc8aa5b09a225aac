// The candidates of a plan: jobs (shapes of parallelism under each choice that changes the job) times the other choices.
#pragma once

#include "json/json.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/plan/bound.hpp"
#include "studies/plan/objective.hpp"
#include "studies/plan/outcome.hpp"
#include "studies/plan/pipeline_path.hpp"
#include "studies/plan/served.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::plan {

/// The numbers of one shape; words are indices into the lists of the space.
struct ShapeNumbers {
  std::uint32_t tp = 1, cp = 1, pp = 1, ep = 1, virtual_stages = 1, micro_batch = 1;
  std::uint32_t sharding = 0, recompute = 0;
};

/// A shape under one combination of the axes that change the job, and what is known of it without running it.
struct JobCandidate {
  std::uint64_t number = 0;  ///< among all shapes under all combinations
  ShapeNumbers shape{};
  std::uint32_t job_values = 0;  ///< which combination of the axes that change the job
  double bound = 0.0;            ///< of the first objective, over all runs of the job
  double bound_s = 0.0;          ///< of the step
  double work = 0.0;             ///< of a simulation, to compare jobs with each other
  ServedBound served{};          ///< of its requests
};

/// Counts impossible candidates by reason, with the first example of each.
struct Rejections {
  struct Reason {
    std::uint64_t count = 0;
    std::string example;
  };
  std::map<std::string, Reason> of;
  double least_excess = 0.0;  ///< of the memory of a GPU, as a share, among those that need too much; 0: none did
  std::string nearest;        ///< the candidate that has it
};

/// Of the base with these changes.
[[nodiscard]] NetworkBill bill_of(const Plan& plan, const std::vector<Override>& patch);

class Space {
 public:
  /// Both must outlive the object. Throws ConfigError: under no choice the base has a cluster and a job, or shapes are
  /// searched, or tokens counted, of what is no training job, or requests counted of what serves none within limits.
  Space(const Plan& plan, const Registries& known);

  /// Checks every job and finds its quick bound; in the order of the file.
  [[nodiscard]] std::vector<JobCandidate> jobs(Rejections& rejections) const;
  /// Raises the bound of the job to the closer one. Throws ConfigError: it cannot be run. Safe to call from several
  /// threads.
  void raise_bound(JobCandidate& job) const;
  /// Combinations of the axes that do not change the job.
  [[nodiscard]] std::uint64_t runs_of_job() const { return other_count_; }
  /// Jobs and runs together, whether they can be or not.
  [[nodiscard]] std::uint64_t candidates() const { return shapes() * job_count_ * other_count_; }

  /// The least that the objectives of a candidate can be; without a run, of all runs of the job.
  [[nodiscard]] std::vector<double> bounds(const JobCandidate& job, std::optional<std::uint64_t> run) const;
  /// The same of a candidate, with the circuits that its rails must switch. Safe to call from several threads;
  /// milliseconds.
  [[nodiscard]] std::vector<double> bounds_on_rails(const JobCandidate& job, std::uint64_t run) const;
  /// Everything that is known of the candidate before it runs, but for its bound. The bill is 0 where it is not asked for.
  [[nodiscard]] Measured known(const JobCandidate& job, std::optional<std::uint64_t> run) const;
  /// The bill of the network. Safe to call from several threads.
  [[nodiscard]] NetworkBill bill(const JobCandidate& job, std::uint64_t run) const;
  /// The changes of candidate `run` of the job to the base, and the labels of its values.
  [[nodiscard]] std::vector<Override> patch(const JobCandidate& job, std::uint64_t run) const;
  [[nodiscard]] std::vector<std::string> labels(const JobCandidate& job, std::uint64_t run) const;
  /// Its value in each free choice, in the order of values(): a number of its own.
  [[nodiscard]] std::vector<std::uint32_t> value_numbers(const JobCandidate& job, std::uint64_t run) const;
  /// The candidate, and those that can be and differ from it in one choice: of numbers the next ones only.
  [[nodiscard]] std::vector<PlanValue> around(const JobCandidate& job, std::uint64_t run) const;
  /// The free choices with the label that the candidate has in each: "tp" and so on, then the axes.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> values(const JobCandidate& job, std::uint64_t run) const;

 private:
  [[nodiscard]] std::uint64_t shapes() const;
  [[nodiscard]] ShapeNumbers shape(std::uint64_t index) const;
  [[nodiscard]] std::uint32_t value_of(std::size_t axis, std::uint32_t job_values, std::uint64_t run) const;
  [[nodiscard]] bool can_be(const JobCandidate& job, std::uint64_t run) const;
  [[nodiscard]] std::vector<ShapeNumbers> shapes_around(const ShapeNumbers& shape) const;
  [[nodiscard]] std::uint32_t dp(const JobCandidate& job) const;
  [[nodiscard]] std::string shape_label(const JobCandidate& job) const;
  void add_shape(const JobCandidate& job, std::vector<Override>& patch) const;
  void add_jobs(std::uint32_t job_values, Rejections& rejections, std::vector<JobCandidate>& jobs) const;

  /// The base with one combination of the axes that change the job.
  struct Base {
    std::optional<TrainingSpec> spec;  ///< none: no training job
    StepBound::Facts facts{};
    ClusterSpec cluster{};
    double gpus = 0.0;                     ///< of the cluster
    bool serves = false;                   ///< requests within limits
    bool loops = false;                    ///< their clients wait for answers
    std::optional<ConfigError> refused{};  ///< why there is no such job
  };
  [[nodiscard]] Base base_of(const json::Json& scenario) const;
  void check_objectives(const Base& base) const;
  /// The changes that the values of axes make, without the shape.
  [[nodiscard]] std::vector<Override> axis_patch(std::uint32_t job_values, std::uint64_t run) const;
  /// REQUIRES: it is a training job.
  [[nodiscard]] TrainingSpec spec_of(const JobCandidate& job) const;
  /// Adds the job where it can be.
  void examine(const Base& base, const TrainingSpec& spec, StepBound& bound, JobCandidate& job, Rejections& rejections,
               std::vector<JobCandidate>& jobs) const;

  const Plan& plan_;
  const Registries& known_;
  std::vector<bool> changes_job_;  // by axis
  std::uint64_t job_count_ = 1;
  std::uint64_t other_count_ = 1;
  const std::shared_ptr<PipelineOrders> orders_ = std::make_shared<PipelineOrders>();
  std::vector<Base> bases_;  // by combination of the axes that change the job
  bool needs_bill_ = false;  // by an objective
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::uint32_t, std::uint64_t>, NetworkBill> bills_;  // by job_values and run
  mutable std::map<std::uint32_t, NetworkBill> least_bills_;                      // by job_values
  mutable std::map<std::string, double> closer_;                                  // bounds by what they depend on
  mutable std::map<std::pair<std::string, std::int64_t>, double> switched_;  // the same on rails that switch for so long
};

}  // namespace photonrail::plan
