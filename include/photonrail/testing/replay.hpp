// Proves that a plan does what its call says: it plays the sends with sets of contributors in place of numbers.
// For tests of a collective of your own; it costs members * chunks * members / 8 bytes.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace photonrail::testing {

/// In which order messages arrive. Every order that is consistent with "one at a time on each (from, to) pair, first
/// come first" can happen in a network, and a plan must be right in all of them.
enum class ArrivalOrder : std::uint8_t {
  kOldestFirst,  ///< in the order of departure
  kNewestFirst,  ///< the last that departed arrives first
  kStarveOne,    ///< the messages of one pair, the `seed`th, arrive only when nothing else can move
  kRandom        ///< departures are late by chance as well
};

struct ReplayOptions {
  ArrivalOrder order = ArrivalOrder::kOldestFirst;
  /// Hold a send until both ends have entered its round, as rails that are re-pointed each round do.
  bool by_rounds = false;
  std::uint64_t seed = 1;  ///< of kRandom; for kStarveOne the pair, counted in ascending order and round again
};

struct ReplayReport {
  bool correct = false;
  std::string problem;  ///< the first that was found; empty when correct
  std::uint64_t arrived = 0;
};

/// Checks, in this order:
/// - shape: indices in range; waits_for equals the number of sends that release it, 0 for the initial ones only;
///   most_waits, critical_sends, wire_bytes, pairs, sends_from and sends_to agree with the sends; a send has the bytes of
///   its chunks; rounds never go back from a send to one that it releases, nor among the sends of a member;
/// - play: each send leaves once, with what the sender has when the send is released: what arrives later, however late the
///   departure, is not in it (two members that exchange sums read before they add); a reduction adds no member twice, but a
///   barrier may; at the end every member has what the call promises, and everything has arrived. Where a demand is
///   zero nothing is promised.
[[nodiscard]] ReplayReport replay(const CollectiveCall& call, const SendPlan& plan, const ReplayOptions& options = {});

/// A chunk of a plan that no operation describes: who has it at first, and who must have it in the end.
struct PlacedChunk {
  Bytes bytes{};
  std::vector<Member> holders;  ///< ascending, at least one
  std::vector<Member> needers;
};
/// The same checks for a plan that moves such chunks, by index.
[[nodiscard]] ReplayReport replay(std::span<const PlacedChunk> chunks, const SendPlan& plan,
                                  const ReplayOptions& options = {});

}  // namespace photonrail::testing
