// The measured tables of one GPU, each built when it is first asked for.
#pragma once

#include "photonrail/workload/operators.hpp"
#include "workload/operators/attention_table.hpp"
#include "workload/operators/decode_table.hpp"
#include "workload/operators/grouped_table.hpp"
#include "workload/operators/product_table.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <optional>

namespace photonrail::workload {

/// Reads tables: from files, or literals in tests. Called at most once for a kind and a precision, from any thread.
class OperatorTableReader {
 public:
  virtual ~OperatorTableReader() = default;
  /// Empty where there is no such table. Throws ConfigError where it cannot be read.
  [[nodiscard]] virtual Measured<MatrixProduct> products(OperatorPrecision precision) const = 0;
  [[nodiscard]] virtual Measured<Attention> attention(OperatorPrecision precision) const = 0;
  [[nodiscard]] virtual Measured<LatentCore> latent_attention(OperatorPrecision precision) const = 0;
  /// Forward and backward passes as training runs them.
  [[nodiscard]] virtual Measured<Attention> training_attention(OperatorPrecision precision) const = 0;
  [[nodiscard]] virtual Measured<LatentCore> training_latent_attention(OperatorPrecision precision) const = 0;
  /// `precision`: of the cache.
  [[nodiscard]] virtual Measured<DecodeAttention> decode_attention(OperatorPrecision precision, bool latent) const = 0;
  [[nodiscard]] virtual Measured<GroupedProduct> grouped_products(OperatorPrecision precision) const = 0;
};

class OperatorTables {
 public:
  /// `device`: of the GPU that was measured. `tiles`: of its matrix products; none where the tables show none.
  OperatorTables(OperatorRoofline device, WaveTiles tiles, std::unique_ptr<const OperatorTableReader> reader);

  /// Share of `on`'s roofline as measured; nothing where no table is near. `op` has a precision that `on` has.
  [[nodiscard]] std::optional<OperatorTime> time(const Operator& op, const OperatorRoofline& on) const;
  [[nodiscard]] const OperatorRoofline& device() const { return device_; }

  /// Null where there is no table of the precision.
  [[nodiscard]] const ProductTable* products(OperatorPrecision precision) const;
  [[nodiscard]] const AttentionTable* attention(OperatorPrecision precision) const;
  [[nodiscard]] const LatentTable* latent_attention(OperatorPrecision precision) const;
  [[nodiscard]] const DecodeTable* decode_attention(OperatorPrecision precision, bool latent) const;
  [[nodiscard]] const GroupedTable* grouped_products(OperatorPrecision precision) const;

 private:
  static constexpr std::size_t kPrecisions = 4;
  template <class Table>
  struct Slot {
    std::once_flag once;
    std::unique_ptr<const Table> table;
  };
  template <class Table>
  using Slots = std::array<Slot<Table>, kPrecisions>;

  /// `make` a table of the rows, unless there are none.
  template <class Table, class Rows, class Make>
  const Table* loaded(Slots<Table>& slots, OperatorPrecision precision, Rows rows, Make make) const;

  [[nodiscard]] std::optional<OperatorTime> expert_by_expert(const GroupedProduct& op, OperatorPrecision precision,
                                                             const OperatorRoofline& on) const;

  OperatorRoofline device_;
  WaveTiles tiles_;
  std::unique_ptr<const OperatorTableReader> reader_;
  mutable Slots<ProductTable> products_;
  mutable Slots<AttentionTable> attention_;
  mutable Slots<LatentTable> latent_attention_;
  mutable Slots<DecodeTable> decode_attention_;
  mutable Slots<DecodeTable> decode_latent_;
  mutable Slots<GroupedTable> grouped_products_;
};

}  // namespace photonrail::workload
