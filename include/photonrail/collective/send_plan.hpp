// The plan of a collective: its sends, their order and their rounds of circuits. And a builder for plans that are lists.
#pragma once

#include "photonrail/collective/traffic_matrix.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace photonrail {

using SendIndex = std::uint32_t;

/// One message between two members.
struct Send {
  Member from = 0;
  Member to = 0;
  Bytes bytes{};
  std::uint32_t first_chunk = 0;  ///< the data: chunks first_chunk .. first_chunk + chunks - 1 (see SendPlan::data)
  std::uint32_t chunks = 1;
  std::uint32_t round = 0;  ///< the round of circuits that it uses
  bool reduce = false;      ///< the receiver adds the data to its own instead of replacing it
  bool ordered = false;     ///< leaves through the sender's proxy (see LocalStep::Kind::kFence)
};

/// Work that a member does locally in the middle of a plan. The plan represents it as a send of the member to itself with
/// no bytes; sends that wait for that send wait for the end of the step.
struct LocalStep {
  enum class Kind : std::uint8_t {
    kTiles,  ///< equal pieces of computation, each on one of the GPU's processors, assigned to steps in order of release
    kWait,   ///< a pause of `wait`
    /// Queues with the member's ordered sends and fences (its proxy). It begins when the entries before it have arrived,
    /// takes `wait`, and then releases the entries behind it.
    kFence
  };

  Kind kind = Kind::kWait;
  std::uint32_t tiles = 0;       ///< kTiles: number of tiles, at least 1
  std::uint32_t processors = 1;  ///< kTiles: processors of the GPU, each with an equal part of its rate; 1 to 65535
  double tile_flops = 0.0;       ///< kTiles: FLOPs of one tile
  Duration wait{};
};

/// Chunks first .. first + count - 1.
struct ChunkRun {
  std::uint32_t first = 0;
  std::uint32_t count = 1;

  friend bool operator==(const ChunkRun&, const ChunkRun&) = default;
};

/// A directed pair of members that must be joined.
using MemberPair = std::pair<Member, Member>;

/// The sends of a collective and their order. A plan may be computed by a formula: the interface does not require a list.
///
/// **Order.** Send i may leave once `waits_for(i)` of the sends that release it have arrived; `released_by(j)` lists
/// the sends that the arrival of j counts for. Sends [0, initial_sends()) have no dependency, and no other send has
/// waits_for 0. A member's sends leave in the order in which they are released (ties: ascending index), one at a time
/// on each (from, to) pair.
///
/// **Rounds.** Sends of round k use the circuits `pairs(k)`; a member enters round k+1 when all its sends and receives of
/// round k are done. A plan that uses the same circuits throughout has one round.
///
/// **Data.** The data is numbered in chunks so that a replay can prove the plan (see photonrail/testing/replay.hpp):
/// all-reduce, reduce, broadcast: chunk c of the tensor, 0 .. chunk_count()-1;
/// all-gather, gather, scatter, reduce-scatter: chunk m * k + i is piece i of member m's shard, k = chunk_count() /
/// members; all-to-all: chunk (s * members + d) * k + i is piece i of what s has for d, k = chunk_count() / members /
/// members; barrier: one chunk; send: the pieces of the message. A send carries the bytes of its chunks: see `chunk_bytes`.
/// In an all-to-all, sends of one pair may share a chunk: then each carries some of its bytes, and together they carry all.
class SendPlan {
 public:
  virtual ~SendPlan() = default;

  [[nodiscard]] virtual Member members() const = 0;
  [[nodiscard]] virtual SendIndex send_count() const = 0;
  /// The first so many sends wait for no other.
  [[nodiscard]] virtual SendIndex initial_sends() const = 0;
  [[nodiscard]] virtual Send send(SendIndex i) const = 0;
  /// Appends the chunks that send i carries: the one run that the send names, or several runs if the chunks are scattered,
  /// in which case the send names the first.
  virtual void data(SendIndex i, std::vector<ChunkRun>& out) const {
    const Send s = send(i);
    out.push_back({s.first_chunk, s.chunks});
  }
  /// REQUIRES: send i goes from a member to itself.
  [[nodiscard]] virtual LocalStep step(SendIndex /*i*/) const { return {}; }
  /// Sends that must arrive before send i leaves; 0 for the initial ones.
  [[nodiscard]] virtual std::uint32_t waits_for(SendIndex i) const = 0;
  /// Appends to `out`. Callers clear it.
  virtual void released_by(SendIndex arrived, std::vector<SendIndex>& out) const = 0;

  [[nodiscard]] virtual std::uint32_t rounds() const = 0;
  /// The distinct pairs of round `round`, ascending.
  [[nodiscard]] virtual std::vector<MemberPair> pairs(std::uint32_t round) const = 0;
  /// Sends that leave `member` in `round`, and sends that reach it. A local step counts as both.
  [[nodiscard]] virtual std::uint32_t sends_from(Member member, std::uint32_t round) const = 0;
  [[nodiscard]] virtual std::uint32_t sends_to(Member member, std::uint32_t round) const = 0;

  /// The largest waits_for of any send. With 1 an executor needs no counters.
  [[nodiscard]] virtual std::uint32_t most_waits() const = 0;
  [[nodiscard]] virtual std::uint32_t chunk_count() const = 0;

  /// Returns true when the operation may begin before the member arrives. The operation begins when all members for which
  /// this is false have arrived. A send from or to a member that has not arrived waits for its arrival.
  [[nodiscard]] virtual bool starts_without(Member /*member*/) const { return false; }

  /// The sum of the bytes of all sends between different members.
  [[nodiscard]] virtual Bytes wire_bytes() const = 0;

  /// The number of sends on the longest chain of dependencies: the latency term of the alpha-beta cost.
  [[nodiscard]] virtual std::uint32_t critical_sends() const = 0;

  /// The plan at stream fidelity: one send for each pair of its only round, with all the bytes that the pair carries and no
  /// dependencies. Null (the default) for a plan that must run send by send. A plan may have a stream when every pair is
  /// busy from the first send to the last: its time is then that of the bytes of a pair plus critical_sends() latencies.
  [[nodiscard]] virtual std::unique_ptr<const SendPlan> stream() const { return nullptr; }

  /// The plan reduced to members 0 .. period - 1, for plans that a rotation by `period` members leaves unchanged: a send of
  /// member m represents those of m + period, m + 2 period ... as well. The result has `period` members (1 is allowed) and
  /// their sends only; a send's `to`, and the second member of a pair, keep their number of the whole plan and correspond
  /// to member `to % period`. Data is not numbered. Null (the default) for a plan that is not symmetric so.
  /// REQUIRES: period divides members().
  [[nodiscard]] virtual std::unique_ptr<const SendPlan> folded(Member /*period*/) const { return nullptr; }
};

/// Builds a plan from a list of sends, for algorithms without a formula. Sends may be added in any topological order;
/// `build()` renumbers them so that initial sends come first.
class SendPlanBuilder {
 public:
  SendPlanBuilder(Member members, std::uint32_t chunk_count);
  SendPlanBuilder(SendPlanBuilder&&) noexcept;
  SendPlanBuilder& operator=(SendPlanBuilder&&) noexcept;
  ~SendPlanBuilder();

  /// Adds a send that waits for the arrival of the sends in `after` (indices that `add` returned). REQUIRES: they exist.
  /// `more`: runs of chunks that travel in the same message, besides the one that the send names.
  SendIndex add(const Send& send, const std::vector<SendIndex>& after = {}, const std::vector<ChunkRun>& more = {});
  /// Adds a local step of the member in round 0.
  SendIndex add_step(Member member, const LocalStep& step, const std::vector<SendIndex>& after = {});
  /// Lets the plan start without the member (SendPlan::starts_without). REQUIRES: it exists.
  void start_without(Member member);
  /// The plan in list form. Throws InternalError when a send names a member or a chunk that does not exist.
  [[nodiscard]] std::unique_ptr<const SendPlan> build() &&;

 private:
  struct Written;

  Member members_;
  std::uint32_t chunk_count_;
  std::unique_ptr<Written> written_;
};

/// The bytes of piece `index` when `total` is cut into `parts`. The pieces differ by at most one byte, the larger ones come
/// first, and their sum is `total`. REQUIRES: parts > 0, index < parts.
[[nodiscard]] constexpr Bytes share(Bytes total, std::uint64_t parts, std::uint64_t index) {
  const auto count = static_cast<std::uint64_t>(total.count);
  return {static_cast<std::int64_t>(count / parts + (index < count % parts ? 1 : 0))};
}

}  // namespace photonrail
