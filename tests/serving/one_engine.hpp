// One engine and a list of requests, step after step, without anything around them.
#pragma once

#include "serving/engine/scheduler.hpp"
#include "serving/engine/step_time.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace photonrail::serving {

struct Arrival {
  Time at{};
  Request request;
};

struct Outcome {
  std::optional<Time> scheduled;
  std::optional<Time> first;
  std::optional<Time> last;
  std::uint32_t preemptions = 0;
  std::uint32_t cached = 0;
};

/// Called at the end of each step, whose requests are those of `running` before it.
using StepSeen = std::function<void(Time start, const Step& step, const std::vector<Running>& running, const StepEnd& end,
                                    const Scheduler& scheduler)>;

struct OneEngine {
  std::vector<Outcome> outcomes;
  std::vector<std::size_t> refused;
  std::uint64_t steps = 0;
  Time end{};
};

/// `arrivals` in order of time; ids are given here.
inline OneEngine run_one_engine(const EngineSpec& spec, std::vector<Arrival> arrivals, const StepTime& times,
                                const StepSeen& seen = {}) {
  OneEngine result;
  result.outcomes.resize(arrivals.size());
  Scheduler scheduler(spec);
  std::size_t next = 0;
  Time now{};
  while (next < arrivals.size() || scheduler.has_work()) {
    if (!scheduler.has_work() && arrivals[next].at > now) now = arrivals[next].at;
    for (; next < arrivals.size() && arrivals[next].at <= now; ++next) {
      arrivals[next].request.id = arrivals[next].request.content = next;
      if (scheduler.fits(arrivals[next].request)) {
        scheduler.enqueue(std::move(arrivals[next].request));
      } else {
        result.refused.push_back(next);
      }
    }
    if (!scheduler.has_work()) continue;
    const Step& step = scheduler.next();
    for (const Step::Admitted& admitted : step.admitted) {
      Outcome& outcome = result.outcomes[scheduler.id(admitted.slot)];
      if (!outcome.scheduled) outcome.scheduled = now;
      outcome.cached += admitted.cached;
    }
    for (const Slot slot : step.preempted) ++result.outcomes[scheduler.id(slot)].preemptions;
    const std::vector<Running> running =
        seen ? std::vector<Running>(scheduler.running().begin(), scheduler.running().end()) : std::vector<Running>();
    const Time start = now;
    now += times.of(step);
    const StepEnd& end = scheduler.finish(now);
    for (const Slot slot : end.first) result.outcomes[scheduler.id(slot)].first = now;
    for (const StepEnd::Finished& finished : end.finished) result.outcomes[scheduler.id(finished.slot)].last = now;
    if (seen) seen(start, step, running, end, scheduler);
    ++result.steps;
    result.end = now;
  }
  return result;
}

}  // namespace photonrail::serving
