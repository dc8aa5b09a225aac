// Grouped products (routed experts) of one GPU and precision.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/product_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::workload {

/// A curve over the pairs of a rank for each shape that was measured; other shapes from the nearest curves.
class GroupedTable {
 public:
  using Answer = ProductTable::Answer;

  GroupedTable(const Measured<GroupedProduct>& rows, const OperatorRoofline& device);

  [[nodiscard]] Answer time(const GroupedProduct& op, const OperatorRoofline& on) const;

  /// Predicted over measured, as a logarithm, when one point is left out, or all of one model's.
  struct LeftOut {
    GroupedProduct op;
    float log_error = 0.0F;
  };
  [[nodiscard]] std::vector<LeftOut> leave_one_out() const;
  [[nodiscard]] std::vector<LeftOut> leave_shape_out() const;

 private:
  static constexpr std::size_t kFeatures = 4;
  using Features = std::array<float, kFeatures>;  ///< logarithms: hidden, width, experts of the rank, experts of the layer
  struct Curve {
    GroupedProduct shape;
    std::vector<float> log_pairs;  ///< of an expert of the rank, ascending
    std::vector<float> log_ratios;
  };
  struct Value {
    float log_ratio = 0.0F;
    OperatorSource source = OperatorSource::kTable;
  };

  [[nodiscard]] double base(const GroupedProduct& op, const OperatorRoofline& on) const;
  [[nodiscard]] static Value on_curve(const Curve& curve, float log_pairs, std::size_t without);
  [[nodiscard]] Value between(const GroupedProduct& op, bool other_models) const;

  std::vector<Curve> curves_;
  std::vector<Features> features_;  ///< of the curves, apart from them because each query reads all
  double smallest_ = 0.0;           ///< picoseconds
};

}  // namespace photonrail::workload
