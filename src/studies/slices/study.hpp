// A study of slices, `photonrail allocate`: what its file asks for (decisions, streams of jobs, availability, waste,
// circuits of collectives; docs/reference/slices.md has the keys), and its results as a value.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/simulate.hpp"
#include "studies/slices/pods/availability.hpp"
#include "studies/slices/pods/scheduling.hpp"
#include "studies/slices/pods/step_circuits.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// Reads `photonrail.allocation/1`. Unknown keys are errors; relative paths are relative to the file. `known`: the policies
/// that the file may name. Throws ConfigError.
[[nodiscard]] AllocationStudy read_study(const std::filesystem::path& file, std::span<const Override> overrides = {},
                                         const AllocatorRegistry& known = AllocatorRegistry::builtin());
/// The same of a text that is JSON. Relative paths are relative to `directory`; errors name `file`.
[[nodiscard]] AllocationStudy parse_study(std::string_view json, const std::filesystem::path& directory,
                                          std::string_view file, std::span<const Override> overrides = {},
                                          const AllocatorRegistry& known = AllocatorRegistry::builtin());

/// Makes the decisions of a study (read_study()) and runs its stream with each policy in each order. Where the
/// study names a scenario (AllocationStudy::step), its step is simulated once for each share of the bandwidth, with the
/// controllers and collectives of `known`. Throws ConfigError, and DeadlockError where a job of the stream can never end.
[[nodiscard]] AllocationOutcome run_allocation(const AllocationStudy& study, const Registries& known = {},
                                               const AllocatorRegistry& policies = AllocatorRegistry::builtin(),
                                               const StudyProgress& progress = {});

/// run_allocation(): what happens in each stream, times the questions to its allocator that this asks.
[[nodiscard]] WorkEstimate work_of(const AllocationStudy& study);

/// `photonrail.allocation_result/1` (docs/reference/slices.md). `outcome`: of the same study, here and below.
[[nodiscard]] std::string allocation_json(const AllocationStudy& study, const AllocationOutcome& outcome);

/// The jobs of a stream with a queue as CSV: a row a job with arrival, start, end and waiting in seconds, and stops.
[[nodiscard]] std::string allocation_jobs_csv(const AllocationStudy& study, const StreamOutcome& stream);

}  // namespace photonrail::slices
