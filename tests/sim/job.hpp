// Small jobs for tests: verbs instead of builder calls.
#pragma once

#include "photonrail/simulate.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

inline Duration us(double x) { return Duration{static_cast<std::int64_t>(x * 1e6)}; }
inline Duration ms(double x) { return us(x * 1000); }

/// A job of a few ranks, one program each; ranks sit on GPUs in order.
class Job {
 public:
  explicit Job(std::size_t ranks, std::uint32_t gpus_per_server = 1) : builder_(ranks), slots_(ranks) {
    for (std::size_t r = 0; r < ranks; ++r) programs_.push_back(builder_.add_program());
    scenario.cluster.servers = static_cast<std::uint32_t>(ranks) / gpus_per_server;
    scenario.cluster.gpus_per_server = gpus_per_server;
    scenario.run.fidelity = Fidelity::kExact;
    for (std::size_t r = 0; r < ranks; ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  }

  /// 50 GB/s circuits with `delay`, under `controller`.
  Job& optical(Duration delay, const std::string& controller = "opus") {
    scenario.cluster.rail.kind = RailKind::kOptical;
    scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(delay);
    scenario.controller.name = controller;
    return *this;
  }

  CommunicatorId group(std::vector<std::size_t> members, Dimension d = Dimension::kDp) {
    std::vector<RankId> ranks;
    std::string name;
    for (const std::size_t m : members) {
      ranks.push_back(RankId{m});
      name += (name.empty() ? "" : "-") + std::to_string(m);
    }
    return builder_.add_communicator(name, std::move(ranks), d);
  }

  /// Each task waits for the rank's previous one.
  Job& compute(std::size_t rank, Duration time) {
    return done(rank, builder_.add_delay(programs_[rank], time, "compute", last(rank)));
  }
  Job& collective(CommunicatorId group, const std::vector<std::size_t>& members, CollectiveOp op, std::int64_t bytes) {
    for (const std::size_t rank : members) {
      done(rank, builder_.add_collective(programs_[rank], slot(rank, group), op, Bytes{bytes}, "collective", last(rank)));
    }
    return *this;
  }
  /// Numbered from 1; `demands` must be set.
  Job& all_to_all(CommunicatorId group, const std::vector<std::size_t>& members, std::uint32_t demand) {
    for (const std::size_t rank : members) {
      done(rank, builder_.add_all_to_all(programs_[rank], slot(rank, group), demand, Bytes{1}, "all-to-all", last(rank)));
    }
    return *this;
  }
  Job& demands(std::shared_ptr<const DemandSource> source) {
    builder_.set_demands(std::move(source));
    return *this;
  }
  Job& send(std::size_t from, std::size_t to, std::int64_t bytes, std::uint32_t tag = 0) {
    const CommunicatorId link = builder_.link(RankId{from}, RankId{to}, Dimension::kPp);
    return done(from, builder_.add_send(programs_[from], slot(from, link), Bytes{bytes}, tag, "send", last(from)));
  }
  Job& receive(std::size_t from, std::size_t to, std::int64_t bytes, std::uint32_t tag = 0) {
    const CommunicatorId link = builder_.link(RankId{from}, RankId{to}, Dimension::kPp);
    return done(to, builder_.add_receive(programs_[to], slot(to, link), Bytes{bytes}, tag, "receive", last(to)));
  }
  /// The rank's next task waits for nothing.
  Job& detach(std::size_t rank) {
    last_[rank] = TaskId::none();
    return *this;
  }

  /// Ends the building; the scenario is complete.
  Job& build() {
    for (std::size_t r = 0; r < programs_.size(); ++r) builder_.assign(RankId{r}, programs_[r], slots_[r]);
    scenario.graph = std::move(builder_).build();
    return *this;
  }
  RunResult run(std::span<Observer* const> observers = {}) {
    if (scenario.graph.ranks() == 0) build();
    return simulate(scenario, observers);
  }

  Scenario scenario;

 private:
  std::vector<TaskId> last(std::size_t rank) {
    last_.resize(programs_.size(), TaskId::none());
    return last_[rank].is_none() ? std::vector<TaskId>{} : std::vector<TaskId>{last_[rank]};
  }
  Job& done(std::size_t rank, TaskId task) {
    last_[rank] = task;
    return *this;
  }
  std::uint32_t slot(std::size_t rank, CommunicatorId communicator) {
    auto& slots = slots_[rank];
    for (std::uint32_t s = 0; s < slots.size(); ++s) {
      if (slots[s] == communicator) return s;
    }
    slots.push_back(communicator);
    return static_cast<std::uint32_t>(slots.size() - 1);
  }

  TaskGraphBuilder builder_;
  std::vector<ProgramId> programs_;
  std::vector<std::vector<CommunicatorId>> slots_;
  std::vector<TaskId> last_;
};

/// The four parts of every rank add up to the makespan, to the picosecond.
inline bool books_balance(const RunResult& result) {
  for (const RankTime& rank : result.ranks) {
    if (rank.total() != result.makespan) return false;
  }
  return true;
}

}  // namespace photonrail::test
