#include "config/trace_dimensions.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace photonrail::config {

namespace {

/// The bytes of the operations of a group, by what they do.
struct GroupBytes {
  double exchanged = 0.0;  ///< all-to-all
  double reduced = 0.0;    ///< all-reduce, reduce-scatter, all-gather
  double all = 0.0;
};

// Counts what the first member of each group calls.
std::vector<GroupBytes> bytes_of_groups(const TaskGraph& graph) {
  std::vector<GroupBytes> bytes(graph.communicators().size());
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    for (const Task& task : graph.program(rank).tasks()) {
      if (task.kind != TaskKind::kCollective) continue;
      const std::size_t group = graph.communicator(rank, task.slot).index();
      if (graph.communicators()[group].members.front() != rank) continue;
      const auto size = static_cast<double>(task.size().count);
      bytes[group].all += size;
      if (task.op == CollectiveOp::kAllToAll) bytes[group].exchanged += size;
      if (task.op == CollectiveOp::kAllReduce || task.op == CollectiveOp::kReduceScatter ||
          task.op == CollectiveOp::kAllGather)
        bytes[group].reduced += size;
    }
  }
  return bytes;
}

// The distance from rank to rank where it is always the same; 0: it is not.
std::size_t stride_of(const Communicator& group) {
  if (group.members.size() < 2 || group.members[1].index() <= group.members[0].index()) return 0;
  const std::size_t stride = group.members[1].index() - group.members[0].index();
  for (std::size_t i = 1; i < group.members.size(); ++i) {
    if (group.members[i].index() != group.members[i - 1].index() + stride) return 0;
  }
  return stride;
}

}  // namespace

std::optional<Dimension> named_dimension(const std::string& group) {
  std::string word;
  for (const char c : group) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return dimension_from(word);
}

void refine_dimensions(std::span<const std::size_t> open, TaskGraph& graph) {
  const std::vector<GroupBytes> bytes = bytes_of_groups(graph);
  const auto is_tp = [&](const Communicator& c) { return c.dimension == Dimension::kTp; };
  // The sizes of groups of neighbours, by their first rank.
  std::map<std::size_t, std::size_t> neighbours;
  for (const std::size_t i : open) {
    const Communicator& c = graph.communicators()[i];
    if (is_tp(c) && stride_of(c) == 1) {
      for (const RankId member : c.members)
        neighbours[member.index()] = std::max(neighbours[member.index()], c.members.size());
    }
  }
  std::vector<std::pair<std::string, Dimension>> changes;
  for (const std::size_t i : open) {
    const Communicator& c = graph.communicators()[i];
    if (named_dimension(c.name) || c.point_to_point) continue;
    const std::size_t stride = stride_of(c);
    const bool reduces = 2.0 * bytes[i].reduced >= bytes[i].all && bytes[i].all > 0.0;
    const auto beside = neighbours.find(c.members.front().index());
    if (2.0 * bytes[i].exchanged > bytes[i].all)
      changes.emplace_back(c.name, Dimension::kEp);
    else if (c.dimension == Dimension::kOther && stride > 0 && reduces)
      changes.emplace_back(c.name, Dimension::kDp);
    else if (is_tp(c) && stride > 1 && reduces && beside != neighbours.end() && beside->second == stride)
      changes.emplace_back(c.name, Dimension::kDp);
  }
  for (const auto& [name, dimension] : changes) graph.set_dimension(name, dimension);
}

}  // namespace photonrail::config
