#include "testing/case_tasks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace photonrail::testing {

namespace {

std::string group_name(const std::vector<std::uint32_t>& members) {
  std::string name = "g";
  for (const std::uint32_t m : members) name += (name.size() == 1 ? "" : "-") + std::to_string(m);
  return name;
}

/// Writes a graph task by task, a program for each rank.
class GraphWriter {
 public:
  explicit GraphWriter(const FuzzCase& fuzz_case) : builder_(fuzz_case.ranks()), ranks_(fuzz_case.ranks()) {
    for (Rank& rank : ranks_) rank.program = builder_.add_program();
  }

  void add_group(const std::string& name, const std::vector<std::uint32_t>& members) {
    std::vector<RankId> ids;
    for (const std::uint32_t m : members) ids.push_back(RankId{m});
    groups_.emplace(name, builder_.add_communicator(name, std::move(ids), Dimension::kOther));
  }

  void add(const CaseTask& task) {
    Rank& rank = ranks_[task.rank];
    std::vector<TaskId> after;
    if (!task.after.empty()) after.push_back(rank.ids.at(task.after));
    rank.ids[task.id] = write(task, rank, after);
  }

  TaskGraph finish() && {
    for (std::size_t r = 0; r < ranks_.size(); ++r) builder_.assign(RankId{r}, ranks_[r].program, ranks_[r].slots);
    return std::move(builder_).build();
  }

 private:
  struct Rank {
    ProgramId program;
    std::vector<CommunicatorId> slots;
    std::map<std::string, TaskId> ids;
  };

  TaskId write(const CaseTask& task, Rank& rank, const std::vector<TaskId>& after) {
    if (task.call == nullptr) return builder_.add_delay(rank.program, task.compute, task.id, after);
    const FuzzCall& call = *task.call;
    const Bytes bytes{call.bytes};
    if (call.op != CollectiveOp::kSend) {
      return builder_.add_collective(rank.program, slot(rank, groups_.at(task.group)), call.op, bytes, task.id, after);
    }
    const CommunicatorId link = builder_.link(RankId{call.members[0]}, RankId{call.members[1]}, Dimension::kOther);
    if (task.rank == call.members[0]) return builder_.add_send(rank.program, slot(rank, link), bytes, 0, task.id, after);
    return builder_.add_receive(rank.program, slot(rank, link), bytes, 0, task.id, after);
  }

  static std::uint32_t slot(Rank& rank, CommunicatorId communicator) {
    const auto found = std::find(rank.slots.begin(), rank.slots.end(), communicator);
    const auto index = static_cast<std::uint32_t>(found - rank.slots.begin());
    if (found == rank.slots.end()) rank.slots.push_back(communicator);
    return index;
  }

  TaskGraphBuilder builder_;
  std::vector<Rank> ranks_;
  std::map<std::string, CommunicatorId> groups_;
};

}  // namespace

CaseTasks tasks_of(const FuzzCase& fuzz_case) {
  CaseTasks list;
  std::vector<std::string> last(fuzz_case.ranks());
  for (std::size_t i = 0; i < fuzz_case.calls.size(); ++i) {
    const FuzzCall& call = fuzz_case.calls[i];
    const bool grouped = call.op != CollectiveOp::kSend;
    const std::string group = grouped ? group_name(call.members) : "";
    if (grouped) list.groups.emplace(group, call.members);
    const std::string id = std::string(photonrail::name(call.op)) + " " + std::to_string(i);
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      const std::uint32_t rank = call.members[m];
      std::string after = call.overlaps ? "" : last[rank];
      if (!call.compute_us.empty() && call.compute_us[m] > 0) {
        const std::string compute = "compute " + std::to_string(i);
        list.tasks.push_back({rank, compute, nullptr, "", std::chrono::microseconds(call.compute_us[m]), after});
        after = compute;
      }
      list.tasks.push_back({rank, id, &call, group, Duration{}, after});
      last[rank] = id;
    }
  }
  return list;
}

TaskGraph graph_of(const FuzzCase& fuzz_case) {
  const CaseTasks list = tasks_of(fuzz_case);
  GraphWriter graph(fuzz_case);
  for (const auto& [name, members] : list.groups) graph.add_group(name, members);
  for (const CaseTask& task : list.tasks) graph.add(task);
  return std::move(graph).finish();
}

}  // namespace photonrail::testing
