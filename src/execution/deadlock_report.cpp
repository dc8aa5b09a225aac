// Says why a run cannot finish: for each rank its task, its group, and the peer or circuit that it waits for.
#include "execution/executor.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace photonrail {

namespace {

constexpr std::size_t kMaxLines = 16;  // a reader needs the first few; the rest is counted

std::string list_ranks(const std::vector<RankId>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i == 8) return text + " and " + std::to_string(ranks.size() - i) + " more";
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i].value);
  }
  return text;
}

}  // namespace

std::string Executor::describe(RankId id, TaskId task) const {
  const std::string_view name = graph_.program(id).name(task);
  const std::string text = "rank " + std::to_string(id.value) + ", task " + std::to_string(task.value);
  return name.empty() ? text : text + " '" + std::string(name) + "'";
}

std::string Executor::why_stuck(OpId id, Member member) const {
  Operation& op = parts_.operations[id];
  const std::string group = "group '" + op.communicator->name + "'";
  const std::string what = std::string(photonrail::name(op.op)) + " of " + group;
  std::vector<RankId> missing;
  for (Member m = 0; m < op.members(); ++m) {
    if (op.tasks[m].is_none()) missing.push_back(op.rank(m));
  }
  if (!missing.empty()) {
    if (!op.communicator->point_to_point) return what + " waits for " + list_ranks(missing) + " to reach it";
    return (member == 0 ? "send of " : "receive of ") + group + " waits for " + list_ranks(missing) +
           (member == 0 ? ", which never posts its receive" : ", which never posts its send") + " (tag " +
           std::to_string(op.key.tag) + ")";
  }
  if (op.state == Operation::State::kReady) return what + " waits for its communication lane";
  for (const Round& round : op.rounds) {
    for (const Link& link : round.links) {
      if (link.parked.empty()) continue;
      return what + " waits for a circuit from rank " + std::to_string(op.rank(link.pair.first).value) + " to rank " +
             std::to_string(op.rank(link.pair.second).value);
    }
    if (!round.waiting) continue;
    if (std::string text = more_circuits_than_ports(op, round.index); !text.empty()) return what + text;
    for (const MemberPair& pair : op.plan().pairs(round.index)) {
      if (parts_.fabric.route(op.gpus[pair.first], op.gpus[pair.second])) continue;
      return what + " waits for a circuit from rank " + std::to_string(op.rank(pair.first).value) + " to rank " +
             std::to_string(op.rank(pair.second).value);
    }
  }
  return what + " waits for bytes that never arrive";
}

// A round that is served whole, and wants more circuits out of a server, or into one, than a GPU of it has ports on a rail.
std::string Executor::more_circuits_than_ports(const Operation& op, std::uint32_t round) const {
  const std::uint32_t ports = parts_.fabric.plant().spec().nic_ports;
  struct Wanted {
    std::set<std::uint32_t> servers;  // at the other ends
    std::set<Member> members;         // at this end
  };
  std::map<std::tuple<RailId, std::uint32_t, bool>, Wanted> wanted;  // by rail, server, and whether it receives
  for (const MemberPair& pair : op.plan().pairs(round)) {
    const auto crossing = parts_.fabric.crossing(op.gpus[pair.first], op.gpus[pair.second]);
    if (!crossing) continue;
    for (const bool out : {true, false}) {
      Wanted& at = wanted[{crossing->rail, out ? crossing->from : crossing->to, !out}];
      at.servers.insert(out ? crossing->to : crossing->from);
      at.members.insert(out ? pair.first : pair.second);
    }
  }
  for (const auto& [place, at] : wanted) {
    if (at.servers.size() <= ports) continue;
    const auto [rail, server, receives] = place;
    std::vector<RankId> ranks;
    for (const Member m : at.members) ranks.push_back(op.rank(m));
    const std::string number = std::to_string(ports) + (ports == 1 ? " port" : " ports");
    return " wants " + std::to_string(at.servers.size()) + " circuits at once " + (receives ? "to " : "from ") +
           list_ranks(ranks) +
           (ranks.size() == 1 ? ", which has " + number
                              : ", and server " + std::to_string(server) + " has " + number + " on rail " +
                                    std::to_string(rail.value)) +
           ": choose an algorithm that sends in matchings, " + (ranks.size() == 1 ? "" : "another placement, ") +
           "or a controller that serves pairs one by one";
  }
  return "";
}

std::vector<std::string> Executor::stuck() const {
  std::vector<std::string> lines;
  std::size_t more = 0;
  const auto add = [&](std::string line) { lines.size() < kMaxLines ? lines.push_back(std::move(line)) : void(++more); };
  for (const OpId id : parts_.operations.live()) {
    const Operation& op = parts_.operations[id];
    for (Member m = 0; m < op.members(); ++m) {
      if (op.state == Operation::State::kStarted && op.left[m] == 0) continue;
      if (!op.tasks[m].is_none()) add(describe(op.rank(m), op.tasks[m]) + ": " + why_stuck(id, m));
    }
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (const ReadyTask& held : order_.held_back(RankId{r})) {
      add(describe(RankId{r}, held.task) + ": is ready, but task " + std::to_string(order_.turn(RankId{r}).value) +
          " comes first in the schedule of its rank");
    }
  }
  if (lines.empty())
    add("no rank waits for another, yet " + std::to_string(ranks_.size() - ranks_finished_) + " are not done");
  for (std::uint32_t r = 0; parts_.fabric.optical() && r < parts_.fabric.rails(); ++r) {
    if (!parts_.fabric.has_rail(RailId{r})) continue;
    const std::vector<std::string> faults = parts_.fabric.rail(RailId{r}).faults();
    lines.insert(lines.begin(), faults.begin(), faults.end());  // first, as the likely cause
  }
  if (more > 0) lines.push_back("and " + std::to_string(more) + " more");
  return lines;
}

}  // namespace photonrail
