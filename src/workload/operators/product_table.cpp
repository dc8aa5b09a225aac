#include "workload/operators/product_table.hpp"

#include "workload/operators/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::workload {

namespace {

constexpr std::int64_t kNarrow = 128;      // the smallest n and k of all quantised tables
constexpr double kSmallestKernel = 2.5e6;  // picoseconds: the smallest bf16 product takes 1.8 (B200) to 2.9 us (A100)

std::int64_t tiles_of(std::int64_t size, std::int64_t tile) { return (size + tile - 1) / tile; }

// Bytes of an element that the cast moves: one scale a tensor needs two passes over bf16.
double bytes_of_cast(OperatorPrecision precision) {
  if (precision == OperatorPrecision::kFp8) return 2.0 + 2.0 + 1.0;
  return 2.0 + (precision == OperatorPrecision::kFp8Block ? 1.0 : 0.5);
}

GridPosition position_of(const MatrixProduct& p) { return {p.n, p.k, p.m, 1}; }

}  // namespace

double WaveTiles::waste(std::int64_t m, std::int64_t n) const {
  if (tiles.empty()) return 1.0;
  double least = 0.0;
  for (const Tile& t : tiles) {
    const std::int64_t waves = tiles_of(tiles_of(m, t.rows) * tiles_of(n, t.columns), multiprocessors);
    const double computed = static_cast<double>(waves * multiprocessors * t.rows * t.columns);
    const double waste = t.cost * computed / (static_cast<double>(m) * static_cast<double>(n));
    least = least == 0.0 ? waste : std::min(least, waste);
  }
  return least;
}

ProductTable::ProductTable(const Measured<MatrixProduct>& rows, const OperatorRoofline& device, WaveTiles tiles)
    : tiles_(std::move(tiles)) {
  double smallest = rows.empty() ? 0.0 : rows.front().second;
  for (const auto& [product, microseconds] : rows) smallest = std::min(smallest, microseconds);
  smallest_ = smallest * 1e6;
  std::vector<GridPoint> even;
  std::vector<GridPoint> odd;
  for (const auto& [product, microseconds] : rows) {
    const auto ratio = static_cast<float>(std::log(microseconds * 1e6 / base(product, device)));
    (product.m % 2 == 0 ? even : odd).push_back({position_of(product), ratio});
  }
  even_ = RatioGrid(even);
  odd_ = RatioGrid(odd);
}

double ProductTable::base(const MatrixProduct& product, const OperatorRoofline& on) const {
  const RooflineParts parts = roofline_parts(product, on);
  return std::max(parts.arithmetic * tiles_.waste(product.m, product.n), parts.memory) + smallest_;
}

ProductTable::Answer ProductTable::quantising(const MatrixProduct& product, const OperatorRoofline& on) const {
  const bool in_odd = product.m % 2 != 0 && !odd_.empty() && (odd_.covers(2, product.m) || even_.empty());
  const RatioGrid& grid = in_odd ? odd_ : even_;
  if (grid.empty()) return {roofline_parts(product, on).longest(), OperatorSource::kRoofline};
  const TableAnswer found = grid.at(position_of(product));
  return {base(product, on) * std::exp(found.log_ratio), found.source};
}

// What the quantisation of x takes at the least is read from the smallest product, which has little else to do; longer rows
// add their bytes. (Of a long k the narrow product itself takes long: it has few tiles, and each sums all of k.)
ProductTable::Answer ProductTable::time(const MatrixProduct& product, const OperatorRoofline& on) const {
  Answer whole = quantising(product, on);
  if (product.quantises || product.precision == OperatorPrecision::kBf16) return whole;
  MatrixProduct smallest = product;
  smallest.n = smallest.k = kNarrow;
  const double kernels = quantising(smallest, on).picoseconds - kSmallestKernel;
  const double longer =
      static_cast<double>(product.m) * static_cast<double>(std::max<std::int64_t>(product.k - kNarrow, 0));
  const double moved = longer * bytes_of_cast(product.precision) * 1000.0 / (on.memory_gb_per_s * on.memory_efficiency);
  const double least = roofline_parts(product, on).longest();
  return {std::max(whole.picoseconds - std::max(kernels, 0.0) - moved, least),
          std::max(whole.source, OperatorSource::kInterpolated)};
}

}  // namespace photonrail::workload
