#include "formats/operators/operators.hpp"

#include "formats/input_file.hpp"
#include "formats/operators/files.hpp"
#include "formats/operators/reader.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace photonrail::formats::operators {

namespace {

constexpr OperatorPrecision kPrecisions[] = {OperatorPrecision::kBf16, OperatorPrecision::kFp8,
                                             OperatorPrecision::kFp8Block, OperatorPrecision::kFp4};

std::shared_ptr<const OperatorTables> make_tables(const std::string& gpu, const std::filesystem::path& folder) {
  Device device = read_device(gpu, folder);
  return std::make_shared<const OperatorTables>(device.roofline, std::move(device.tiles),
                                                std::make_unique<FileReader>(gpu, folder));
}

using BuiltIn = std::map<std::string, std::shared_ptr<const OperatorTables>, std::less<>>;

// A table that comes with the library never changes, so that one copy serves all scenarios of a program. Its tables are
// read when they are asked for.
const BuiltIn& built_in() {
  static const BuiltIn kTables = [] {
    BuiltIn tables;
    for (const std::string& gpu : gpus_with_tables({})) tables.emplace(gpu, make_tables(gpu, {}));
    return tables;
  }();
  return kTables;
}

/// Predicted / measured as logarithms.
OperatorTableError summary(std::string kind, OperatorPrecision precision, std::string left_out, std::vector<float> errors) {
  OperatorTableError result{std::move(kind), std::string(to_string(precision)), std::move(left_out), errors.size()};
  if (errors.empty()) return result;
  std::vector<double> sizes;
  for (const float log_error : errors) {
    const double error = std::expm1(static_cast<double>(log_error));
    result.bias += error / static_cast<double>(errors.size());
    sizes.push_back(std::abs(error));
  }
  std::sort(sizes.begin(), sizes.end());
  result.median = sizes[sizes.size() / 2];
  result.p95 = sizes[sizes.size() * 95 / 100];
  return result;
}

/// Collects the errors of one kind of table under the names of what was left out.
class Errors {
 public:
  explicit Errors(bool large) : large_(large) {}

  void add(const char* left_out, const std::vector<workload::RatioGrid::LeftOut>& points,
           std::initializer_list<std::size_t> axes) {
    for (const auto& point : points) {
      const bool is_large =
          std::all_of(axes.begin(), axes.end(), [&](std::size_t axis) { return point.at[axis] >= kLarge; });
      if (is_large || !large_) of(left_out).push_back(point.log_error);
    }
  }
  void add(const char* left_out, const std::vector<workload::GroupedTable::LeftOut>& points) {
    for (const auto& point : points) {
      if (point.op.pairs >= kManyRows * point.op.experts || !large_) of(left_out).push_back(point.log_error);
    }
  }
  /// Of a grid: points one at a time, then all points of each line along an axis.
  void add(const workload::RatioGrid& grid, const std::array<const char*, 3>& names,
           std::initializer_list<std::size_t> axes) {
    add("point", grid.leave_one_out(), axes);
    for (std::size_t axis = 0; axis < names.size(); ++axis) add(names[axis], grid.leave_line_out(axis), axes);
  }
  void finish(const char* kind, OperatorPrecision precision, std::vector<OperatorTableError>& into) {
    for (auto& [name, errors] : errors_) into.push_back(summary(kind, precision, name, std::move(errors)));
  }

 private:
  static constexpr std::int64_t kLarge = 1024;
  static constexpr std::int64_t kManyRows = 128;

  std::vector<float>& of(const char* left_out) {
    const auto at = std::find_if(errors_.begin(), errors_.end(), [&](const auto& e) { return e.first == left_out; });
    if (at != errors_.end()) return at->second;
    return errors_.emplace_back(left_out, std::vector<float>{}).second;
  }

  bool large_;
  std::deque<std::pair<std::string, std::vector<float>>> errors_;
};

void product_errors(const OperatorTables& tables, OperatorPrecision precision, bool large,
                    std::vector<OperatorTableError>& into) {
  const auto* table = tables.products(precision);
  if (table == nullptr) return;
  Errors errors(large);
  for (const workload::RatioGrid* grid : {&table->even(), &table->odd()}) {
    if (grid->empty()) continue;
    errors.add(*grid, {"n", "k", "m"}, {0, 1, 2});
  }
  errors.finish("products", precision, into);
}

void attention_errors(const OperatorTables& tables, OperatorPrecision precision, bool large,
                      std::vector<OperatorTableError>& into) {
  constexpr std::array<const char*, 3> kAxes{"sequence", "batch", "heads"};
  if (const auto* table = tables.attention(precision)) {
    Errors errors(large);
    for (const auto& part : table->parts()) errors.add(part.grid, kAxes, {0});
    errors.finish("attention", precision, into);
  }
  if (const auto* table = precision == OperatorPrecision::kBf16 ? tables.latent_attention(precision) : nullptr) {
    Errors errors(large);
    errors.add(table->grid(), kAxes, {0});
    errors.finish("latent_attention", precision, into);
  }
}

void decode_errors(const OperatorTables& tables, OperatorPrecision precision, bool large,
                   std::vector<OperatorTableError>& into) {
  constexpr std::array<const char*, 3> kAxes{"cached", "batch", "heads"};
  for (const bool latent : {false, true}) {
    const auto* table = tables.decode_attention(precision, latent);
    if (table == nullptr) continue;
    Errors errors(large);
    for (const auto& part : table->parts()) errors.add(part.grid, kAxes, {0});
    errors.finish(latent ? "decode_latent_attention" : "decode_attention", precision, into);
  }
}

void expert_errors(const OperatorTables& tables, OperatorPrecision precision, bool large,
                   std::vector<OperatorTableError>& into) {
  const auto* table = tables.grouped_products(precision);
  if (table == nullptr) return;
  Errors errors(large);
  errors.add("point", table->leave_one_out());
  errors.add("model", table->leave_shape_out());
  errors.finish("experts", precision, into);
}

/// It becomes the name of a folder.
bool is_gpu_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

void append_number(std::string& text, double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

}  // namespace

std::vector<std::string> operator_gpus(const std::filesystem::path& folder) { return gpus_with_tables(folder); }

std::shared_ptr<const OperatorTables> operator_tables(std::string_view gpu, const std::filesystem::path& folder) {
  if (!folder.empty()) return make_tables(std::string(gpu), folder);
  const auto at = built_in().find(gpu);
  return at != built_in().end() ? at->second : make_tables(std::string(gpu), {});  // the latter throws
}

const OperatorRoofline& operator_device(const OperatorTables& tables) { return tables.device(); }

OperatorTimes operator_times(std::string_view gpu, const std::filesystem::path& folder) {
  auto tables = operator_tables(gpu, folder);
  const OperatorRoofline device = tables->device();
  return OperatorTimes(device, std::move(tables));
}

std::vector<OperatorTableInfo> operator_table_info(std::string_view gpu, const std::filesystem::path& folder) {
  const std::string name(gpu);
  static_cast<void>(read_device(name, folder));
  std::vector<OperatorTableInfo> result;
  for (const Kind kind : kKinds) {
    for (const OperatorPrecision precision : kPrecisions) {
      const auto csv = read_table(name, kind, precision, folder);
      if (!csv) continue;
      const std::string file = name + "/" + csv->header.kind + "_" + csv->header.precision;
      result.push_back({csv->header.kind, csv->header.precision, csv->rows(), csv->header.source, csv->header.licence,
                        find_table(file, folder)->file});
    }
  }
  return result;
}

std::vector<OperatorTableError> operator_table_errors(std::string_view gpu, bool large,
                                                      const std::filesystem::path& folder) {
  const auto tables = operator_tables(gpu, folder);
  std::vector<OperatorTableError> result;
  for (const OperatorPrecision precision : kPrecisions) {
    product_errors(*tables, precision, large, result);
    attention_errors(*tables, precision, large, result);
    decode_errors(*tables, precision, large, result);
    expert_errors(*tables, precision, large, result);
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.kind > b.kind; });
  return result;
}

ImportedOperatorTable import_operator_table(const std::filesystem::path& file) {
  const Csv csv = parse_table(formats::read_file(file), file.string());
  check_grid(csv, file.string());
  const bool known = std::any_of(std::begin(kPrecisions), std::end(kPrecisions),
                                 [&](OperatorPrecision p) { return to_string(p) == csv.header.precision; });
  if (!known)
    throw ConfigError(file.string(), "precision \"" + csv.header.precision + "\" is unknown",
                      "# precision: one of bf16, fp8, fp8_block, fp4");
  if (!is_gpu_name(csv.header.gpu)) {
    throw ConfigError(file.string(), "the file does not say which GPU was measured",
                      "# gpu: a name of letters, digits, - and _");
  }
  if (csv.header.source.empty())
    throw ConfigError(file.string(), "the file does not say where the times come from", "# source: ...");
  if (csv.rows() == 0) throw ConfigError(file.string(), "the table has no rows");
  ImportedOperatorTable result{
      csv.header.gpu + "/" + csv.header.kind + "_" + csv.header.precision + ".csv", csv.rows(), {}};
  result.text = "# photonrail.operators/1\n# gpu: " + csv.header.gpu + "\n# kind: " + csv.header.kind +
                "\n# precision: " + csv.header.precision + "\n# source: " + csv.header.source +
                "\n# licence: " + csv.header.licence + "\n";
  for (const std::string_view column : columns(csv.kind)) result.text += std::string(column) + ",";
  result.text += "time_us\n";
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const auto row = csv.row(i);
    for (std::size_t column = 0; column < row.size(); ++column) {
      append_number(result.text, row[column]);
      result.text += column + 1 < row.size() ? ',' : '\n';
    }
  }
  return result;
}

}  // namespace photonrail::formats::operators
