#include "report/trace_text.hpp"

#include "json/text.hpp"

#include <cstdio>
#include <ostream>

namespace photonrail::report {

using json::quoted;

namespace {

// The format counts in microseconds; six decimals keep the picosecond.
std::string microseconds(Duration d) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%06lld", static_cast<long long>(d.count() / 1000000),
                static_cast<long long>(d.count() % 1000000));
  return text;
}

}  // namespace

TraceText::TraceText(std::ostream& out, std::string_view other) : out_(out) {
  out_ << "{\"displayTimeUnit\":\"ns\",\"otherData\":" << other << ",\"traceEvents\":[\n";
}
TraceText::~TraceText() { out_ << "\n]}\n"; }

void TraceText::begin_event(char phase, Thread thread, std::string_view name) {
  if (!first_) out_ << ",\n";
  first_ = false;
  out_ << "{\"ph\":\"" << phase << "\",\"pid\":" << thread.process << ",\"tid\":" << thread.thread
       << ",\"name\":" << quoted(name);
}

void TraceText::span(Thread thread, Time start, Time finish, std::string_view category, std::string_view name,
                     std::initializer_list<Argument> arguments) {
  begin_event('X', thread, name);
  out_ << ",\"cat\":" << quoted(category) << ",\"ts\":" << microseconds(start.since_start())
       << ",\"dur\":" << microseconds(finish - start);
  const char* separator = ",\"args\":{";
  for (const auto& [key, value] : arguments) {
    out_ << separator << quoted(key) << ":" << quoted(value);
    separator = ",";
  }
  out_ << (arguments.size() == 0 ? "}" : "}}");
}

void TraceText::arrow(Thread from, Time left, Thread to, Time arrived, std::string_view category, std::uint64_t id) {
  begin_event('s', from, category);
  out_ << ",\"cat\":" << quoted(category) << ",\"id\":" << id << ",\"ts\":" << microseconds(left.since_start()) << "}";
  begin_event('f', to, category);
  out_ << ",\"cat\":" << quoted(category) << ",\"id\":" << id
       << ",\"bp\":\"e\",\"ts\":" << microseconds(arrived.since_start()) << "}";
}

void TraceText::counter(std::uint32_t process, Time at, std::string_view name,
                        const std::vector<std::pair<std::string_view, std::int64_t>>& values) {
  begin_event('C', {process, 0}, name);
  out_ << ",\"ts\":" << microseconds(at.since_start()) << ",\"args\":{";
  const char* separator = "";
  for (const auto& [key, value] : values) {
    out_ << separator << quoted(key) << ":" << value;
    separator = ",";
  }
  out_ << "}}";
}

void TraceText::name_process(std::uint32_t process, std::string_view name) {
  begin_event('M', {process, 0}, "process_name");
  out_ << ",\"args\":{\"name\":" << quoted(name) << "}}";
  begin_event('M', {process, 0}, "process_sort_index");
  out_ << ",\"args\":{\"sort_index\":" << process << "}}";
}

void TraceText::name_thread(Thread thread, std::string_view name, std::uint32_t order) {
  begin_event('M', thread, "thread_name");
  out_ << ",\"args\":{\"name\":" << quoted(name) << "}}";
  begin_event('M', thread, "thread_sort_index");
  out_ << ",\"args\":{\"sort_index\":" << order << "}}";
}

}  // namespace photonrail::report
