#include "photonrail/testing/tiny_job.hpp"

namespace photonrail::testing {

// FNV-1a over 64-bit words, each mixed once more so that small numbers spread.
void HistoryHash::mix(std::uint64_t word) {
  hash_ = (hash_ ^ word) * 0x100000001b3ULL;
  hash_ ^= hash_ >> 29;
}

void HistoryHash::compute(const ComputeEvent& event) {
  ++events_;
  mix(1);
  mix(static_cast<std::uint64_t>(event.start.since_start().count()));
  mix(static_cast<std::uint64_t>(event.finish.since_start().count()));
  mix(event.rank.value);
  mix(event.task.value);
}

void HistoryHash::operation(const OperationEvent& event) {
  ++events_;
  mix(2);
  mix(static_cast<std::uint64_t>(event.at.since_start().count()));
  mix(event.sequence);
  mix(event.rank.value);
  mix(event.task.value);
  mix(static_cast<std::uint64_t>(event.state));
}

void HistoryHash::circuit(const CircuitEvent& event) {
  ++events_;
  mix(3);
  mix(static_cast<std::uint64_t>(event.at.since_start().count()));
  mix(event.rail.value);
  mix(event.circuit.from.value);
  mix(event.circuit.to.value);
  mix(static_cast<std::uint64_t>(event.state));
  mix(event.serves.value);
}

void HistoryHash::iteration(RankId rank, std::uint32_t finished, Time at) {
  ++events_;
  mix(4);
  mix(rank.value);
  mix(finished);
  mix(static_cast<std::uint64_t>(at.since_start().count()));
}

void HistoryHash::end(Time makespan) {
  ++events_;
  mix(5);
  mix(static_cast<std::uint64_t>(makespan.since_start().count()));
}

}  // namespace photonrail::testing
