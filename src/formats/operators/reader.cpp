#include "formats/operators/reader.hpp"

#include "core/number_in.hpp"
#include "formats/operators/files.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace photonrail::formats::operators {

namespace {

std::int64_t whole(double size) { return static_cast<std::int64_t>(size); }

/// The columns that tables of attention share, in their order.
Attention attention_of(OperatorPrecision precision, std::span<const double> columns) {
  Attention op;
  op.precision = precision;
  op.head_dim = whole(columns[0]);
  op.window = whole(columns[1]);
  op.kv_heads = whole(columns[2]);
  op.heads = whole(columns[3]);
  op.batch = whole(columns[4]);
  op.queries = op.keys = whole(columns[5]);
  return op;
}

/// The same of latent attention.
LatentCore latent_core_of(OperatorPrecision precision, std::span<const double> columns) {
  LatentCore op;
  op.precision = precision;
  op.heads = whole(columns[0]);
  op.batch = whole(columns[1]);
  op.queries = op.keys = whole(columns[2]);
  return op;
}

template <class T, class Make>
workload::Measured<T> rows_of(const std::optional<Csv>& csv, Make make) {
  workload::Measured<T> rows;
  if (!csv) return rows;
  rows.reserve(csv->rows());
  for (std::size_t i = 0; i < csv->rows(); ++i) {
    const auto row = csv->row(i);
    rows.emplace_back(make(row), row.back());
  }
  return rows;
}

/// "tile_128x256": rows and columns.
std::optional<workload::WaveTiles::Tile> tile_of(std::string_view name, double cost) {
  constexpr std::string_view kTile = "tile_";
  if (!name.starts_with(kTile)) return std::nullopt;
  name.remove_prefix(kTile.size());
  const std::size_t by = std::min(name.find('x'), name.size());
  const auto size = [](std::string_view text) {
    const auto value = core::number_in<std::int64_t>(text);
    return value && *value <= (1 << 20) ? *value : 0;
  };
  const workload::WaveTiles::Tile tile{size(name.substr(0, by)), by < name.size() ? size(name.substr(by + 1)) : 0, cost};
  return tile.rows > 0 && tile.columns > 0 ? std::optional(tile) : std::nullopt;
}

}  // namespace

workload::Measured<MatrixProduct> FileReader::products(OperatorPrecision precision) const {
  return rows_of<MatrixProduct>(read_table(gpu_, Kind::kProducts, precision, folder_), [&](auto row) {
    return MatrixProduct{precision, whole(row[0]), whole(row[1]), whole(row[2]), true};
  });
}

workload::Measured<Attention> FileReader::attention(OperatorPrecision precision) const {
  return rows_of<Attention>(read_table(gpu_, Kind::kAttention, precision, folder_),
                            [&](auto row) { return attention_of(precision, row); });
}

workload::Measured<LatentCore> FileReader::latent_attention(OperatorPrecision precision) const {
  return rows_of<LatentCore>(read_table(gpu_, Kind::kLatentAttention, precision, folder_),
                             [&](auto row) { return latent_core_of(precision, row); });
}

workload::Measured<Attention> FileReader::training_attention(OperatorPrecision precision) const {
  return rows_of<Attention>(read_table(gpu_, Kind::kTrainingAttention, precision, folder_), [&](auto row) {
    Attention op = attention_of(precision, row.subspan(1));
    op.backward = row[0] > 0.0;
    return op;
  });
}

workload::Measured<LatentCore> FileReader::training_latent_attention(OperatorPrecision precision) const {
  return rows_of<LatentCore>(read_table(gpu_, Kind::kTrainingLatent, precision, folder_), [&](auto row) {
    LatentCore op = latent_core_of(precision, row.subspan(1));
    op.backward = row[0] > 0.0;
    return op;
  });
}

workload::Measured<DecodeAttention> FileReader::decode_attention(OperatorPrecision precision, bool latent) const {
  const Kind kind = latent ? Kind::kDecodeLatent : Kind::kDecode;
  return rows_of<DecodeAttention>(read_table(gpu_, kind, precision, folder_), [&](auto row) {
    DecodeAttention op{precision, whole(row[row.size() - 3]), whole(row[row.size() - 2]), whole(row[row.size() - 4])};
    op.latent = latent;
    if (latent) return op;
    op.head_dim = whole(row[0]);
    op.kv_heads = whole(row[1]);
    return op;
  });
}

// Balanced routing: a rank has tokens x top_k / ep pairs, and experts / ep experts of ffn / tp.
workload::Measured<GroupedProduct> FileReader::grouped_products(OperatorPrecision precision) const {
  return rows_of<GroupedProduct>(read_table(gpu_, Kind::kExperts, precision, folder_), [&](auto row) {
    const std::int64_t tp = whole(row[5]);
    const std::int64_t ep = whole(row[6]);
    GroupedProduct op;
    op.precision = precision;
    op.gated = row[0] > 0.0;
    op.hidden = whole(row[1]);
    op.ffn = std::max<std::int64_t>(whole(row[2]) / tp, 1);
    op.top_k = whole(row[3]);
    op.total_experts = whole(row[4]);
    op.experts = std::max<std::int64_t>(op.total_experts / ep, 1);
    op.routed_tokens = whole(row[7]);
    op.pairs = std::max<std::int64_t>(std::llround(row[7] * row[3] / row[6]), 1);
    return op;
  });
}

Device read_device(const std::string& gpu, const std::filesystem::path& folder) {
  const auto found = find_table(gpu + "/device", folder);
  if (!found) {
    std::string known;
    for (const std::string& name : gpus_with_tables(folder)) known += (known.empty() ? "" : ", ") + name;
    throw ConfigError("gpu", "there are no operator tables of \"" + gpu + "\"", "known: " + known);
  }
  Device device;
  device.roofline = OperatorRoofline{0.0, 0.0, 0.0, 0.0};
  const auto fail = [&](std::string what, std::string hint) {
    throw ConfigError(found->file, std::move(what), std::move(hint));
  };
  for (const Quantity& q : parse_device(found->text, found->file)) {
    if (q.name == "bf16_tflops")
      device.roofline.bf16_tflops = q.value;
    else if (q.name == "fp8_tflops")
      device.roofline.fp8_tflops = q.value;
    else if (q.name == "fp4_tflops")
      device.roofline.fp4_tflops = q.value;
    else if (q.name == "memory_gb_per_s")
      device.roofline.memory_gb_per_s = q.value;
    else if (q.name == "multiprocessors" && q.value == std::floor(q.value) && q.value <= 1e6)
      device.tiles.multiprocessors = whole(q.value);
    else if (const auto tile = tile_of(q.name, q.value))
      device.tiles.tiles.push_back(*tile);
    else
      fail("quantity \"" + q.name + "\" is unknown",
           "known: bf16_tflops, fp8_tflops, fp4_tflops, memory_gb_per_s, "
           "multiprocessors (a whole number), tile_<rows>x<columns>");
  }
  if (device.roofline.bf16_tflops <= 0.0 || device.roofline.memory_gb_per_s <= 0.0) {
    fail("bf16_tflops or memory_gb_per_s is missing", "times are compared with the roofline of the GPU");
  }
  if (!device.tiles.tiles.empty() && device.tiles.multiprocessors == 0) fail("tiles need multiprocessors", "add the row");
  return device;
}

}  // namespace photonrail::formats::operators
