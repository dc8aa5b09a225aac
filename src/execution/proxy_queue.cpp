#include "execution/proxy_queue.hpp"

namespace photonrail::execution {

void ProxyQueues::send(RankId rank, std::uint64_t tag) {
  Proxy& proxy = proxies_[rank];
  proxy.queue.push_back({.tag = tag});
  go_on(rank, proxy);
}

void ProxyQueues::fence(RankId rank, std::uint64_t tag, Duration wait) {
  Proxy& proxy = proxies_[rank];
  proxy.queue.push_back({.tag = tag, .wait = wait, .fence = true});
  go_on(rank, proxy);
}

void ProxyQueues::arrived(RankId rank) {
  Proxy& proxy = proxies_[rank];
  --proxy.on_the_way;
  go_on(rank, proxy);
}

void ProxyQueues::go_on(RankId rank, Proxy& proxy) {
  while (!proxy.queue.empty() && !proxy.fencing) {
    const Entry entry = proxy.queue.front();
    if (entry.fence) {
      if (proxy.on_the_way > 0) return;
      proxy.fencing = true;
      engine_.schedule(engine_.now() + entry.wait, engine::Phase::kFinish,
                       engine::Action::to<&ProxyQueues::over>(*this, rank.value));
      return;
    }
    proxy.queue.pop_front();
    ++proxy.on_the_way;
    listener_.launch(entry.tag);
  }
}

void ProxyQueues::over(std::uint64_t rank) {
  Proxy& proxy = proxies_[RankId{rank}];
  const std::uint64_t tag = proxy.queue.front().tag;
  proxy.queue.pop_front();
  proxy.fencing = false;
  listener_.fenced(tag);
  go_on(RankId{rank}, proxy);
}

}  // namespace photonrail::execution
