// Hashes of what happens in each step of a run, by which steps that repeat are found.
//
// A window is the time from one begin of a step on rank 0 to the next. Its hash is of every event in it, with times from
// its begin and with steps and operations counted from those of its begin. What is under way at the end of a window was
// begun by a rank that is at most `spread` steps away. So when more equal windows follow each other than the ranks are
// apart, all that is under way was begun in equal windows, and a policy that looks at nothing else does the same again.
#pragma once

#include "photonrail/observer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::run {

class StepHashes : public Observer {
 public:
  /// `ranks` run `steps` steps each.
  StepHashes(std::size_t ranks, std::uint32_t steps);

  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void circuit(const CircuitEvent& event) override;
  void iteration(RankId rank, std::uint32_t finished, Time at) override;

  /// Returns the least number of steps after which windows repeat, of those that end before any rank ends; none: they do
  /// not, as far as this run tells.
  [[nodiscard]] std::optional<std::uint32_t> period() const;
  /// Returns the number of those windows.
  [[nodiscard]] std::size_t windows() const { return windows_.size(); }

 private:
  struct Window {
    std::uint64_t hash = 0;
    std::uint32_t spread = 0;  // between the ranks, in steps, at its end
  };

  void add(std::uint64_t word);
  void add(Time at) { add(static_cast<std::uint64_t>((at - began_).count())); }
  [[nodiscard]] bool repeat(std::size_t period, std::size_t windows) const;

  std::uint32_t steps_;
  std::vector<std::uint32_t> finished_;  // by rank
  std::vector<Window> windows_;          // that have ended
  bool ending_ = false;                  // a rank has done all of its steps
  std::uint64_t hash_ = 0;
  Time began_{};
  std::uint32_t sequences_ = 0;       // operations so far
  std::uint32_t first_sequence_ = 0;  // of the window
};

}  // namespace photonrail::run
