#include "execution/deadlock_report.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace photonrail::execution {

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

bool all_present(const Operation& op) {
  for (Member m = 0; m < op.members(); ++m) {
    if (!op.present(m)) return false;
  }
  return true;
}

std::string failed_part(const PortFault& fault) {
  if (fault.site_link) return "link " + std::to_string(*fault.site_link) + " between sites";
  const std::string rail = fault.rail ? "rail " + std::to_string(fault.rail->value) : "every rail";
  if (fault.of_uplinks()) {
    return (fault.uplink ? "uplink " + std::to_string(*fault.uplink) : "every uplink") + " of " +
           (fault.leaf ? "leaf " + std::to_string(*fault.leaf) : "every leaf") + ", " + rail + ",";
  }
  return (fault.rail ? "the NIC on " + rail : "every NIC") + " of " +
         (fault.server ? "server " + std::to_string(*fault.server) : "every server");
}

// Names the failed NICs and uplinks of electrical rails, and links between sites, whose faults are rates of 0.
std::vector<std::string> failed_nics(const fabric::Fabric& fabric, Time now) {
  std::vector<std::string> lines;
  for (const PortFault& fault : fabric.spec().rail.faults) {
    if ((fabric.optical() && fault.of_ports()) || fault.kind != PortFault::Kind::kFailed || fault.at > now) continue;
    lines.push_back(failed_part(fault) + " failed at " + std::to_string(to_seconds(fault.at)) + " s" +
                    (fault.lasts ? " for " + std::to_string(to_seconds(*fault.lasts)) + " s" : ""));
  }
  return lines;
}

}  // namespace

std::string DeadlockReport::describe(RankId id, TaskId task, std::uint32_t launch) const {
  std::string_view name;
  std::string text = "rank " + std::to_string(id.value) + ", ";
  if (run_.launches == nullptr) {
    name = graph_.program(id).name(task);
  } else {
    const LaunchTable::Place at = run_.launches->place(id, LaunchId{launch});
    if (at.launch == nullptr) return text + "launch " + std::to_string(launch) + ", which is over for it";
    text += "launch " + std::to_string(launch) + ", ";
    task = at.launch->local(task);
    if (at.launch->graph != nullptr) name = at.launch->program(at.part).name(task);
  }
  text += "task " + std::to_string(task.value);
  return name.empty() ? text : text + " '" + std::string(name) + "'";
}

std::string DeadlockReport::why_stuck(OpId id, Member member, const std::string& circuits) const {
  const Operation& op = run_.operations[id];
  const std::string group = "group '" + op.communicator->name + "'";
  const std::string what = std::string(photonrail::name(op.op)) + " of " + group;
  std::vector<RankId> missing;
  for (Member m = 0; m < op.members(); ++m) {
    if (!op.present(m)) missing.push_back(op.rank(m));
  }
  if (!missing.empty()) {
    if (!op.communicator->point_to_point) return what + " waits for " + list_ranks(missing) + " to reach it";
    return (member == 0 ? "send of " : "receive of ") + group + " waits for " + list_ranks(missing) +
           (member == 0 ? ", which never posts its receive" : ", which never posts its send") + " (tag " +
           std::to_string(op.key.tag) + ")";
  }
  if (!op.transfer.started) return what + " waits for its communication lane";
  return what + (circuits.empty() ? " waits for bytes that never arrive" : circuits);
}

std::vector<std::string> DeadlockReport::lines(std::size_t unfinished_ranks) const {
  std::vector<std::string> lines;      // first those whose circuits can never be lit,
  std::vector<std::string> lacking;    // then those that lack circuits for another reason,
  std::vector<std::string> others;     // then those that wait for a rank or for bytes,
  std::vector<std::string> followers;  // and last those behind another operation
  const auto add = [&](std::string line) { lines.push_back(std::move(line)); };
  for (const OpId id : run_.operations.live()) {
    const Operation& op = run_.operations[id];
    const MissingCircuits circuits = op.transfer.started ? circuits_.missing(id) : MissingCircuits{};
    // An operation with all members and no lane is a victim of another one: causes are listed before it.
    const bool behind = !op.transfer.started && all_present(op);
    std::vector<std::string>& into = circuits.impossible      ? lines
                                     : !circuits.text.empty() ? lacking
                                     : behind                 ? followers
                                                              : others;
    for (Member m = 0; m < op.members(); ++m) {
      if (op.transfer.started && op.transfer.left[m] == 0) continue;
      if (!op.present(m)) continue;
      into.push_back(describe(op.rank(m), op.arrival.task(m), op.key.iteration) + ": " + why_stuck(id, m, circuits.text));
    }
  }
  for (std::vector<std::string>* next : {&lacking, &others, &followers})
    lines.insert(lines.end(), std::make_move_iterator(next->begin()), std::make_move_iterator(next->end()));
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    for (const ReadyTask& held : order_.held_back(RankId{r})) {
      add(describe(RankId{r}, held.task, 0) + ": is ready, but task " + std::to_string(order_.turn(RankId{r}).value) +
          " comes first in the schedule of its rank");
    }
  }
  if (lines.empty() && run_.launches == nullptr) {
    add("no rank waits for another, yet " + std::to_string(unfinished_ranks) + " are not done");
  }
  const std::size_t more = lines.size() - std::min(lines.size(), kMaxLines);
  lines.resize(lines.size() - more);
  for (std::uint32_t r = 0; run_.fabric.optical() && r < run_.fabric.rails(); ++r) {
    if (!run_.fabric.has_rail(RailId{r})) continue;
    const std::vector<std::string> faults = run_.fabric.rail(RailId{r}).faults();
    lines.insert(lines.begin(), faults.begin(), faults.end());  // first, as the likely cause
  }
  const std::vector<std::string> nics = failed_nics(run_.fabric, run_.engine.now());
  lines.insert(lines.begin(), nics.begin(), nics.end());
  const std::vector<std::string> stopped = run_.stragglers.failures_until(run_.engine.now());
  lines.insert(lines.begin(), stopped.begin(), stopped.end());
  const fabric::LinkFaults* const faults = run_.fabric.shared().link_faults();
  const std::vector<std::string> links = faults != nullptr ? faults->lines() : std::vector<std::string>{};
  lines.insert(lines.begin(), links.begin(), links.end());
  if (more > 0) lines.push_back("and " + std::to_string(more) + " more");
  return lines;
}

}  // namespace photonrail::execution
