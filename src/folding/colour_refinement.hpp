// Finds equivalent ranks by colour refinement over ranks and communicators (the coarsest equitable partition;
// Cardon and Crochemore, "Partitioning a graph in O(|A| log |V|)", 1982; that processes of one colour behave alike is
// Angluin, "Local and global properties in networks of processors", 1980).
//
// Two ranks keep one colour while they run the same tasks, have the same label, sit on rails of the same colours and have,
// slot for slot, communicators of one type at the same place. Two communicators are of one type when their members sit
// alike (GroupLayouts) and they list the same colours and slots in the same order; a group in which all that is called is
// unchanged by rotation, in the same cyclic order. Where messages change rails inside servers, ranks of one colour have
// the same local index, in servers whose GPUs have the same colours: the GPUs that a message passes are then alike as well.
#pragma once

#include "folding/call_table.hpp"
#include "folding/folding.hpp"
#include "folding/group_layouts.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::folding {

class IdTable;

/// Describes a communicator: the members `start`, start + 1 .. start + period - 1 are of different classes or slots, and
/// repeat.
struct GroupClass {
  std::uint32_t type = 0;
  Member start = 0;
  Member period = 0;
};

class ColourRefinement {
 public:
  /// The references must outlive the object. `by_rail`: ranks differ when their rails do.
  ColourRefinement(const FoldingInput& job, const CallTable& calls, const GroupLayouts& layouts, bool by_rail);

  /// The least rotation by which the group would repeat if more of its members were told apart; 0: all of them are.
  [[nodiscard]] Member next_period(CommunicatorId c) const;
  /// Tells the members of all groups of one type apart until they repeat with next_period(), and what follows from it.
  void separate(CommunicatorId c);

  /// Why no ranks can be folded; "" when some can. Then the rest may be asked.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::span<const std::uint32_t> class_of_rank() const { return colours_; }
  [[nodiscard]] std::size_t classes() const { return classes_; }
  [[nodiscard]] std::span<const GroupClass> groups() const { return groups_; }
  [[nodiscard]] std::size_t types() const { return types_; }
  /// Indexed by rail of the cluster: rails with the same classes have the same number; only where rails are distinguished.
  [[nodiscard]] std::span<const std::uint32_t> rail_colours() const { return rail_colours_; }

 private:
  void colour_programs();
  void find_units();
  [[nodiscard]] bool rotates(CommunicatorId c);
  [[nodiscard]] bool rotates(std::uint32_t program, std::uint32_t slot, CommunicatorId c);
  void refine_all();
  void colour_rails();
  void colour_servers();
  void type_groups();
  [[nodiscard]] GroupClass type_group(CommunicatorId c, IdTable& types);
  void find_period(Member unit, GroupClass& group) const;
  [[nodiscard]] bool refine();

  FoldingInput job_;
  const CallTable& calls_;
  const GroupLayouts& layouts_;
  bool by_rail_;
  std::string problem_;
  std::vector<std::uint32_t> colours_;  // by rank
  std::size_t classes_ = 0;
  std::vector<Member> units_;  // by communicator: rotations by multiples of it leave what is called on it unchanged
  std::map<std::tuple<std::uint32_t, std::uint32_t, Member, std::uint32_t>, bool> rotating_;  // program, slot, size, layout
  std::vector<std::uint32_t> rail_colours_;
  std::vector<std::uint32_t> server_colours_;  // by server of the cluster; only GroupLayouts::by_server()
  std::vector<GroupClass> groups_;
  std::size_t types_ = 0;
  std::vector<std::uint32_t> key_;       // scratch
  std::vector<std::uint64_t> elements_;  // scratch: colour and slot of each member
};

}  // namespace photonrail::folding
