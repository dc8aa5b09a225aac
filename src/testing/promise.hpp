// What a plan must do, chunk by chunk: who has a chunk at first, and who must have it in the end.
#pragma once

#include "photonrail/testing/replay.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::testing {

/// The first problem found: thrown and caught by replay() only.
struct Problem {
  std::string text;
};

[[noreturn]] inline void fail(std::string what) { throw Problem{std::move(what)}; }

[[nodiscard]] inline std::string count(std::uint64_t told, std::uint64_t found) {
  return std::to_string(told) + " in place of " + std::to_string(found);
}

/// Holds what a call promises, chunk by chunk.
class Promise {
 public:
  Promise(const CollectiveCall& call, std::uint32_t chunks) : call_(call), chunks_(chunks) {
    const bool by_shard = call.op == CollectiveOp::kAllGather || call.op == CollectiveOp::kGather ||
                          call.op == CollectiveOp::kScatter || call.op == CollectiveOp::kReduceScatter;
    if (chunks == 0) fail("a plan needs a chunk");
    if (call.demand != nullptr && (call.op != CollectiveOp::kAllToAll || call.demand->members() != call.members))
      fail("the demand is for another call");
    if (by_shard && chunks % call.members != 0) fail("chunk_count is not a multiple of the members");
    if (call.op == CollectiveOp::kAllToAll && chunks % (std::uint64_t{call.members} * call.members) != 0)
      fail("chunk_count of an all-to-all is not a multiple of the square of the members");
    if (call.op == CollectiveOp::kBarrier && chunks != 1) fail("a barrier has one chunk");
    shard_ = by_shard ? chunks / call.members : 1;
    if (call.op == CollectiveOp::kAllToAll) shard_ = chunks / call.members / call.members;
  }

  /// Of chunks that are placed one by one.
  Promise(std::span<const PlacedChunk> placed, Member members, std::uint32_t chunks)
      : call_{.op = CollectiveOp::kSend, .members = members}, chunks_(chunks), placed_(placed) {
    if (chunks != placed.size()) fail("chunk_count() is " + count(chunks, placed.size()));
    for (const PlacedChunk& chunk : placed) {
      if (chunk.holders.empty()) fail("a chunk has no holder");
    }
  }

  [[nodiscard]] Bytes bytes(std::uint32_t chunk) const {
    return placed_.empty() ? chunk_bytes(call_, chunks_, chunk) : placed_[chunk].bytes;
  }
  /// Sends of one pair may each carry a part of a chunk.
  [[nodiscard]] bool travels_in_parts() const { return call_.op == CollectiveOp::kAllToAll; }

  /// Every member contributes to every chunk.
  [[nodiscard]] bool reduces() const {
    return call_.op == CollectiveOp::kAllReduce || call_.op == CollectiveOp::kReduce ||
           call_.op == CollectiveOp::kReduceScatter || call_.op == CollectiveOp::kBarrier;
  }

  /// The member that the data of the chunk comes from, without a reduction.
  [[nodiscard]] Member owner(std::uint32_t chunk) const {
    if (!placed_.empty()) return placed_[chunk].holders.front();
    switch (call_.op) {
      case CollectiveOp::kAllGather:
      case CollectiveOp::kGather:
        return chunk / shard_;
      case CollectiveOp::kAllToAll:
        return chunk / shard_ / call_.members;
      case CollectiveOp::kSend:
        return 0;
      default:
        return call_.root;
    }
  }

  [[nodiscard]] bool starts_with(Member member, std::uint32_t chunk) const {
    if (!placed_.empty()) return listed(placed_[chunk].holders, member);
    return reduces() || member == owner(chunk);
  }
  /// The contributor that the member's data counts as: holders of one chunk have the same.
  [[nodiscard]] Member contributor(Member member, std::uint32_t chunk) const { return reduces() ? member : owner(chunk); }

  /// Returns true when the member must have the chunk in the end.
  [[nodiscard]] bool ends_with(Member member, std::uint32_t chunk) const {
    if (!placed_.empty()) return listed(placed_[chunk].needers, member);
    switch (call_.op) {
      case CollectiveOp::kReduce:
      case CollectiveOp::kGather:
        return member == call_.root;
      case CollectiveOp::kReduceScatter:
      case CollectiveOp::kScatter:
        return member == chunk / shard_;
      case CollectiveOp::kAllToAll:
        // An empty chunk needs no send.
        return member == chunk / shard_ % call_.members &&
               (call_.demand == nullptr || chunk_bytes(call_, chunks_, chunk) > Bytes{});
      case CollectiveOp::kSend:
        return member == 1;
      default:
        return true;
    }
  }

 private:
  [[nodiscard]] static bool listed(const std::vector<Member>& members, Member member) {
    return std::find(members.begin(), members.end(), member) != members.end();
  }

  CollectiveCall call_;
  std::uint32_t chunks_;
  std::uint32_t shard_ = 1;
  std::span<const PlacedChunk> placed_{};
};

}  // namespace photonrail::testing
