#include "formats/kineto/trace.hpp"

#include "formats/kineto/numbers.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <limits>
#include <map>
#include <utility>

namespace photonrail::formats::kineto {

namespace {

// The part of an event that is of use.
struct Event {
  std::string phase, category, name;
  std::optional<Nanoseconds> start, duration;
  std::optional<std::uint64_t> thread, stream;
  std::optional<std::uint64_t> external;  // "External id": the operator that launched the kernel has the same
  Call call;
};

// The operator of PyTorch's process groups that says what a call is; its kernel need not repeat it.
constexpr const char* kRecordedCall = "record_param_comms";

bool is_nccl(std::string_view name) { return name.starts_with("ncclDevKernel") || name.starts_with("ncclKernel"); }

bool is_kernel(const Event& e) { return e.phase == "X" && (e.category == "kernel" || e.category == "Kernel"); }

class Handler : public json::JsonEvents {
 public:
  [[nodiscard]] Trace take() && {
    if (!saw_events_) throw ConfigError("", "has no traceEvents", "is it a Chrome trace of PyTorch's profiler?");
    for (const auto& [call, external] : unnamed_) {
      const auto recorded = recorded_.find(external);
      if (recorded == recorded_.end()) fail_of_unnamed();
      trace_.calls[call] = recorded->second;
    }
    return std::move(trace_);
  }

  void natural(std::uint64_t n) override { number(std::to_string(n)); }
  void negative(std::int64_t n) override { number(std::to_string(n)); }
  void real(double, const std::string& text) override { number(text); }

  void string(std::string&& text) override {
    if (place() == Place::kEvent) event_text(text);
    if (place() == Place::kArguments) argument_text(text);
  }

  void key(std::string&& name) override { key_ = std::move(name); }
  void begin_object() override {
    Place next = Place::kOther;
    if (places_.empty()) next = Place::kTop;
    if (place() == Place::kTop && key_ == "distributedInfo") next = Place::kJob;
    if (place() == Place::kEvents) next = Place::kEvent;
    if (place() == Place::kEvent && key_ == "args") next = Place::kArguments;
    if (next == Place::kEvent) event_ = {};
    places_.push_back(next);
  }
  void end_object() override {
    if (place() == Place::kEvent) finish_event();
    places_.pop_back();
  }
  void begin_array() override {
    Place next = Place::kOther;
    if (places_.empty() || (place() == Place::kTop && key_ == "traceEvents")) next = Place::kEvents;
    if (place() == Place::kArguments && key_ == "Process Group Ranks") next = Place::kRanks;
    saw_events_ = saw_events_ || next == Place::kEvents;
    places_.push_back(next);
  }
  void end_array() override { places_.pop_back(); }

 private:
  enum class Place : std::uint8_t { kOutside, kTop, kEvents, kEvent, kArguments, kRanks, kJob, kOther };

  [[nodiscard]] Place place() const { return places_.empty() ? Place::kOutside : places_.back(); }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    throw ConfigError("event " + std::to_string(events_) + " (" + event_.name.substr(0, 60) + ")", what, hint);
  }

  void number(const std::string& text) {
    if (place() == Place::kEvent) event_number(text);
    if (place() == Place::kArguments) argument_number(text);
    if (place() == Place::kRanks) add_rank(text);
    if (place() == Place::kJob && key_ == "rank") trace_.rank = whole(text);
    if (place() == Place::kJob && key_ == "world_size") trace_.world_size = whole(text);
  }

  // ---- one event

  void event_text(std::string& text) {
    if (key_ == "ph")
      event_.phase = std::move(text);
    else if (key_ == "cat")
      event_.category = std::move(text);
    else if (key_ == "name")
      event_.name = std::move(text);
  }
  void event_number(const std::string& text) {
    if (key_ == "ts") event_.start = to_nanoseconds(text);
    if (key_ == "dur") event_.duration = to_nanoseconds(text);
    if (key_ == "tid") event_.thread = whole(text);
  }
  void argument_text(std::string& text) {
    if (key_ == "Collective name")
      event_.call.collective = unquoted(text);
    else if (key_ == "dtype")
      event_.call.dtype = unquoted(text);
    else if (key_ == "Process Group Name")
      event_.call.group = unquoted(text);
    else if (key_ == "Process Group Description")
      event_.call.description = unquoted(text);
    else if (key_ == "Process Group Ranks")
      read_ranks(unquoted(text));
    else if (key_ == "In split size")
      event_.call.uneven_split = differ(unquoted(text));
    else
      argument_number(text);  // some versions write numbers as text
  }
  void argument_number(const std::string& text) {
    if (key_ == "In msg nelems")
      event_.call.in_elements = whole(text);
    else if (key_ == "Out msg nelems")
      event_.call.out_elements = whole(text);
    else if (key_ == "Group size")
      event_.call.group_size = whole(text);
    else if (key_ == "Src Rank")
      event_.call.source = whole(text);
    else if (key_ == "Dst Rank")
      event_.call.destination = whole(text);
    else if (key_ == "stream")
      event_.stream = whole(text);
    else if (key_ == "External id")
      event_.external = whole(text);
    else if (key_ == "Process Group Name")
      event_.call.group = text;
  }
  void read_ranks(std::string_view list) {
    event_.call.ranks_cut = list.find("...") != std::string_view::npos;
    for (const std::string& word : words_of(list)) add_rank(word);
  }
  void add_rank(const std::string& text) {
    const auto rank = whole(text);
    if (!rank || *rank > std::numeric_limits<std::uint32_t>::max()) fail("has \"" + text + "\" in Process Group Ranks");
    event_.call.ranks.push_back(static_cast<std::uint32_t>(*rank));
  }

  void finish_event() {
    ++events_;
    if (is_kernel(event_)) {
      add_kernel();
    } else if (event_.name == kRecordedCall && event_.external && !event_.call.collective.empty()) {
      recorded_.insert_or_assign(*event_.external, std::move(event_.call));
    } else if (event_.phase == "X" && event_.name.starts_with("ProfilerStep#")) {
      add_step();
    }
  }

  [[nodiscard]] Span span() const {
    if (!event_.start) fail("has no time (ts)");
    if (!event_.duration) fail("has no duration (dur)");
    if (*event_.duration < 0) fail("has a negative duration");
    return {*event_.start, *event_.start + *event_.duration};
  }
  void add_kernel() {
    const auto [start, end] = span();
    Kernel kernel{start, end, static_cast<std::uint32_t>(event_.stream.value_or(event_.thread.value_or(0))), {}};
    if (is_nccl(event_.name)) {
      const bool unnamed = event_.call.collective.empty();
      if (unnamed && !event_.external) fail_of_unnamed();
      if (unnamed) unnamed_.emplace_back(static_cast<std::uint32_t>(trace_.calls.size()), *event_.external);
      kernel.call = static_cast<std::uint32_t>(trace_.calls.size());
      trace_.calls.push_back(std::move(event_.call));
    }
    trace_.kernels.push_back(kernel);
  }
  [[noreturn]] void fail_of_unnamed() const {
    fail("an NCCL kernel does not say which collective it is (\"Collective name\"), nor does a " +
             std::string(kRecordedCall) + " with its External id",
         "record the trace with PyTorch 2.3 or later");
  }
  void add_step() {
    const auto number = whole(event_.name.substr(event_.name.find('#') + 1));
    if (!number) return;
    if (event_.category == "user_annotation") trace_.host_steps[*number] = span();
    if (event_.category == "gpu_user_annotation") trace_.gpu_steps[*number] = span();
  }

  Trace trace_;
  std::map<std::uint64_t, Call> recorded_;                        // what the host said of calls, by External id
  std::vector<std::pair<std::uint32_t, std::uint64_t>> unnamed_;  // of kernels that do not say: call, External id
  Event event_;
  std::string key_;
  std::vector<Place> places_;
  std::size_t events_ = 0;  // complete ones
  bool saw_events_ = false;
};

}  // namespace

Trace parse_trace(std::string_view text) {
  Handler handler;
  json::parse_events(text, handler);
  return std::move(handler).take();
}

}  // namespace photonrail::formats::kineto
