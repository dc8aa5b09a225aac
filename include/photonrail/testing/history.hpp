// A hash of all notifications of an observer, in order: two runs with equal hashes had the same history.
#pragma once

#include "photonrail/observer.hpp"

#include <cstdint>

namespace photonrail::testing {

class HistoryHash : public Observer {
 public:
  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void circuit(const CircuitEvent& event) override;
  void iteration(RankId rank, std::uint32_t finished, Time at) override;
  void end(Time makespan) override;

  [[nodiscard]] std::uint64_t value() const { return hash_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void mix(std::uint64_t word);

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t events_ = 0;
};

}  // namespace photonrail::testing
