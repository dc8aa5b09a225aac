// The reason why a run cannot finish: for each rank its task, its group, and the peer or circuit that it waits for.
#pragma once

#include "execution/circuit_service.hpp"
#include "execution/issue_order.hpp"
#include "execution/run_context.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace photonrail::execution {

class DeadlockReport {
 public:
  /// All must outlive the object.
  DeadlockReport(const TaskGraph& graph, const RunContext& run, const CircuitService& circuits, const IssueOrder& order)
      : graph_(graph), run_(run), circuits_(circuits), order_(order) {}

  /// Lines for people, faulty ports first.
  [[nodiscard]] std::vector<std::string> lines(std::size_t unfinished_ranks) const;

 private:
  /// `launch`: of the task, in an agent's workload.
  [[nodiscard]] std::string describe(RankId id, TaskId task, std::uint32_t launch) const;
  /// `circuits`: the text of CircuitService::missing() of the operation, asked once for all of its members.
  [[nodiscard]] std::string why_stuck(OpId id, Member member, const std::string& circuits) const;

  const TaskGraph& graph_;
  RunContext run_;
  const CircuitService& circuits_;
  const IssueOrder& order_;
};

}  // namespace photonrail::execution
