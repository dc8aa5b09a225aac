// Tool calls of rollouts, answered by sandboxes or by a cache of what earlier rollouts of the same task were answered. A
// machine that is told the time: it says when each call is answered.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"
#include "rl/prefix_tree.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <vector>

namespace photonrail::rl {

enum class CacheKind : std::uint8_t { kNone, kPrefixTree };
/// What happens to a call that another rollout of the task has running, after the same history.
enum class InFlight : std::uint8_t { kWait, kRunTwice };

struct ToolSpec {
  double calls = 3.0;                ///< of a rollout, geometric: the mean
  DelayDistribution call{};          ///< what a call runs
  std::vector<double> choices{1.0};  ///< probabilities of the calls that a rollout may make next
  std::uint32_t result_tokens = 0;   ///< that a result adds to the context
  CacheKind cache = CacheKind::kNone;
  PrefixTreeOptions tree{};
  InFlight in_flight = InFlight::kWait;
  Duration build{};             ///< of a sandbox
  Duration fork{};              ///< of a copy of one that is kept
  bool forks_ahead = false;     ///< a copy of each kept sandbox is made before it is asked for
  std::uint32_t sandboxes = 0;  ///< that run at once; 0: any number
  std::uint32_t servers = 1;    ///< of the cache, each with its tasks
  Duration look_up{};           ///< on a server, one after another
  Duration network{};           ///< to a server and back

  /// Throws ConfigError whose `where` is the field.
  void validate() const;
};

/// One call's way.
struct ToolAnswer {
  Time at{};
  bool hit = false;
  std::uint32_t depth = 0;  ///< calls of the rollout before it
};

class ToolCache {
 public:
  ToolCache(const ToolSpec& spec, std::uint64_t seed);

  /// The rollout of the task makes its next call. Calls come in the order of time.
  ToolAnswer call(std::uint64_t rollout, std::uint64_t task, Time now);
  /// The rollout is over.
  void end(std::uint64_t rollout) { rollouts_.erase(rollout); }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  /// By depth: calls, and those of them that the cache answered.
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& by_depth() const { return by_depth_; }

 private:
  struct Rollout {
    std::vector<CallId> history;
    RandomStream choices;
  };
  /// A call that runs: its value comes into the tree at the end.
  struct Execution {
    Time end{};
    std::vector<CallId> history;
    std::vector<CallValue> values;
    std::size_t start = 0;
    EnvironmentId fork_of = 0;
  };
  struct Task {
    PrefixTree tree;
    std::vector<Execution> running;                 ///< in the order of their begin
    std::map<std::vector<CallId>, Duration> lasts;  ///< of calls by history: one call always runs as long
    EnvironmentId environments = 0;
    RandomStream durations;
  };

  [[nodiscard]] Task& task(std::uint64_t number);
  void settle(Task& task, Time now);
  [[nodiscard]] Duration lasts(Task& task, const std::vector<CallId>& history);
  [[nodiscard]] Time looked_up(std::uint64_t task, Time now);
  [[nodiscard]] Time in_sandbox(Time from, Duration lasts);
  [[nodiscard]] Time execute(Task& task, const std::vector<CallId>& history, Time from);

  ToolSpec spec_;
  std::uint64_t seed_;
  std::map<std::uint64_t, Rollout> rollouts_;
  std::map<std::uint64_t, Task> tasks_;
  std::vector<Time> server_free_;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> busy_;  ///< ends of what sandboxes run
  std::uint64_t calls_ = 0;
  std::uint64_t hits_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_depth_;
};

}  // namespace photonrail::rl
