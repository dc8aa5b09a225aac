#include "execution/time_accounting.hpp"

#include "core/checked.hpp"
#include "execution/mean.hpp"

#include <algorithm>

namespace photonrail::execution {

void merge_equal(std::vector<WindowCount>& windows) {
  if (windows.empty()) return;
  std::sort(windows.begin(), windows.end(),
            [](const WindowCount& a, const WindowCount& b) { return a.length < b.length; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].length == windows[kept].length) {
      windows[kept].count += windows[i].count;
    } else {
      windows[++kept] = windows[i];
    }
  }
  windows.resize(kept + 1);
  windows.shrink_to_fit();
}

// Gives the time since the rank's last change to what the rank was doing in it.
TimeAccounting::Clock& TimeAccounting::settle(RankId rank, Time now) {
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

void TimeAccounting::rail_ready(RankId rank, Dimension d, Time now) {
  Clock& clock = clocks_[rank.index()];
  if (clock.rail_used && clock.rail_dimension != d) {
    const Duration window = clock.rail_operations > 0 ? Duration{0} : now - clock.rail_end;
    clock.windows.push_back({{clock.rail_dimension, d}, window});
  }
  clock.rail_used = true;
  clock.rail_dimension = d;
  ++clock.rail_operations;
}

void TimeAccounting::rail_ended(RankId rank, Dimension, Time now) {
  Clock& clock = clocks_[rank.index()];
  --clock.rail_operations;
  clock.rail_end = now;
}

void TimeAccounting::traffic(Dimension d, Bytes wire_bytes, std::uint64_t copies) {
  DimensionTraffic& traffic = traffic_[static_cast<std::size_t>(d)];
  const Bytes all = checked_product(wire_bytes, copies);
  all_bytes_ = checked_sum(all_bytes_, all);
  traffic.bytes += all;
  traffic.operations += copies;
}

Accounts TimeAccounting::finish(Time makespan, std::span<const std::uint32_t> class_of_rank) {
  Accounts accounts;
  accounts.traffic = traffic_;
  std::vector<std::int64_t> copies(clocks_.size(), class_of_rank.empty() ? 1 : 0);
  for (const std::uint32_t c : class_of_rank) ++copies[c];
  for (std::size_t r = 0; r < clocks_.size(); ++r) settle(RankId{r}, makespan);
  const std::size_t ranks = class_of_rank.empty() ? clocks_.size() : class_of_rank.size();
  accounts.ranks.reserve(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    accounts.ranks.push_back(clocks_[class_of_rank.empty() ? r : class_of_rank[r]].time);
  }
  count_windows(copies, accounts);
  if (ranks > 0) mean_traffic(copies, ranks, accounts);
  return accounts;
}

void TimeAccounting::count_windows(std::span<const std::int64_t> copies, Accounts& accounts) const {
  for (std::size_t r = 0; r < clocks_.size(); ++r) {
    for (const auto& [phases, window] : clocks_[r].windows) {
      accounts.windows[phases].push_back({window, static_cast<std::uint64_t>(copies[r])});
    }
  }
  for (auto& [phases, windows] : accounts.windows) merge_equal(windows);
}

void TimeAccounting::mean_traffic(std::span<const std::int64_t> copies, std::size_t ranks, Accounts& accounts) const {
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    Mean busy(ranks);
    Mean exposed(ranks);
    for (std::size_t r = 0; r < clocks_.size(); ++r) {
      busy.add(clocks_[r].busy[d], copies[r]);
      exposed.add(clocks_[r].exposed[d], copies[r]);
    }
    accounts.traffic[d].busy = busy.value();
    accounts.traffic[d].exposed = exposed.value();
  }
}

}  // namespace photonrail::execution
