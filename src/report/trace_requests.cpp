#include "report/trace_requests.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>

namespace photonrail::report {

namespace {

/// A part of the way of a request.
struct Leg {
  const ServedRequest* request = nullptr;
  std::uint32_t track = 0;
  std::string_view what;
  Time from{};
  Time until{};
  std::uint32_t lane = 0;
};

// Tracks of requests that are on no engine; the engines come after them.
constexpr std::uint32_t kWaiting = 0;
constexpr std::uint32_t kOnTheWay = 1;
constexpr std::uint32_t kFirstEngine = 2;

void add_legs(const ServedRequest& r, std::vector<Leg>& legs) {
  const auto add = [&](std::uint32_t track, std::string_view what, Time from, Time until) {
    if (from == Time::never() || until == Time::never() || from >= until) return;
    legs.push_back({&r, track, what, from, until});
  };
  add(kWaiting, "queue", r.arrival, r.scheduled);
  add(kFirstEngine + r.prefill_engine, "prefill", r.scheduled, r.prefilled);
  const bool moved = r.delivered != Time::never() && r.decoding != Time::never();
  if (!moved) return add(kFirstEngine + r.decode_engine, "decode", r.prefilled, r.last);
  add(kWaiting, "wait for blocks", r.prefilled, r.sent);
  add(kOnTheWay, "KV", r.sent, r.delivered);
  add(kWaiting, "decode queue", std::max(r.delivered, r.prefilled), r.decoding);
  add(kFirstEngine + r.decode_engine, "decode", r.decoding, r.last);
}

/// Gives those of a track that overlap lanes of their own. Returns the lanes of each track.
std::vector<std::uint32_t> choose_lanes(std::vector<Leg>& legs, std::size_t tracks) {
  std::vector<Leg*> order;
  for (Leg& leg : legs) order.push_back(&leg);
  std::sort(order.begin(), order.end(), [](const Leg* a, const Leg* b) {
    return std::tie(a->from, a->request->number, a->until) < std::tie(b->from, b->request->number, b->until);
  });
  using Free = std::pair<Time, std::uint32_t>;  // from when, lane
  std::vector<std::priority_queue<Free, std::vector<Free>, std::greater<>>> free(tracks);
  std::vector<std::uint32_t> lanes(tracks);
  for (Leg* const leg : order) {
    auto& of_track = free[leg->track];
    if (!of_track.empty() && of_track.top().first <= leg->from) {
      leg->lane = of_track.top().second;
      of_track.pop();
    } else {
      leg->lane = lanes[leg->track]++;
    }
    of_track.emplace(leg->until, leg->lane);
  }
  return lanes;
}

std::string track_name(const TracedRequests& requests, std::uint32_t track) {
  if (track == kWaiting) return "waiting";
  if (track == kOnTheWay) return "KV on its way";
  return "engine " + std::to_string(track - kFirstEngine) + " (" + requests.pools[track - kFirstEngine] + ")";
}

}  // namespace

void write_requests(const TracedRequests& requests, std::uint32_t process, std::uint64_t& arrows, TraceText& text) {
  std::vector<Leg> legs;
  for (const ServedRequest& row : requests.rows) add_legs(row, legs);
  if (legs.empty()) return;
  text.name_process(process, requests.job.empty() ? "requests" : "requests of " + requests.job);
  const std::vector<std::uint32_t> lanes = choose_lanes(legs, kFirstEngine + requests.pools.size());
  std::vector<std::uint32_t> first(lanes.size());
  std::exclusive_scan(lanes.begin(), lanes.end(), first.begin(), 1U);
  for (std::uint32_t track = 0; track < lanes.size(); ++track) {
    for (std::uint32_t lane = 0; lane < lanes[track]; ++lane) {
      const std::uint32_t thread = first[track] + lane;
      const std::string more = lane == 0 ? "" : " " + std::to_string(lane + 1);
      text.name_thread({process, thread}, track_name(requests, track) + more, thread);
    }
  }
  const auto thread_of = [&](const Leg& leg) { return TraceText::Thread{process, first[leg.track] + leg.lane}; };
  const Leg* before = nullptr;
  for (const Leg& leg : legs) {
    const ServedRequest& r = *leg.request;
    const std::string number = std::to_string(r.number);
    text.span(thread_of(leg), leg.from, leg.until, "request", "request " + number + " " + std::string(leg.what),
              {{"request", number},
               {"prompt", std::to_string(r.prompt)},
               {"output", std::to_string(r.output)},
               {"preemptions", std::to_string(r.preemptions)},
               {"restarts", std::to_string(r.restarts)}});
    // KV may go before prefill ends: the arrow leaves when it does.
    const bool follows = before != nullptr && before->request == leg.request && before->from <= leg.from;
    if (follows)
      text.arrow(thread_of(*before), std::min(before->until - Duration{1}, leg.from), thread_of(leg), leg.from, "request",
                 ++arrows);
    before = &leg;
  }
}

}  // namespace photonrail::report
