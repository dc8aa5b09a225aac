#include "sim/recorder.hpp"

#include "sim/mean.hpp"

#include <algorithm>

namespace photonrail {

// Gives the time since the rank's last change to what the rank was doing in it.
Recorder::Clock& Recorder::settle(RankId rank, Time now) {
  Clock& clock = clocks_[rank.index()];
  const Duration passed = now - clock.last;
  if (passed == Duration{0}) return clock;
  clock.last = now;
  std::size_t first = kDimensionCount;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    if (clock.running[d] == 0) continue;
    clock.busy[d] += passed;
    first = std::min(first, d);
  }
  if (clock.computing > 0) {
    clock.time.compute += passed;
  } else if (first < kDimensionCount) {
    clock.time.exposed_communication += passed;
    clock.exposed[first] += passed;  // the innermost dimension: the one that the rank's next computation waits for
  } else if (clock.waiting > 0) {
    clock.time.reconfiguration_wait += passed;
  } else {
    clock.time.peer_wait += passed;
  }
  return clock;
}

void Recorder::rail_ready(RankId rank, Dimension d, Time now) {
  Clock& clock = clocks_[rank.index()];
  if (clock.rail_used && clock.rail_dimension != d) {
    const Duration window = clock.rail_operations > 0 ? Duration{0} : now - clock.rail_end;
    clock.windows.push_back({{clock.rail_dimension, d}, window});
  }
  clock.rail_used = true;
  clock.rail_dimension = d;
  ++clock.rail_operations;
}

void Recorder::rail_ended(RankId rank, Dimension, Time now) {
  Clock& clock = clocks_[rank.index()];
  --clock.rail_operations;
  clock.rail_end = now;
}

void Recorder::traffic(Dimension d, Bytes wire_bytes) {
  DimensionTraffic& traffic = traffic_[static_cast<std::size_t>(d)];
  traffic.bytes += wire_bytes;
  ++traffic.operations;
}

void Recorder::finish(Time makespan, RunResult& result) {
  result.makespan = makespan;
  result.traffic = traffic_;
  for (std::size_t r = 0; r < clocks_.size(); ++r) {
    const Clock& clock = settle(RankId{r}, makespan);
    result.ranks.push_back(clock.time);
    for (const auto& [phases, window] : clock.windows) result.windows[phases].push_back(window);
  }
  if (clocks_.empty()) return;
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    Mean busy(clocks_.size());
    Mean exposed(clocks_.size());
    for (const Clock& clock : clocks_) {
      busy.add(clock.busy[d]);
      exposed.add(clock.exposed[d]);
    }
    result.traffic[d].busy = busy.value();
    result.traffic[d].exposed = exposed.value();
  }
}

}  // namespace photonrail
