// These cases are simpler than a case by one thing.
#include "photonrail/testing/fuzz.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::testing {

namespace {

using Cases = std::vector<FuzzCase>;

void keep_if_changed(const FuzzCase& original, FuzzCase changed, Cases& out) {
  if (changed != original) out.push_back(std::move(changed));
}

void drop_calls(const FuzzCase& c, Cases& out) {
  const auto without = [&](std::size_t first, std::size_t count) {
    FuzzCase fewer = c;
    const auto begin = fewer.calls.begin() + static_cast<std::ptrdiff_t>(first);
    fewer.calls.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    out.push_back(std::move(fewer));
  };
  const std::size_t n = c.calls.size();
  if (n > 3) {
    without(0, n / 2);
    without(n / 2, n - n / 2);
  }
  for (std::size_t i = 0; i < n; ++i) without(i, 1);
}

void drop_member(FuzzCall& call, std::size_t member) {
  call.members.erase(call.members.begin() + static_cast<std::ptrdiff_t>(member));
  if (!call.compute_us.empty()) call.compute_us.erase(call.compute_us.begin() + static_cast<std::ptrdiff_t>(member));
}

// The case on other ranks: `rank_now` of a rank is its new number, or -1 when it goes. Calls that lose too many go too.
template <class RankNow>
FuzzCase renumbered(FuzzCase c, RankNow&& rank_now) {
  for (FuzzCall& call : c.calls) {
    for (std::size_t m = call.members.size(); m-- > 0;) {
      const std::int64_t now = rank_now(call.members[m]);
      now < 0 ? drop_member(call, m) : void(call.members[m] = static_cast<std::uint32_t>(now));
    }
  }
  std::erase_if(c.calls, [](const FuzzCall& call) { return call.members.size() < 2; });
  return c;
}

void drop_servers(const FuzzCase& c, Cases& out) {
  const std::uint32_t width = c.gpus_per_server;
  for (std::uint32_t s = 0; s < c.servers && c.servers > 1; ++s) {
    FuzzCase fewer = renumbered(c, [&](std::uint32_t r) -> std::int64_t {
      return r / width == s ? -1 : r / width > s ? std::int64_t{r} - width : r;
    });
    --fewer.servers;
    out.push_back(std::move(fewer));
  }
  for (std::uint32_t local = 0; local < width && width > 1; ++local) {
    FuzzCase fewer = renumbered(c, [&](std::uint32_t r) -> std::int64_t {
      const std::uint32_t own = r % width;
      return own == local ? -1 : r / width * (width - 1) + own - (own > local ? 1 : 0);
    });
    --fewer.gpus_per_server;
    out.push_back(std::move(fewer));
  }
}

void plainer_run(const FuzzCase& c, Cases& out) {
  const auto with = [&](auto FuzzCase::*field, auto value) {
    FuzzCase plain = c;
    plain.*field = value;
    keep_if_changed(c, std::move(plain), out);
  };
  with(&FuzzCase::iterations, 1U);
  with(&FuzzCase::ports, 1U);
  with(&FuzzCase::chunks, 1U);
  with(&FuzzCase::setting, 0U);
  with(&FuzzCase::forwarding, false);
  with(&FuzzCase::fidelity, Fidelity::kExact);
  with(&FuzzCase::lanes, CommLanes::kPerCommunicator);
  for (auto field : {&FuzzCase::link_up, &FuzzCase::request, &FuzzCase::latency}) with(field, Duration{});
  if (c.switching > Duration{}) with(&FuzzCase::switching, Duration{std::chrono::microseconds(1)});
}

void plainer_calls(const FuzzCase& c, Cases& out) {
  for (std::size_t i = 0; i < c.calls.size(); ++i) {
    const FuzzCall& call = c.calls[i];
    const auto put = [&](FuzzCall plain) {
      FuzzCase changed = c;
      changed.calls[i] = std::move(plain);
      keep_if_changed(c, std::move(changed), out);
    };
    if (call.op != CollectiveOp::kSend) {
      FuzzCall send = call;
      send.op = CollectiveOp::kSend;
      while (send.members.size() > 2) drop_member(send, 2);
      put(std::move(send));
      for (std::size_t m = 0; m < call.members.size(); ++m) {
        FuzzCall smaller = call;
        drop_member(smaller, m);
        put(std::move(smaller));
      }
    }
    FuzzCall plain = call;
    plain.compute_us.clear();
    put(std::exchange(plain, call));
    plain.overlaps = false;
    put(std::exchange(plain, call));
    plain.bytes = std::min<std::int64_t>(call.bytes, 4096);
    put(std::exchange(plain, call));
  }
}

}  // namespace

std::vector<FuzzCase> simpler(const FuzzCase& fuzz_case) {
  Cases out;
  drop_calls(fuzz_case, out);
  drop_servers(fuzz_case, out);
  plainer_run(fuzz_case, out);
  plainer_calls(fuzz_case, out);
  return out;
}

}  // namespace photonrail::testing
