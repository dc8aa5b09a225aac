// The operators of a pipeline stage: each once, with its time; and how often they were used.
#pragma once

#include "photonrail/workload/training_operators.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::workload {

/// An operator of a book, and how many times it runs.
struct BookedOperator {
  std::uint32_t number = 0;
  double times = 1.0;
};

class OperatorBook {
 public:
  /// `how` must outlive the book.
  explicit OperatorBook(const TrainingOperators& how) : how_(how) {}

  /// Names what launches the kernels of an operator: the framework, each by a call of its own; a loop of a library.
  enum class From : std::uint8_t { kFramework, kLoop };
  /// Books an operator of a kind and name, launched as `kernels` kernels.
  [[nodiscard]] BookedOperator add(OperatorClass kind, std::string name, const Operator& op, double kernels = 1.0,
                                   From from = From::kFramework);
  /// One that no table has: `flops` in bf16 or `bytes`, whichever take longer at their share of the peak and the bandwidth,
  /// and `seconds` besides.
  struct OwnTime {
    OperatorClass kind = OperatorClass::kScan;
    double flops = 0.0;
    double flops_share = 1.0;
    double bytes = 0.0;
    double bytes_share = 1.0;
    double seconds = 0.0;
    double kernels = 1.0;
  };
  [[nodiscard]] BookedOperator add_timed(std::string name, const OwnTime& time);

  /// GPU and host together. `host_waits`: their times add up, else the longer one counts.
  [[nodiscard]] Duration time(const std::vector<BookedOperator>& work, bool host_waits) const;
  /// Seconds of time() by class of operators; kHost has what the GPU waits for the host.
  using ClassTimes = std::array<double, kOperatorClassCount>;
  [[nodiscard]] ClassTimes times_of_classes(const std::vector<BookedOperator>& work, bool host_waits) const;
  /// Notes that `work` runs on `ranks` GPUs.
  void use(const std::vector<BookedOperator>& work, bool host_waits, double ranks);

  [[nodiscard]] const TrainingOperators& how() const { return how_; }
  /// Returns the operators of all GPUs that use() named; the host's time that they waited is an operator of its own.
  [[nodiscard]] std::vector<OperatorUse> used() const;

 private:
  [[nodiscard]] BookedOperator keep(OperatorUse use, double seconds, double launches);  // of the host, s
  [[nodiscard]] double host_seconds(const std::vector<BookedOperator>& work, bool host_waits) const;
  [[nodiscard]] double gpu_seconds(const std::vector<BookedOperator>& work) const;

  const TrainingOperators& how_;
  std::vector<OperatorUse> used_;  // by number
  std::vector<double> seconds_;    // of one, by number
  std::vector<double> launches_;   // of the host for one, s, by number
  double host_seconds_ = 0.0;
};

/// Returns what all stages used, equal operators once, costliest first.
[[nodiscard]] OperatorUsage total_usage(const std::vector<std::vector<OperatorUse>>& stages);

}  // namespace photonrail::workload
