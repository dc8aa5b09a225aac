#include "execution/launched_graphs.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace photonrail::execution {

namespace {

constexpr std::size_t kIdleGraphs = 256;

}  // namespace

// "graph": the field of what the file calls the workload.
void fail_workload(const std::string& what, const std::string& hint) {
  throw core::FieldError(core::field("graph"), what, hint);
}

void LaunchedGraphs::check_ranks(std::span<const RankId> ranks) {
  if (ranks.empty()) fail_workload("launches something on no rank");
  ++check_;
  for (const RankId rank : ranks) {
    if (rank.index() >= seen_.size()) {
      fail_workload("launches something on rank " + std::to_string(rank.value) + ", which its job does not have",
                    "it has " + core::counted(seen_.size(), "rank"));
    }
    if (std::exchange(seen_[rank.index()], check_) == check_) {
      fail_workload("launches something twice on rank " + std::to_string(rank.value));
    }
  }
}

// Graphs that are launched again and again are looked up by their address, which they keep while they are here.
LaunchedGraph& LaunchedGraphs::of(const Fragment& fragment) {
  if (fragment.graph == nullptr) fail_workload("launches a fragment without a graph");
  std::vector<std::unique_ptr<LaunchedGraph>>& known = graphs_[fragment.graph.get()];
  for (const auto& graph : known) {
    if (graph->ranks == fragment.ranks) return *graph;
  }
  std::unique_ptr<LaunchedGraph> made = compile(fragment);
  drop_idle();
  ++count_;
  return *graphs_[fragment.graph.get()].emplace_back(std::move(made));
}

std::unique_ptr<LaunchedGraph> LaunchedGraphs::compile(const Fragment& fragment) {
  const TaskGraph& graph = *fragment.graph;
  if (fragment.ranks.size() != graph.ranks()) {
    fail_workload("launches a graph of " + core::counted(graph.ranks(), "rank") + " on " +
                      core::counted(fragment.ranks.size(), "rank"),
                  "a fragment names a rank of the job for each rank of its graph");
  }
  check_ranks(fragment.ranks);
  if (graph.demands() != nullptr && graph.demands() != run_.operations.traffic()) {
    fail_workload("launches a graph with traffic matrices other than those of the scenario's graph",
                  "give each all-to-all its size, or both graphs one source of matrices");
  }
  auto made = std::make_unique<LaunchedGraph>();
  made->graph = fragment.graph;
  made->ranks = fragment.ranks;
  std::set<CommunicatorId> named;
  std::vector<RankId> members;
  for (const Communicator& communicator : graph.communicators()) {
    members.clear();
    for (const RankId member : communicator.members) members.push_back(fragment.ranks[member.index()]);
    if (!communicator.point_to_point) std::sort(members.begin(), members.end());
    GroupKey key{communicator.name, members, communicator.dimension, communicator.point_to_point};
    while (!named.insert(group(key)).second) ++key.ordinal;
    made->communicators.push_back(group(key));
  }
  for (const Program& program : graph.programs()) made->joins.push_back(ProgramJoins::of(program));
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const std::vector<std::uint32_t>& waits = made->joins[graph.program_of(RankId{r}).index()].waits;
    made->joins_at.push_back(static_cast<std::uint32_t>(made->counters.size()));
    made->counters.insert(made->counters.end(), waits.begin(), waits.end());
    made->longest = std::max(made->longest, static_cast<std::uint32_t>(graph.program(RankId{r}).tasks().size()));
  }
  return made;
}

CommunicatorId LaunchedGraphs::group(const GroupKey& key) {
  const auto [id, is_new] = table_.groups().find_or_add(key);
  if (!is_new) return id;
  run_.operations.add_group(id);
  run_.observers.notify([&](Observer& observer) { observer.communicator(id, table_.groups()[id]); });
  return id;
}

// An agent that makes a new graph for each launch does not fill the memory with them.
void LaunchedGraphs::drop_idle() {
  if (count_ < kIdleGraphs + 2 * table_.open_launches()) return;
  count_ = 0;
  for (auto& [graph, known] : graphs_) {
    std::erase_if(known, [](const auto& of_ranks) { return of_ranks->users == 0; });
    count_ += known.size();
  }
  std::erase_if(graphs_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace photonrail::execution
