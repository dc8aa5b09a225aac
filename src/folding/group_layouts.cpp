#include "folding/group_layouts.hpp"

#include "folding/folding.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::folding {

namespace {

// Its number among those seen, in the order of their coming.
std::uint32_t seen_as(std::map<std::uint32_t, std::uint32_t>& seen, std::uint32_t what) {
  return seen.try_emplace(what, static_cast<std::uint32_t>(seen.size())).first->second;
}

// The GPUs of server after server, each on the same rails in the same order; 0: they are no such grid.
Member rails_of_grid(const std::vector<MemberPlace>& places) {
  std::size_t rails = 0;
  for (const MemberPlace& place : places) rails = std::max<std::size_t>(rails, place.rail + std::size_t{1});
  if (places.size() % rails != 0) return 0;
  for (std::size_t m = 0; m < places.size(); ++m) {
    if (places[m].server != m / rails || places[m].rail != m % rails) return 0;
  }
  return static_cast<Member>(rails);
}

}  // namespace

GroupLayouts::GroupLayouts(const FoldingInput& job, const CallTable& calls) : job_(job), calls_(calls) {
  const std::vector<Communicator>& groups = job.graph.communicators();
  of_.reserve(groups.size());
  for (std::size_t c = 0; c < groups.size(); ++c) of_.push_back(layout_of(CommunicatorId{c}));
}

std::uint32_t GroupLayouts::server(RankId r) const {
  return job_.gpu_of_rank[r.index()].value / job_.cluster.gpus_per_server;
}

std::uint32_t GroupLayouts::rail(RankId r) const {
  return job_.gpu_of_rank[r.index()].value % job_.cluster.gpus_per_server;
}

std::uint32_t GroupLayouts::layout_of(CommunicatorId c) {
  const Communicator& group = job_.graph.communicators()[c.index()];
  const RankId first = group.members.front();
  bool one_server = true;
  bool one_rail = true;
  for (const RankId rank : group.members) {
    one_server = one_server && server(rank) == server(first);
    one_rail = one_rail && rail(rank) == rail(first);
  }
  if (one_server) return kOneServer;
  if (one_rail || calls_.calls(c).empty()) return kOneRail;
  if (!by_server_) find_senders(group.name);
  by_server_ = true;
  return spread(group.members);
}

std::uint32_t GroupLayouts::spread(std::span<const RankId> members) {
  std::vector<MemberPlace> places;
  std::map<std::uint32_t, std::uint32_t> servers;
  std::map<std::uint32_t, std::uint32_t> rails;
  for (const RankId rank : members) places.push_back({seen_as(servers, server(rank)), seen_as(rails, rail(rank))});
  const auto [entry, fresh] = numbers_.try_emplace(places, static_cast<std::uint32_t>(kSpans + spread_.size()));
  if (fresh) spread_.push_back(std::move(places));
  return entry->second;
}

// A message may leave by any GPU of its server: all of them need a rank, and with it a class.
void GroupLayouts::find_senders(const std::string& group) {
  const std::uint32_t local = job_.cluster.gpus_per_server;
  rank_of_gpu_.assign(job_.cluster.gpus(), RankId::none());
  for (std::size_t r = 0; r < job_.gpu_of_rank.size(); ++r) rank_of_gpu_[job_.gpu_of_rank[r].index()] = RankId{r};
  for (std::size_t first = 0; first < rank_of_gpu_.size(); first += local) {
    const auto begin = rank_of_gpu_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto idle = std::count(begin, begin + local, RankId::none());
    if (idle == 0 || idle == local) continue;
    problem_ = "messages of group '" + group + "' change rails inside a server that has GPUs without a rank";
    return;
  }
}

Member GroupLayouts::unit(CommunicatorId c) const {
  if (layout(c) < kSpans) return 1;
  const std::vector<MemberPlace>& places = spread_[layout(c) - kSpans];
  const Member rails = rails_of_grid(places);
  return rails == 0 ? static_cast<Member>(places.size()) : rails;
}

std::unique_ptr<const SendPlan> GroupLayouts::expand(const CollectiveCall& call, CommunicatorId c) const {
  if (layout(c) < kSpans) return calls_.expand(call, layout(c) == kOneServer);
  return calls_.expand(call, spread_[layout(c) - kSpans]);
}

RankId GroupLayouts::sender(RankId from, RankId to) const {
  if (!by_server_) return from;
  return rank_of_gpu_[server(from) * std::size_t{job_.cluster.gpus_per_server} + rail(to)];
}

}  // namespace photonrail::folding
