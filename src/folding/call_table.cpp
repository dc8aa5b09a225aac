#include "folding/call_table.hpp"

#include "folding/id_table.hpp"
#include "workload/program_hash.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace photonrail::folding {

using workload::hash_tasks;

namespace {

constexpr const char* kNoSlot = "a rank has no slot for a group that it is a member of";

CollectiveOp op_of(const Task& task) { return task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend; }

}  // namespace

CallTable::CallTable(const TaskGraph& graph, const collective::AlgorithmTable& algorithms)
    : graph_(graph), algorithms_(algorithms) {
  number_programs();
  if (calls_.size() == graph.ranks()) {
    problem_ = "every rank has tasks of its own";
    return;
  }
  list_calls();
  if (problem_.empty()) find_slots();
}

// Programs are told apart by their tasks only; recorded traces have one for each rank.
void CallTable::number_programs() {
  const std::vector<Program>& programs = graph_.programs();
  std::vector<std::uint32_t> number(programs.size());
  std::multimap<std::uint64_t, std::uint32_t> by_hash;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    const std::uint64_t hash = hash_tasks(programs[p]);
    const auto [first, last] = by_hash.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& e) { return programs[e.second].same_tasks(programs[p]); });
    number[p] = same == last ? p : same->second;
    if (same == last) by_hash.emplace(hash, p);
  }
  IdTable seen;
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    const std::uint32_t one = number[graph_.program_of(RankId{r}).index()];
    programs_.push_back(seen.number({&one, 1}));
  }
  calls_.resize(seen.size());
}

void CallTable::list_calls() {
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    std::vector<Calls>& slots = calls_[programs_[r]];
    slots.resize(std::max(slots.size(), graph_.slots(RankId{r}).size()));
  }
  std::vector<bool> done(calls_.size(), false);
  for (std::size_t r = 0; r < graph_.ranks() && problem_.empty(); ++r) {
    const std::uint32_t program = programs_[r];
    if (done[program]) continue;
    done[program] = true;
    std::set<std::tuple<std::uint32_t, CollectiveOp, std::int64_t, Member>> distinct;
    for (const Task& task : graph_.program(RankId{r}).tasks()) {
      if (task.kind == TaskKind::kCompute) continue;
      if (!foldable(task)) return;
      distinct.emplace(task.slot, op_of(task), task.size().count, task.root());
    }
    for (const auto& [slot, op, amount, root] : distinct) {
      calls_[program][slot].push_back({.op = op, .size = Bytes{amount}, .root = root});
    }
  }
}

// Its plan depends on the op, the size, and on where members sit, which GroupLayouts tells.
bool CallTable::foldable(const Task& task) {
  const CollectiveOp op = op_of(task);
  if (task.demand() != 0) {
    problem_ = "pairs of ranks have uneven demands";
  } else if (algorithms_.chooses(op)) {
    problem_ = "\"auto\" chooses by where members sit";
  } else if (algorithms_.expects_straggler(op)) {
    problem_ = "'" + std::string(algorithms_.algorithm(op).name()) + "' treats the member that comes last differently";
  }
  return problem_.empty();
}

// Ranks come in ascending order, as the members of a group do.
void CallTable::find_slots() {
  const std::vector<Communicator>& communicators = graph_.communicators();
  first_member_.assign(communicators.size() + 1, 0);
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    first_member_[c + 1] = first_member_[c] + static_cast<std::uint32_t>(communicators[c].members.size());
  }
  slots_.resize(first_member_.back());
  places_.reserve(first_member_.back());
  first_slot_.reserve(graph_.ranks() + 1);
  first_slot_.push_back(0);
  std::vector<Member> next(communicators.size(), 0);
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    const std::span<const CommunicatorId> of = graph_.slots(RankId{r});
    for (std::uint32_t s = 0; s < of.size(); ++s) {
      const Communicator& c = communicators[of[s].index()];
      const Member place = next[of[s].index()]++;
      const Member member = c.point_to_point && c.members[0] != RankId{r} ? 1 : c.point_to_point ? 0 : place;
      if (c.members[member] != RankId{r}) {
        problem_ = kNoSlot;
        return;
      }
      slots_[first_member_[of[s].index()] + member] = s;
      places_.push_back(member);
    }
    first_slot_.push_back(static_cast<std::uint32_t>(places_.size()));
  }
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    if (next[c] != communicators[c].members.size()) problem_ = kNoSlot;
  }
}

std::unique_ptr<const SendPlan> CallTable::expand(const CollectiveCall& call, bool one_server) const {
  std::vector<MemberPlace> places;
  for (Member m = 0; one_server && algorithms_.uses_places(call.op) && m < call.members; ++m) places.push_back({0, m});
  return expand(call, places);
}

std::unique_ptr<const SendPlan> CallTable::expand(CollectiveCall call, std::span<const MemberPlace> places) const {
  call.places.assign(places.begin(), places.end());
  return algorithms_.expand(algorithms_.supporting(call), call);
}

std::vector<CollectiveCall> CallTable::calls(CommunicatorId c) const {
  const Communicator& group = graph_.communicators()[c.index()];
  return calls(programs_[group.members.front().index()], slot(c, 0), static_cast<Member>(group.members.size()));
}

std::vector<CollectiveCall> CallTable::calls(std::uint32_t program, std::uint32_t slot, Member members) const {
  Calls calls = calls_[program][slot];
  for (CollectiveCall& call : calls) call.members = members;
  return calls;
}

}  // namespace photonrail::folding
