#include "workload/operators/roofline.hpp"

#include "photonrail/error.hpp"
#include "workload/operators/tables.hpp"

#include <algorithm>
#include <utility>

namespace photonrail {

namespace {

/// Bytes of an element of an input.
double element_bytes(OperatorPrecision precision) {
  switch (precision) {
    case OperatorPrecision::kBf16:
      return 2.0;
    case OperatorPrecision::kFp8:
    case OperatorPrecision::kFp8Block:
      return 1.0;
    case OperatorPrecision::kFp4:
      return 0.5;
  }
  return 2.0;
}

constexpr double kBf16Bytes = 2.0;
constexpr double kLatentNumbers = 512.0;  // of DeepSeek's latent, a token; beside it is the key that is rotated
constexpr double kRotatedNumbers = 64.0;

/// Pairs of a query and a key that count, of one sequence: a window hides what is further back, the mask what is ahead.
double score_pairs(std::int64_t queries, std::int64_t keys, std::int64_t window, bool causal) {
  const auto q = static_cast<double>(queries);
  const auto k = static_cast<double>(keys);
  const auto w = static_cast<double>(window);
  const bool masked = causal && queries == keys;
  if (window > 0 && w < k) return masked ? q * w - w * w / 2.0 : q * w;
  return masked ? q * k / 2.0 : q * k;
}

struct Flops {
  double operator()(const MatrixProduct& p) const {
    return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  }
  double operator()(const GroupedProduct& p) const {
    const double matrices = p.gated ? 3.0 : 2.0;
    return 2.0 * matrices * static_cast<double>(p.pairs) * static_cast<double>(p.hidden) * static_cast<double>(p.ffn);
  }
  double operator()(const Attention& a) const {
    const double pairs = static_cast<double>(a.batch * a.heads) * score_pairs(a.queries, a.keys, a.window, a.causal);
    return (a.backward ? 2.5 : 1.0) * 4.0 * pairs * static_cast<double>(a.head_dim);
  }
  double operator()(const LatentCore& a) const {
    const double pairs = static_cast<double>(a.batch * a.heads) * score_pairs(a.queries, a.keys, 0, a.causal);
    return (a.backward ? 2.5 : 1.0) * 2.0 * pairs * static_cast<double>(a.query_dim + a.value_dim);
  }
  double operator()(const DecodeAttention& a) const {
    const double pairs = static_cast<double>(a.batch * a.heads) * static_cast<double>(a.cached);
    return 2.0 * pairs * (a.latent ? 2.0 * kLatentNumbers + kRotatedNumbers : 2.0 * static_cast<double>(a.head_dim));
  }
  double operator()(const MemoryBound&) const { return 0.0; }
};

// Each input and output once. Backward of attention: queries, keys, values, output and its gradient are read, three
// gradients written.
struct Traffic {
  double operator()(const MatrixProduct& p) const {
    const auto m = static_cast<double>(p.m);
    const auto n = static_cast<double>(p.n);
    const auto k = static_cast<double>(p.k);
    return element_bytes(p.precision) * (m * k + n * k) + kBf16Bytes * m * n;
  }
  double operator()(const GroupedProduct& p) const {
    const auto pairs = static_cast<double>(p.pairs);
    const auto hidden = static_cast<double>(p.hidden);
    const double up = static_cast<double>(p.ffn) * (p.gated ? 2.0 : 1.0);
    const double weights = static_cast<double>(p.experts) * hidden * (up + static_cast<double>(p.ffn));
    const double ins = pairs * (hidden + static_cast<double>(p.ffn));
    return element_bytes(p.precision) * (weights + ins) + kBf16Bytes * pairs * (up + hidden);
  }
  double operator()(const Attention& a) const {
    const double queries = static_cast<double>(a.batch * a.heads * a.queries * a.head_dim);
    const double keys = static_cast<double>(a.batch * a.kv_heads * a.keys * a.head_dim);
    return kBf16Bytes * (a.backward ? 4.0 * queries + 4.0 * keys : 2.0 * queries + 2.0 * keys);
  }
  double operator()(const LatentCore& a) const {
    const auto batch_heads = static_cast<double>(a.batch * a.heads);
    const double queries = batch_heads * static_cast<double>(a.queries) * static_cast<double>(a.query_dim + a.value_dim);
    const double keys = batch_heads * static_cast<double>(a.keys) * static_cast<double>(a.query_dim + a.value_dim);
    return kBf16Bytes * (a.backward ? 2.0 : 1.0) * (queries + keys);
  }
  double operator()(const DecodeAttention& a) const {
    const double each = a.latent ? kLatentNumbers + kRotatedNumbers : 2.0 * static_cast<double>(a.kv_heads * a.head_dim);
    return element_bytes(a.precision) * static_cast<double>(a.batch * a.cached) * each;
  }
  double operator()(const MemoryBound& b) const { return static_cast<double>(b.bytes); }
};

struct Precision {
  template <class T>
  OperatorPrecision operator()(const T& op) const {
    return op.precision;
  }
  OperatorPrecision operator()(const MemoryBound&) const { return OperatorPrecision::kBf16; }
};

struct Positive {
  bool operator()(const MatrixProduct& p) const { return p.m > 0 && p.n > 0 && p.k > 0; }
  bool operator()(const GroupedProduct& p) const {
    return p.pairs >= 0 && p.hidden > 0 && p.ffn > 0 && p.experts > 0 && p.top_k > 0 && p.total_experts > 0;
  }
  bool operator()(const Attention& a) const {
    return a.batch > 0 && a.queries > 0 && a.keys > 0 && a.heads > 0 && a.kv_heads > 0 && a.head_dim > 0 && a.window >= 0;
  }
  bool operator()(const LatentCore& a) const {
    return a.batch > 0 && a.queries > 0 && a.keys > 0 && a.heads > 0 && a.query_dim > 0 && a.value_dim > 0;
  }
  bool operator()(const DecodeAttention& a) const {
    return a.batch > 0 && a.cached > 0 && a.heads > 0 && a.kv_heads > 0 && a.head_dim > 0;
  }
  bool operator()(const MemoryBound& b) const { return b.by_element >= 0 && b.bytes >= b.by_element && b.kernels >= 0; }
};

void require_positive_sizes(const Operator& op) {
  if (std::visit(Positive{}, op)) return;
  throw ConfigError("operator", "a dimension is not positive", "sizes of an operator are 1 or more");
}

}  // namespace

std::string_view to_string(OperatorSource source) {
  constexpr std::string_view kNames[] = {"table", "interpolated", "extrapolated", "roofline"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string_view to_string(OperatorPrecision precision) {
  constexpr std::string_view kNames[] = {"bf16", "fp8", "fp8_block", "fp4"};
  return kNames[static_cast<std::size_t>(precision)];
}

double OperatorRoofline::tflops(OperatorPrecision precision) const {
  const double fp8 = fp8_tflops > 0.0 ? fp8_tflops : bf16_tflops;
  switch (precision) {
    case OperatorPrecision::kBf16:
      return bf16_tflops;
    case OperatorPrecision::kFp8:
    case OperatorPrecision::kFp8Block:
      return fp8;
    case OperatorPrecision::kFp4:
      return fp4_tflops > 0.0 ? fp4_tflops : fp8;
  }
  return bf16_tflops;
}

OperatorPrecision OperatorRoofline::available(OperatorPrecision wanted) const {
  if (wanted == OperatorPrecision::kFp4 && fp4_tflops <= 0.0) wanted = OperatorPrecision::kFp8Block;
  return fp8_tflops > 0.0 || wanted == OperatorPrecision::kFp4 ? wanted : OperatorPrecision::kBf16;
}

double operator_flops(const Operator& op) { return std::visit(Flops{}, op); }
double operator_bytes(const Operator& op) { return std::visit(Traffic{}, op); }

OperatorTimes::OperatorTimes(OperatorRoofline roofline, std::shared_ptr<const OperatorTables> tables, bool borrowed)
    : roofline_(roofline), tables_(std::move(tables)), borrowed_(borrowed) {}

OperatorTime OperatorTimes::roofline(const Operator& op) const {
  require_positive_sizes(op);
  if (const auto* bound = std::get_if<MemoryBound>(&op)) {  // 1e9 bytes a second is a thousandth of a byte a picosecond
    const double rate = roofline_.memory_gb_per_s * roofline_.memory_efficiency;
    const double one_by_one = static_cast<double>(bound->by_element);
    const double memory =
        (Traffic{}(*bound) - one_by_one) * 1000.0 / rate + one_by_one * 1000.0 / std::min(rate, roofline_.element_gb_per_s);
    return {round_up_picoseconds(memory) + bound->kernels * roofline_.kernel, OperatorSource::kRoofline};
  }
  const double arithmetic =
      operator_flops(op) / (roofline_.tflops(std::visit(Precision{}, op)) * roofline_.compute_efficiency);
  const double memory = operator_bytes(op) * 1000.0 / roofline_.memory_gb_per_s;
  return {round_up_picoseconds(std::max(arithmetic, memory)), OperatorSource::kRoofline};
}

OperatorTime OperatorTimes::time(const Operator& op) const {
  if (tables_ == nullptr || std::holds_alternative<MemoryBound>(op)) return roofline(op);
  require_positive_sizes(op);
  auto found = tables_->time(op, borrowed_ ? roofline_ : tables_->device());
  if (!found) return roofline(op);
  if (borrowed_) found->source = std::max(found->source, OperatorSource::kExtrapolated);
  return *found;
}

namespace workload {

namespace {

template <class T>
RooflineParts parts_of(const T& op, const OperatorRoofline& on) {
  return {Flops{}(op) / on.tflops(op.precision), Traffic{}(op)*1000.0 / on.memory_gb_per_s};
}

}  // namespace

RooflineParts roofline_parts(const MatrixProduct& op, const OperatorRoofline& on) { return parts_of(op, on); }
RooflineParts roofline_parts(const GroupedProduct& op, const OperatorRoofline& on) { return parts_of(op, on); }
RooflineParts roofline_parts(const Attention& op, const OperatorRoofline& on) { return parts_of(op, on); }
RooflineParts roofline_parts(const LatentCore& op, const OperatorRoofline& on) { return parts_of(op, on); }
// The products of decoding are of bf16, whatever holds the cache.
RooflineParts roofline_parts(const DecodeAttention& op, const OperatorRoofline& on) {
  return {Flops{}(op) / on.tflops(OperatorPrecision::kBf16), Traffic{}(op)*1000.0 / on.memory_gb_per_s};
}

}  // namespace workload

}  // namespace photonrail
