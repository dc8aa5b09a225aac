// The sections that say how ranks run: "executor", "run" and "network".
#include "config/scenario_parts.hpp"

#include <limits>

namespace photonrail::config {

constexpr std::uint32_t kMaxSpreadSeeds = 10'000;

namespace {

std::array<double, kDimensionCount> read_sm_shares(JsonReader section) {
  std::array<double, kDimensionCount> shares{};
  for (int d = 0; d < kDimensionCount; ++d) {
    if (const auto v = section.optional(name(static_cast<Dimension>(d)))) {
      shares[static_cast<std::size_t>(d)] = v->number(0.0, kMaxSmShare);
    }
  }
  section.finish();
  return shares;
}

}  // namespace

ExecutorSpec read_executor(JsonReader section) {
  ExecutorSpec spec;
  if (const auto v = section.optional("comm_lanes")) {
    spec.comm_lanes = v->choice<CommLanes>({{"per_communicator", CommLanes::kPerCommunicator}, {"one", CommLanes::kOne}});
  }
  if (const auto v = section.optional("concurrent_collectives")) {
    using enum ConcurrentCollectives;
    spec.concurrent = v->choice<ConcurrentCollectives>({{"in_turn", kInTurn}, {"together", kTogether}});
  }
  if (const auto v = section.optional("buffered_send_bytes")) {
    spec.buffered_send = Bytes{static_cast<std::int64_t>(v->integer(0, std::uint64_t{1} << 50))};
  }
  if (const auto v = section.optional("sm_share")) spec.sm_share = read_sm_shares(*v);
  section.finish();
  return spec;
}

RunSpec read_run(JsonReader section) {
  RunSpec spec;
  if (const auto v = section.optional("iterations")) spec.iterations = v->count(1, 1'000'000);
  if (const auto v = section.optional("seed")) spec.seed = v->integer(0, std::numeric_limits<std::uint64_t>::max());
  if (const auto v = section.optional("fidelity")) {
    spec.fidelity = v->choice<Fidelity>({{"stream", Fidelity::kStream}, {"exact", Fidelity::kExact}});
  }
  if (const auto v = section.optional("spread_seeds")) spec.spread_seeds = v->count(0, kMaxSpreadSeeds);
  if (const auto v = section.optional("folding")) spec.folding = v->boolean();
  section.refuse("trace", "a timeline is asked for on the command line", "photonrail run --trace");
  section.finish();
  return spec;
}

double read_network(JsonReader section) {
  double accuracy = 0.0;
  if (const auto v = section.optional("accuracy")) accuracy = v->number(0.0, 0.1);
  section.finish();
  return accuracy;
}

}  // namespace photonrail::config
