#include "photonrail/task_graph.hpp"

namespace photonrail {

static_assert(sizeof(Task) == 40, "tasks are kept by the million");

std::string_view Program::name(TaskId t) const {
  if (name_offsets_.empty()) return {};
  const std::uint32_t begin = name_offsets_[t.index()];
  return std::string_view(names_).substr(begin, name_offsets_[t.index() + 1] - begin);
}

std::size_t TaskGraph::task_count() const {
  std::size_t count = 0;
  for (const ProgramId p : program_of_) count += programs_[p.index()].tasks().size();
  return count;
}

}  // namespace photonrail
