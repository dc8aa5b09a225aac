#include "run/step_hashes.hpp"

#include <algorithm>
#include <bit>

namespace photonrail::run {

namespace {

// Marks of the kinds of events.
enum class Mark : std::uint64_t { kCompute = 1, kOperation, kCircuit, kStep };

}  // namespace

StepHashes::StepHashes(std::size_t ranks, std::uint32_t steps) : steps_(steps), finished_(ranks) {}

// A multiplication and a rotation for each word, as in FxHash.
void StepHashes::add(std::uint64_t word) { hash_ = (std::rotl(hash_, 5) ^ word) * 0x517cc1b727220a95ULL; }

void StepHashes::compute(const ComputeEvent& event) {
  add(static_cast<std::uint64_t>(Mark::kCompute));
  add(event.start);
  add(event.finish);
  add(event.rank.value);
  add(event.task.value);
}

void StepHashes::operation(const OperationEvent& event) {
  add(static_cast<std::uint64_t>(Mark::kOperation));
  add(event.at);
  add(std::uint64_t{event.sequence} - first_sequence_);
  add(event.communicator.value);
  add(event.rank.value);
  add(event.task.value);
  add(static_cast<std::uint64_t>(event.state));
  sequences_ = std::max(sequences_, event.sequence + 1);
}

void StepHashes::circuit(const CircuitEvent& event) {
  add(static_cast<std::uint64_t>(Mark::kCircuit));
  add(event.at);
  add(event.rail.value);
  add(event.circuit.from.value);
  add(event.circuit.to.value);
  add(static_cast<std::uint64_t>(event.state));
  add(event.serves.value);
}

void StepHashes::iteration(RankId rank, std::uint32_t finished, Time at) {
  add(static_cast<std::uint64_t>(Mark::kStep));
  add(at);
  add(rank.value);
  add(std::uint64_t{finished} - finished_.front());
  finished_[rank.index()] = finished + 1;
  ending_ = ending_ || finished + 1 == steps_;
  if (rank.value != 0 || ending_) return;
  const auto [least, most] = std::minmax_element(finished_.begin(), finished_.end());
  windows_.push_back({hash_, *most - *least});
  hash_ = 0;
  began_ = at;
  first_sequence_ = sequences_;
}

bool StepHashes::repeat(std::size_t period, std::size_t windows) const {
  for (std::size_t i = 0; i < windows; ++i) {
    const std::size_t k = windows_.size() - 1 - i;
    if (windows_[k].hash != windows_[k - period].hash) return false;
  }
  return true;
}

std::optional<std::uint32_t> StepHashes::period() const {
  for (std::size_t period = 1; period < windows_.size(); ++period) {
    std::uint32_t spread = 0;
    for (std::size_t i = 0; i < period; ++i) spread = std::max(spread, windows_[windows_.size() - 1 - i].spread);
    // As many equal ones behind the first as the ranks are apart, and one more.
    const std::size_t windows = std::max<std::size_t>(2 * period, spread + 1 + period);
    if (windows + period > windows_.size()) return std::nullopt;
    if (repeat(period, windows)) return static_cast<std::uint32_t>(period);
  }
  return std::nullopt;
}

}  // namespace photonrail::run
