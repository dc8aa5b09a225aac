// Which ranks nothing tells apart: colour refinement over ranks and communicators (the coarsest equitable partition;
// Cardon and Crochemore, "Partitioning a graph in O(|A| log |V|)", 1982; that processes of one colour behave alike is
// Angluin, "Local and global properties in networks of processors", 1980).
//
// Two ranks keep one colour while they run the same tasks, sit on rails of the same colours and have, slot for slot,
// communicators of one type at the same place. Two communicators are of one type when they list the same colours and slots
// in the same order; a group in which all that is called is unchanged by rotation, in the same cyclic order.
#pragma once

#include "photonrail/scenario.hpp"
#include "execution/plan_cache.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace photonrail {

class IdTable;

/// Of a communicator: the members `start`, start + 1 .. start + period - 1 are of different classes or slots, and repeat.
struct GroupClass {
  std::uint32_t type = 0;
  Member start = 0;
  Member period = 0;
};

class ColourRefinement {
 public:
  /// The references must outlive the object. `by_rail`: ranks differ when their rails do. Throws FoldingFailed.
  ColourRefinement(const Scenario& scenario, PlanCache& plans, bool by_rail);

  [[nodiscard]] std::span<const std::uint32_t> class_of_rank() const { return colours_; }
  [[nodiscard]] std::size_t classes() const { return classes_; }
  [[nodiscard]] std::span<const GroupClass> groups() const { return groups_; }
  [[nodiscard]] std::size_t types() const { return types_; }
  /// By communicator and member: the slot of the member's rank.
  [[nodiscard]] std::uint32_t slot(CommunicatorId c, Member m) const { return slots_[first_member_[c.index()] + m]; }
  /// By rank and slot: its place among the members.
  [[nodiscard]] Member place(RankId rank, std::uint32_t slot) const { return places_[first_slot_[rank.index()] + slot]; }
  /// By rail of the cluster: rails with the same classes have the same number; only where told apart.
  [[nodiscard]] std::span<const std::uint32_t> rail_colours() const { return rail_colours_; }
  /// Every call on the communicator, each once: all members make the same.
  [[nodiscard]] std::vector<CollectiveCall> calls(CommunicatorId c) const;

 private:
  using Calls = std::vector<CollectiveCall>;  // of a program's slot; members and pieces are not filled in

  void number_programs();
  void list_calls();
  void find_slots();
  void find_kinds();
  [[nodiscard]] bool rotates(CommunicatorId c);
  [[nodiscard]] bool rotates(std::uint32_t program, std::uint32_t slot, Member members, LayoutId layout);
  void colour_rails();
  void type_groups();
  [[nodiscard]] GroupClass type_group(CommunicatorId c, IdTable& types);
  void find_period(GroupClass& group) const;
  [[nodiscard]] bool refine();

  const Scenario& scenario_;
  const TaskGraph& graph_;
  PlanCache& plans_;
  bool by_rail_;
  std::vector<std::uint32_t> colours_;        // by rank
  std::vector<std::uint32_t> program_class_;  // by rank: programs with equal tasks have one number
  std::vector<std::vector<Calls>> calls_;     // by that number and slot
  std::size_t classes_ = 0;
  std::vector<std::size_t> first_member_;  // by communicator
  std::vector<std::uint32_t> slots_;
  std::vector<std::size_t> first_slot_;  // by rank
  std::vector<Member> places_;
  std::vector<std::uint8_t> kinds_;  // by communicator: what its type begins with
  std::vector<std::uint8_t> rotates_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Member, LayoutId>, bool> known_;
  std::vector<std::uint32_t> rail_colours_;
  std::vector<GroupClass> groups_;
  std::size_t types_ = 0;
  std::vector<std::uint32_t> key_;       // scratch
  std::vector<std::uint64_t> elements_;  // scratch: colour and slot of each member
};

}  // namespace photonrail
