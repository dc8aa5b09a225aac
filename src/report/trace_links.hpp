// What of a timeline joins its tracks: which switching ended which wait, and counters over all of them.
#pragma once

#include "photonrail/observer.hpp"
#include "report/seen_tasks.hpp"
#include "report/trace_text.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::report {

/// Circuits as they were lit after switching, by the group that they were for.
class LitCircuits {
 public:
  struct Lit {
    Time at{};
    RailId rail;
    PortId from;  ///< transmit side
  };
  explicit LitCircuits(std::span<const CircuitEvent> events);

  /// The last one for the group until an instant; none where switching took no time.
  [[nodiscard]] std::optional<Lit> last(CommunicatorId group, Time until) const;

 private:
  std::map<CommunicatorId, std::vector<Lit>> of_group_;
};

/// "lit ports" of each rail. `process_of_rail0`: the process of rail 0, the others follow.
void write_lit_ports(std::span<const CircuitEvent> events, std::uint32_t process_of_rail0, TraceText& text);

/// "bytes in flight" by dimension: of operations between the first member that has bytes on their way and the last that is
/// done. The size of an operation is what its task says.
void write_bytes_in_flight(const SeenTasks& seen, std::span<const OperationEvent> events, std::uint32_t process,
                           TraceText& text);

}  // namespace photonrail::report
