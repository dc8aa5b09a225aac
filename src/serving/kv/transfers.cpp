#include "serving/kv/transfers.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::serving {

std::uint64_t Transfers::bytes(std::uint32_t tokens) const {
  return static_cast<std::uint64_t>(std::llround(spec_.bytes_per_token * tokens));
}

// Ranks are joined in order; where one side has more of them, several of it send to, or hear from, one of the other.
std::size_t Transfers::pairs(const EngineRun& from, const EngineRun& to) {
  return std::max(from.ranks().size(), to.ranks().size());
}

void Transfers::post(KvTransfer& transfer, std::uint64_t bytes, const EngineRun& from, const EngineRun& to,
                     std::uint64_t token, WorkSink& sink) {
  const std::size_t count = pairs(from, to);
  const LaunchLabel label{static_cast<std::uint32_t>(ServingLaunch::kKv), token};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t share = bytes * (i + 1) / count - bytes * i / count;
    if (share == 0) continue;
    sink.send(from.ranks()[i * from.ranks().size() / count], to.ranks()[i * to.ranks().size() / count],
              Bytes{static_cast<std::int64_t>(share)}, label, Dimension::kKv);
    ++transfer.messages;
  }
  sent_ += bytes;
}

Duration Transfers::alone(std::uint64_t bytes, const EngineRun& from, const EngineRun& to) const {
  const std::size_t fewest = std::min(from.ranks().size(), to.ranks().size());
  const std::uint64_t each = (bytes + fewest - 1) / fewest;
  return spec_.latency + transfer_time(Bytes{static_cast<std::int64_t>(each)}, spec_.rate);
}

}  // namespace photonrail::serving
