#include "rl/tool_cache.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace photonrail::rl {

void ToolSpec::validate() const {
  using core::field;
  require(calls >= 0.0 && calls <= 1000.0, field("calls"), "must be from 0 to 1000");
  require(!choices.empty(), field("choices"), "must have a probability");
  require(std::all_of(choices.begin(), choices.end(), [](double p) { return p > 0.0; }) &&
              std::abs(std::accumulate(choices.begin(), choices.end(), 0.0) - 1.0) < 1e-6,
          field("choices"), "must be above 0 and add up to 1");
  require(servers > 0, field("servers"), "must be at least 1");
  require(tree.budget > 0, field("tree.budget"), "must be at least 1");
}

ToolCache::ToolCache(const ToolSpec& spec, std::uint64_t seed) : spec_(spec), seed_(seed), server_free_(spec.servers) {}

ToolCache::Task& ToolCache::task(std::uint64_t number) {
  const auto found = tasks_.find(number);
  if (found != tasks_.end()) return found->second;
  return tasks_
      .emplace(number, Task{PrefixTree(spec_.tree), {}, {}, 0, RandomStream(seed_, "tool task " + std::to_string(number))})
      .first->second;
}

// The tree has what has ended by now, the first that ended first.
void ToolCache::settle(Task& task, Time now) {
  std::stable_sort(task.running.begin(), task.running.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
  std::size_t done = 0;
  for (; done < task.running.size() && task.running[done].end <= now; ++done) {
    Execution& ended = task.running[done];
    task.tree.put(ended.history, ++task.environments, ended.values, to_seconds(ended.end), ended.start);
    if (ended.fork_of != 0) task.tree.unref(ended.fork_of);
  }
  task.running.erase(task.running.begin(), task.running.begin() + static_cast<std::ptrdiff_t>(done));
}

Duration ToolCache::lasts(Task& task, const std::vector<CallId>& history) {
  const auto found = task.lasts.find(history);
  if (found != task.lasts.end()) return found->second;
  return task.lasts.emplace(history, spec_.call.draw(task.durations)).first->second;
}

Time ToolCache::looked_up(std::uint64_t task, Time now) {
  Time& free = server_free_[task % server_free_.size()];
  free = std::max(free, now) + spec_.look_up;
  return free + spec_.network;
}

// First come, first served.
Time ToolCache::in_sandbox(Time from, Duration lasts) {
  if (spec_.sandboxes == 0) return from + lasts;
  if (busy_.size() >= spec_.sandboxes) {
    from = std::max(from, busy_.top());
    busy_.pop();
  }
  busy_.push(from + lasts);
  return from + lasts;
}

// In a copy of the deepest sandbox that is kept, or in a new one, in which all calls run again.
Time ToolCache::execute(Task& task, const std::vector<CallId>& history, Time from) {
  const bool cached = spec_.cache == CacheKind::kPrefixTree;
  const auto match = cached ? task.tree.prefix_match(history, to_seconds(from)) : std::nullopt;
  // Without a cache the rollout's own sandbox goes on: only the last call runs, and the first one builds.
  const std::size_t start = match ? match->depth : cached ? 0 : history.size() - 1;
  Duration sum = match ? (spec_.forks_ahead ? Duration{} : spec_.fork) : start == 0 ? spec_.build : Duration{};
  Execution execution{{}, history, {}, std::min(start, history.size() - 1), match ? match->environment : 0};
  std::vector<CallId> so_far(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(execution.start));
  for (std::size_t i = execution.start; i < history.size(); ++i) {
    so_far.push_back(history[i]);
    const Duration call = lasts(task, so_far);
    if (i >= start) sum += call;
    execution.values.push_back({0, to_seconds(call)});
  }
  execution.end = in_sandbox(from, sum);
  const Time end = execution.end;
  if (cached) task.running.push_back(std::move(execution));
  return end;
}

ToolAnswer ToolCache::call(std::uint64_t rollout, std::uint64_t number, Time now) {
  Rollout& of = rollouts_.try_emplace(rollout, Rollout{{}, RandomStream(seed_, "tool calls " + std::to_string(rollout))})
                    .first->second;
  double draw = of.choices.uniform();
  CallId choice = 0;
  while (choice + 1 < spec_.choices.size() && draw >= spec_.choices[choice]) draw -= spec_.choices[choice++];
  const auto depth = static_cast<std::uint32_t>(of.history.size());
  of.history.push_back(choice);
  ++calls_;
  if (by_depth_.size() <= depth) by_depth_.resize(depth + 1);
  ++by_depth_[depth].first;
  Task& of_task = task(number);
  const auto answer = [&](Time at, bool hit) {
    hits_ += hit ? 1 : 0;
    by_depth_[depth].second += hit ? 1 : 0;
    return ToolAnswer{at, hit, depth};
  };
  if (spec_.cache == CacheKind::kNone) return answer(execute(of_task, of.history, now), false);
  settle(of_task, now);
  const Time known = looked_up(number, now);
  if (of_task.tree.get(of.history, to_seconds(now))) return answer(known, true);
  if (spec_.in_flight == InFlight::kWait) {
    for (const Execution& other : of_task.running) {
      const bool same = other.history.size() >= of.history.size() &&
                        std::equal(of.history.begin(), of.history.end(), other.history.begin());
      if (same) return answer(std::max(known, other.end + spec_.network), true);
    }
  }
  return answer(execute(of_task, of.history, known), false);
}

}  // namespace photonrail::rl
