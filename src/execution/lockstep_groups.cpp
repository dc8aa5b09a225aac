#include "execution/lockstep_groups.hpp"

#include "execution/operation_table.hpp"
#include "execution/rank_gpus.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <span>

namespace photonrail::execution {

namespace {

// Returns true when the tasks of the two ranks name the communicator at the same places of their programs.
bool call_alike(const TaskGraph& graph, CommunicatorId communicator, RankId a, RankId b) {
  const std::span<const CommunicatorId> slots = graph.slots(a);
  const std::span<const CommunicatorId> others = graph.slots(b);
  if (slots.size() != others.size()) return false;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if ((slots[s] == communicator) != (others[s] == communicator)) return false;
  }
  return true;
}

bool run_alike(const TaskGraph& graph, const RankGpus& gpus, CommunicatorId id) {
  const std::vector<RankId>& members = graph.communicators()[id.index()].members;
  const RankId first = members.front();
  for (std::size_t m = 1; m < members.size(); ++m) {
    const bool alike = members[m].index() == first.index() + m && graph.program_of(members[m]) == graph.program_of(first) &&
                       &gpus.of(members[m]) == &gpus.of(first);
    if (!alike || !call_alike(graph, id, first, members[m])) return false;
  }
  return true;
}

}  // namespace

LockstepGroups::LockstepGroups(const TaskGraph& graph, const OperationTable& operations, const RankGpus& gpus)
    : of_communicator_(graph.communicators().size(), kNone), of_rank_(graph.ranks(), kNone) {
  for (std::size_t c = 0; c < graph.communicators().size(); ++c) {
    const CommunicatorId id{c};
    const Communicator& communicator = graph.communicators()[c];
    if (communicator.point_to_point || communicator.members.size() < 2 || operations.crosses(id)) continue;
    if (of_rank_[communicator.members.front().index()] != kNone || !run_alike(graph, gpus, id)) continue;
    bool taken = false;
    for (const RankId rank : communicator.members) taken = taken || of_rank_[rank.index()] != kNone;
    if (taken) continue;
    const auto index = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({id, communicator.members.front(), static_cast<std::uint32_t>(communicator.members.size()), index});
    of_communicator_[c] = index;
    for (const RankId rank : communicator.members) of_rank_[rank.index()] = index;
  }
}

}  // namespace photonrail::execution
