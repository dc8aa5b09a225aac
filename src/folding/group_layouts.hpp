// Where the members of each communicator sit: in one server, on one rail, or over several of both.
#pragma once

#include "folding/call_table.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace photonrail::folding {

struct FoldingInput;

class GroupLayouts {
 public:
  /// Both must outlive the object.
  GroupLayouts(const FoldingInput& job, const CallTable& calls);

  /// Why no ranks can be folded; "" when some can. Then the rest may be asked.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Returns true when a group that is called on spans rails: its messages change rails inside a server, over the ports of
  /// a third GPU. Ranks are then alike only when all GPUs of their servers are.
  [[nodiscard]] bool by_server() const { return by_server_; }
  [[nodiscard]] bool crosses_servers(CommunicatorId c) const { return of_[c.index()] != kOneServer; }
  /// Equal of two groups when their members sit alike; then their calls have equal plans.
  [[nodiscard]] std::uint32_t layout(CommunicatorId c) const { return of_[c.index()]; }
  /// The least rotation of the members that leaves their servers and rails as they are, up to the names of the servers;
  /// the number of members when none does.
  [[nodiscard]] Member unit(CommunicatorId c) const;
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call, CommunicatorId c) const;
  /// The rank whose GPU's port a message of the group leaves its server by.
  [[nodiscard]] RankId sender(RankId from, RankId to) const;

 private:
  static constexpr std::uint32_t kOneServer = 0;
  static constexpr std::uint32_t kOneRail = 1;
  static constexpr std::uint32_t kSpans = 2;  // and above: number of the layout in spread_

  [[nodiscard]] std::uint32_t layout_of(CommunicatorId c);
  [[nodiscard]] std::uint32_t spread(std::span<const RankId> members);
  void find_senders(const std::string& group);
  [[nodiscard]] std::uint32_t server(RankId r) const;
  [[nodiscard]] std::uint32_t rail(RankId r) const;

  const FoldingInput& job_;
  const CallTable& calls_;
  std::string problem_;
  bool by_server_ = false;
  std::vector<std::uint32_t> of_;  // by communicator
  std::map<std::vector<MemberPlace>, std::uint32_t> numbers_;
  std::vector<std::vector<MemberPlace>> spread_;  // by layout - kSpans
  std::vector<RankId> rank_of_gpu_;               // only where a group spans rails
};

}  // namespace photonrail::folding
