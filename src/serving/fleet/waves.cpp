#include "serving/fleet/waves.hpp"

#include "photonrail/error.hpp"
#include "serving/tokens.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::serving {

namespace {

// A token has the step's number above the wave's.
constexpr std::uint32_t kWaveBits = 24;

Bytes bytes_of(double tokens, double each) { return Bytes{std::llround(tokens * each)}; }

}  // namespace

Waves::Waves(std::span<const EngineRun> engines, const Lending& lending)
    : engines_(engines), wave_of_(engines.size()), lending_(&lending) {
  for (std::uint32_t e = 0; e < engines.size();) {
    const PoolSpec& pool = engines[e].pool();
    Wave& wave = waves_.emplace_back();
    wave.members = {e, pool.together};
    PHOTONRAIL_CHECK(waves_.size() < (std::size_t{1} << kWaveBits) && e + pool.together <= engines.size());
    wave.ranks.resize(pool.stages);
    for (const std::uint32_t end = e + pool.together; e < end; ++e) {
      wave_of_[e] = static_cast<std::uint32_t>(waves_.size() - 1);
      for (std::uint32_t s = 0; s < pool.stages; ++s) {
        const auto ranks = engines[e].ranks(s);
        wave.ranks[s].insert(wave.ranks[s].end(), ranks.begin(), ranks.end());
      }
    }
  }
}

std::uint64_t Waves::token(std::uint32_t wave) const { return std::uint64_t{waves_[wave].step} << kWaveBits | wave; }

std::uint32_t Waves::engine_of(std::uint64_t token) const { return waves_[token & ((1U << kWaveBits) - 1)].members.first; }

void Waves::begin(std::uint32_t engine, Duration time, ServingLaunch kind, WorkSink& sink) {
  const std::uint32_t number = wave_of_[engine];
  Wave& wave = waves_[number];
  PHOTONRAIL_CHECK(!wave.busy);
  wave.busy = true;
  ++wave.step;
  wave.stage = 0;
  wave.phase = moves(wave) ? Phase::kMove : Phase::kCompute;
  wave.began = sink.now();
  wave.time = time;
  wave.kind = kind;
  launch_phase(number, sink);
  if (wave.open > 0) return;  // a move of less than a byte
  wave.phase = Phase::kCompute;
  launch_phase(number, sink);
}

bool Waves::ended(std::uint64_t token_of, WorkSink& sink) {
  const auto number = static_cast<std::uint32_t>(token_of & ((1U << kWaveBits) - 1));
  Wave& wave = waves_[number];
  if (token_of != token(number) || !wave.busy) return false;  // of a step that was dropped
  PHOTONRAIL_CHECK(wave.open > 0);
  if (--wave.open > 0) return false;
  if (wave.phase == Phase::kMove) move_times_.add(sink.now() - wave.began);
  while (next_phase(wave)) {
    launch_phase(number, sink);
    if (wave.open > 0) return false;
  }
  wave.busy = false;
  return true;
}

bool Waves::next_phase(Wave& wave) const {
  const PoolSpec& pool = engines_[wave.members.first].pool();
  if (wave.phase == Phase::kCompute && pool.stages == 1 && !pool.flows.any()) return false;
  if (wave.phase != Phase::kForward) {
    wave.phase = static_cast<Phase>(static_cast<std::uint8_t>(wave.phase) + 1);
    return true;
  }
  if (++wave.stage == pool.stages) return false;
  wave.phase = Phase::kCompute;
  return true;
}

void Waves::launch_phase(std::uint32_t number, WorkSink& sink) {
  Wave& wave = waves_[number];
  if (wave.phase == Phase::kMove) return move(wave, token(number), sink);
  if (wave.phase != Phase::kCompute) return operate(wave, launch_token(LaunchOf::kStep, token(number)), sink);
  const auto stages = static_cast<std::int64_t>(wave.ranks.size());
  const Duration time = wave.time * (wave.stage + 1) / stages - wave.time * wave.stage / stages;
  sink.compute(wave.ranks[wave.stage], time,
               {static_cast<std::uint32_t>(wave.kind), launch_token(LaunchOf::kStep, token(number))});
  wave.open = 1;
}

void Waves::operate(Wave& wave, std::uint64_t token_of, WorkSink& sink) {
  const LaunchLabel label{static_cast<std::uint32_t>(ServingLaunch::kCollective), token_of};
  const PoolSpec& pool = engines_[wave.members.first].pool();
  double all = 0.0;
  for (std::uint32_t e = wave.members.first; e < wave.members.first + wave.members.count; ++e) {
    const EngineRun& engine = engines_[e];
    const double tokens = engine.busy() ? engine.scheduler().step().tokens() : 0.0;
    all += tokens;
    const auto ranks = engine.ranks(wave.stage);
    const Bytes reduced = bytes_of(tokens, pool.flows.reduced / pool.stages);
    if (wave.phase == Phase::kReduce && ranks.size() > 1 && reduced > Bytes{}) {
      sink.collective(ranks, CollectiveOp::kAllReduce, reduced, Dimension::kTp, label);
      ++wave.open;
    }
    const Bytes forwarded = bytes_of(tokens, pool.flows.forwarded / static_cast<double>(ranks.size()));
    if (wave.phase != Phase::kForward || wave.stage + 1 == pool.stages || forwarded <= Bytes{}) continue;
    const auto next = engine.ranks(wave.stage + 1);
    for (std::size_t r = 0; r < ranks.size(); ++r) sink.send(ranks[r], next[r], forwarded, label);
    wave.open += static_cast<std::uint32_t>(ranks.size());
  }
  const std::vector<RankId>& ranks = wave.ranks[wave.stage];
  const Bytes exchanged = bytes_of(all, pool.flows.exchanged / pool.stages / static_cast<double>(ranks.size()));
  if (wave.phase == Phase::kExchange && ranks.size() > 1 && exchanged > Bytes{}) {
    sink.collective(ranks, CollectiveOp::kAllToAll, exchanged, Dimension::kEp, label);
    ++wave.open;
  }
}

bool Waves::moves(const Wave& wave) const {
  for (std::uint32_t e = wave.members.first; e < wave.members.first + wave.members.count; ++e) {
    const EngineRun& engine = engines_[e];
    const Step& step = engine.scheduler().step();
    if (engine.pool().offload && engine.busy() && step.swapped_out + step.swapped_in > 0) return true;
  }
  return false;
}

// KV that goes and KV that comes are on their way at once.
void Waves::move(Wave& wave, std::uint64_t rest, WorkSink& sink) {
  const LaunchLabel label{static_cast<std::uint32_t>(ServingLaunch::kMove), launch_token(LaunchOf::kStep, rest)};
  for (std::uint32_t e = wave.members.first; e < wave.members.first + wave.members.count; ++e) {
    const EngineRun& engine = engines_[e];
    if (!engine.busy()) continue;
    const auto ranks = engine.ranks();
    const double each = engine.pool().block_bytes / static_cast<double>(ranks.size());
    for (const bool out : {true, false}) {
      const Step& step = engine.scheduler().step();
      const Bytes bytes = bytes_of(out ? step.swapped_out : step.swapped_in, each);
      if (bytes <= Bytes{}) continue;
      moved_bytes_ += static_cast<std::uint64_t>(bytes.count) * ranks.size();
      wave.open += static_cast<std::uint32_t>(ranks.size());
      const auto donor = lending_->donor(e);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (!donor) {
          add_to_host(ranks[r], engine.pool(), bytes, out, rest, sink);
          continue;
        }
        const auto there = engines_[*donor].ranks();
        const RankId other = there[r % there.size()];
        sink.send(out ? ranks[r] : other, out ? other : ranks[r], bytes, label, Dimension::kKv);
      }
    }
  }
}

void Waves::add_to_host(RankId rank, const PoolSpec& pool, Bytes bytes, bool out, std::uint64_t rest, WorkSink& sink) {
  const OffloadSpec& offload = *pool.offload;
  const std::uint32_t number = rank.value / offload.gpus_per_link * 2 + (out ? 0 : 1);
  SharedLink& link = host_links_.try_emplace(number, offload.link).first->second;
  link.add(sink.now(), bytes, rest);
  sink.wake_at(*link.next_end(), timer_token(ServingTimer::kHostLink, number));
}

std::vector<std::uint64_t> Waves::host_link(std::uint32_t number, WorkSink& sink) {
  SharedLink& link = host_links_.at(number);
  std::vector<std::uint64_t> ended;
  while (const auto token_of = link.take_ended(sink.now())) ended.push_back(*token_of);
  if (const auto next = link.next_end(); next && !ended.empty())
    sink.wake_at(*next, timer_token(ServingTimer::kHostLink, number));
  return ended;
}

void Waves::report(ServingResult& result) const {
  result.move = move_times_.summary();
  result.moves = result.move.count;
  result.move_bytes = moved_bytes_;
}

void Waves::drop(std::uint32_t engine) {
  Wave& wave = waves_[wave_of_[engine]];
  wave.busy = false;
  wave.open = 0;
}

}  // namespace photonrail::serving
