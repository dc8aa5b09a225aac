#include "workload/operators/tables.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace photonrail::workload {

namespace {

/// Attention and block-scaled kernels have fewer precisions than products.
OperatorPrecision attention_precision(OperatorPrecision precision) {
  return precision == OperatorPrecision::kBf16 ? precision : OperatorPrecision::kFp8;
}

}  // namespace

OperatorTables::OperatorTables(OperatorRoofline device, WaveTiles tiles, std::unique_ptr<const OperatorTableReader> reader)
    : device_(device), tiles_(std::move(tiles)), reader_(std::move(reader)) {}

template <class Table, class Rows, class Make>
const Table* OperatorTables::loaded(Slots<Table>& slots, OperatorPrecision precision, Rows rows, Make make) const {
  Slot<Table>& slot = slots[static_cast<std::size_t>(precision)];
  std::call_once(slot.once, [&] {
    const auto measured = rows();
    if (!measured.empty()) slot.table = std::make_unique<const Table>(make(measured));
  });
  return slot.table.get();
}

const ProductTable* OperatorTables::products(OperatorPrecision precision) const {
  return loaded(
      products_, precision, [&] { return reader_->products(precision); },
      [&](const auto& rows) { return ProductTable(rows, device_, tiles_); });
}
const AttentionTable* OperatorTables::attention(OperatorPrecision precision) const {
  return loaded(
      attention_, precision, [&] { return reader_->attention(precision); },
      [&](const auto& rows) { return AttentionTable(rows, reader_->training_attention(precision), device_); });
}
// Kernels of inference are of bf16; those of training of either precision, and without rows of fp8 those of bf16.
const LatentTable* OperatorTables::latent_attention(OperatorPrecision precision) const {
  return loaded(
      latent_attention_, precision, [&] { return reader_->latent_attention(OperatorPrecision::kBf16); },
      [&](const auto& rows) {
        auto training = reader_->training_latent_attention(precision);
        if (training.empty()) training = reader_->training_latent_attention(OperatorPrecision::kBf16);
        return LatentTable(rows, training, device_);
      });
}
const DecodeTable* OperatorTables::decode_attention(OperatorPrecision precision, bool latent) const {
  return loaded(
      latent ? decode_latent_ : decode_attention_, precision, [&] { return reader_->decode_attention(precision, latent); },
      [&](const auto& rows) { return DecodeTable(rows, device_); });
}
const GroupedTable* OperatorTables::grouped_products(OperatorPrecision precision) const {
  return loaded(
      grouped_products_, precision, [&] { return reader_->grouped_products(precision); },
      [&](const auto& rows) { return GroupedTable(rows, device_); });
}

// Without a table of grouped products: those of one expert after another, without permutation.
std::optional<OperatorTime> OperatorTables::expert_by_expert(const GroupedProduct& op, OperatorPrecision precision,
                                                             const OperatorRoofline& on) const {
  const ProductTable* table = products(precision);
  if (table == nullptr) return std::nullopt;
  const std::int64_t rows = std::max<std::int64_t>((op.pairs + op.experts - 1) / op.experts, 1);
  const MatrixProduct up{precision, rows, op.gated ? 2 * op.ffn : op.ffn, op.hidden, false};
  const MatrixProduct down{precision, rows, op.hidden, op.ffn, false};
  const double of_expert = table->time(up, on).picoseconds + table->time(down, on).picoseconds;
  const auto busy = static_cast<double>(std::min(op.experts, op.pairs));  // an expert without rows takes no time
  return OperatorTime{round_up_picoseconds(of_expert * busy), OperatorSource::kExtrapolated};
}

std::optional<OperatorTime> OperatorTables::time(const Operator& op, const OperatorRoofline& on) const {
  const auto ask = [&](const auto* table, auto measured, OperatorPrecision precision) -> std::optional<OperatorTime> {
    if (table == nullptr) return std::nullopt;
    measured.precision = precision;
    const auto answer = table->time(measured, on);
    return OperatorTime{round_up_picoseconds(answer.picoseconds), answer.source};
  };
  if (const auto* product = std::get_if<MatrixProduct>(&op)) {
    const OperatorPrecision precision = on.available(product->precision);
    return ask(products(precision), *product, precision);
  }
  if (const auto* grouped = std::get_if<GroupedProduct>(&op)) {
    const OperatorPrecision precision = on.available(grouped->precision);
    if (grouped_products(precision) == nullptr) return expert_by_expert(*grouped, precision, on);
    return ask(grouped_products(precision), *grouped, precision);
  }
  if (const auto* core = std::get_if<Attention>(&op)) {
    const OperatorPrecision precision = attention_precision(on.available(core->precision));
    return ask(attention(precision), *core, precision);
  }
  if (const auto* core = std::get_if<LatentCore>(&op)) {
    const OperatorPrecision precision = attention_precision(on.available(core->precision));
    return ask(latent_attention(precision), *core, precision);
  }
  if (const auto* decode = std::get_if<DecodeAttention>(&op))
    return ask(decode_attention(decode->precision, decode->latent), *decode, decode->precision);
  return std::nullopt;
}

}  // namespace photonrail::workload
