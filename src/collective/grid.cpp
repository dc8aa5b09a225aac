#include "collective/grid.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::collective {

Grid::Grid(const CollectiveCall& call) : servers_(call.members), members_(call.members), place_(call.members) {
  std::iota(members_.begin(), members_.end(), 0);
  const std::vector<MemberPlace>& places = call.places;
  if (!places.empty()) {
    PHOTONRAIL_CHECK(places.size() == call.members);
    std::sort(members_.begin(), members_.end(), [&](Member a, Member b) { return places[a] < places[b]; });
    const std::uint32_t first = places[members_[0]].server;
    while (rails_ < call.members && places[members_[rails_]].server == first) ++rails_;
    servers_ = call.members / rails_;
    for (Member i = 0; i < call.members; ++i) {
      const MemberPlace& here = places[members_[i]];
      const bool fits = call.members % rails_ == 0 && here.rail == places[members_[i % rails_]].rail &&
                        here.server == places[members_[i - i % rails_]].server &&
                        (i % rails_ == 0 || here.rail != places[members_[i - 1]].rail);
      if (fits) continue;
      throw ConfigError("", "the group does not have the same rails in each of its servers",
                        "a hierarchical collective needs a group that is a grid of servers x rails");
    }
  }
  for (Member i = 0; i < call.members; ++i) place_[members_[i]] = i;
}

}  // namespace photonrail::collective
