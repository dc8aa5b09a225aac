// Tables of measured operators: those that come with the library, and those of a user's own folder, which go first.
// A folder has one for each GPU, with device.csv and <kind>_<precision>.csv, plain or gzip
// (docs/formats/operator-tables.md).
#pragma once

#include "photonrail/workload/operators.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::operators {

/// GPUs that have tables, ascending. `folder` empty: those that come with the library.
[[nodiscard]] std::vector<std::string> operator_gpus(const std::filesystem::path& folder = {});

/// The tables of a GPU; each is read when it is first asked for, from then on by any thread, and those that come with the
/// library once in the life of the program. Throws ConfigError that lists the GPUs that have tables; what is wrong in a
/// table, with file and line, when that is asked for.
[[nodiscard]] std::shared_ptr<const OperatorTables> operator_tables(std::string_view gpu,
                                                                    const std::filesystem::path& folder = {});
/// The datasheet in them.
[[nodiscard]] const OperatorRoofline& operator_device(const OperatorTables& tables);
/// Times of operators on that GPU.
[[nodiscard]] OperatorTimes operator_times(std::string_view gpu, const std::filesystem::path& folder = {});

struct OperatorTableInfo {
  std::string kind;       ///< products, attention, latent_attention, experts
  std::string precision;  ///< bf16, fp8, fp8_block, fp4
  std::size_t rows = 0;
  std::string source;
  std::string licence;
  std::string file;  ///< "built in: h100/products_bf16", or a path
};
/// Reads all tables of a GPU. Throws ConfigError.
[[nodiscard]] std::vector<OperatorTableInfo> operator_table_info(std::string_view gpu,
                                                                 const std::filesystem::path& folder = {});

/// Measures how well a table says what was measured at points that it is not shown.
struct OperatorTableError {
  std::string kind;
  std::string precision;
  std::string
      left_out;  ///< "point": one at a time; "m", "n", "k", ...: all points of that size; "model": a whole model's experts
  std::size_t points = 0;
  double median = 0.0;  ///< of |predicted / measured - 1|
  double p95 = 0.0;
  double bias = 0.0;  ///< mean of predicted / measured - 1
};
/// `large`: products with m, n and k of 1,024 or more only, sequences of 1,024 or more, experts with 128 rows or more.
[[nodiscard]] std::vector<OperatorTableError> operator_table_errors(std::string_view gpu, bool large,
                                                                    const std::filesystem::path& folder = {});

/// A table that a user brings: checks it, and returns its text in the units of this program. Times may be in time_us,
/// time_ms or time_s. `name`: where it belongs below the folder, "b300/products_bf16.csv". Throws ConfigError.
struct ImportedOperatorTable {
  std::string name;
  std::size_t rows = 0;
  std::string text;
};
[[nodiscard]] ImportedOperatorTable import_operator_table(const std::filesystem::path& file);

}  // namespace photonrail::formats::operators
