// Reads a trace.json of our own back, for the timeline of a page. The spans of each track are kept in order of time.
#include "core/number_in.hpp"
#include "json/file_text.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "report/page_sources.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace photonrail::report {

namespace {

using json::Json;

constexpr std::size_t kMaxSpans = 2'000'000;  // more would make the page too big
constexpr double kSecond = 1e6;               // the format counts in microseconds

struct Span {
  std::pair<std::uint32_t, std::uint32_t> thread;  // process, thread
  double start = 0.0;                              // microseconds
  double duration = 0.0;
  std::uint32_t name = 0;
  std::uint32_t category = 0;
  std::uint32_t detail = 0;
  std::int32_t to = -1;  // of a circuit: the port
};

/// Texts by number.
class Names {
 public:
  std::uint32_t of(std::string text) {
    const auto [place, is_new] = codes_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(std::move(text));
    return place->second;
  }
  [[nodiscard]] const std::string& operator[](std::uint32_t code) const { return texts_[code]; }

 private:
  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t> codes_;
};

/// The events of a trace say this.
class Events {
 public:
  struct Thread {
    std::string name;
    std::uint32_t order = 0;
  };
  std::map<std::uint32_t, std::string> processes;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Thread> threads;
  std::vector<Span> spans;
  Names names;

  void add(const Json& event) {
    ++count_;
    const std::string phase = text(event, "ph");
    const bool has_thread = event.contains("tid");
    const std::pair<std::uint32_t, std::uint32_t> thread{whole(event, "pid"), has_thread ? whole(event, "tid") : 0U};
    if (phase == "X") return add_span(event, thread);
    if (phase != "M") return;
    const std::string name = text(event, "name");
    const Json* const arguments = event.find("args");
    if (arguments == nullptr) fail("args", "is missing");
    if (name == "process_name") processes[thread.first] = text(*arguments, "name");
    if (name == "thread_name") threads[thread].name = text(*arguments, "name");
    if (name == "thread_sort_index") threads[thread].order = whole(*arguments, "sort_index");
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw ConfigError("event " + std::to_string(count_) + ": " + key, what);
  }
  [[nodiscard]] std::string text(const Json& object, const char* key) const {
    const Json* const value = object.find(key);
    if (value == nullptr) fail(key, "is missing");
    if (!value->is_string()) fail(key, "must be a string, not " + json::describe(*value));
    return value->string();
  }
  [[nodiscard]] std::string text_or_none(const Json& object, const char* key) const {
    return object.contains(key) ? text(object, key) : std::string{};
  }
  [[nodiscard]] double number(const Json& object, const char* key) const {
    const Json* const value = object.find(key);
    if (value == nullptr) fail(key, "is missing");
    if (!value->is_number()) fail(key, "must be a number, not " + json::describe(*value));
    return value->number();
  }
  [[nodiscard]] std::uint32_t whole(const Json& object, const char* key) const {
    const Json* const value = object.find(key);
    if (value == nullptr) fail(key, "is missing");
    if (!value->is_natural() || value->natural() > std::numeric_limits<std::uint32_t>::max())
      fail(key, "must be a whole number from 0 to 2^32 - 1, not " + json::describe(*value));
    return static_cast<std::uint32_t>(value->natural());
  }
  [[nodiscard]] std::int32_t port(const Json& arguments) const {
    const std::string digits = text(arguments, "to");
    const auto value = core::number_in<std::int32_t>(digits);
    if (!value) fail("to", "names no port: \"" + digits + "\"");
    return *value;
  }

  void add_span(const Json& event, std::pair<std::uint32_t, std::uint32_t> thread) {
    Span span{thread, number(event, "ts"), number(event, "dur"), 0, 0, 0, -1};
    span.name = names.of(text(event, "name"));
    span.category = names.of(text_or_none(event, "cat"));
    std::string detail;
    if (const Json* const arguments = event.find("args")) {
      if (arguments->contains("to")) span.to = port(*arguments);
      if (arguments->contains("group"))
        detail = text_or_none(*arguments, "op") + ", group " + text_or_none(*arguments, "group");
      if (arguments->contains("bytes")) detail += ", " + text_or_none(*arguments, "bytes") + " B";
      if (arguments->contains("dimension")) detail = text_or_none(*arguments, "dimension");
    }
    span.detail = names.of(std::move(detail));
    spans.push_back(span);
  }

  std::size_t count_ = 0;  // events so far
};

std::optional<std::uint32_t> number_after(std::string_view text, std::string_view word) {
  std::uint32_t number = 0;
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{} ? std::optional(number)
                                                                                           : std::nullopt;
}

// The colour of a span tells this.
std::string kind_of(const Events& events, const Span& span) {
  const std::string& category = events.names[span.category];
  const std::string& thread = events.threads.at(span.thread).name;
  if (category == "compute") return thread;
  if (category == "communication") return thread.substr(0, thread.find(' '));
  if (category == "peers") return "waiting for peers";
  if (category == "circuits") return "waiting for circuits";
  if (category == "fault") return events.names[span.name].starts_with("not detected") ? "failure not detected" : "fault";
  if (category == "lit") return events.names[span.detail].empty() ? "circuit" : events.names[span.detail];
  return category;
}

/// The tracks from the top: ranks with their streams, then rails with their ports.
class Tracks {
 public:
  explicit Tracks(const Events& events) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> order;  // process, place in it, thread
    for (const auto& [thread, told] : events.threads) order.emplace_back(thread.first, told.order, thread.second);
    std::sort(order.begin(), order.end());
    for (const auto& [process, place, thread] : order) add(events, {process, thread});
    for (const Span& span : events.spans) {
      if (!numbers_.contains(span.thread))
        throw ConfigError("traceEvents",
                          "the span \"" + events.names[span.name] + "\" is of a thread that has no thread_name");
    }
  }
  /// REQUIRES: the thread of a span.
  [[nodiscard]] std::uint32_t of(std::pair<std::uint32_t, std::uint32_t> thread) const { return numbers_.at(thread); }
  [[nodiscard]] const Json& list() const { return list_; }

 private:
  void add(const Events& events, std::pair<std::uint32_t, std::uint32_t> thread) {
    const auto named = events.processes.find(thread.first);
    if (named == events.processes.end())
      throw ConfigError("traceEvents", "process " + std::to_string(thread.first) + " has no process_name");
    const std::string& process = named->second;
    const std::string& name = events.threads.at(thread).name;
    Json track;
    if (const auto rank = number_after(process, "rank ")) {
      track = {{"name", process + " " + name}, {"rank", *rank}};
    } else {
      track = {{"name", process + " " + name}};
      if (const auto rail = number_after(process, "rail ")) track["rail"] = *rail;
      if (const auto port = number_after(name, "port ")) track["port"] = *port;
    }
    numbers_[thread] = static_cast<std::uint32_t>(list_.size());
    list_.push_back(std::move(track));
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  Json list_ = Json::array();
};

// The earliest spans, as many as a page can carry; what was left out is told in the result.
std::string keep_the_earliest(std::vector<Span>& spans) {
  if (spans.size() <= kMaxSpans) return {};
  const auto by_start = [](const Span& a, const Span& b) { return a.start < b.start; };
  std::nth_element(spans.begin(), spans.begin() + kMaxSpans, spans.end(), by_start);
  const std::string note = "The first " + std::to_string(kMaxSpans) + " of " + std::to_string(spans.size()) +
                           " spans, until " + std::to_string(spans[kMaxSpans].start / kSecond) + " s.";
  spans.resize(kMaxSpans);
  return note;
}

Json packed_spans(const Events& events, const Tracks& tracks) {
  Table table;
  Column& track = table.column("track", "info");
  Column& start = table.column("start_s", "info");
  Column& duration = table.column("duration_s", "info");
  Column& name = table.column("name", "info");
  Column& kind = table.column("kind", "info");
  Column& detail = table.column("detail", "info");
  Column& to = table.column("to", "info");
  for (const Span& span : events.spans) {
    const std::size_t row = table.rows++;
    track.set(row, tracks.of(span.thread));
    start.set(row, span.start / kSecond);
    duration.set(row, span.duration / kSecond);
    name.set(row, events.names[span.name]);
    kind.set(row, kind_of(events, span));
    if (!events.names[span.detail].empty()) detail.set(row, events.names[span.detail]);
    if (span.to >= 0) to.set(row, span.to);
  }
  return table.packed();
}

}  // namespace

Json read_trace(const std::filesystem::path& file, const std::string& name) {
  try {
    // Each event is looked at as it is read, so that a long trace is never in memory as a whole.
    json::require_regular(file);
    std::ifstream in(file, std::ios::binary);
    Events events;
    const Json rest = json::parse_listed(in, file.string(), "traceEvents", [&](const Json& event) { events.add(event); });
    const Json* const cluster = rest.find("otherData");
    if (cluster == nullptr) throw ConfigError("/otherData", "missing");
    const Json* const schema = cluster->find("schema");
    if (schema == nullptr || *schema != "photonrail.trace/1")
      throw ConfigError("/otherData/schema", "is not photonrail.trace/1");
    std::string note = keep_the_earliest(events.spans);
    const Tracks tracks(events);
    std::sort(events.spans.begin(), events.spans.end(), [&](const Span& a, const Span& b) {
      return std::make_pair(tracks.of(a.thread), a.start) < std::make_pair(tracks.of(b.thread), b.start);
    });
    double end = 0.0;
    for (const Span& span : events.spans) end = std::max(end, span.start + span.duration);
    Json spans = packed_spans(events, tracks);
    return {{"name", name},        {"end_s", end / kSecond},  {"note", std::move(note)},
            {"cluster", *cluster}, {"tracks", tracks.list()}, {"spans", std::move(spans)}};
  } catch (const ConfigError& error) {
    const std::string where =
        error.where().starts_with(file.string()) ? error.where() : error.inside(file.string()).where();
    throw ConfigError(where, error.problem(), "it must be the trace.json of `photonrail run --trace` of this version");
  }
}

}  // namespace photonrail::report
