// The text of one table of operators, as rows of numbers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::operators {

enum class Kind : unsigned char {
  kProducts,
  kAttention,
  kLatentAttention,
  kExperts,
  kTrainingAttention,
  kTrainingLatent,
  kDecode,
  kDecodeLatent
};
inline constexpr Kind kKinds[] = {Kind::kProducts, Kind::kAttention,         Kind::kLatentAttention,
                                  Kind::kExperts,  Kind::kTrainingAttention, Kind::kTrainingLatent,
                                  Kind::kDecode,   Kind::kDecodeLatent};
[[nodiscard]] std::string_view to_string(Kind kind);
/// Its columns before the time, in the order in which rows have them.
[[nodiscard]] std::span<const std::string_view> columns(Kind kind);

/// "# key: value" lines at the beginning of a file.
struct Header {
  std::string gpu;
  std::string kind;
  std::string precision;
  std::string source;
  std::string licence;
};

struct Csv {
  Header header;
  Kind kind = Kind::kProducts;
  std::size_t width = 0;       ///< numbers in a row, the time in microseconds last
  std::vector<double> values;  ///< row by row

  [[nodiscard]] std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const { return {values.data() + i * width, width}; }
};

/// Throws ConfigError that begins with `file` and the line.
[[nodiscard]] Csv parse_table(std::string_view text, const std::string& file);
/// Throws ConfigError where the sizes span a grid that is too large to keep in full.
void check_grid(const Csv& csv, const std::string& file);

/// device.csv: quantities and their values.
struct Quantity {
  std::string name;
  double value = 0.0;
};
[[nodiscard]] std::vector<Quantity> parse_device(std::string_view text, const std::string& file);

}  // namespace photonrail::formats::operators
