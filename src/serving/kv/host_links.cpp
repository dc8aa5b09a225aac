#include "serving/kv/host_links.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::serving {

namespace {

constexpr double kPicoseconds = 1e12;

}  // namespace

void SharedLink::advance(Time now) {
  if (!transfers_.empty()) served_ += to_seconds(now - at_) * rate_ / static_cast<double>(transfers_.size());
  at_ = now;
}

void SharedLink::add(Time now, Bytes bytes, std::uint64_t token) {
  advance(now);
  if (transfers_.empty()) served_ = 0.0;  // so that sums stay small
  transfers_.push_back({served_ + static_cast<double>(bytes.count), next_++, token});
  std::push_heap(transfers_.begin(), transfers_.end(),
                 [](const Transfer& a, const Transfer& b) { return a.end != b.end ? a.end > b.end : a.order > b.order; });
}

std::optional<Time> SharedLink::next_end() const {
  if (transfers_.empty()) return std::nullopt;
  const double left = std::max(0.0, transfers_.front().end - served_) * static_cast<double>(transfers_.size()) / rate_;
  return at_ + Duration{static_cast<std::int64_t>(std::ceil(left * kPicoseconds))};
}

std::optional<std::uint64_t> SharedLink::take_ended(Time now) {
  const std::optional<Time> next = next_end();
  if (!next || *next > now) return std::nullopt;
  advance(now);
  served_ = std::max(served_, transfers_.front().end);  // times are whole picoseconds
  const std::uint64_t token = transfers_.front().token;
  std::pop_heap(transfers_.begin(), transfers_.end(),
                [](const Transfer& a, const Transfer& b) { return a.end != b.end ? a.end > b.end : a.order > b.order; });
  transfers_.pop_back();
  return token;
}

}  // namespace photonrail::serving
