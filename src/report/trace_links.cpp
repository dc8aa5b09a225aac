#include "report/trace_links.hpp"

#include <algorithm>

namespace photonrail::report {

LitCircuits::LitCircuits(std::span<const CircuitEvent> events) {
  std::map<std::pair<RailId, PortId>, CircuitEvent> switching;
  for (const CircuitEvent& event : events) {
    const std::pair port{event.rail, event.circuit.from};
    if (event.state == CircuitState::kSwitching) switching[port] = event;
    if (event.state != CircuitState::kLit) continue;
    const auto since = switching.find(port);
    if (since == switching.end() || since->second.circuit != event.circuit || since->second.at == event.at) continue;
    const CommunicatorId group = event.serves.is_none() ? since->second.serves : event.serves;
    if (!group.is_none()) of_group_[group].push_back({event.at, event.rail, event.circuit.from});
  }
}

std::optional<LitCircuits::Lit> LitCircuits::last(CommunicatorId group, Time until) const {
  const auto found = of_group_.find(group);
  if (found == of_group_.end()) return std::nullopt;
  const auto after = std::upper_bound(found->second.begin(), found->second.end(), until,
                                      [](Time at, const Lit& lit) { return at < lit.at; });
  if (after == found->second.begin()) return std::nullopt;
  return *std::prev(after);
}

void write_lit_ports(std::span<const CircuitEvent> events, std::uint32_t process_of_rail0, TraceText& text) {
  std::map<RailId, std::set<PortId>> lit;
  for (const CircuitEvent& event : events) {
    std::set<PortId>& of_rail = lit[event.rail];
    const std::size_t before = of_rail.size();
    if (event.state == CircuitState::kLit)
      of_rail.insert(event.circuit.from);
    else
      of_rail.erase(event.circuit.from);
    if (of_rail.size() == before) continue;
    text.counter(process_of_rail0 + event.rail.value, event.at, "lit ports",
                 {{"ports", static_cast<std::int64_t>(of_rail.size())}});
  }
}

void write_bytes_in_flight(const SeenTasks& seen, std::span<const OperationEvent> events, std::uint32_t process,
                           TraceText& text) {
  struct Flight {
    std::size_t members_done = 0;
    bool running = false;
    std::int64_t bytes = 0;
  };
  std::map<std::uint32_t, Flight> flights;  // by sequence
  std::array<std::int64_t, kDimensionCount> bytes{};
  std::array<bool, kDimensionCount> used{};
  const auto tell = [&](Time at) {
    std::vector<std::pair<std::string_view, std::int64_t>> values;
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      if (used[d]) values.emplace_back(name(static_cast<Dimension>(d)), bytes[d]);
    }
    text.counter(process, at, "bytes in flight", values);
  };
  for (const OperationEvent& event : events) {
    const Communicator& group = seen.group(event.communicator);
    const auto d = static_cast<std::size_t>(group.dimension);
    Flight& flight = flights[event.sequence];
    if (event.state == OperationEvent::State::kRunning && !flight.running) {
      flight.running = used[d] = true;
      flight.bytes = seen.task(event.rank, event.task, event.launch).size().count;
      bytes[d] += flight.bytes;
      tell(event.at);
    }
    if (event.state != OperationEvent::State::kDone || ++flight.members_done < group.members.size()) continue;
    if (flight.running) bytes[d] -= flight.bytes;
    if (flight.running) tell(event.at);
    flights.erase(event.sequence);
  }
}

}  // namespace photonrail::report
