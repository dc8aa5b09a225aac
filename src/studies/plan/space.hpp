// The candidates of a plan: jobs (shapes of parallelism under each choice that changes the job) times the other choices.
#pragma once

#include "json/json.hpp"
#include "photonrail/study/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
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
  ShapeNumbers shape{};
  std::uint32_t job_values = 0;  ///< which combination of the axes that change the job
  double bound = 0.0;            ///< of the objective
  double bound_s = 0.0;          ///< of the step
};

/// What cannot be, by reason, with the first example of each.
struct Rejections {
  struct Reason {
    std::uint64_t count = 0;
    std::string example;
  };
  std::map<std::string, Reason> of;
  double least_excess = 0.0;  ///< of the memory of a GPU, as a share, among those that need too much; 0: none did
  std::string nearest;        ///< the candidate that has it
};

class Space {
 public:
  /// `plan` must outlive the object. Throws ConfigError: under one of the choices the base has no cluster, or shapes are
  /// searched of what is no training job.
  explicit Space(const Plan& plan);

  /// Checks every job and finds its bound; the best bound comes first, equal ones in the order of the file.
  [[nodiscard]] std::vector<JobCandidate> jobs(Rejections& rejections) const;
  /// Combinations of the axes that do not change the job.
  [[nodiscard]] std::uint64_t runs_of_job() const { return other_count_; }
  /// Jobs and runs together, whether they can be or not.
  [[nodiscard]] std::uint64_t candidates() const { return shapes() * job_count_ * other_count_; }

  /// The objective of a step that takes so long.
  [[nodiscard]] double objective(const JobCandidate& job, double step_s) const;
  /// What candidate `run` of the job changes in the base, and the labels of its values.
  [[nodiscard]] std::vector<Override> patch(const JobCandidate& job, std::uint64_t run) const;
  [[nodiscard]] std::vector<std::string> labels(const JobCandidate& job, std::uint64_t run) const;
  /// The free choices with the label that the candidate has in each: "tp" and so on, then the axes.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> values(const JobCandidate& job, std::uint64_t run) const;

 private:
  [[nodiscard]] std::uint64_t shapes() const;
  [[nodiscard]] ShapeNumbers shape(std::uint64_t index) const;
  [[nodiscard]] std::uint32_t value_of(std::size_t axis, std::uint32_t job_values, std::uint64_t run) const;
  [[nodiscard]] std::uint32_t dp(const JobCandidate& job) const;
  [[nodiscard]] std::string shape_label(const JobCandidate& job) const;
  void add_shape(const JobCandidate& job, std::vector<Override>& patch) const;
  void add_jobs(std::uint32_t job_values, Rejections& rejections, std::vector<JobCandidate>& jobs) const;

  /// What the base is with one combination of the axes that change the job.
  struct Base {
    std::optional<TrainingSpec> spec;  ///< none: no training job
    ClusterSpec cluster{};
    double gpus = 0.0;  ///< of the cluster
  };
  [[nodiscard]] Base base_of(const json::Json& scenario) const;
  /// Adds the job where it can be.
  void examine(const Base& base, const TrainingSpec& spec, StepBound& bound, JobCandidate& job, Rejections& rejections,
               std::vector<JobCandidate>& jobs) const;

  const Plan& plan_;
  std::vector<bool> changes_job_;  // by axis
  std::uint64_t job_count_ = 1;
  std::uint64_t other_count_ = 1;
  std::vector<Base> bases_;  // by combination of the axes that change the job
};

}  // namespace photonrail::plan
