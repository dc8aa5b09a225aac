#include "formats/serving/kernel_files.hpp"

#include "formats/csv.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::formats {

namespace {

using Points = std::vector<std::pair<double, double>>;

std::filesystem::path plain_or_packed(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path plain = folder / name;
  const std::filesystem::path packed = folder / (name + ".gz");
  return !std::filesystem::exists(plain) && std::filesystem::exists(packed) ? packed : plain;
}

// All cells of the columns as numbers, but for `words` at the beginning of them.
struct NumberedRow {
  std::string word;
  std::vector<double> numbers;
};

std::vector<NumberedRow> read_rows(const std::filesystem::path& file, std::vector<std::string> columns, bool word) {
  std::vector<NumberedRow> rows;
  read_csv(file, columns, [&](std::size_t line, const std::vector<std::string>& cells) {
    NumberedRow& row = rows.emplace_back();
    if (word) row.word = cells.front();
    for (std::size_t i = word ? 1 : 0; i < cells.size(); ++i) {
      if (cells[i].empty()) throw ConfigError(file.string() + ":1", "has no column \"" + columns[i] + "\"");
      row.numbers.push_back(csv_number(file, line, cells[i], 0.0, 1e12));
    }
  });
  if (rows.empty()) throw ConfigError(file.string(), "has no rows");
  return rows;
}

// Where a size is there twice, one of the times would count and nobody could say which.
template <class Sizes>
void require_once(const std::filesystem::path& file, std::vector<Sizes> sizes, const std::string& of) {
  std::sort(sizes.begin(), sizes.end());
  if (std::adjacent_find(sizes.begin(), sizes.end()) != sizes.end())
    throw ConfigError(file.string(), "has a size" + of + " twice", "keep one row of it");
}

std::map<std::string, serving::Curve> curves(const std::filesystem::path& file, const std::string& size) {
  std::map<std::string, Points> points;
  for (const NumberedRow& row : read_rows(file, {"layer", size, "time_us"}, true)) {
    points[row.word].emplace_back(row.numbers[0], row.numbers[1]);
  }
  std::map<std::string, serving::Curve> curves;
  for (auto& [kernel, list] : points) {
    std::vector<double> sizes;
    for (const auto& point : list) sizes.push_back(point.first);
    require_once(file, std::move(sizes), " of \"" + kernel + "\"");
    curves.emplace(kernel, serving::Curve(std::move(list)));
  }
  return curves;
}

}  // namespace

serving::KernelTables read_kernel_tables(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw ConfigError(folder.string(), "is no folder", "it needs dense.csv, per_sequence.csv and attention.csv");
  }
  serving::KernelTables tables;
  tables.dense = curves(plain_or_packed(folder, "dense.csv"), "tokens");
  tables.per_sequence = curves(plain_or_packed(folder, "per_sequence.csv"), "sequences");
  const std::filesystem::path attention = plain_or_packed(folder, "attention.csv");
  std::vector<serving::AttentionTable::Row> rows;
  std::vector<std::array<double, 4>> sizes;
  for (const NumberedRow& row :
       read_rows(attention, {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode", "time_us"}, false)) {
    const auto& n = row.numbers;
    rows.push_back({{n[0], n[1], n[2], n[3]}, n[4]});
    sizes.push_back({n[0], n[1], n[2], n[3]});
  }
  require_once(attention, std::move(sizes), "");
  tables.attention = serving::AttentionTable(rows);
  if (!tables.attention.has_chunks())
    throw ConfigError(attention.string(), "lacks chunks of prompts", "rows whose prefill_chunk is above 0");
  if (!tables.attention.has_decodes())
    throw ConfigError(attention.string(), "lacks decodes alone", "rows whose prefill_chunk is 0 and n_decode above 0");
  const std::filesystem::path experts = plain_or_packed(folder, "moe.csv");
  if (!std::filesystem::exists(experts)) return tables;
  std::map<double, Points> by_tokens;
  Points used;
  for (const NumberedRow& row : read_rows(experts, {"tokens", "activated_experts", "time_us"}, false)) {
    by_tokens[row.numbers[0]].emplace_back(row.numbers[1], row.numbers[2]);
    used.emplace_back(row.numbers[0], row.numbers[1]);
  }
  require_once(experts, std::move(used), "");
  for (auto& [tokens, points] : by_tokens) tables.experts.emplace(tokens, serving::Curve(std::move(points)));
  return tables;
}

}  // namespace photonrail::formats
