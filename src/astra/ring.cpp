// Ring, direct, and halving and doubling: every message that comes makes the next one ready to go.
#include "astra/chunk.hpp"

#include <bit>

namespace photonrail::astra {

namespace {

bool is_tree(const Phase& p) { return p.how.algorithm == AnalyticalAlgorithm::kDoubleBinaryTree; }
bool is_direct(const Phase& p) { return p.how.algorithm == AnalyticalAlgorithm::kDirect; }
bool is_halving(const Phase& p) { return p.how.algorithm == AnalyticalAlgorithm::kHalvingDoubling; }

// Returns how many of the packets after the first `at_once` come out of a pass: with the next pass, no packet is reduced at
// first.
std::uint32_t packets_of_a_pass(const Phase& p) {
  if (is_halving(p)) return p.sources - 1;
  return is_direct(p) ? p.at_once : p.circle.members - 1;
}

void make_packet(Chunk& chunk, ChunkActions& act) {
  const Phase& p = phase_of(chunk);
  Progress& at = chunk.at;
  if (at.plain == 0 && at.reduced == 0) {
    at.plain = p.at_once;
    at.reduced = packets_of_a_pass(p);
    at.first_pass = !at.first_pass;
  }
  const bool is_plain = at.plain > 0;
  --(is_plain ? at.plain : at.reduced);
  const bool reduce =
      !is_plain && (p.op == CollectiveOp::kReduceScatter || (p.op == CollectiveOp::kAllReduce && at.first_pass));
  const std::uint64_t bytes = is_halving(p) ? p.halving[at.made].bytes : p.message_bytes;
  ++at.made;
  act.handle(chunk, reduce, bytes);
}

void send_direct(Chunk& chunk, ChunkActions& act, std::uint32_t k) {
  const Phase& p = phase_of(chunk);
  const std::uint32_t n = p.circle.members;
  const std::uint32_t distance = 1 + k % (n - 1);
  act.send(chunk, p.circle.rank(chunk.rank, (chunk.place + distance) % n), chunk.place, p.message_bytes);
  act.expect(chunk, (chunk.place + n - distance) % n);
}

// Sends the oldest packet, if there is one and it is ready.
void send_next(Chunk& chunk, ChunkActions& act) {
  const Phase& p = phase_of(chunk);
  Progress& at = chunk.at;
  if (at.made == at.sent || at.messages_left == 0 || at.ready == 0) return;
  const std::uint32_t k = at.sent++;
  --at.messages_left;
  --at.ready;
  if (is_direct(p)) return send_direct(chunk, act, k);
  if (is_halving(p)) {
    const HalvingStep& step = p.halving[k];
    const auto source = static_cast<std::uint32_t>(std::countr_zero(step.distance));
    act.send(chunk, p.circle.rank(chunk.rank, chunk.place ^ step.distance), source, step.bytes);
    return act.expect(chunk, source);
  }
  act.send(chunk, p.circle.rank(chunk.rank, (chunk.place + 1) % p.circle.members), 0, p.message_bytes);
  act.expect(chunk, 0);
}

}  // namespace

void start(Chunk& chunk, ChunkActions& act) {
  const Phase& p = phase_of(chunk);
  if (is_tree(p)) return start_tree(chunk, act);
  for (std::uint32_t i = 0; i < p.at_once; ++i) make_packet(chunk, act);
}

void ready(Chunk& chunk, ChunkActions& act) {
  const Phase& p = phase_of(chunk);
  if (is_tree(p)) return ready_tree(chunk, act);
  Progress& at = chunk.at;
  ++at.ready;
  // The second half of a direct all-reduce begins when every part has come.
  const std::uint32_t others = p.circle.members - 1;
  if (is_direct(p) && p.op == CollectiveOp::kAllReduce && at.messages_left <= others) {
    if (at.received < others) return;
    for (std::uint32_t i = 0; i < p.at_once; ++i) send_next(chunk, act);
  } else {
    send_next(chunk, act);
  }
  if (at.messages_left == 0 && at.ready == p.at_once) act.finish(chunk);
}

void received(Chunk& chunk, ChunkActions& act) {
  if (is_tree(phase_of(chunk))) return received_tree(chunk, act);
  ++chunk.at.received;
  make_packet(chunk, act);
}

}  // namespace photonrail::astra
