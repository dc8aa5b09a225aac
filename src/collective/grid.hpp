// A group as servers x rails.
#pragma once

#include "photonrail/collective.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::collective {

/// Every server of the group has members on the same rails. REQUIRES for member(): server < servers(), rail < rails().
class Grid {
 public:
  /// Throws ConfigError when the places of the call are no grid.
  explicit Grid(const CollectiveCall& call);

  [[nodiscard]] Member servers() const { return servers_; }
  [[nodiscard]] Member rails() const { return rails_; }
  [[nodiscard]] Member member(Member server, Member rail) const { return members_[server * rails_ + rail]; }
  /// Whether member(server, rail) is server * rails() + rail.
  [[nodiscard]] bool in_order() const { return std::is_sorted(members_.begin(), members_.end()); }
  /// Where a member is.
  [[nodiscard]] Member server_of(Member m) const { return place_[m] / rails_; }
  [[nodiscard]] Member rail_of(Member m) const { return place_[m] % rails_; }

 private:
  Member servers_ = 1;
  Member rails_ = 1;
  std::vector<Member> members_;  ///< server by server, in each by rail
  std::vector<Member> place_;    ///< by member: its index in members_
};

}  // namespace photonrail::collective
