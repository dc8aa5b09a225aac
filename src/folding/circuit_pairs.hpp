// The circuits that the groups of a job want, as ranks on whose GPUs they begin and end.
#pragma once

#include "folding/call_table.hpp"
#include "folding/colour_refinement.hpp"
#include "folding/folding.hpp"
#include "folding/group_layouts.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace photonrail::folding {

class CircuitPairs {
 public:
  /// All must outlive the object, and the classes stay as they are.
  CircuitPairs(const FoldingInput& job, const CallTable& calls, const GroupLayouts& layouts,
               const ColourRefinement& classes)
      : job_(job), calls_(calls), layouts_(layouts), classes_(classes) {}

  /// Why no ranks can be folded, of the groups that were looked at; "" when some can.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// All pairs of all calls on a communicator, found once for each type.
  [[nodiscard]] const std::vector<MemberPair>& of(CommunicatorId c);
  /// Calls visit(pair, from, to) for the pair of members and the ranks whose GPUs its circuit joins; some circuits come
  /// more than once.
  template <class Visit>
  void each(CommunicatorId c, Visit&& visit) {
    if (!layouts_.crosses_servers(c)) return;
    const std::span<const RankId> members = job_.graph.communicators()[c.index()].members;
    for (const MemberPair& pair : of(c)) {
      const RankId to = members[pair.second];
      const RankId sender = layouts_.sender(members[pair.first], to);
      if (sender != to) visit(pair, sender, to);
    }
  }
  /// As many as each() visits at most.
  [[nodiscard]] std::size_t count(CommunicatorId c) { return layouts_.crosses_servers(c) ? of(c).size() : 0; }

 private:
  void check_matching(CommunicatorId c, const std::vector<MemberPair>& pairs);

  const FoldingInput& job_;
  const CallTable& calls_;
  const GroupLayouts& layouts_;
  const ColourRefinement& classes_;
  std::string problem_;
  std::map<std::uint32_t, std::vector<MemberPair>> of_type_;
};

}  // namespace photonrail::folding
