#include "workload/operators/attention_table.hpp"

#include "workload/operators/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace photonrail::workload {

namespace {

/// Rate of the backward pass over that of the forward pass, both in FLOP/s: FlashAttention-2 reaches 63 % of an A100's peak
/// backward and 73 % forward (arXiv 2307.08691, section 4.1). Nothing in the tables measures it.
constexpr double kBackwardRate = 63.0 / 73.0;

template <class T>
double smallest_of(const Measured<T>& rows) {
  double smallest = rows.empty() ? 0.0 : rows.front().second;
  for (const auto& row : rows) smallest = std::min(smallest, row.second);
  return smallest * 1e6;
}

template <class T>
float log_ratio(const T& op, double microseconds, const OperatorRoofline& device, double smallest) {
  return static_cast<float>(std::log(microseconds * 1e6 / (roofline_parts(op, device).longest() + smallest)));
}

/// Queries and keys of unequal lengths have as many scores as a square of this side.
std::int64_t side(std::int64_t queries, std::int64_t keys) {
  if (queries == keys) return queries;
  return std::max<std::int64_t>(std::llround(std::sqrt(static_cast<double>(queries) * static_cast<double>(keys))), 1);
}

template <class T>
ProductTable::Answer answer(const T& op, const OperatorRoofline& on, double smallest, const TableAnswer& found,
                            bool measured) {
  const double rate = op.backward ? kBackwardRate : 1.0;
  const double time = (roofline_parts(op, on).longest() / rate + smallest) * std::exp(found.log_ratio);
  const bool as_measured = measured && !op.backward && op.causal && op.queries == op.keys;
  return {time, as_measured ? found.source : OperatorSource::kExtrapolated};
}

double distance(double a, double b) { return std::abs(std::log(std::max(a, 1.0)) - std::log(std::max(b, 1.0))); }

}  // namespace

AttentionTable::AttentionTable(const Measured<Attention>& rows, const OperatorRoofline& device)
    : smallest_(smallest_of(rows)) {
  using Key = std::tuple<std::int64_t, std::int64_t, bool>;
  std::vector<std::pair<Key, GridPoint>> points;
  for (const auto& [op, microseconds] : rows) {
    const bool grouped = op.kv_heads != op.heads;
    const GridPoint point{{op.queries, op.batch, op.heads, grouped ? op.kv_heads : 1},
                          log_ratio(op, microseconds, device, smallest_)};
    points.emplace_back(Key{op.head_dim, op.window, grouped}, point);
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<GridPoint> of_part;
  for (std::size_t i = 0; i < points.size(); ++i) {
    of_part.push_back(points[i].second);
    if (i + 1 < points.size() && points[i + 1].first == points[i].first) continue;
    const auto& [head_dim, window, grouped] = points[i].first;
    parts_.push_back({head_dim, window, grouped, RatioGrid(of_part)});
    of_part.clear();
  }
}

// Grouping matters least, whether there is a window most.
const AttentionTable::Part& AttentionTable::nearest(const Attention& op) const {
  const std::int64_t window = op.window < op.keys ? op.window : 0;
  const bool grouped = op.kv_heads != op.heads;
  for (const Part& p : parts_) {
    if (p.head_dim == op.head_dim && p.window == window && p.grouped == grouped) return p;
  }
  const auto far = [&](const Part& p) {
    const bool hides = window > 0;
    return std::tuple{(p.window > 0) != hides, distance(static_cast<double>(p.head_dim), static_cast<double>(op.head_dim)),
                      hides ? distance(static_cast<double>(p.window), static_cast<double>(window)) : 0.0,
                      p.grouped != grouped};
  };
  return *std::min_element(parts_.begin(), parts_.end(), [&](const Part& a, const Part& b) { return far(a) < far(b); });
}

AttentionTable::Answer AttentionTable::time(const Attention& op, const OperatorRoofline& on) const {
  const Part& part = nearest(op);
  const TableAnswer found = part.grid.at({side(op.queries, op.keys), op.batch, op.heads, part.grouped ? op.kv_heads : 1});
  const std::int64_t window = op.window < op.keys ? op.window : 0;
  const bool measured = part.head_dim == op.head_dim && part.window == window && part.grouped == (op.kv_heads != op.heads);
  return answer(op, on, smallest_, found, measured);
}

LatentTable::LatentTable(const Measured<LatentCore>& rows, const OperatorRoofline& device) : smallest_(smallest_of(rows)) {
  std::vector<GridPoint> points;
  for (const auto& [op, microseconds] : rows) {
    points.push_back({{op.queries, op.batch, op.heads, 1}, log_ratio(op, microseconds, device, smallest_)});
    query_dim_ = op.query_dim;
    value_dim_ = op.value_dim;
  }
  grid_ = RatioGrid(points);
}

LatentTable::Answer LatentTable::time(const LatentCore& op, const OperatorRoofline& on) const {
  const TableAnswer found = grid_.at({side(op.queries, op.keys), op.batch, op.heads, 1});
  return answer(op, on, smallest_, found, op.query_dim == query_dim_ && op.value_dim == value_dim_);
}

}  // namespace photonrail::workload
