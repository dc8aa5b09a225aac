#include "photonrail/workload/moe.hpp"

#include "core/field.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "workload/moe/router.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace photonrail {

using workload::apportion;
using workload::log_popularity;

namespace {

using core::field;

constexpr double kMaxExchangeBytes = 0x1p60;  // of all members in one exchange
constexpr double kMaxTokens = 0x1p32;

bool in_range(double x, double least, double greatest) { return x >= least && x <= greatest; }

void check_weights(const MoeSpec& spec) {
  const auto& rows = spec.router.weights;
  require(!rows.empty(), field("router.weights"), "has no rows", "a row of one number for each expert");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const core::Field where = field("router.weights[]", r);
    if (rows[r].size() != spec.experts) {
      throw core::FieldError(where, "has " + std::to_string(rows[r].size()) + " numbers, but there are " +
                                        std::to_string(spec.experts) + " experts");
    }
    std::uint32_t positive = 0;
    for (const double weight : rows[r]) {
      if (!in_range(weight, 0.0, 1e100)) throw core::FieldError(where, "has a weight that is negative or not finite");
      if (weight > 0.0) ++positive;
    }
    if (positive < spec.top_k) {
      throw core::FieldError(
          where,
          "lets a token choose from " + std::to_string(positive) + " experts, but it chooses " + std::to_string(spec.top_k),
          "give more experts a weight above 0, or lower {top_k}");
    }
  }
}

void check_router(const MoeSpec& spec) {
  const RouterSpec& router = spec.router;
  require(in_range(router.exponent, 0.0, 100.0), field("router.exponent"), "must be from 0 to 100");
  require(in_range(router.concentration, 1e-6, 1e6), field("router.concentration"), "must be from 1e-6 to 1e6");
  require(in_range(router.layer_drift, 0.0, 100.0), field("router.layer_drift"), "must be from 0 to 100");
  require(in_range(router.iteration_drift, 0.0, 100.0), field("router.iteration_drift"), "must be from 0 to 100");
  require(in_range(router.source_spread, 0.0, 100.0), field("router.source_spread"), "must be from 0 to 100");
  if (router.kind == RouterKind::kWeights) check_weights(spec);
}

}  // namespace

std::uint64_t MoeSpec::capacity() const {
  if (capacity_factor == 0.0) return std::numeric_limits<std::uint64_t>::max();
  const double mean = static_cast<double>(tokens) * top_k / experts;
  return static_cast<std::uint64_t>(std::ceil(capacity_factor * mean * (1.0 - 1e-12)));  // the product of 1.1 and 10 is 11
}

void MoeSpec::validate() const {
  require(members > 0 && experts > 0 && layers > 0 && micro_batches > 0, field(""),
          "needs members, experts, layers, micro-batches");
  if (experts % members != 0) {
    throw core::FieldError(field("experts"),
                           std::to_string(experts) + " experts do not divide among " + std::to_string(members) + " ranks",
                           "every rank has the same number of experts");
  }
  require(in_range(top_k, 1, experts), field("top_k"), "must be from 1 to the number of experts");
  require(in_range(static_cast<double>(tokens), 0, kMaxTokens), field("tokens"), "must be at most 2^32");
  require(in_range(capacity_factor, 0.0, 1e6), field("capacity_factor"), "must be from 0 (dropless) to 1e6");
  require(!padded || capacity_factor > 0.0, field("padded"), "dropless traffic has no capacity to fill up",
          "set {capacity_factor}");
  const double copies =
      static_cast<double>(tokens) * std::max<double>(top_k, padded ? capacity_factor * top_k + experts : 0);
  require(copies * members * hidden * std::max(dispatch_bytes, combine_bytes) <= kMaxExchangeBytes, field("tokens"),
          "an exchange moves more than 2^60 bytes");
  const double numbers = 2.0 * layers * micro_batches;
  require(numbers < std::numeric_limits<std::uint32_t>::max(), field(""), "has more than 2^31 layers times micro-batches");
  check_router(*this);
}

MoeTraffic::MoeTraffic(MoeSpec spec) : spec_(std::move(spec)) { spec_.validate(); }

std::uint32_t MoeTraffic::number(std::uint32_t layer, std::uint32_t micro_batch, MoeExchange exchange) const {
  PHOTONRAIL_CHECK(layer < spec_.layers && micro_batch < spec_.micro_batches);
  return 1 + 2 * (micro_batch * spec_.layers + layer) + static_cast<std::uint32_t>(exchange);
}

std::optional<Member> MoeTraffic::members(std::uint32_t number) const {
  if (number == 0 || number > 2 * spec_.layers * spec_.micro_batches) return std::nullopt;
  return spec_.members;
}

bool MoeTraffic::drifts() const { return spec_.router.iteration_drift > 0.0 || spec_.router.source_spread > 0.0; }

Routing MoeTraffic::routing(const MoeCall& call) const {
  const RouterSpec& router = spec_.router;
  const bool by_member = router.kind == RouterKind::kWeights && router.weight_rows == WeightRows::kMembers;
  const bool alike = !by_member && router.source_spread == 0.0;
  RandomStream random(call.seed, "moe tokens, group " + std::to_string(call.communicator.value) + ", layer " +
                                     std::to_string(call.layer) + ", micro-batch " + std::to_string(call.micro_batch) +
                                     ", iteration " + std::to_string(call.iteration));
  Routing routing{spec_.members, spec_.experts, {}, {}};
  std::vector<double> popularity;
  std::vector<std::uint64_t> row;
  for (Member m = 0; m < spec_.members; ++m) {
    if (m == 0 || by_member) popularity = log_popularity(router, spec_.experts, call, m);
    if (m == 0 || !alike) {
      std::vector<double> own = popularity;
      if (router.source_spread > 0.0) {
        for (double& x : own) x += router.source_spread * random.normal();
      }
      row = apportion(own, spec_.tokens, spec_.top_k);
    }
    routing.chosen.insert(routing.chosen.end(), row.begin(), row.end());
  }
  const std::uint64_t capacity = spec_.capacity();
  for (const std::uint64_t tokens : routing.chosen)
    routing.sent.push_back(spec_.padded ? capacity : std::min(tokens, capacity));
  return routing;
}

Bytes MoeTraffic::typical_input(MoeExchange exchange) const {
  const std::uint32_t element = exchange == MoeExchange::kDispatch ? spec_.dispatch_bytes : spec_.combine_bytes;
  const std::uint64_t copies = spec_.padded ? spec_.capacity() * spec_.experts : spec_.tokens * spec_.top_k;
  return {static_cast<std::int64_t>(copies * spec_.hidden * element)};
}

TrafficMatrix MoeTraffic::matrix(const DemandQuery& query) const {
  PHOTONRAIL_CHECK(members(query.number).has_value());
  const std::uint32_t call = (query.number - 1) / 2;
  const bool dispatch = query.number % 2 == 1;
  const Routing routed =
      routing({query.communicator, call % spec_.layers, call / spec_.layers, query.iteration, query.seed});
  const std::uint32_t experts_of_member = spec_.experts / spec_.members;
  const std::uint64_t token = std::uint64_t{spec_.hidden} * (dispatch ? spec_.dispatch_bytes : spec_.combine_bytes);
  TrafficMatrix demand(spec_.members);
  for (Member from = 0; from < spec_.members; ++from) {
    for (std::uint32_t e = 0; e < spec_.experts; ++e) {
      const Member to = e / experts_of_member;
      Bytes& pair = dispatch ? demand.at(from, to) : demand.at(to, from);
      pair += Bytes{static_cast<std::int64_t>(routed.sent[routed.cell(from, e)] * token)};
    }
  }
  return demand;
}

}  // namespace photonrail
