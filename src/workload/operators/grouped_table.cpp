#include "workload/operators/grouped_table.hpp"

#include "workload/operators/roofline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace photonrail::workload {

namespace {

// Weights of the sizes by which shapes are told apart: hidden, width, experts of the rank, experts of the layer.
constexpr std::array<float, 4> kWeights{1.0F, 1.0F, 1.0F, 0.3F};
// Vectors in bf16: the permutation reads and writes each pair's, the products' results are written and read again.
constexpr double kPairCopies = 4.0;
constexpr double kTokenCopies = 1.0;  // the output of each routed token is written
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

float log_of(std::int64_t size) {
  return static_cast<float>(std::log(static_cast<double>(std::max<std::int64_t>(size, 1))));
}

auto shape_key(const GroupedProduct& op) {
  return std::tuple{op.hidden, op.ffn, op.experts, op.total_experts, op.top_k, op.gated};
}

std::array<float, 4> features_of(const GroupedProduct& op) {
  return {log_of(op.hidden), log_of(op.ffn), log_of(op.experts), log_of(op.total_experts)};
}

float rows_of_expert(const GroupedProduct& op) { return log_of(op.pairs) - log_of(op.experts); }

}  // namespace

GroupedTable::GroupedTable(const Measured<GroupedProduct>& rows, const OperatorRoofline& device) {
  if (rows.empty()) return;
  smallest_ = rows.front().second * 1e6;
  for (const auto& row : rows) smallest_ = std::min(smallest_, row.second * 1e6);
  std::vector<const std::pair<GroupedProduct, double>*> sorted;
  for (const auto& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(shape_key(a->first), a->first.pairs) < std::pair(shape_key(b->first), b->first.pairs);
  });
  for (const auto* row : sorted) {
    const GroupedProduct& op = row->first;
    if (curves_.empty() || shape_key(curves_.back().shape) != shape_key(op)) {
      curves_.push_back({op, {}, {}});
      features_.push_back(features_of(op));
    }
    Curve& curve = curves_.back();
    const float at = rows_of_expert(op);
    if (!curve.log_pairs.empty() && curve.log_pairs.back() >= at) continue;  // the same number of pairs, rounded
    curve.log_pairs.push_back(at);
    curve.log_ratios.push_back(static_cast<float>(std::log(row->second * 1e6 / base(op, device))));
  }
}

// The products, and what moves tokens: reading and writing a pair's vector for its permutation, and the outputs of all
// routed tokens.
double GroupedTable::base(const GroupedProduct& op, const OperatorRoofline& on) const {
  const RooflineParts parts = roofline_parts(op, on);
  const double tokens = op.routed_tokens > 0 ? static_cast<double>(op.routed_tokens)
                                             : static_cast<double>(op.pairs) / static_cast<double>(op.top_k);
  const double moved = kPairCopies * static_cast<double>(op.pairs) + kTokenCopies * tokens;
  const double permutation = moved * 2.0 * static_cast<double>(op.hidden) * 1000.0 / on.memory_gb_per_s;
  return parts.longest() + permutation + smallest_;
}

GroupedTable::Value GroupedTable::on_curve(const Curve& curve, float log_pairs, std::size_t without) {
  std::size_t low = kNone;
  std::size_t high = kNone;
  for (std::size_t i = 0; i < curve.log_pairs.size(); ++i) {
    if (i == without) continue;
    if (curve.log_pairs[i] <= log_pairs) low = i;
    if (curve.log_pairs[i] >= log_pairs && high == kNone) high = i;
  }
  if (low == kNone) return {high == kNone ? 0.0F : curve.log_ratios[high], OperatorSource::kExtrapolated};
  if (high == kNone) return {curve.log_ratios[low], OperatorSource::kExtrapolated};
  if (low == high) return {curve.log_ratios[low], OperatorSource::kTable};
  const float share = (log_pairs - curve.log_pairs[low]) / (curve.log_pairs[high] - curve.log_pairs[low]);
  return {curve.log_ratios[low] + share * (curve.log_ratios[high] - curve.log_ratios[low]), OperatorSource::kInterpolated};
}

// The mean of the nearest curves in the logarithms of the shape, each weighted by the inverse square of its distance.
GroupedTable::Value GroupedTable::between(const GroupedProduct& op, bool other_models) const {
  const Features features = features_of(op);
  constexpr std::size_t kNearest = 4;
  constexpr float kFar = std::numeric_limits<float>::max();
  std::array<std::pair<float, const Curve*>, kNearest> nearest;
  nearest.fill({kFar, nullptr});
  const auto take = [&](std::size_t c) {
    float distance = 0.0F;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const float step = features[i] - features_[c][i];
      distance += kWeights[i] * step * step;
    }
    if (distance >= nearest.back().first) return;
    const Curve& curve = curves_[c];
    if (curve.shape.gated != op.gated) return;
    if (other_models && curve.shape.hidden == op.hidden && curve.shape.total_experts == op.total_experts) return;
    nearest.back() = {distance, &curve};
    for (std::size_t i = kNearest - 1; i > 0 && nearest[i].first < nearest[i - 1].first; --i) {
      std::swap(nearest[i], nearest[i - 1]);
    }
  };
  // Curves are in the order of `hidden`: outward from the same, until that alone is further than the nearest found.
  const auto too_far = [&](std::size_t c) {
    const float step = features[0] - features_[c][0];
    return kWeights[0] * step * step >= nearest.back().first;
  };
  const auto middle = static_cast<std::size_t>(std::lower_bound(features_.begin(), features_.end(), features[0],
                                                                [](const Features& f, float h) { return f[0] < h; }) -
                                               features_.begin());
  for (std::size_t c = middle; c < features_.size() && !too_far(c); ++c) take(c);
  for (std::size_t c = middle; c-- > 0 && !too_far(c);) take(c);
  if (nearest.front().second == nullptr) return {0.0F, OperatorSource::kRoofline};
  float sum = 0.0F;
  float weights = 0.0F;
  OperatorSource source = OperatorSource::kInterpolated;
  for (const auto& [distance, curve] : nearest) {
    if (curve == nullptr) continue;
    const float weight = 1.0F / (distance + 0.01F);
    const Value value = on_curve(*curve, rows_of_expert(op), kNone);
    if (weights == 0.0F) source = std::max(source, value.source);
    sum += weight * value.log_ratio;
    weights += weight;
  }
  constexpr float kNear = 1.0F;  // a factor of e in one size: further than that is another shape
  if (nearest.front().first > kNear) source = OperatorSource::kExtrapolated;
  return {sum / weights, source};
}

GroupedTable::Answer GroupedTable::time(const GroupedProduct& op, const OperatorRoofline& on) const {
  if (op.pairs == 0 || curves_.empty()) return {0.0, OperatorSource::kTable};
  const auto same = std::lower_bound(curves_.begin(), curves_.end(), shape_key(op),
                                     [](const Curve& c, const auto& key) { return shape_key(c.shape) < key; });
  const bool known = same != curves_.end() && shape_key(same->shape) == shape_key(op);
  const Value value = known ? on_curve(*same, rows_of_expert(op), kNone) : between(op, false);
  const bool as_measured = op.pass == GroupedProduct::Pass::kForward;
  return {base(op, on) * std::exp(static_cast<double>(value.log_ratio)),
          as_measured ? value.source : OperatorSource::kExtrapolated};
}

std::vector<GroupedTable::LeftOut> GroupedTable::leave_one_out() const {
  std::vector<LeftOut> left;
  for (const Curve& curve : curves_) {
    for (std::size_t i = 0; i < curve.log_pairs.size(); ++i) {
      const Value value = on_curve(curve, curve.log_pairs[i], i);
      if (value.source == OperatorSource::kExtrapolated) continue;
      GroupedProduct op = curve.shape;
      op.pairs = std::llround(std::exp(static_cast<double>(curve.log_pairs[i])) * static_cast<double>(op.experts));
      left.push_back({op, value.log_ratio - curve.log_ratios[i]});
    }
  }
  return left;
}

std::vector<GroupedTable::LeftOut> GroupedTable::leave_shape_out() const {
  std::vector<LeftOut> left;
  for (const Curve& curve : curves_) {
    for (std::size_t i = 0; i < curve.log_pairs.size(); ++i) {
      GroupedProduct op = curve.shape;
      op.pairs = std::llround(std::exp(static_cast<double>(curve.log_pairs[i])) * static_cast<double>(op.experts));
      const Value value = between(op, true);
      if (value.source != OperatorSource::kRoofline) left.push_back({op, value.log_ratio - curve.log_ratios[i]});
    }
  }
  return left;
}

}  // namespace photonrail::workload
