#include "photonrail/workload/agent.hpp"

namespace photonrail {

TaskGraph idle_graph(std::size_t ranks) {
  TaskGraphBuilder builder(ranks);
  const ProgramId nothing = builder.add_program();
  for (std::size_t r = 0; r < ranks; ++r) builder.assign(RankId{r}, nothing);
  return std::move(builder).build();
}

}  // namespace photonrail
