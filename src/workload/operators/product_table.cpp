#include "workload/operators/product_table.hpp"

#include "workload/operators/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::workload {

namespace {

constexpr std::int64_t kNarrow = 128;      // the smallest n of all quantised tables
constexpr double kSmallestKernel = 2.5e6;  // picoseconds: the smallest bf16 product takes 1.8 (B200) to 2.9 us (A100)

std::int64_t tiles_of(std::int64_t size, std::int64_t tile) { return (size + tile - 1) / tile; }

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

// The cost of the quantisation of x is read from the product with the smallest n, which has little else to do.
ProductTable::Answer ProductTable::time(const MatrixProduct& product, const OperatorRoofline& on) const {
  Answer whole = quantising(product, on);
  if (product.quantises || product.precision == OperatorPrecision::kBf16) return whole;
  MatrixProduct narrow = product;
  narrow.n = kNarrow;
  const double cast = quantising(narrow, on).picoseconds - roofline_parts(narrow, on).longest() - kSmallestKernel;
  const double least = roofline_parts(product, on).longest();
  return {std::max(whole.picoseconds - std::max(cast, 0.0), least), std::max(whole.source, OperatorSource::kInterpolated)};
}

}  // namespace photonrail::workload
