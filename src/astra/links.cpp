#include "astra/links.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::astra {

namespace {

constexpr double kGibibyte = 1073741824.0;

std::uint32_t clockwise(std::uint32_t from, std::uint32_t to, std::uint32_t members) {
  return (to + members - from) % members;
}

/// A ring has a link each way, a switch one up and one down, a full connection one to each member.
std::uint32_t links_of_a_rank(const AnalyticalDimension& d) {
  return d.shape == AnalyticalShape::kFullyConnected ? d.members : 2;
}

std::uint32_t hops(const AnalyticalDimension& d, std::uint32_t from, std::uint32_t to) {
  if (d.shape == AnalyticalShape::kFullyConnected) return 1;
  if (d.shape == AnalyticalShape::kSwitch) return 2;
  const std::uint32_t forwards = clockwise(from, to, d.members);
  return std::min(forwards, d.members - forwards);
}

}  // namespace

Links::Links(const std::vector<AnalyticalDimension>& network, AnalyticalBackend backend, Clock& clock,
             engine::Action arrived)
    : aware_(backend == AnalyticalBackend::kCongestionAware), clock_(clock), arrived_(arrived) {
  std::uint32_t ranks = 1;
  for (const AnalyticalDimension& d : network) {
    dimensions_.push_back({.spec = d, .bytes_per_ns = d.gib_per_s * kGibibyte / 1e9, .stride = ranks});
    ranks *= d.members;
  }
  if (!aware_) return;
  std::size_t links = 0;
  for (Dimension& d : dimensions_) {
    d.first_link = links;
    d.links = links_of_a_rank(d.spec);
    links += std::size_t{ranks} * d.links;
  }
  free_at_.assign(links, 0);
}

const Links::Dimension& Links::first_difference(std::uint32_t from, std::uint32_t to) const {
  if (dimensions_.size() == 1) return dimensions_.front();
  for (const Dimension& d : dimensions_) {
    if (place(from, d) != place(to, d)) return d;
  }
  PHOTONRAIL_CHECK(from != to);
  return dimensions_.back();
}

void Links::send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint64_t message) {
  ++messages_;
  if (!aware_) {
    const Dimension& d = first_difference(from, to);
    const double serialization = static_cast<double>(bytes) / d.bytes_per_ns;
    return arrive(message,
                  whole_nanoseconds(hops(d.spec, place(from, d), place(to, d)) * d.spec.latency_ns + serialization));
  }
  if (unused_.empty()) {
    unused_.push_back(flights_.size());
    flights_.emplace_back();
  }
  const std::uint64_t flight = unused_.back();
  unused_.pop_back();
  flights_[flight] = {.message = message, .bytes = bytes, .at = from, .to = to};
  hop(flight);
}

// Over the link that a message takes next, once the messages before it have left it: a link takes them in their order, so
// its queue needs no more than the time at which it is free.
void Links::hop(std::uint64_t flight) {
  InFlight& f = flights_[flight];
  const Dimension& d = first_difference(f.at, f.to);
  const std::uint32_t from = place(f.at, d);
  const std::uint32_t to = place(f.to, d);
  const auto moved = [&](std::uint32_t place_there) { return f.at - from * d.stride + place_there * d.stride; };
  std::size_t link = 0;
  std::uint32_t next = moved(to);
  if (d.spec.shape == AnalyticalShape::kFullyConnected) {
    link = std::size_t{f.at} * d.links + to;
  } else if (d.spec.shape == AnalyticalShape::kRing) {
    const std::uint32_t forwards = clockwise(from, to, d.spec.members);
    const bool back = d.spec.members - forwards < forwards;
    link = std::size_t{f.at} * d.links + (back ? 1 : 0);
    next = moved((from + (back ? d.spec.members - 1 : 1)) % d.spec.members);
  } else if (!f.in_switch) {
    link = std::size_t{f.at} * d.links;
    next = f.at;
    f.in_switch = true;
  } else {
    link = std::size_t{next} * d.links + 1;
    f.in_switch = false;
  }
  std::uint64_t& free_at = free_at_[d.first_link + link];
  const std::uint64_t wait = std::max(free_at, clock_.now()) - clock_.now();
  const double serialization = static_cast<double>(f.bytes) / d.bytes_per_ns;
  free_at = clock_.now() + wait + whole_nanoseconds(serialization);
  const std::uint64_t after = wait + whole_nanoseconds(d.spec.latency_ns + serialization);
  f.at = next;
  if (f.at != f.to || f.in_switch) return clock_.after(after, engine::Action::to<&Links::at_hop>(*this, flight));
  unused_.push_back(flight);
  arrive(f.message, after);
}

void Links::at_hop(std::uint64_t flight) { hop(flight); }

void Links::arrive(std::uint64_t message, std::uint64_t after) {
  engine::Action action = arrived_;
  action.argument = message;
  clock_.after(after, action);
}

}  // namespace photonrail::astra
