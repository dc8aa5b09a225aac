#include "collective/pairwise_order.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::collective {

PairwiseOrder::PairwiseOrder(const CollectiveCall& call) : n_(call.members), steps_(call.members - 1) {
  if (call.places.empty()) return;
  PHOTONRAIL_CHECK(call.places.size() == n_);
  std::vector<std::uint32_t> servers;
  std::vector<std::uint32_t> rails;
  for (const MemberPlace& place : call.places) {
    servers.push_back(place.server);
    rails.push_back(place.rail);
  }
  for (std::vector<std::uint32_t>* numbers : {&servers, &rails}) {
    std::sort(numbers->begin(), numbers->end());
    numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  }
  servers_ = static_cast<Member>(servers.size());
  rails_ = static_cast<Member>(rails.size());
  if (servers_ == 1 || rails_ == 1) return;
  seats_.assign(servers.size() * rails.size(), kEmpty);
  const auto number = [](const std::vector<std::uint32_t>& of, std::uint32_t what) {
    return static_cast<Member>(std::lower_bound(of.begin(), of.end(), what) - of.begin());
  };
  for (Member m = 0; m < n_; ++m) {
    const Member seat = number(servers, call.places[m].server) * rails_ + number(rails, call.places[m].rail);
    PHOTONRAIL_CHECK(seats_[seat] == kEmpty);
    seats_[seat] = m;
    place_.push_back(seat);
  }
  steps_ = static_cast<std::uint32_t>(seats_.size()) - 1;
}

// Steps count the shifts of the rails within those of the servers: 1, 2 .. servers - 1, and 0, which has no step in which
// both shifts are 0.
Member PairwiseOrder::receiver_on_grid(Member from, std::uint32_t step) const {
  const bool crossing = crosses(step);
  const Member server = place_[from] / rails_ + (crossing ? step / rails_ + 1 : 0);
  const Member rail = place_[from] % rails_ + step % rails_ + (crossing ? 0 : 1);
  const Member to = seats_[(server % servers_) * rails_ + rail % rails_];
  return to == kEmpty ? from : to;
}

}  // namespace photonrail::collective
