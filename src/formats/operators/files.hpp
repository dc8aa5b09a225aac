// Where tables of operators are found: in a user's folder, else in those that come with the library.
#pragma once

#include "formats/operators/csv.hpp"
#include "photonrail/workload/operators.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::operators {

/// A file of configs/operators, as it is there: gzip, or plain text.
struct EmbeddedTable {
  std::string_view name;  ///< "h100/products_bf16"
  const char* begin = nullptr;
  const char* end = nullptr;

  [[nodiscard]] std::string_view data() const { return {begin, static_cast<std::size_t>(end - begin)}; }
};
[[nodiscard]] std::span<const EmbeddedTable> embedded_tables();

/// The text of a table and what errors call it.
struct TableText {
  std::string text;
  std::string file;
  bool built_in = false;
};
/// `name`: "h100/products_bf16", without an ending. Nothing where neither has it.
[[nodiscard]] std::optional<TableText> find_table(const std::string& name, const std::filesystem::path& folder);

/// GPUs that have a device.csv, ascending.
[[nodiscard]] std::vector<std::string> gpus_with_tables(const std::filesystem::path& folder);

/// Reads the table of one kind and precision; checked against the name under which it was found.
[[nodiscard]] std::optional<Csv> read_table(const std::string& gpu, Kind kind, OperatorPrecision precision,
                                            const std::filesystem::path& folder);

}  // namespace photonrail::formats::operators
