#include "control/needed_circuits.hpp"

#include <algorithm>

namespace photonrail::control {

void NeededCircuits::Partners::add(ServerIndex server) {
  several = several || has_other(server);
  only = server;
  any = true;
}

void NeededCircuits::clear() {
  for (const ServerPair pair : added_) {
    receivers_[pair.from] = {};
    senders_[pair.to] = {};
  }
  added_.clear();
}

void NeededCircuits::add(std::span<const ServerPair> pairs) {
  for (const ServerPair pair : pairs) {
    const std::size_t servers = std::max(pair.from, pair.to) + std::size_t{1};
    if (servers > receivers_.size()) {
      receivers_.resize(servers);
      senders_.resize(servers);
    }
    receivers_[pair.from].add(pair.to);
    senders_[pair.to].add(pair.from);
    added_.push_back(pair);
  }
}

bool NeededCircuits::conflict(std::span<const ServerPair> pairs) const {
  return std::any_of(pairs.begin(), pairs.end(), [this](ServerPair pair) {
    return (pair.from < receivers_.size() && receivers_[pair.from].has_other(pair.to)) ||
           (pair.to < senders_.size() && senders_[pair.to].has_other(pair.from));
  });
}

}  // namespace photonrail::control
