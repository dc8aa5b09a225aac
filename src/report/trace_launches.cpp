#include "report/trace_launches.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace photonrail::report {

void write_launches(const SeenTasks& seen, std::uint32_t process, Time end, TraceText& text) {
  if (seen.launches().empty()) return;
  constexpr std::uint32_t kLanesOfKind = 100'000;
  text.name_process(process, "launches");
  std::map<std::string, std::uint32_t> kinds;
  std::map<std::string, std::vector<Time>> free_from;  // by lane
  for (const auto& [id, launch] : seen.launches()) {
    const std::uint32_t kind = kinds.try_emplace(launch.kind, static_cast<std::uint32_t>(kinds.size())).first->second;
    std::vector<Time>& lanes = free_from[launch.kind];
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](Time from) { return from <= launch.opened; });
    const auto lane = static_cast<std::uint32_t>(free - lanes.begin());
    if (free == lanes.end()) lanes.emplace_back();
    const Time until = std::min(launch.done, end);
    lanes[lane] = until;
    const TraceText::Thread thread{process, 1 + kind * kLanesOfKind + lane};
    if (lane + 1 == lanes.size()) {
      text.name_thread(thread, launch.kind + (lane == 0 ? "" : " " + std::to_string(lane + 1)), thread.thread);
    }
    text.span(thread, launch.opened, until, "launch", launch.kind,
              {{"launch", std::to_string(id)}, {"ranks", std::to_string(launch.ranks.size())}});
  }
}

}  // namespace photonrail::report
