#include "photonrail/workload/moe.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "workload/moe/pipeline.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace photonrail {

using workload::plan_pipeline;
using workload::tile_row;
using workload::tile_rows;
using workload::TileRow;

namespace {

using core::field;

constexpr double kMaxRows = 0x1p24;        // of tiles, in one layer of a group
constexpr double kMaxMessageRows = 60000;  // of tiles, in one message

MoeLayerSpec checked(MoeLayerSpec spec) {
  spec.validate();
  return spec;
}

}  // namespace

void MoeLayerSpec::validate() const {
  core::check_member(field("traffic"), [&] { traffic.validate(); });
  require(ffn > 0, field("ffn"), "must be at least 1");
  require(tile_rows > 0, field("tile_rows"), "must be at least 1");
  require(tile_columns > 0, field("tile_columns"), "must be at least 1");
  require(processors > 0 && processors <= 65535, field("processors"), "must be from 1 to 65535");
  require(fence >= Duration{}, field("fence"), "must not be negative");
  require(3.0 * traffic.layers * traffic.micro_batches < std::numeric_limits<std::uint32_t>::max(), field(""),
          "has more than 2^30 layers times micro-batches");
  const auto most = static_cast<double>(traffic.padded ? traffic.capacity() : traffic.tokens);  // of a message
  const double copies = traffic.padded ? most * traffic.experts : static_cast<double>(traffic.tokens) * traffic.top_k;
  require(most / tile_rows <= kMaxMessageRows, field("traffic.tokens"),
          "makes more than 60000 rows of tiles for one expert", "raise {tile_rows}");
  require((copies / tile_rows + traffic.experts) * traffic.members <= kMaxRows, field("traffic.tokens"),
          "makes more than 2^24 rows of tiles", "raise {tile_rows}, or let fewer ranks have the experts");
}

MoeLayers::MoeLayers(MoeLayerSpec spec) : spec_(checked(std::move(spec))), traffic_(spec_.traffic) {}

std::uint32_t MoeLayers::exchanges() const { return 2 * spec_.traffic.layers * spec_.traffic.micro_batches; }

std::uint32_t MoeLayers::number(std::uint32_t layer, std::uint32_t micro_batch) const {
  return exchanges() + (traffic_.number(layer, micro_batch, MoeExchange::kDispatch) + 1) / 2;
}

std::optional<Member> MoeLayers::members(std::uint32_t number) const {
  if (number == 0 || number > exchanges() / 2 * 3) return std::nullopt;
  return spec_.traffic.members;
}

TrafficMatrix MoeLayers::matrix(const DemandQuery& query) const {
  if (query.number <= exchanges()) return traffic_.matrix(query);
  DemandQuery part = query;
  part.number = 2 * (query.number - exchanges()) - 1;
  TrafficMatrix both = traffic_.matrix(part);
  ++part.number;
  const TrafficMatrix back = traffic_.matrix(part);
  for (Member from = 0; from < both.members(); ++from) {
    for (Member to = 0; to < both.members(); ++to) both.at(from, to) += back.at(from, to);
  }
  return both;
}

Routing MoeLayers::routing(const DemandQuery& query) const {
  PHOTONRAIL_CHECK(members(query.number).has_value() && query.number > exchanges());
  const std::uint32_t call = query.number - exchanges() - 1;
  return traffic_.routing(
      {query.communicator, call % spec_.traffic.layers, call / spec_.traffic.layers, query.iteration, query.seed});
}

std::unique_ptr<const SendPlan> MoeLayers::plan(const DemandQuery& query, std::span<const std::uint32_t> servers) const {
  if (query.number <= exchanges()) return nullptr;
  return plan_pipeline(spec_, routing(query), servers);
}

double MoeLayers::flops(const DemandQuery& query, Member member) const {
  const Routing routed = routing(query);
  const std::uint32_t experts = spec_.traffic.experts / spec_.traffic.members;
  double rows = 0.0;
  for (Member from = 0; from < routed.members; ++from) {
    for (std::uint32_t e = member * experts; e < (member + 1) * experts; ++e) {
      rows += tile_rows(spec_, routed.sent[routed.cell(from, e)]);
    }
  }
  const TileRow row = tile_row(spec_);
  const auto in_rounds = [this](double tiles) { return std::ceil(tiles / spec_.processors) * spec_.processors; };
  return in_rounds(rows * row.first) * row.first_flops + in_rounds(rows * row.second) * row.second_flops;
}

}  // namespace photonrail
