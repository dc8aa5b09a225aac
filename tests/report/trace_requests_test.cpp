// Requests on a timeline.
#include "report/trace_requests.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Events = nlohmann::json;
using report::TracedRequests;

ServedRequest moved_request(std::uint64_t number, std::int64_t arrival) {
  ServedRequest r;
  r.number = number;
  r.prompt = 100;
  r.output = 7;
  r.decode_engine = 1;
  std::int64_t at = arrival;
  r.arrival = Time{at};
  for (Time* const time : {&r.scheduled, &r.prefilled, &r.sent, &r.delivered, &r.decoding, &r.last}) *time = Time{at += 10};
  r.first = Time{r.decoding.since_start().count() + 1};
  return r;
}

Events written(const std::vector<ServedRequest>& rows, const std::string& job = "") {
  std::ostringstream out;
  {
    report::TraceText text(out);
    std::uint64_t arrows = 0;
    report::write_requests({job, {"prefill", "decode"}, rows}, 9, arrows, text);
  }
  return Events::parse(out.str())["traceEvents"];
}

// Of the spans and arrows of one request: "name: from until", and for arrows "from -> to", in the order of the file.
std::vector<std::string> way_of(const Events& events, std::uint64_t number) {
  std::vector<std::string> way;
  for (const Events& event : events) {
    if (event["ph"] != "X" || event["args"]["request"] != std::to_string(number)) continue;
    const auto ps = [&](const char* key) { return std::to_string(std::llround(event[key].get<double>() * 1e6)); };
    way.push_back(event["name"].get<std::string>() + ": " + ps("ts") + " + " + ps("dur"));
  }
  return way;
}

std::map<std::uint32_t, std::string> threads(const Events& events) {
  std::map<std::uint32_t, std::string> names;
  for (const Events& event : events) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
  }
  return names;
}

TEST(TraceRequests, ARequestIsAChainOfSpansByItsNumber) {
  const Events events = written({moved_request(17, 1000)});
  EXPECT_EQ(way_of(events, 17),
            (std::vector<std::string>{"request 17 queue: 1000 + 10", "request 17 prefill: 1010 + 10",
                                      "request 17 wait for blocks: 1020 + 10", "request 17 KV: 1030 + 10",
                                      "request 17 decode queue: 1040 + 10", "request 17 decode: 1050 + 10"}));
  std::vector<std::string> names;
  for (const auto& [thread, name] : threads(events)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"waiting", "KV on its way", "engine 0 (prefill)", "engine 1 (decode)"}));
  // Each arrow leaves a span in its last picosecond and arrives where the next one begins.
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> arrows;
  for (const Events& event : events) {
    if (event["ph"] == "s") arrows[event["id"]].first = std::llround(event["ts"].get<double>() * 1e6);
    if (event["ph"] == "f") arrows[event["id"]].second = std::llround(event["ts"].get<double>() * 1e6);
  }
  ASSERT_EQ(arrows.size(), 5U);
  std::int64_t begins = 1010;
  for (const auto& [id, ends] : arrows) {
    EXPECT_EQ(ends, std::pair(begins - 1, begins)) << id;
    begins += 10;
  }
}

TEST(TraceRequests, ThoseOfAMixedEngineStayOnIt) {
  ServedRequest r = moved_request(3, 0);
  r.decode_engine = 0;
  r.sent = r.delivered = r.decoding = Time::never();
  EXPECT_EQ(way_of(written({r}), 3), (std::vector<std::string>{"request 3 queue: 0 + 10", "request 3 prefill: 10 + 10",
                                                               "request 3 decode: 20 + 40"}));
}

TEST(TraceRequests, ThoseAtOnceHaveLanesAndLaterOnesUseThemAgain) {
  const Events events = written({moved_request(0, 0), moved_request(1, 5), moved_request(2, 100)}, "chat");
  const auto names = threads(events);
  EXPECT_EQ(std::ranges::count_if(names, [](const auto& of) { return of.second == "engine 0 (prefill) 2"; }), 1);
  EXPECT_EQ(std::ranges::count_if(names, [](const auto& of) { return of.second == "engine 0 (prefill) 3"; }), 0);
  std::map<std::uint32_t, std::vector<std::pair<double, double>>> spans;
  for (const Events& event : events) {
    if (event["ph"] == "X") spans[event["tid"]].emplace_back(event["ts"], event["dur"]);
    if (event["name"] == "process_name") {
      EXPECT_EQ(event["args"]["name"], "requests of chat");
    }
  }
  for (auto& [thread, of] : spans) {
    EXPECT_TRUE(names.contains(thread));
    std::sort(of.begin(), of.end());
    for (std::size_t i = 1; i < of.size(); ++i) EXPECT_LE(of[i - 1].first + of[i - 1].second, of[i].first + 1e-9);
  }
}

// KV that goes layer by layer leaves before prefill ends: its arrow leaves a span that has begun.
TEST(TraceRequests, AnArrowNeverGoesBack) {
  ServedRequest r = moved_request(4, 0);
  r.sent = Time{12};
  for (const Events& event : written({r})) {
    if (event["ph"] == "s" || event["ph"] == "f") {
      EXPECT_GE(event["ts"].get<double>() * 1e6, 9.0 - 1e-6);
    }
  }
  EXPECT_EQ(written({}).size(), 0U);
}

}  // namespace
}  // namespace photonrail::test
