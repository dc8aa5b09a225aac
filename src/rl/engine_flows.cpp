#include "rl/engine_flows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace photonrail::rl {

EngineFlows::EngineFlows(const RlSpec& spec) : engine_(spec.generation.engine) {
  if (!spec.generation.flows) return;
  // Two all-reduces a layer, of bf16.
  if (engine_.tp > 1) reduced_ = 4.0 * spec.model.layers * spec.model.hidden / engine_.pp;
  if (engine_.pp > 1) forwarded_ = 2.0 * spec.model.hidden / engine_.tp;
}

std::uint32_t EngineFlows::launch(std::uint64_t tokens, RankId first, LaunchLabel label, WorkSink& sink) const {
  std::uint32_t launched = 0;
  const auto bytes = [tokens](double each) { return Bytes{std::llround(static_cast<double>(tokens) * each)}; };
  for (std::uint32_t stage = 0; stage < engine_.pp; ++stage) {
    std::vector<RankId> ranks;
    for (std::uint32_t r = 0; r < engine_.tp; ++r) ranks.emplace_back(first.value + stage * engine_.tp + r);
    if (bytes(reduced_) > Bytes{}) {
      sink.collective(ranks, CollectiveOp::kAllReduce, bytes(reduced_), Dimension::kTp, label);
      ++launched;
    }
    if (stage + 1 == engine_.pp || bytes(forwarded_) <= Bytes{}) continue;
    for (const RankId rank : ranks) {
      sink.send(rank, RankId{rank.value + engine_.tp}, bytes(forwarded_), label, Dimension::kTp);
      ++launched;
    }
  }
  return launched;
}

std::uint32_t launch_host_moves(const OffloadSpec& offload, double bytes, std::uint32_t ranks, LaunchLabel label,
                                WorkSink& sink) {
  std::uint32_t launched = 0;
  for (std::uint32_t first = 0; first < ranks; first += offload.gpus_per_link, ++launched) {
    std::vector<RankId> behind;
    for (std::uint32_t r = first; r < std::min(ranks, first + offload.gpus_per_link); ++r) behind.emplace_back(r);
    const double seconds = bytes * static_cast<double>(behind.size()) / offload.rate.bytes_per_second;
    sink.compute(behind, round_up_picoseconds(seconds * 1e12), label, Stream::kHost);
  }
  return launched;
}

}  // namespace photonrail::rl
