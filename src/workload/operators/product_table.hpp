// Matrix products of one GPU and precision.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/ratio_grid.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::workload {

/// Operators with their measured times in microseconds.
template <class T>
using Measured = std::vector<std::pair<T, double>>;

/// Output tiles of a product's kernels: all multiprocessors compute a tile each in a wave, and the last wave is seldom
/// full. A kernel with smaller tiles wastes less of it and is slower, by `cost`. Empty: the tables show no waves.
struct WaveTiles {
  struct Tile {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    double cost = 1.0;
  };
  std::int64_t multiprocessors = 0;
  std::vector<Tile> tiles;

  /// Returns what the best tile computes over what it has to; 1 without tiles.
  [[nodiscard]] double waste(std::int64_t m, std::int64_t n) const;
};

/// A ratio to the roofline, and where from.
using TableAnswer = RatioGrid::Found;

class ProductTable {
 public:
  ProductTable(const Measured<MatrixProduct>& rows, const OperatorRoofline& device, WaveTiles tiles);

  /// In picoseconds on `on`.
  struct Answer {
    double picoseconds = 0.0;
    OperatorSource source = OperatorSource::kTable;
  };
  [[nodiscard]] Answer time(const MatrixProduct& product, const OperatorRoofline& on) const;
  [[nodiscard]] const RatioGrid& even() const { return even_; }
  [[nodiscard]] const RatioGrid& odd() const { return odd_; }

 private:
  /// Roofline with waves, and the time of the smallest kernel: what the measured time is compared with.
  [[nodiscard]] double base(const MatrixProduct& product, const OperatorRoofline& on) const;
  [[nodiscard]] Answer quantising(const MatrixProduct& product, const OperatorRoofline& on) const;

  WaveTiles tiles_;
  double smallest_ = 0.0;  ///< picoseconds
  // Rows of m + 1 beside m show what one more row costs: kernels for aligned sizes differ from the others, so that the two
  // are not mixed.
  RatioGrid even_;
  RatioGrid odd_;
};

}  // namespace photonrail::workload
