// Finds equivalent ranks by colour refinement over ranks and communicators (the coarsest equitable partition;
// Cardon and Crochemore, "Partitioning a graph in O(|A| log |V|)", 1982; that processes of one colour behave alike is
// Angluin, "Local and global properties in networks of processors", 1980).
//
// Two ranks keep one colour while they run the same tasks, have the same label, sit on rails of the same colours and have,
// slot for slot, communicators of one type at the same place. Two communicators are of one type when they list the same
// colours and slots in the same order; a group in which all that is called is unchanged by rotation, in the same cyclic
// order.
#pragma once

#include "folding/call_table.hpp"
#include "folding/folding.hpp"

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
  ColourRefinement(const FoldingInput& job, const CallTable& calls, bool by_rail);

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
  void find_kinds();
  [[nodiscard]] std::uint8_t kind_of(CommunicatorId c);
  [[nodiscard]] bool rotates(CommunicatorId c, bool one_server);
  [[nodiscard]] bool rotates(std::uint32_t program, std::uint32_t slot, Member members, bool one_server);
  void colour_rails();
  void type_groups();
  [[nodiscard]] GroupClass type_group(CommunicatorId c, IdTable& types);
  void find_period(GroupClass& group) const;
  [[nodiscard]] bool refine();

  FoldingInput job_;
  const CallTable& calls_;
  bool by_rail_;
  std::string problem_;
  std::vector<std::uint32_t> colours_;  // by rank
  std::size_t classes_ = 0;
  std::vector<std::uint8_t> kinds_;  // by communicator: what its type begins with
  std::map<std::tuple<std::uint32_t, std::uint32_t, Member, bool>, bool> rotating_;  // by the arguments of rotates()
  std::vector<std::uint32_t> rail_colours_;
  std::vector<GroupClass> groups_;
  std::size_t types_ = 0;
  std::vector<std::uint32_t> key_;       // scratch
  std::vector<std::uint64_t> elements_;  // scratch: colour and slot of each member
};

}  // namespace photonrail::folding
