#include "photonrail/collective/traffic_matrix.hpp"

#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

Bytes TrafficMatrix::wire_bytes() const {
  Bytes sum{};
  for (Member from = 0; from < members_; ++from) {
    for (Member to = 0; to < members_; ++to) sum += from == to ? Bytes{} : at(from, to);
  }
  return sum;
}

Bytes TrafficMatrix::busiest_port() const {
  Bytes most{};
  for (Member m = 0; m < members_; ++m) {
    Bytes out{};
    Bytes in{};
    for (Member other = 0; other < members_; ++other) {
      if (other == m) continue;
      out += at(m, other);
      in += at(other, m);
    }
    most = std::max({most, out, in});
  }
  return most;
}

std::unique_ptr<const SendPlan> TrafficSource::plan(const DemandQuery&, std::span<const std::uint32_t>) const {
  return nullptr;
}

std::uint32_t DemandTable::add(TrafficMatrix matrix) {
  const auto found = std::find(matrices_.begin(), matrices_.end(), matrix);
  const auto number = static_cast<std::uint32_t>(found - matrices_.begin()) + 1;
  if (found == matrices_.end()) matrices_.push_back(std::move(matrix));
  return number;
}

std::optional<Member> DemandTable::members(std::uint32_t number) const {
  if (number == 0 || number > matrices_.size()) return std::nullopt;
  return matrices_[number - 1].members();
}

TrafficMatrix DemandTable::matrix(const DemandQuery& query) const {
  PHOTONRAIL_CHECK(members(query.number).has_value());
  return matrices_[query.number - 1];
}

}  // namespace photonrail
