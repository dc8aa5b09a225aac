#include "collective/refit/refit.hpp"

#include "collective/refit/writers.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <numeric>

namespace photonrail::collective {

namespace {

using core::field;

constexpr double kMaxRefitMembers = 1 << 20;
constexpr std::int64_t kMaxRefitBytes = std::int64_t{1} << 50;

RefitSpec checked_refit(RefitSpec spec) {
  spec.validate();
  return spec;
}

}  // namespace

Bytes RefitSpec::bytes() const {
  Bytes sum{};
  for (const WeightUnit& unit : units) sum += unit.dense + Bytes{unit.expert.count * unit.experts};
  return sum;
}

void RefitSpec::validate() const {
  require(!units.empty(), field("units"), "must have a unit");
  require(engines > 0, field("engines"), "must be at least 1");
  require(pieces > 0, field("pieces"), "must be at least 1");
  std::uint32_t experts = 0;
  for (const WeightUnit& unit : units) experts = std::max(experts, unit.experts);
  core::check_member(field("training"), [&] { training.validate(experts); });
  core::check_member(field("engine"), [&] { engine.validate(experts); });
  const double ranks = static_cast<double>(engines) * engine.ranks;
  require(ranks + training.ranks <= kMaxRefitMembers, field("engines"), "makes more than 2^20 ranks");
  require(!colocated || ranks <= training.ranks, field("engines"),
          "need " + std::to_string(engine_ranks()) + " ranks, but training has " + std::to_string(training.ranks),
          "fewer engines, or not {colocated}");
  require(members() >= 2, field("engines"), "makes one rank in all, which exchanges nothing", "use more ranks");
  require(bytes() > Bytes{} && bytes().count <= kMaxRefitBytes, field("units"), "must have from 1 byte to 2^50");
}

RefitPlan plan_refit(const RefitSpec& spec, std::span<const std::uint32_t> servers, std::optional<std::uint32_t> stage) {
  PHOTONRAIL_CHECK(servers.size() == spec.members());
  const RefitPlaces places(servers);
  WeightMap map =
      map_weights(spec.units, spec.training, spec.engine, spec.engines, spec.colocated ? 0 : spec.training.ranks);
  if (stage) {
    std::erase_if(map.shards,
                  [&](const WeightShard& shard) { return shard.holders.front() / spec.training.stage_ranks() != *stage; });
  }
  const auto piece = [&](std::uint32_t rails) {
    const std::int64_t parts = std::int64_t{rails} * spec.pieces;
    return Bytes{std::max<std::int64_t>(1, (spec.bytes().count + parts - 1) / parts)};
  };
  switch (spec.way) {
    case RefitWay::kFunnel:
      return plan_funnel(std::move(map.shards), places, piece(1));
    case RefitWay::kRing: {
      std::vector<std::vector<Member>> stops(servers.size());
      for (Member m = 0; m < servers.size(); ++m) stops[m] = {m};
      return plan_refit_ring(std::move(map.shards), stops, 1, piece(1));
    }
    case RefitWay::kRingPerRail:
      return plan_refit_ring(std::move(map.shards), places.servers(), places.rails(), piece(places.rails()));
    default:
      return plan_sharded(std::move(map.shards), places, spec.way == RefitWay::kShardedMatchings);
  }
}

RefitTraffic::RefitTraffic(RefitSpec spec) : spec_(checked_refit(std::move(spec))) {}

std::optional<Member> RefitTraffic::members(std::uint32_t number) const {
  return number >= 1 && number < 2 + spec_.training.pp ? std::optional(spec_.members()) : std::nullopt;
}

TrafficMatrix RefitTraffic::matrix(const DemandQuery& query) const {
  RefitSpec direct = spec_;
  direct.way = RefitWay::kSharded;
  std::vector<std::uint32_t> apart(spec_.members());
  std::iota(apart.begin(), apart.end(), 0u);
  const RefitPlan refit = plan_refit(direct, apart, stage_of(query));
  TrafficMatrix matrix(spec_.members());
  for (SendIndex i = 0; i < refit.plan->send_count(); ++i) {
    const Send send = refit.plan->send(i);
    matrix.at(send.from, send.to) += send.bytes;
  }
  return matrix;
}

std::unique_ptr<const SendPlan> RefitTraffic::plan(const DemandQuery& query, std::span<const std::uint32_t> servers) const {
  return plan_refit(spec_, servers, stage_of(query)).plan;
}

}  // namespace photonrail::collective
