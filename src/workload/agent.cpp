#include "photonrail/workload/agent.hpp"

#include <utility>

namespace photonrail {

TaskGraph idle_graph(std::size_t ranks, std::shared_ptr<const TrafficSource> demands) {
  TaskGraphBuilder builder(ranks);
  builder.set_demands(std::move(demands));
  const ProgramId nothing = builder.add_program();
  for (std::size_t r = 0; r < ranks; ++r) builder.assign(RankId{r}, nothing);
  return std::move(builder).build();
}

}  // namespace photonrail
