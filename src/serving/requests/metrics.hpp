// Sums up what happened to requests, in memory that does not grow with their number.
#pragma once

#include "photonrail/core/durations.hpp"
#include "photonrail/workload/serving.hpp"
#include "serving/requests/arrivals.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::serving {

/// Times whose percentiles are exact up to a number of them, and those of a histogram beyond it.
class TimeSamples {
 public:
  static constexpr std::size_t kMaxExact = 1U << 17;

  TimeSamples() = default;
  explicit TimeSamples(std::size_t most_exact) : most_exact_(most_exact) {}
  void add(Duration time, std::uint64_t copies = 1);
  [[nodiscard]] TimeSummary summary() const;
  [[nodiscard]] bool exact() const { return histogram_.count() == 0; }

 private:
  [[nodiscard]] Duration mean() const;

  std::size_t most_exact_ = kMaxExact;
  std::vector<Duration> all_;
  DurationHistogram histogram_;  // of all, once they are too many
  std::uint64_t count_ = 0;
  LongTime total_;
  Duration most_{};
};

/// The limits that a good request keeps.
struct SloSpec {
  std::optional<Duration> ttft{};
  std::optional<Duration> tpot{};
  double share = 0.9;  ///< of requests that should keep them: what a search for the greatest rate holds
};

/// The parts of a request's time to its first token. REQUIRES: it has one.
[[nodiscard]] std::array<Duration, kTtftPartCount> ttft_parts(const ServedRequest& request);

class Metrics {
 public:
  /// Requests below `warm_up` are counted, and their times are not.
  Metrics(const std::optional<SloSpec>& slo, std::uint64_t warm_up, const std::vector<RequestClass>& classes);

  void offered(const Offer& offer);
  void refused(const Offer& offer);
  void finished(const ServedRequest& request);
  void gap(Duration gap, std::uint64_t copies) { gaps_.add(gap, copies); }
  /// `offered`: in all.
  [[nodiscard]] ServingResult result(std::uint64_t offered, Duration makespan) const;
  [[nodiscard]] std::uint64_t ended() const { return result_.finished + result_.refused; }

 private:
  struct OfClass {
    SloSpec slo;
    TimeSamples ttft{kMaxOfClass}, tpot{kMaxOfClass};
    std::uint64_t counted = 0;
    std::uint64_t good = 0;
  };
  static constexpr std::size_t kMaxOfClass = 1U << 14;
  void finished_of_class(const ServedRequest& request, Duration ttft, Duration tpot);

  std::optional<SloSpec> slo_;
  std::uint64_t warm_up_;
  std::vector<OfClass> classes_;
  ServingResult result_;
  TimeSamples ttft_, tpot_, e2e_, transfer_;
  TimeSamples gaps_{0};
  std::array<TimeSamples, kTtftPartCount> parts_{};
  std::uint64_t good_ = 0;
  struct Answers {  // of counted requests
    struct Amount {
      std::uint64_t requests = 0;
      std::uint64_t tokens = 0;
    };
    Time from = Time::never();  // the first arrival
    Time last_begins{};
    Amount all{};
    Amount of_last{};  // that begin then

    void add(const ServedRequest& request);
    /// ServingResult::steady_output_tokens_per_s, and the same of requests.
    [[nodiscard]] double per_s(std::uint64_t Amount::*what, Duration makespan) const;
  } answers_;
};

}  // namespace photonrail::serving
