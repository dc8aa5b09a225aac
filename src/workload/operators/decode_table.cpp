#include "workload/operators/decode_table.hpp"

#include "workload/operators/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

namespace photonrail::workload {

namespace {

bool is_grouped(const DecodeAttention& op) { return op.kv_heads != op.heads; }

GridPosition place_of(const DecodeAttention& op) {
  return {op.cached, op.batch, op.heads, is_grouped(op) ? op.kv_heads : 1};
}

}  // namespace

DecodeTable::DecodeTable(const Measured<DecodeAttention>& rows, const OperatorRoofline& device)
    : smallest_(rows.front().second * 1e6) {
  for (const auto& row : rows) smallest_ = std::min(smallest_, row.second * 1e6);
  using Key = std::pair<std::int64_t, bool>;
  std::map<Key, std::vector<GridPoint>> points;
  for (const auto& [op, microseconds] : rows) {
    const double base = roofline_parts(op, device).longest() + smallest_;
    points[{op.head_dim, is_grouped(op)}].push_back(
        {place_of(op), static_cast<float>(std::log(microseconds * 1e6 / base))});
  }
  for (const auto& [key, of_part] : points) parts_.push_back({key.first, key.second, RatioGrid(of_part)});
}

DecodeTable::Answer DecodeTable::time(const DecodeAttention& op, const OperatorRoofline& on) const {
  const auto far = [&](const Part& part) {
    const double width = std::log(static_cast<double>(part.head_dim) / static_cast<double>(op.head_dim));
    return std::tuple{std::abs(width), part.grouped != is_grouped(op)};
  };
  const Part& part =
      *std::min_element(parts_.begin(), parts_.end(), [&](const Part& a, const Part& b) { return far(a) < far(b); });
  GridPosition at = place_of(op);
  if (!part.grouped) at.back() = 1;
  const RatioGrid::Found found = part.grid.at(at);
  const bool measured = part.head_dim == op.head_dim && part.grouped == is_grouped(op);
  return {(roofline_parts(op, on).longest() + smallest_) * std::exp(found.log_ratio),
          measured ? found.source : OperatorSource::kExtrapolated};
}

}  // namespace photonrail::workload
