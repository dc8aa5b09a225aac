#include "formats/operators/csv.hpp"

#include "core/number_in.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace photonrail::formats::operators {

namespace {

constexpr std::string_view kSchema = "photonrail.operators/1";
constexpr std::string_view kProductColumns[] = {"m", "n", "k"};
constexpr std::string_view kAttentionColumns[] = {"head_dim", "window", "kv_heads", "heads", "batch", "sequence"};
constexpr std::string_view kLatentColumns[] = {"heads", "batch", "sequence"};
constexpr std::string_view kExpertColumns[] = {"gated", "hidden", "ffn", "top_k", "experts", "tp", "ep", "tokens"};
constexpr std::string_view kTrainingColumns[] = {"backward", "head_dim", "window",  "kv_heads",
                                                 "heads",    "batch",    "sequence"};
constexpr std::string_view kTrainingLatentColumns[] = {"backward", "heads", "batch", "sequence"};
constexpr std::string_view kDecodeColumns[] = {"head_dim", "kv_heads", "heads", "batch", "cached"};
constexpr std::string_view kDecodeLatentColumns[] = {"heads", "batch", "cached"};
constexpr double kMaxSize = 1073741824.0;  // 2^30: products of three sizes stay exact enough, of two in range
// Beyond these are no kernels and no GPUs, but ratios that a number cannot hold.
constexpr double kShortest = 1e-6;  // microseconds
constexpr double kLongest = 1e12;
constexpr double kLeast = 1e-3;  // of a quantity of device.csv
constexpr double kMost = 1e9;
constexpr std::size_t kMaxCells = 1U << 20U;  // of the grid that the sizes of a file span

/// Lines of a text, with their numbers.
class Lines {
 public:
  Lines(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  [[nodiscard]] std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return line;
  }
  [[noreturn]] void fail(std::string what, std::string hint = {}) const {
    throw ConfigError(file_ + ", line " + std::to_string(number_), std::move(what), std::move(hint));
  }

 private:
  std::string_view rest_;
  const std::string& file_;
  std::size_t number_ = 0;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t comma = std::min(line.find(',', from), line.size());
    cells.push_back(trimmed(line.substr(from, comma - from)));
    from = comma + 1;
  }
  return cells;
}

double number(std::string_view cell, const Lines& lines) {
  const auto value = core::number_in<double>(cell);
  if (!value || !std::isfinite(*value)) lines.fail("\"" + std::string(cell) + "\" is not a number");
  return *value;
}

/// Reads the header; returns the line after it, the names of the columns.
std::string_view read_header(Lines& lines, Header& header) {
  bool schema = false;
  for (auto line = lines.next(); line; line = lines.next()) {
    if (!line->starts_with('#')) {
      if (!schema) lines.fail("no line \"# " + std::string(kSchema) + "\"", "a table begins with it");
      return *line;
    }
    const std::string_view text = trimmed(line->substr(1));
    if (text == kSchema) {
      schema = true;
      continue;
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) continue;  // a remark
    const std::string_view key = trimmed(text.substr(0, colon));
    std::string value(trimmed(text.substr(colon + 1)));
    if (key == "gpu")
      header.gpu = std::move(value);
    else if (key == "kind")
      header.kind = std::move(value);
    else if (key == "precision")
      header.precision = std::move(value);
    else if (key == "source")
      header.source = std::move(value);
    else if (key == "licence")
      header.licence = std::move(value);
  }
  lines.fail("the file has no columns", "a line with their names comes after the lines that begin with #");
}

Kind kind_of(const Header& header, const Lines& lines) {
  std::string known;
  for (const Kind kind : kKinds) {
    if (to_string(kind) == header.kind) return kind;
    known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
  }
  lines.fail("kind \"" + header.kind + "\" is unknown", "# kind: one of " + known);
}

/// Where each column of the file goes in a row, and the factor to it.
struct Place {
  std::size_t at = 0;
  double factor = 1.0;
  bool time = false;
};

std::optional<double> time_unit(std::string_view name) {
  if (name == "time_us") return 1.0;
  if (name == "time_ms") return 1e3;
  if (name == "time_s") return 1e6;
  return std::nullopt;
}

std::vector<Place> places(std::string_view line, Kind kind, const Lines& lines) {
  const auto wanted = columns(kind);
  std::vector<Place> result;
  std::vector<bool> seen(wanted.size() + 1, false);
  for (const std::string_view name : split(line)) {
    const auto unit = time_unit(name);
    const auto at = static_cast<std::size_t>(std::find(wanted.begin(), wanted.end(), name) - wanted.begin());
    if (!unit && at == wanted.size()) {
      std::string known;
      for (const std::string_view column : wanted) known += std::string(column) + ", ";
      lines.fail("column \"" + std::string(name) + "\" is unknown", "known: " + known + "and time_us, time_ms or time_s");
    }
    if (seen[at]) lines.fail("column \"" + std::string(name) + "\" comes twice");
    seen[at] = true;
    result.push_back({at, unit.value_or(1.0), unit.has_value()});
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) lines.fail("column \"" + std::string(i < wanted.size() ? wanted[i] : "time_us") + "\" is missing");
  }
  return result;
}

void check_size(double size, std::string_view column, const Lines& lines) {
  const bool flag = column == "gated" || column == "backward";
  const double least = column == "window" || flag ? 0.0 : 1.0;
  const double most = flag ? 1.0 : kMaxSize;
  if (size >= least && size <= most && size == std::floor(size)) return;
  lines.fail(std::string(column) + " is not a whole number from " + std::to_string(static_cast<std::int64_t>(least)) +
             " to " + std::to_string(static_cast<std::int64_t>(most)));
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::string_view kNames[] = {"products",           "attention",
                                         "latent_attention",   "experts",
                                         "training_attention", "training_latent_attention",
                                         "decode_attention",   "decode_latent_attention"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::span<const std::string_view> columns(Kind kind) {
  switch (kind) {
    case Kind::kProducts:
      return kProductColumns;
    case Kind::kAttention:
      return kAttentionColumns;
    case Kind::kLatentAttention:
      return kLatentColumns;
    case Kind::kExperts:
      return kExpertColumns;
    case Kind::kTrainingAttention:
      return kTrainingColumns;
    case Kind::kTrainingLatent:
      return kTrainingLatentColumns;
    case Kind::kDecode:
      return kDecodeColumns;
    case Kind::kDecodeLatent:
      return kDecodeLatentColumns;
  }
  return {};
}

Csv parse_table(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  Csv csv;
  const std::string_view names = read_header(lines, csv.header);
  csv.kind = kind_of(csv.header, lines);
  const auto wanted = columns(csv.kind);
  const std::vector<Place> order = places(names, csv.kind, lines);
  csv.width = order.size();
  csv.values.reserve(text.size() / 12);  // a short row
  std::array<double, 16> row{};
  for (auto line = lines.next(); line; line = lines.next()) {
    if (line->empty() || line->starts_with('#')) continue;
    std::size_t from = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (from > line->size()) lines.fail("the row has fewer columns than the first line names");
      const std::size_t comma = std::min(line->find(',', from), line->size());
      row[order[i].at] = number(trimmed(line->substr(from, comma - from)), lines) * order[i].factor;
      from = comma + 1;
    }
    if (from <= line->size()) lines.fail("the row has more columns than the first line names");
    for (std::size_t i = 0; i < wanted.size(); ++i) check_size(row[i], wanted[i], lines);
    if (!(row[wanted.size()] >= kShortest && row[wanted.size()] <= kLongest)) {
      lines.fail("a time is from 1e-6 us to 1e12 us");
    }
    csv.values.insert(csv.values.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(csv.width));
  }
  return csv;
}

// Tables are kept as full grids: a file whose sizes span a huge one is none.
void check_grid(const Csv& csv, const std::string& file) {
  if (csv.kind == Kind::kExperts || csv.rows() == 0) return;  // experts are curves
  std::size_t cells = 1;
  for (std::size_t column = 0; column + 1 < csv.width; ++column) {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < csv.rows(); ++i) sizes.push_back(csv.row(i)[column]);
    std::sort(sizes.begin(), sizes.end());
    const auto different = static_cast<std::size_t>(std::unique(sizes.begin(), sizes.end()) - sizes.begin());
    cells = different > kMaxCells / cells ? kMaxCells + 1 : cells * different;
    if (cells > kMaxCells) {
      throw ConfigError(file, "the sizes of the rows span a grid of more than " + std::to_string(kMaxCells) + " positions",
                        "measure fewer different sizes, each with all others");
    }
  }
}

std::vector<Quantity> parse_device(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  Header header;
  if (read_header(lines, header) != "quantity,value") lines.fail("the columns are not \"quantity,value\"");
  if (header.kind != "device") lines.fail("kind \"" + header.kind + "\" is not \"device\"");
  std::vector<Quantity> quantities;
  for (auto line = lines.next(); line; line = lines.next()) {
    if (line->empty() || line->starts_with('#')) continue;
    const auto cells = split(*line);
    if (cells.size() != 2) lines.fail("a line has a quantity and its value");
    const auto same = [&](const Quantity& q) { return q.name == cells[0]; };
    if (std::any_of(quantities.begin(), quantities.end(), same))
      lines.fail("quantity \"" + std::string(cells[0]) + "\" comes twice");
    quantities.push_back({std::string(cells[0]), number(cells[1], lines)});
    if (!(quantities.back().value >= kLeast && quantities.back().value <= kMost)) lines.fail("a value is from 1e-3 to 1e9");
  }
  return quantities;
}

}  // namespace photonrail::formats::operators
