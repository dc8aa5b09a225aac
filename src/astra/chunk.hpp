// One member's part of one chunk of a collective: where it is in its phase. The rules of each algorithm are in ring.cpp,
// tree.cpp; they see the chunk and the machine's few verbs (ChunkActions), no other rank.
#pragma once

#include "astra/phases.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::astra {

/// A message that came before the chunk was in its phase.
struct EarlyMessage {
  std::uint32_t phase = 0;
  std::uint32_t source = 0;
};

enum class TreeState : std::uint8_t { kBegin, kTwoChildren, kOneChild, kToParent, kFromParent, kToChildren, kEnd };

/// Counts of a phase. A packet is a message that the member may send: it is made by the start or by a message that came,
/// ready once the endpoint is through with it, and sent in its turn.
struct Progress {
  std::uint32_t messages_left = 0;  // to send
  std::uint32_t made = 0;           // packets
  std::uint32_t sent = 0;
  std::uint32_t ready = 0;  // packets that the endpoint is through with, and that are not sent
  std::uint32_t received = 0;
  std::uint32_t plain = 0;    // the next so many packets are not reduced
  std::uint32_t reduced = 0;  // and the next so many after them may be
  bool first_pass = false;    // of an all-reduce: the one that reduces
  TreeState tree = TreeState::kBegin;
  bool one_reduced = false;  // tree: one of the two children's data is
};

struct CollectiveInstance;

struct Chunk {
  static constexpr std::uint32_t kNoPhase = ~0U;

  std::uint32_t rank = 0;
  std::uint32_t member = 0;
  CollectiveInstance* instance = nullptr;
  std::uint32_t call = 0;     // of its rank
  std::int64_t priority = 0;  // the higher goes first
  std::uint32_t phase = kNoPhase;
  bool started = false;     // its phase is
  std::uint64_t since = 0;  // when it was, ns
  std::uint32_t place = 0;  // in the circle of the phase
  Progress at;
  std::vector<std::int32_t> balance;  // by source: messages that came, less those that were waited for
  std::vector<EarlyMessage> early;
};

/// One chunk of one collective, over all of its members.
struct CollectiveInstance {
  std::uint32_t number = 0;  // among those in progress
  std::uint64_t key = 0;     // by which members find it
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::uint64_t bytes = 0;
  std::vector<Phase> phases;
  std::vector<Chunk> chunks;  // by member
  std::uint32_t done = 0;     // members
};

/// Holds what an algorithm can do with its chunk.
class ChunkActions {
 public:
  ChunkActions() = default;
  ChunkActions(const ChunkActions&) = delete;
  ChunkActions& operator=(const ChunkActions&) = delete;
  virtual ~ChunkActions() = default;

  /// The endpoint takes its delay, and the time to reduce `bytes` before that; then ready() is called.
  virtual void handle(Chunk& chunk, bool reduce, std::uint64_t bytes) = 0;
  /// `source`: what the sender is to the receiver.
  virtual void send(Chunk& chunk, std::uint32_t to, std::uint32_t source, std::uint64_t bytes) = 0;
  /// Waits for one message from `source`; then received() is called.
  virtual void expect(Chunk& chunk, std::uint32_t source) = 0;
  /// The phase is over. The chunk may be in its next phase, or gone, when this returns.
  virtual void finish(Chunk& chunk) = 0;
};

// The three events of a phase, for every algorithm.
void start(Chunk& chunk, ChunkActions& act);
void ready(Chunk& chunk, ChunkActions& act);
void received(Chunk& chunk, ChunkActions& act);

// The same for the double binary tree.
void start_tree(Chunk& chunk, ChunkActions& act);
void ready_tree(Chunk& chunk, ChunkActions& act);
void received_tree(Chunk& chunk, ChunkActions& act);

[[nodiscard]] inline const Phase& phase_of(const Chunk& chunk) { return chunk.instance->phases[chunk.phase]; }

}  // namespace photonrail::astra
