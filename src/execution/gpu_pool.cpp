#include "execution/gpu_pool.hpp"

#include <algorithm>

namespace photonrail::execution {

namespace {

constexpr int kTileBits = 16;  // a GPU has at most 65535 processors

}  // namespace

void GpuPool::compute(RankId rank, std::uint32_t iteration, const LocalStep& step, std::uint64_t tag) {
  Pool& pool = pools_[rank];
  auto id = static_cast<std::uint32_t>(batches_.size());
  if (free_.empty()) {
    batches_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  batches_[id] = {rank, tag, step.processors, step.tiles, step.tiles, tile_time(rank, pool, iteration, step)};
  pool.queue.push_back(id);
  fill(rank, pool);
}

// The processors divide the rate of the GPU, so that a tile takes as long as all of them would take for so many tiles.
Duration GpuPool::tile_time(RankId rank, Pool& pool, std::uint32_t iteration, const LocalStep& step) const {
  if (pool.slowdown == 0.0 || pool.iteration != iteration) {
    pool.iteration = iteration;
    pool.slowdown = stragglers_.of(rank, iteration).slowdown;
  }
  const Duration time = gpus_.of(rank).compute_time(step.tile_flops * step.processors, {});
  if (pool.slowdown == 1.0) return time;
  const Duration slow = round_up_picoseconds(static_cast<double>(time.count()) * pool.slowdown);
  if (slow > kLongest) fail_too_long(static_cast<double>(slow.count()));
  return slow;
}

// Tiles of one batch that begin together end together: one event.
void GpuPool::fill(RankId rank, Pool& pool) {
  const Time now = engine_.now();
  while (!pool.queue.empty()) {
    const std::uint32_t id = pool.queue.front();
    Batch& batch = batches_[id];
    if (pool.busy >= batch.processors) break;
    const std::uint32_t tiles = std::min(batch.to_start, batch.processors - pool.busy);
    pool.busy += tiles;
    batch.to_start -= tiles;
    if (batch.to_start == 0) pool.queue.pop_front();
    const std::uint64_t argument = std::uint64_t{id} << kTileBits | tiles;
    const std::optional<Duration> tile = stragglers_.with_failures(rank, now, batch.tile);
    if (!tile) continue;  // the GPU stopped for good
    engine_.schedule(now + *tile, engine::Phase::kFinish, engine::Action::to<&GpuPool::ended>(*this, argument));
  }
  if (pool.computing == (pool.busy > 0)) return;
  pool.computing = pool.busy > 0;
  pool.computing ? accounting_.compute_began(rank, now) : accounting_.compute_ended(rank, now);
}

void GpuPool::ended(std::uint64_t batch_and_tiles) {
  const auto id = static_cast<std::uint32_t>(batch_and_tiles >> kTileBits);
  const auto tiles = static_cast<std::uint32_t>(batch_and_tiles & ((1u << kTileBits) - 1));
  const Batch batch = batches_[id];
  Pool& pool = pools_[batch.rank];
  pool.busy -= tiles;
  batches_[id].to_end -= tiles;
  fill(batch.rank, pool);
  if (batch.to_end > tiles) return;
  free_.push_back(id);
  done_.delivered(batch.tag);
}

}  // namespace photonrail::execution
