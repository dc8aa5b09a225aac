// What the tasks of a graph add up to.
#pragma once

#include "photonrail/training.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace photonrail::test {

/// What sizes of communication add up to over all ranks; receives do not count.
inline std::int64_t volume(const TaskGraph& graph, Dimension dimension, std::optional<CollectiveOp> op = std::nullopt,
                           std::string_view in_name = {}) {
  std::int64_t sum = 0;
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const Program& program = graph.program(RankId{r});
    for (std::size_t i = 0; i < program.tasks().size(); ++i) {
      const Task& t = program.tasks()[i];
      if (t.kind == TaskKind::kCompute || t.kind == TaskKind::kReceive) continue;
      if (program.name(TaskId{i}).find(in_name) == std::string_view::npos) continue;
      const CommunicatorId c = graph.communicator(RankId{r}, t.slot);
      if (graph.communicators()[c.index()].dimension == dimension && (!op || t.op == *op)) sum += t.size().count;
    }
  }
  return sum;
}

inline double flops(const TaskGraph& graph) {
  double sum = 0.0;
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    for (const Task& t : graph.program(RankId{r}).tasks()) sum += t.flops;
  }
  return sum;
}

}  // namespace photonrail::test
