// What a file of `photonrail allocate` asks for: decisions, streams of jobs, availability, waste, circuits of collectives.
#pragma once

#include "photonrail/study/slices/availability.hpp"
#include "photonrail/study/slices/scheduling.hpp"
#include "photonrail/study/slices/step_circuits.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::slices {

/// One question to an allocator, and what is expected of the answer.
struct DecisionCase {
  /// Stands for a policy that the allocator of a data set does not know, and which therefore refuses everything.
  static constexpr const char* kUnknownPolicy = "unknown";

  struct Expected {
    bool placed = true;
    std::optional<RefusalReason> refusal{};  ///< without a placement; none: for any reason
    std::optional<Shape> shape{};
    std::vector<std::uint32_t> accelerators{};  ///< ascending; empty: any
  };

  std::string id{};
  std::string policy{};
  Pod pod{PodSpec{}};
  SliceRequest request{};
  std::optional<Expected> expected{};
};
/// In words what of the decision is not as expected; "" when nothing is.
[[nodiscard]] std::string difference(const DecisionCase::Expected& expected, const SliceDecision& decision);

struct AvailabilityStudy {
  CubePod pod{};
  std::vector<double> host_availability{};
  std::vector<std::uint32_t> slice_cubes{};
};

struct WasteStudy {
  struct Domain {
    std::string name{};
    GroupDomain domain{};
  };

  std::vector<double> faulty{};  ///< faulty_server_shares()
  std::uint32_t servers = 400;
  std::uint32_t accelerators_per_server = 8;
  std::vector<std::uint32_t> groups{};  ///< accelerators of a group, multiples of those of a server
  std::vector<Domain> domains{};
  std::uint32_t placements = 60;
};

struct CircuitStudy {
  std::string collective{};
  double bytes = 0.0;
  RotationFabric fabric{};
  std::vector<RotationStep> steps{};
};

struct AllocationStudy {
  std::string name{};
  std::string why{};
  std::vector<DecisionCase> decisions{};
  std::vector<SliceJob> jobs{};  ///< a stream, tried with each policy in each order
  std::vector<std::string> policies{};
  std::vector<QueueOrder> orders{};  ///< empty: without a queue
  ScheduleSpec schedule{};           ///< the order is replaced
  /// A scenario whose step says how a job slows down on a part of its bandwidth; empty: as ScheduleSpec::stretch without.
  std::filesystem::path step{};
  std::optional<AvailabilityStudy> availability{};
  std::optional<WasteStudy> waste{};
  std::vector<CircuitStudy> circuits{};
};

[[nodiscard]] const char* name(QueueOrder order);

/// A policy with an order of the queue, or without a queue.
struct StreamOutcome {
  std::string policy{};
  std::string order{};  ///< "": without a queue
  ScheduleResult schedule{};
  LossResult loss{};  ///< without a queue
};

struct DecisionOutcome {
  SliceDecision decision{};
  std::string difference{};  ///< from what is expected; ""
};

struct AllocationOutcome {
  std::vector<DecisionOutcome> decisions{};  ///< as in the study
  std::vector<StreamOutcome> streams{};      ///< by policy, then by order, as in the study

  [[nodiscard]] std::size_t unexpected() const;  ///< decisions that are not as expected
};

/// Told of each decision that is made and of each job of a stream that has ended, and of each stream that is complete: how
/// many decisions and jobs, of how many. May be empty.
using StudyProgress = std::function<void(std::size_t done, std::size_t of)>;

/// Makes the decisions and runs the stream with each policy in each order. `stretch`: see ScheduleSpec;
/// AllocationStudy::step is the caller's to simulate. Throws ConfigError for names that `known` has not, and as
/// schedule_jobs().
[[nodiscard]] AllocationOutcome carry_out(const AllocationStudy& study, const AllocatorRegistry& known,
                                          const std::function<double(double share)>& stretch = {},
                                          const StudyProgress& progress = {});

}  // namespace photonrail::slices
