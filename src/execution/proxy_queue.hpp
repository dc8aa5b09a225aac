// The proxies of the ranks, for plans with ordered sends: a queue of sends, which go at once, and of fences, which hold up
// what is behind them until everything before them has arrived, and so much longer.
#pragma once

#include "engine/engine.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <deque>
#include <map>

namespace photonrail::execution {

/// Told by a proxy, with the tag of a send or of a fence.
class ProxyListener {
 public:
  virtual ~ProxyListener() = default;
  virtual void launch(std::uint64_t tag) = 0;
  virtual void fenced(std::uint64_t tag) = 0;
};

class ProxyQueues {
 public:
  /// Both must outlive the object.
  ProxyQueues(engine::Engine& engine, ProxyListener& listener) : engine_(engine), listener_(listener) {}

  void send(RankId rank, std::uint64_t tag);
  void fence(RankId rank, std::uint64_t tag, Duration wait);
  /// A send that was launched for the rank has arrived.
  void arrived(RankId rank);

 private:
  struct Entry {
    std::uint64_t tag = 0;
    Duration wait{};
    bool fence = false;
  };
  struct Proxy {
    std::deque<Entry> queue;
    std::uint32_t on_the_way = 0;
    bool fencing = false;
  };

  void go_on(RankId rank, Proxy& proxy);
  void over(std::uint64_t rank);

  engine::Engine& engine_;
  ProxyListener& listener_;
  std::map<RankId, Proxy> proxies_;  // of ranks that ever had an ordered send
};

}  // namespace photonrail::execution
