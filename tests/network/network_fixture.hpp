// A network that a test drives by hand.
#pragma once

#include "network/network.hpp"

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace photonrail::test {

/// A network of capacities in bytes per second, and a log of the arrivals with their times.
class NetworkFixture : public network::DeliveryListener {
 public:
  explicit NetworkFixture(const std::vector<double>& rates, std::uint8_t most_visits = network::Network::kMaxVisits)
      : network(engine, 0.0, most_visits) {
    network.attach(*this);
    network.resize(rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) network.set_rate(static_cast<topology::CapacityId>(i), {rates[i]});
  }

  void delivered(std::uint64_t tag) override { arrivals.emplace_back(tag, engine.now().since_start().count()); }

  static network::Path path(std::initializer_list<topology::CapacityId> hops, std::int64_t latency = 0,
                            std::int64_t overhead = 0) {
    network::Path p;
    for (const topology::CapacityId hop : hops) p.add(hop);
    p.latency = Duration{latency};
    p.overhead = Duration{overhead};
    return p;
  }
  void post(std::initializer_list<topology::CapacityId> hops, std::int64_t bytes, std::uint64_t tag) {
    network.post(network::Network::kNone, path(hops), Bytes{bytes}, tag);
  }
  void post_at(std::int64_t at, std::initializer_list<topology::CapacityId> hops, std::int64_t bytes, std::uint64_t tag) {
    later.push_back({this, path(hops), bytes, tag});
    engine.schedule(Time{at}, engine::Phase::kStart,
                    {[](void* self, std::uint64_t index) {
                       Later& l = static_cast<NetworkFixture*>(self)->later[index];
                       l.fixture->network.post(network::Network::kNone, l.path, Bytes{l.bytes}, l.tag);
                     },
                     this, later.size() - 1});
  }

  struct Later {
    NetworkFixture* fixture;
    network::Path path;
    std::int64_t bytes;
    std::uint64_t tag;
  };
  engine::Engine engine;
  network::Network network;
  std::vector<std::pair<std::uint64_t, std::int64_t>> arrivals;
  std::vector<Later> later;
};

}  // namespace photonrail::test
