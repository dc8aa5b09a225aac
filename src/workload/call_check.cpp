#include "workload/call_check.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace photonrail::workload {

namespace {

constexpr std::size_t kWarningsInFull = 8;

/// A member of a communicator and what it does there.
struct Participant {
  RankId rank;
  const Program* program = nullptr;
  std::uint32_t slot = 0;
  std::span<const TaskId> calls;

  [[nodiscard]] const Task& task(std::size_t call) const { return program->task(calls[call]); }
  [[nodiscard]] std::string describe(std::size_t call) const {
    return "rank " + std::to_string(rank.value) + " " + describe_task(calls[call], program->name(calls[call]));
  }
  // Ranks that run the same program on the same slot make the same calls.
  [[nodiscard]] bool same_calls(const Participant& other) const { return program == other.program && slot == other.slot; }
};

std::string where_is(const Communicator& communicator, std::size_t call) {
  return "communicator " + communicator.name + ", call " + std::to_string(call + 1);
}

bool is_rooted(CollectiveOp op) {
  return op == CollectiveOp::kReduce || op == CollectiveOp::kGather || op == CollectiveOp::kScatter ||
         op == CollectiveOp::kBroadcast;
}

[[noreturn]] void disagree(const Communicator& communicator, std::size_t call, const Participant& a, const Participant& b,
                           const std::string& value_a, const std::string& value_b) {
  throw ConfigError(where_is(communicator, call),
                    a.describe(call) + " says " + value_a + ", " + b.describe(call) + " says " + value_b,
                    "members of a communicator must make the same calls in the same order");
}

void check_agreement(const Communicator& communicator, const Participant& a, const Participant& b) {
  for (std::size_t k = 0; k < std::min(a.calls.size(), b.calls.size()); ++k) {
    const Task& x = a.task(k);
    const Task& y = b.task(k);
    if (x.op != y.op) disagree(communicator, k, a, b, std::string(name(x.op)), std::string(name(y.op)));
    if (x.size() != y.size() && x.op != CollectiveOp::kBarrier) {
      disagree(communicator, k, a, b, core::counted(x.size().count, "byte"), core::counted(y.size().count, "byte"));
    }
    if (x.root() != y.root() && is_rooted(x.op)) {
      disagree(communicator, k, a, b, "root " + std::to_string(x.root()), "root " + std::to_string(y.root()));
    }
    if (x.demand() != y.demand()) {
      disagree(communicator, k, a, b, "demand " + std::to_string(x.demand()), "demand " + std::to_string(y.demand()));
    }
  }
}

void check_demand(const Communicator& communicator, const Participant& p, std::size_t call, const TrafficSource* demands) {
  const std::uint32_t number = p.task(call).demand();
  if (number == 0) return;
  const Member members = demands == nullptr ? 0 : demands->members(number).value_or(0);
  if (members == communicator.members.size()) return;
  const std::string what = p.describe(call) + " names demand " + std::to_string(number);
  throw ConfigError(where_is(communicator, call),
                    members > 0 ? what + ", which is for " + core::counted(members, "member") + ", but there are " +
                                      std::to_string(communicator.members.size())
                                : what + ", which does not exist",
                    "a demand is a square matrix with a row for each member");
}

void check_group_tasks(const Communicator& communicator, const Participant& p, const TrafficSource* demands) {
  for (std::size_t k = 0; k < p.calls.size(); ++k) {
    const Task& t = p.task(k);
    if (t.kind != TaskKind::kCollective || t.op == CollectiveOp::kSend) {
      throw ConfigError(where_is(communicator, k), p.describe(k) + " is a send or receive, but this is a group",
                        "sends and receives need a point-to-point communicator");
    }
    if (is_rooted(t.op) && t.root() >= communicator.members.size()) {
      throw ConfigError(where_is(communicator, k),
                        p.describe(k) + " has root " + std::to_string(t.root()) + ", but there are " +
                            core::counted(communicator.members.size(), "member"),
                        "a root is a position in the group, from 0");
    }
    check_demand(communicator, p, k, demands);
  }
}

/// The warning, or "" when every member makes every call.
std::string check_group(const Communicator& communicator, std::span<const Participant> members,
                        const TrafficSource* demands) {
  const auto by_calls = [](const Participant& a, const Participant& b) { return a.calls.size() < b.calls.size(); };
  const Participant& most = *std::max_element(members.begin(), members.end(), by_calls);
  check_group_tasks(communicator, most, demands);
  const Participant* checked = &most;
  for (const Participant& p : members) {
    if (p.same_calls(most) || p.same_calls(*checked)) continue;
    check_group_tasks(communicator, p, demands);
    check_agreement(communicator, most, p);
    checked = &p;
  }
  const Participant& least = *std::min_element(members.begin(), members.end(), by_calls);
  if (least.calls.size() == most.calls.size()) return {};
  return "communicator " + communicator.name + ": rank " + std::to_string(least.rank.value) + " makes " +
         std::to_string(least.calls.size()) + " calls, rank " + std::to_string(most.rank.value) + " makes " +
         std::to_string(most.calls.size()) + ": " + most.describe(least.calls.size()) + " is the first without a partner";
}

void check_link_tasks(const Communicator& link, const Participant& p, TaskKind expected) {
  for (std::size_t k = 0; k < p.calls.size(); ++k) {
    if (p.task(k).kind == expected) continue;
    throw ConfigError(where_is(link, k),
                      p.describe(k) + " is not a " + (expected == TaskKind::kSend ? "send" : "receive") +
                          ", but this communicator only carries sends from rank " + std::to_string(link.members[0].value) +
                          " to rank " + std::to_string(link.members[1].value),
                      "the other direction and collectives need communicators of their own");
  }
}

void check_message_size(const Communicator& link, const Participant& sender, std::size_t s, const Participant& receiver,
                        std::size_t r) {
  const Task& sent = sender.task(s);
  const Task& received = receiver.task(r);
  if (sent.size() == received.size()) return;
  throw ConfigError(
      "communicator " + link.name + ", tag " + std::to_string(sent.tag) + ", call " + std::to_string(sent.match + 1),
      sender.describe(s) + " sends " + core::counted(sent.size().count, "byte") + ", " + receiver.describe(r) +
          " expects " + std::to_string(received.size().count),
      "both ends must give the same size");
}

/// The warning, or "" when every send has its receive.
std::string check_link(const Communicator& link, const Participant& sender, const Participant& receiver) {
  check_link_tasks(link, sender, TaskKind::kSend);
  check_link_tasks(link, receiver, TaskKind::kReceive);
  std::size_t s = 0;
  std::size_t r = 0;
  std::size_t alone = 0;
  std::string first;
  const auto without_partner = [&](const Participant& p, std::size_t call) {
    if (alone++ == 0) first = p.describe(call) + " with tag " + std::to_string(p.task(call).tag);
  };
  const auto key = [](const Task& t) { return std::pair{t.tag, t.match}; };
  while (s < sender.calls.size() || r < receiver.calls.size()) {
    if (r == receiver.calls.size() || (s < sender.calls.size() && key(sender.task(s)) < key(receiver.task(r)))) {
      without_partner(sender, s++);
    } else if (s == sender.calls.size() || key(receiver.task(r)) < key(sender.task(s))) {
      without_partner(receiver, r++);
    } else {
      check_message_size(link, sender, s++, receiver, r++);
    }
  }
  if (alone == 0) return {};
  return "communicator " + link.name + ": " + core::counted(sender.calls.size(), "send") + " and " +
         core::counted(receiver.calls.size(), "receive") + ", " + std::to_string(alone) +
         " of them without a partner; the first is " + first;
}

/// The slot that each member of each communicator has it in.
class Slots {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit Slots(const TaskGraph& graph) {
    for (const Communicator& c : graph.communicators()) first_.push_back(first_.back() + c.members.size());
    slots_.assign(first_.back(), kNone);
    std::vector<Member> next(graph.communicators().size(), 0);  // ranks come in ascending order, as members do
    for (std::size_t r = 0; r < graph.ranks(); ++r) {
      const auto slots = graph.slots(RankId{r});
      for (std::uint32_t s = 0; s < slots.size(); ++s) {
        const Communicator& c = graph.communicators()[slots[s].index()];
        Member& member = next[slots[s].index()];
        if (c.point_to_point) member = c.members[0] == RankId{r} ? 0 : 1;
        while (c.members[member] != RankId{r}) ++member;
        slots_[first_[slots[s].index()] + member] = s;
      }
    }
  }
  [[nodiscard]] std::uint32_t of(std::size_t communicator, std::size_t member) const {
    return slots_[first_[communicator] + member];
  }

 private:
  std::vector<std::size_t> first_{0};  // by communicator
  std::vector<std::uint32_t> slots_;
};

/// A check that was passed once for a communicator needs no second look at one whose members make the same calls: programs
/// and slots of the first and of all others, and how many they are.
using Known = std::set<std::tuple<const Program*, std::uint32_t, const Program*, std::uint32_t, std::size_t, bool>>;

std::string check_communicator(const Communicator& communicator, std::span<const Participant> members,
                               const TrafficSource* demands, Known& known) {
  const Participant& first = members.front();
  const Participant& rest = members.back();
  const auto same_as_rest = [&](const Participant& p) { return p.same_calls(rest); };
  if (!std::all_of(members.begin() + 1, members.end(), same_as_rest)) return check_group(communicator, members, demands);
  const std::tuple key{first.program, first.slot, rest.program, rest.slot, members.size(), communicator.point_to_point};
  if (known.contains(key)) return {};
  std::string warning =
      communicator.point_to_point ? check_link(communicator, first, rest) : check_group(communicator, members, demands);
  if (warning.empty()) known.insert(key);
  return warning;
}

}  // namespace

std::string describe_task(TaskId task, std::string_view name) {
  std::string text = "task " + std::to_string(task.value);
  if (!name.empty()) text += " ('" + std::string(name) + "')";
  return text;
}

CallIndex index_calls(std::span<const Task> tasks, std::uint32_t slots) {
  CallIndex index;
  index.offsets.assign(slots + 1, 0);
  if (slots == 0) return index;
  for (const Task& t : tasks) {
    if (t.kind != TaskKind::kCompute) ++index.offsets[t.slot + 1];
  }
  for (std::uint32_t s = 0; s < slots; ++s) index.offsets[s + 1] += index.offsets[s];
  index.calls.resize(index.offsets[slots]);
  std::vector<std::uint32_t> next(index.offsets.begin(), index.offsets.end() - 1);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].kind != TaskKind::kCompute) index.calls[next[tasks[t].slot]++] = TaskId{t};
  }
  const auto before = [&](TaskId a, TaskId b) {
    const Task& x = tasks[a.index()];
    const Task& y = tasks[b.index()];
    return std::tuple{x.kind, x.tag, a} < std::tuple{y.kind, y.tag, b};
  };
  for (std::uint32_t s = 0; s < slots; ++s) {
    const auto begin = index.calls.begin() + index.offsets[s];
    const auto end = index.calls.begin() + index.offsets[s + 1];
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  }
  return index;
}

void number_calls(std::vector<Task>& tasks, const CallIndex& index) {
  const Task* previous = nullptr;
  for (const TaskId id : index.calls) {
    Task& t = tasks[id.index()];
    const bool continues =
        previous != nullptr && previous->slot == t.slot && previous->kind == t.kind && previous->tag == t.tag;
    t.match = continues ? previous->match + 1 : 0;
    previous = &t;
  }
}

std::vector<std::string> check_calls(const TaskGraph& graph, std::span<const CallIndex> index_of_program) {
  std::vector<std::string> warnings;
  std::size_t more = 0;
  const Slots slots(graph);
  Known known;
  std::vector<Participant> members;
  for (std::size_t c = 0; c < graph.communicators().size(); ++c) {
    const Communicator& communicator = graph.communicators()[c];
    members.clear();
    for (std::size_t m = 0; m < communicator.members.size(); ++m) {
      const RankId rank = communicator.members[m];
      const std::uint32_t slot = slots.of(c, m);
      members.push_back({rank, nullptr, 0, {}});  // without a slot it makes no calls
      if (slot == Slots::kNone) continue;
      members.back() = {rank, &graph.program(rank), slot, index_of_program[graph.program_of(rank).index()].of(slot)};
    }
    std::string warning = check_communicator(communicator, members, graph.demands(), known);
    if (warning.empty()) continue;
    if (warnings.size() < kWarningsInFull) {
      warnings.push_back(std::move(warning));
    } else {
      ++more;
    }
  }
  if (more > 0)
    warnings.push_back("and " + core::counted(more, "more communicator") + " with calls that some member never makes");
  return warnings;
}

}  // namespace photonrail::workload
