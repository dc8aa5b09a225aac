#include "config/trace_dimensions.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

namespace photonrail::config {

namespace {

/// The operations of a group: how many, and their bytes by what they do.
struct GroupTraffic {
  std::size_t calls = 0;
  double exchanged = 0.0;  ///< all-to-all
  double reduced = 0.0;    ///< all-reduce, reduce-scatter, all-gather
  double all = 0.0;
};

// Counts what the first member of each group calls.
std::vector<GroupTraffic> traffic_of_groups(const TaskGraph& graph) {
  std::vector<GroupTraffic> traffic(graph.communicators().size());
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    for (const Task& task : graph.program(rank).tasks()) {
      if (task.kind != TaskKind::kCollective) continue;
      const std::size_t group = graph.communicator(rank, task.slot).index();
      if (graph.communicators()[group].members.front() != rank) continue;
      const auto size = static_cast<double>(task.size().count);
      ++traffic[group].calls;
      traffic[group].all += size;
      if (task.op == CollectiveOp::kAllToAll) traffic[group].exchanged += size;
      if (task.op == CollectiveOp::kAllReduce || task.op == CollectiveOp::kReduceScatter ||
          task.op == CollectiveOp::kAllGather)
        traffic[group].reduced += size;
    }
  }
  return traffic;
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

// Tensor-parallel groups meet several times a layer and micro-batch, data-parallel ones at most three times a layer (FSDP)
// or once a tensor, which is twice as often as an unsplit layer's four. More than that tells them apart.
constexpr std::size_t kOftener = 3;

/// Finds the groups whose ranks are neighbours although others, which step over them, meet far oftener: ranks are numbered
/// with dp innermost.
class OftenerGroups {
 public:
  OftenerGroups(std::span<const std::size_t> reducing, const TaskGraph& graph, const std::vector<GroupTraffic>& traffic)
      : graph_(graph), traffic_(traffic) {
    for (const std::size_t i : reducing) {
      const Communicator& c = graph.communicators()[i];
      for (const RankId member : c.members) {
        const auto [at, is_new] = by_stride_.try_emplace({member.index(), stride_of(c)}, i);
        if (!is_new && traffic[i].calls > traffic[at->second].calls) at->second = i;
      }
    }
  }
  /// Whether neighbours in a server meet far less often than the group that steps over them: they are dp.
  [[nodiscard]] bool are_rare_neighbours(std::size_t group) const {
    const Communicator& c = graph_.communicators()[group];
    return c.dimension == Dimension::kTp && stride_of(c) == 1 &&
           is_oftener(at(c.members.front().index(), c.members.size()), group);
  }
  /// Whether the group steps over such neighbours: it is tp.
  [[nodiscard]] bool steps_over_rare_neighbours(std::size_t group) const {
    const Communicator& c = graph_.communicators()[group];
    const std::size_t stride = stride_of(c);
    if (stride < 2) return false;
    const std::optional<std::size_t> beside = at(c.members.front().index(), 1);
    return beside && graph_.communicators()[*beside].members.size() == stride && are_rare_neighbours(*beside);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> at(std::size_t member, std::size_t stride) const {
    const auto found = by_stride_.find({member, stride});
    return found == by_stride_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool is_oftener(std::optional<std::size_t> group, std::size_t than) const {
    return group && traffic_[*group].calls >= kOftener * traffic_[than].calls;
  }

  const TaskGraph& graph_;
  const std::vector<GroupTraffic>& traffic_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> by_stride_;  ///< reducing groups, by member and stride
};

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
  const std::vector<GroupTraffic> traffic = traffic_of_groups(graph);
  const auto is_tp = [&](const Communicator& c) { return c.dimension == Dimension::kTp; };
  // The sizes of groups of neighbours, by their first rank.
  std::map<std::size_t, std::size_t> neighbours;
  std::vector<std::size_t> unnamed;
  std::vector<std::size_t> reducing;
  for (const std::size_t i : open) {
    const Communicator& c = graph.communicators()[i];
    if (is_tp(c) && stride_of(c) == 1) {
      for (const RankId member : c.members)
        neighbours[member.index()] = std::max(neighbours[member.index()], c.members.size());
    }
    if (named_dimension(c.name) || c.point_to_point) continue;
    unnamed.push_back(i);
    if (2.0 * traffic[i].reduced >= traffic[i].all && traffic[i].all > 0.0 && stride_of(c) > 0) reducing.push_back(i);
  }
  std::sort(reducing.begin(), reducing.end());
  const OftenerGroups oftener(reducing, graph, traffic);
  std::vector<std::pair<std::string, Dimension>> changes;
  for (const std::size_t i : unnamed) {
    const Communicator& c = graph.communicators()[i];
    const std::size_t stride = stride_of(c);
    const bool reduces = std::binary_search(reducing.begin(), reducing.end(), i);
    const auto beside = neighbours.find(c.members.front().index());
    if (2.0 * traffic[i].exchanged > traffic[i].all)
      changes.emplace_back(c.name, Dimension::kEp);
    else if (reduces && oftener.are_rare_neighbours(i))
      changes.emplace_back(c.name, Dimension::kDp);
    else if (reduces && oftener.steps_over_rare_neighbours(i))
      changes.emplace_back(c.name, Dimension::kTp);
    else if (c.dimension == Dimension::kOther && reduces)
      changes.emplace_back(c.name, Dimension::kDp);
    else if (is_tp(c) && stride > 1 && reduces && beside != neighbours.end() && beside->second == stride)
      changes.emplace_back(c.name, Dimension::kDp);
  }
  for (const auto& [name, dimension] : changes) graph.set_dimension(name, dimension);
}

}  // namespace photonrail::config
