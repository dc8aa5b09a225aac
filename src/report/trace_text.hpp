// Writes Chrome's trace format as a stream of events.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::report {

class TraceText {
 public:
  struct Thread {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
  };
  using Argument = std::pair<std::string_view, std::string_view>;

  /// Opens the document; the destructor closes it. `other`: data besides the events, as a JSON object. `out` must
  /// outlive this.
  explicit TraceText(std::ostream& out, std::string_view other = "{}");
  ~TraceText();
  TraceText(const TraceText&) = delete;
  TraceText& operator=(const TraceText&) = delete;

  void span(Thread thread, Time start, Time finish, std::string_view category, std::string_view name,
            std::initializer_list<Argument> arguments);
  /// An arrow from the span of a thread that holds one instant to that of another. `category` and `id` name it.
  void arrow(Thread from, Time left, Thread to, Time arrived, std::string_view category, std::uint64_t id);
  /// The values of a process's counter from an instant on, by name.
  void counter(std::uint32_t process, Time at, std::string_view name,
               const std::vector<std::pair<std::string_view, std::int64_t>>& values);
  /// Processes are shown in the order of their numbers.
  void name_process(std::uint32_t process, std::string_view name);
  /// `order`: the place among the threads of the process, from the top.
  void name_thread(Thread thread, std::string_view name, std::uint32_t order);

 private:
  void begin_event(char phase, Thread thread, std::string_view name);

  std::ostream& out_;
  bool first_ = true;
};

}  // namespace photonrail::report
