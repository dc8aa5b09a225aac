// Uneven all-to-all: what every member has for every other, as a value, and where such values come from.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace photonrail {

class SendPlan;

/// A member of a communicator group, 0 .. members-1.
using Member = std::uint32_t;

/// Bytes from every member (row) to every member (column). What a member has for itself, on the diagonal, stays where it
/// is and never counts as traffic.
class TrafficMatrix {
 public:
  /// All zero.
  explicit TrafficMatrix(Member members) : members_(members), bytes_(std::size_t{members} * members) {}

  [[nodiscard]] Member members() const { return members_; }
  [[nodiscard]] Bytes& at(Member from, Member to) { return bytes_[std::size_t{from} * members_ + to]; }
  [[nodiscard]] Bytes at(Member from, Member to) const { return bytes_[std::size_t{from} * members_ + to]; }
  [[nodiscard]] std::span<const Bytes> row(Member from) const {
    return std::span(bytes_).subspan(std::size_t{from} * members_, members_);
  }

  /// Returns what crosses from member to member: all but the diagonal.
  [[nodiscard]] Bytes wire_bytes() const;
  /// The most that one member sends, or that one receives: divided by the rate of a port, no schedule is faster.
  [[nodiscard]] Bytes busiest_port() const;

  friend bool operator==(const TrafficMatrix&, const TrafficMatrix&) = default;

 private:
  Member members_;
  std::vector<Bytes> bytes_;
};

/// Which matrix is wanted. Numbers start at 1: 0 stands for an even all-to-all, which needs none.
struct DemandQuery {
  CommunicatorId communicator{};
  std::uint32_t number = 1;
  std::uint32_t iteration = 0;
  std::uint64_t seed = 1;  ///< of the run

  friend auto operator<=>(const DemandQuery&, const DemandQuery&) = default;
};

/// Where the matrices of a job's all-to-alls come from, so that they need not all be in memory. Pure: equal queries get
/// equal matrices, in whatever order and from however many threads they are asked.
class TrafficSource {
 public:
  virtual ~TrafficSource() = default;

  /// Returns how many members the matrices of `number` have; nullopt: there are none of that number.
  [[nodiscard]] virtual std::optional<Member> members(std::uint32_t number) const = 0;
  /// Returns true when the iteration makes a difference.
  [[nodiscard]] virtual bool drifts() const = 0;
  /// REQUIRES: members(query.number) is that of the communicator.
  [[nodiscard]] virtual TrafficMatrix matrix(const DemandQuery& query) const = 0;

  /// The plan of an all-to-all that is more than its matrix, in place of an algorithm's plan. Null (the default): the
  /// algorithm's plan is used. `servers`: the server of each member. REQUIRES: as matrix().
  [[nodiscard]] virtual std::unique_ptr<const SendPlan> plan(const DemandQuery& query,
                                                             std::span<const std::uint32_t> servers) const;
  /// FLOPs of a member's computation that goes with the demand (TaskGraphBuilder::add_demand_compute); by default none.
  /// REQUIRES: as matrix().
  [[nodiscard]] virtual double flops(const DemandQuery& /*query*/, Member /*member*/) const { return 0.0; }
};

/// Matrices written down: number i is the i-th that was added, for every communicator and iteration.
class DemandTable final : public TrafficSource {
 public:
  /// Returns its number. One that is in the table already keeps the number that it has.
  std::uint32_t add(TrafficMatrix matrix);

  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override;
  [[nodiscard]] bool drifts() const override { return false; }
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override;

 private:
  std::vector<TrafficMatrix> matrices_;
};

}  // namespace photonrail
