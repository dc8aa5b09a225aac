// The processors of the GPUs, for plans that compute: tiles wait for a free one, first come first served.
#pragma once

#include "engine/engine.hpp"
#include "execution/rank_gpus.hpp"
#include "execution/straggler_injector.hpp"
#include "execution/time_accounting.hpp"
#include "network/network.hpp"
#include "photonrail/collective.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace photonrail::execution {

class GpuPool {
 public:
  /// Told when a step is over, by its tag. All must outlive the object.
  GpuPool(engine::Engine& engine, const RankGpus& gpus, TimeAccounting& accounting, const StragglerInjector& stragglers,
          network::DeliveryListener& done)
      : engine_(engine), gpus_(gpus), accounting_(accounting), stragglers_(stragglers), done_(done) {}

  /// REQUIRES: step.kind is kTiles.
  void compute(RankId rank, std::uint32_t iteration, const LocalStep& step, std::uint64_t tag);

 private:
  struct Batch {
    RankId rank;
    std::uint64_t tag = 0;
    std::uint32_t processors = 1;
    std::uint32_t to_start = 0;
    std::uint32_t to_end = 0;
    Duration tile{};
  };
  struct Pool {
    std::uint32_t busy = 0;
    bool computing = false;  // as reported to the accounting
    std::uint32_t iteration = 0;
    double slowdown = 0.0;            // in that iteration; 0: not known yet
    std::deque<std::uint32_t> queue;  // batches with tiles to start
  };

  void fill(RankId rank, Pool& pool);
  void ended(std::uint64_t batch_and_tiles);
  [[nodiscard]] Duration tile_time(RankId rank, Pool& pool, std::uint32_t iteration, const LocalStep& step) const;

  engine::Engine& engine_;
  const RankGpus& gpus_;
  TimeAccounting& accounting_;
  const StragglerInjector& stragglers_;
  network::DeliveryListener& done_;
  std::map<RankId, Pool> pools_;  // of ranks that ever computed tiles
  std::vector<Batch> batches_;
  std::vector<std::uint32_t> free_;
};

}  // namespace photonrail::execution
