// The table has what each rank of a job calls on which communicator, as far as folding looks at it: programs with equal
// tasks share one entry.
#pragma once

#include "collective/algorithm_table.hpp"
#include "photonrail/task_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace photonrail::folding {

class CallTable {
 public:
  /// Both must outlive the table.
  CallTable(const TaskGraph& graph, const collective::AlgorithmTable& algorithms);

  /// Why the job's ranks cannot be told apart by their calls alone; "" when they can. Then the rest may be asked.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Indexed by rank: programs with equal tasks have one number.
  [[nodiscard]] std::span<const std::uint32_t> program_of_rank() const { return programs_; }
  [[nodiscard]] std::size_t programs() const { return calls_.size(); }
  /// Indexed by communicator and member: the slot of the member's rank.
  [[nodiscard]] std::uint32_t slot(CommunicatorId c, Member m) const { return slots_[first_member_[c.index()] + m]; }
  /// Indexed by rank and slot: its place among the members.
  [[nodiscard]] Member place(RankId rank, std::uint32_t slot) const { return places_[first_slot_[rank.index()] + slot]; }
  /// Every call on the communicator, each once: all members make the same.
  [[nodiscard]] std::vector<CollectiveCall> calls(CommunicatorId c) const;
  /// Every call of a program on one of its slots, for a number of members.
  [[nodiscard]] std::vector<CollectiveCall> calls(std::uint32_t program, std::uint32_t slot, Member members) const;
  /// The plan of a call among members of one rail, each in a server of its own, or of one server.
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call, bool one_server) const;
  /// The same among members at these places.
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(CollectiveCall call, std::span<const MemberPlace> places) const;

 private:
  using Calls = std::vector<CollectiveCall>;  // of a program's slot; members and pieces are not filled in

  void number_programs();
  void list_calls();
  [[nodiscard]] bool foldable(const Task& task);
  void find_slots();

  const TaskGraph& graph_;
  const collective::AlgorithmTable& algorithms_;
  std::string problem_;
  std::vector<std::uint32_t> programs_;      // by rank
  std::vector<std::vector<Calls>> calls_;    // by program and slot
  std::vector<std::uint32_t> first_member_;  // by communicator
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint32_t> first_slot_;  // by rank
  std::vector<Member> places_;
};

}  // namespace photonrail::folding
