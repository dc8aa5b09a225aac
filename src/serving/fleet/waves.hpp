// Steps as launches: engines that step together form a wave, and a step of a wave is computations of its stages one after
// another, with operations of the fabric behind each where these are no part of the times.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "serving/fleet/engine_run.hpp"
#include "serving/kv/host_links.hpp"
#include "serving/kv/lending.hpp"
#include "serving/requests/metrics.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace photonrail::serving {

/// The kinds of launches, in the order of names in results.
enum class ServingLaunch : std::uint32_t { kPrefillStep, kDecodeStep, kMixedStep, kKv, kCollective, kWeights, kMove };

class Waves {
 public:
  /// Both outlive it, and do not move.
  Waves(std::span<const EngineRun> engines, const Lending& lending);

  /// The engines that step together with this one, by number.
  struct Members {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
  };
  [[nodiscard]] Members members(std::uint32_t engine) const { return waves_[wave_of_[engine]].members; }
  [[nodiscard]] bool busy(std::uint32_t engine) const { return waves_[wave_of_[engine]].busy; }

  /// Launches a step of the wave of an engine, which takes `time` without the traffic that is launched: KV that goes or
  /// comes before it, and operations behind it. REQUIRES: it is not busy.
  void begin(std::uint32_t engine, Duration time, ServingLaunch kind, WorkSink& sink);
  /// A launch with this token ended: returns true when the step of its wave has, or launches what comes next.
  bool ended(std::uint64_t token, WorkSink& sink);
  /// A timer of a link of hosts: returns the tokens of what has ended on it, for ended().
  [[nodiscard]] std::vector<std::uint64_t> host_link(std::uint32_t link, WorkSink& sink);
  /// The first engine of the wave of a launch.
  [[nodiscard]] std::uint32_t engine_of(std::uint64_t token) const;
  /// The engines have stopped: their step never ends.
  void drop(std::uint32_t engine);
  /// Adds its own numbers.
  void report(ServingResult& result) const;

 private:
  enum class Phase : std::uint8_t { kMove, kCompute, kReduce, kExchange, kForward };
  struct Wave {
    Members members{};
    std::vector<std::vector<RankId>> ranks;  // by stage, of all engines
    bool busy = false;
    std::uint32_t step = 0;  // counts steps: launches of dropped ones are told apart
    std::uint32_t open = 0;  // launches of the phase
    std::uint32_t stage = 0;
    Phase phase = Phase::kCompute;
    Duration time{};
    Time began{};  // its move
    ServingLaunch kind = ServingLaunch::kMixedStep;
  };
  [[nodiscard]] std::uint64_t token(std::uint32_t wave) const;
  void launch_phase(std::uint32_t wave, WorkSink& sink);
  void operate(Wave& wave, std::uint64_t token, WorkSink& sink);
  void move(Wave& wave, std::uint64_t rest, WorkSink& sink);
  void add_to_host(RankId rank, const PoolSpec& pool, Bytes bytes, bool out, std::uint64_t rest, WorkSink& sink);
  [[nodiscard]] bool moves(const Wave& wave) const;
  [[nodiscard]] bool next_phase(Wave& wave) const;

  std::span<const EngineRun> engines_;
  std::vector<Wave> waves_;
  std::vector<std::uint32_t> wave_of_;  // by engine
  const Lending* lending_;
  std::map<std::uint32_t, SharedLink> host_links_;  // two for each switch: out and in
  TimeSamples move_times_;
  std::uint64_t moved_bytes_ = 0;
};

}  // namespace photonrail::serving
