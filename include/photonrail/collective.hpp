// Collectives as values: a call goes in, a plan of sends comes out. No clock, no network, no fabric.
#pragma once

#include "photonrail/collective/cost.hpp"
#include "photonrail/collective/send_plan.hpp"
#include "photonrail/collective/traffic_matrix.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

enum class CollectiveOp : std::uint8_t {
  kAllReduce,
  kReduce,
  kAllGather,
  kGather,
  kScatter,
  kBroadcast,
  kAllToAll,
  kReduceScatter,
  kBarrier,
  kSend
};
inline constexpr int kCollectiveOpCount = 10;

/// "all_reduce", "send" ...: the names of the scenario file.
[[nodiscard]] std::string_view name(CollectiveOp op);
[[nodiscard]] std::optional<CollectiveOp> collective_op_from(std::string_view name);

/// The server and the rail of a member. Members of one server share a scale-up domain, members of one rail share a rail.
/// The numbers have no meaning beyond being equal or different.
struct MemberPlace {
  std::uint32_t server = 0;
  std::uint32_t rail = 0;

  friend auto operator<=>(const MemberPlace&, const MemberPlace&) = default;
};

/// The members as the cells of a box of a torus or mesh: a message between neighbours has a link of its own.
struct MemberBox {
  struct Side {
    std::uint32_t cells = 1;
    std::uint32_t closing = 1;  ///< links from the last cell of a line to its first; 1: the line is a ring, or has 2 cells

    friend bool operator==(const Side&, const Side&) = default;
    friend auto operator<=>(const Side&, const Side&) = default;
  };
  std::vector<Side> sides{};      ///< each of 2 cells or more
  std::vector<Member> members{};  ///< by cell in row-major order, the last side is the fastest

  [[nodiscard]] bool empty() const { return sides.empty(); }

  friend bool operator==(const MemberBox&, const MemberBox&) = default;
  friend auto operator<=>(const MemberBox&, const MemberBox&) = default;
};

/// One call on a group. The meaning of `size` follows Chakra: all-reduce, reduce, broadcast: the full tensor;
/// all-gather and gather: one member's shard; reduce-scatter: the full input; scatter: the root's full input;
/// all-to-all: one member's total input; barrier: ignored; send: the message.
struct CollectiveCall {
  CollectiveOp op = CollectiveOp::kAllReduce;
  Member members = 2;  ///< at least 2; a send has exactly 2: 0 sends to 1
  Bytes size{};
  Member root = 0;           ///< reduce, gather, scatter, broadcast
  std::uint32_t pieces = 1;  ///< pipelined pieces to cut the data into, where the algorithm can ("chunks")
  std::uint32_t ports = 1;   ///< ports of a member's NIC, for algorithms that give each port a neighbour of its own
  /// By member, for algorithms that distinguish servers and rails. Empty: each member is alone in its server, all on one
  /// rail.
  std::vector<MemberPlace> places{};
  /// Where the group is a box of the torus that its server is; else empty.
  MemberBox box{};
  /// The member that is expected to arrive last, for algorithms with expects_straggler(). None: the highest member number.
  std::optional<Member> straggler = std::nullopt;
  /// The bytes that a port could send during one reconfiguration, for algorithms that trade circuits against bytes. 0:
  /// circuits cost nothing.
  Bytes reconfiguration{};
  /// All-to-all: the bytes that each pair exchanges, in place of even shares of `size`, which is then ignored. REQUIRES: it
  /// has as many members as the call. It must outlive the call of expand() only; the plan does not refer to it.
  const TrafficMatrix* demand = nullptr;

  friend bool operator==(const CollectiveCall&, const CollectiveCall&) = default;
};

/// The guarantees of an algorithm for its plans of an op on a number of members. The contract suite checks them.
struct CollectiveClaims {
  bool least_bytes = false;  ///< wire_bytes() is minimal for the op: no member receives data that it has or does not need
  bool matchings = false;    ///< in each round a member sends to at most one member and receives from at most one
};

/// A family of plans. Stateless.
class CollectiveAlgorithm {
 public:
  virtual ~CollectiveAlgorithm() = default;

  /// As scenarios and `photonrail list collectives` have it.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One line, for the same list.
  [[nodiscard]] virtual std::string_view summary() const = 0;
  /// Returns true when expand() has a plan for so many members, from 2.
  [[nodiscard]] virtual bool supports(CollectiveOp op, Member members) const = 0;
  /// Returns what laws and proofs hold the plans against; by default nothing beyond the right data.
  [[nodiscard]] virtual CollectiveClaims claims(CollectiveOp /*op*/, Member /*members*/) const { return {}; }
  /// Returns true when the plan depends on CollectiveCall::places. expand() throws ConfigError for places that it cannot
  /// use.
  [[nodiscard]] virtual bool uses_places() const { return false; }
  /// Returns true when the plan follows the links of CollectiveCall::box.
  [[nodiscard]] virtual bool follows_box() const { return false; }
  /// Returns true when the plan depends on CollectiveCall::straggler.
  [[nodiscard]] virtual bool expects_straggler() const { return false; }
  /// Returns true when the plan follows CollectiveCall::demand.
  [[nodiscard]] virtual bool takes_demand() const { return false; }
  /// The plan of a call. REQUIRES: supports(call.op, call.members); without takes_demand() the call has no demand.
  [[nodiscard]] virtual std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const = 0;
  /// The alpha-beta cost of the plan on an otherwise idle network. It equals the time of an exact simulation within one
  /// picosecond a send when the size divides evenly. nullopt (the default): there is no formula, and "auto" does not
  /// consider the algorithm. REQUIRES: as expand().
  [[nodiscard]] virtual std::optional<CollectiveCost> cost(const CollectiveCall& /*call*/, const CostModel& /*on*/) const {
    return std::nullopt;
  }
};

/// The algorithms by name: a value with an explicit table.
class CollectiveRegistry {
 public:
  /// The algorithms that `photonrail list collectives` shows.
  [[nodiscard]] static CollectiveRegistry builtin();

  /// Throws ConfigError when there is an algorithm of that name.
  void add(std::unique_ptr<const CollectiveAlgorithm> algorithm);
  /// Throws ConfigError that lists what is known.
  [[nodiscard]] const CollectiveAlgorithm& find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::unique_ptr<const CollectiveAlgorithm>>& all() const& { return algorithms_; }
  void all() const&& = delete;  // a loop over builtin().all() would outlive the table

 private:
  std::vector<std::unique_ptr<const CollectiveAlgorithm>> algorithms_;
};

/// The bytes of chunk `chunk` in a plan for `call` that numbers its data in `chunk_count` chunks.
[[nodiscard]] Bytes chunk_bytes(const CollectiveCall& call, std::uint32_t chunk_count, std::uint32_t chunk);

struct WorkEstimate;  // core/work.hpp

/// Making the plan of a call, and writing it as XML: by the sends that it has, known without making it.
[[nodiscard]] WorkEstimate work_of_export(const CollectiveCall& call, const CollectiveAlgorithm& algorithm);
/// The same of a plan that is made: what sends wait for is written, too.
[[nodiscard]] WorkEstimate work_of_export(const SendPlan& plan);

}  // namespace photonrail
