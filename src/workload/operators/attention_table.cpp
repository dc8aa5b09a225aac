#include "workload/operators/attention_table.hpp"

#include "workload/operators/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

namespace photonrail::workload {

namespace {

/// Rate of the backward pass over that of the forward pass, both in FLOP/s, where no backward pass was measured:
/// FlashAttention-2 reaches 63 % of an A100's peak backward and 73 % forward (arXiv 2307.08691, section 4.1).
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

/// 0: none that hides a key.
std::int64_t window_of(const Attention& op) { return op.window < op.keys ? op.window : 0; }

/// Returns what the table of forward passes says.
template <class T>
ProductTable::Answer answer(const T& op, const OperatorRoofline& on, double smallest, const TableAnswer& found,
                            bool measured) {
  const double rate = op.backward ? kBackwardRate : 1.0;
  const double time = (roofline_parts(op, on).longest() / rate + smallest) * std::exp(found.log_ratio);
  const bool as_measured = measured && !op.backward && op.causal && op.queries == op.keys;
  return {time, as_measured ? found.source : OperatorSource::kExtrapolated};
}

/// As a kernel of training takes it; the shape is the table's, of which `shape` says how it knows it.
ProductTable::Answer corrected(ProductTable::Answer answer, const std::optional<RatioGrid::Found>& training,
                               OperatorSource shape) {
  if (!training) return answer;
  return {answer.picoseconds * std::exp(training->log_ratio), std::max(shape, training->source)};
}

double log_of_ratio(double microseconds, const ProductTable::Answer& answer) {
  return std::log(microseconds * 1e6 / answer.picoseconds);
}

double distance(double a, double b) { return std::abs(std::log(std::max(a, 1.0)) - std::log(std::max(b, 1.0))); }

}  // namespace

void TrainingRatios::add(const Kernel& kernel, std::int64_t sequence, double log_ratio) {
  auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.kernel == kernel; });
  if (part == parts_.end()) part = parts_.insert(part, Part{kernel, {}, {}});
  part->points.push_back({{sequence, 1, 1, 1}, static_cast<float>(log_ratio)});
}

void TrainingRatios::finish() {
  for (Part& part : parts_) part.grid = RatioGrid(std::exchange(part.points, {}));
}

std::optional<RatioGrid::Found> TrainingRatios::at(const Kernel& kernel, std::int64_t sequence) const {
  const Part* nearest = nullptr;
  const auto far = [&](const Part& p) {
    return std::pair{distance(static_cast<double>(p.kernel.head_dim), static_cast<double>(kernel.head_dim)),
                     distance(static_cast<double>(p.kernel.window), static_cast<double>(kernel.window))};
  };
  for (const Part& part : parts_) {
    const bool alike = part.kernel.backward == kernel.backward && (part.kernel.window > 0) == (kernel.window > 0);
    if (alike && (nearest == nullptr || far(part) < far(*nearest))) nearest = &part;
  }
  if (nearest == nullptr) return std::nullopt;
  RatioGrid::Found found = nearest->grid.at({sequence, 1, 1, 1});
  if (nearest->kernel != kernel) found.source = OperatorSource::kExtrapolated;
  return found;
}

AttentionTable::AttentionTable(const Measured<Attention>& rows, const Measured<Attention>& training,
                               const OperatorRoofline& device)
    : smallest_(smallest_of(rows)) {
  using Key = std::tuple<std::int64_t, std::int64_t, bool>;
  std::map<Key, std::vector<GridPoint>> points;
  for (const auto& [op, microseconds] : rows) {
    const bool grouped = op.kv_heads != op.heads;
    const GridPoint point{{op.queries, op.batch, op.heads, grouped ? op.kv_heads : 1},
                          log_ratio(op, microseconds, device, smallest_)};
    points[Key{op.head_dim, op.window, grouped}].push_back(point);
  }
  for (const auto& [key, of_part] : points) {
    const auto& [head_dim, window, grouped] = key;
    parts_.push_back({head_dim, window, grouped, RatioGrid(of_part)});
  }
  TrainingRatios ratios;  // time() has none before
  for (const auto& [op, microseconds] : training) {
    ratios.add({op.backward, op.head_dim, window_of(op)}, op.queries, log_of_ratio(microseconds, time(op, device)));
  }
  ratios.finish();
  training_ = std::move(ratios);
}

// Grouping matters least, whether there is a window most.
const AttentionTable::Part& AttentionTable::nearest(const Attention& op) const {
  const std::int64_t window = window_of(op);
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
  const std::int64_t window = window_of(op);
  const bool measured = part.head_dim == op.head_dim && part.window == window && part.grouped == (op.kv_heads != op.heads);
  const Answer plain = answer(op, on, smallest_, found, measured);
  const bool same = measured && op.causal && op.queries == op.keys;
  return corrected(plain, training_.at({op.backward, op.head_dim, window}, side(op.queries, op.keys)),
                   same ? found.source : OperatorSource::kExtrapolated);
}

LatentTable::LatentTable(const Measured<LatentCore>& rows, const Measured<LatentCore>& training,
                         const OperatorRoofline& device)
    : smallest_(smallest_of(rows)) {
  std::vector<GridPoint> points;
  for (const auto& [op, microseconds] : rows) {
    points.push_back({{op.queries, op.batch, op.heads, 1}, log_ratio(op, microseconds, device, smallest_)});
    query_dim_ = op.query_dim;
    value_dim_ = op.value_dim;
  }
  grid_ = RatioGrid(points);
  TrainingRatios ratios;
  for (const auto& [op, microseconds] : training) {
    ratios.add({op.backward, op.query_dim}, op.queries, log_of_ratio(microseconds, time(op, device)));
  }
  ratios.finish();
  training_ = std::move(ratios);
}

// The kernels of inference compute in bf16, also where the cache holds fp8, so that the table's roofline is bf16's.
LatentTable::Answer LatentTable::time(const LatentCore& wanted, const OperatorRoofline& on) const {
  LatentCore op = wanted;
  op.precision = OperatorPrecision::kBf16;
  const std::int64_t sequence = side(op.queries, op.keys);
  const TableAnswer found = grid_.at({sequence, op.batch, op.heads, 1});
  const bool measured = op.query_dim == query_dim_ && op.value_dim == value_dim_;
  const bool same = measured && op.causal && op.queries == op.keys;
  return corrected(answer(op, on, smallest_, found, measured), training_.at({op.backward, op.query_dim}, sequence),
                   same ? found.source : OperatorSource::kExtrapolated);
}

}  // namespace photonrail::workload
