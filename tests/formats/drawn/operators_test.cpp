// Drawn operator tables: written with other columns first, in other units and forms of numbers, read back, and asked for
// the times of their own points and of points between.
#include "formats/operators/operators.hpp"
#include "formats/drawn/drawn.hpp"
#include "formats/operators/csv.hpp"
#include "support/folder.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace photonrail::test::drawn {
namespace {

using formats::operators::Csv;
using formats::operators::Kind;
using Sizes = std::vector<std::int64_t>;

constexpr double kRounding = 1e-12;  // of a decimal number
constexpr double kSingle = 3e-6;     // ratios are kept in single precision

/// Measured times of one kind and precision, in whole nanoseconds.
struct TableTruth {
  std::string kind;
  std::string precision = "bf16";
  std::string gpu;
  std::string source;
  std::string licence;
  std::vector<std::string> columns;
  std::map<Sizes, std::uint64_t> time_ns;
};

struct TablesTruth {
  std::map<std::string, double> device;
  std::vector<TableTruth> tables;
};

const std::map<std::string, std::vector<std::string>>& table_columns() {
  static const std::map<std::string, std::vector<std::string>> all{
      {"products", {"m", "n", "k"}},
      {"attention", {"head_dim", "window", "kv_heads", "heads", "batch", "sequence"}},
      {"latent_attention", {"heads", "batch", "sequence"}},
      {"decode_attention", {"head_dim", "kv_heads", "heads", "batch", "cached"}},
      {"decode_latent_attention", {"heads", "batch", "cached"}},
      {"experts", {"gated", "hidden", "ffn", "top_k", "experts", "tp", "ep", "tokens"}},
      {"training_attention", {"backward", "head_dim", "window", "kv_heads", "heads", "batch", "sequence"}},
      {"training_latent_attention", {"backward", "heads", "batch", "sequence"}}};
  return all;
}

std::uint64_t drawn_ns(Draw& draw) { return draw.from_to(900, 4000) * draw.pick<std::uint64_t>({1, 10, 1000, 100000}); }

/// Sizes a factor of four apart, so that the middle of two logarithms is a whole size.
Sizes axis_of(Draw& draw, std::int64_t least, std::size_t most_points) {
  Sizes sizes;
  std::int64_t size = least * static_cast<std::int64_t>(draw.from_to(1, 5));
  for (std::uint64_t i = draw.from_to(1, most_points); i > 0; --i, size *= 4) sizes.push_back(size);
  return sizes;
}

/// All combinations of the sizes of each column.
void fill_grid(Draw& draw, const std::vector<Sizes>& axes, TableTruth& table) {
  std::vector<Sizes> rows{{}};
  for (const Sizes& axis : axes) {
    std::vector<Sizes> longer;
    for (const Sizes& row : rows) {
      for (const std::int64_t size : axis) {
        longer.push_back(row);
        longer.back().push_back(size);
      }
    }
    rows = std::move(longer);
  }
  for (const Sizes& row : rows) table.time_ns[row] = drawn_ns(draw);
}

/// Curves of some shapes over tokens; top_k, tp and ep divide.
void fill_experts(Draw& draw, TableTruth& table) {
  for (std::uint64_t shape = draw.from_to(1, 3); shape > 0; --shape) {
    const std::int64_t hidden = 256 << (2 * shape);
    const auto tp = static_cast<std::int64_t>(1 << draw.below(2));
    const auto ep = static_cast<std::int64_t>(1 << draw.below(3));
    const Sizes before{static_cast<std::int64_t>(draw.below(2)),
                       hidden,
                       tp * 512,
                       static_cast<std::int64_t>(draw.from_to(1, 3)),
                       ep * 4,
                       tp,
                       ep};
    for (const std::int64_t tokens : axis_of(draw, 8, 3)) {
      Sizes row = before;
      row.push_back(tokens);
      table.time_ns[row] = drawn_ns(draw);
    }
  }
}

/// Rows of training on the first shape of the grid of inference, which `inference` has for both passes.
void fill_training(Draw& draw, const TableTruth& inference, TableTruth& table) {
  const Sizes first = inference.time_ns.begin()->first;
  for (const auto& [row, time] : inference.time_ns) {
    if (!std::equal(row.begin(), row.end() - 1, first.begin())) continue;
    for (const std::int64_t backward : {0, 1}) {
      Sizes own{backward};
      own.insert(own.end(), row.begin(), row.end());
      table.time_ns[own] = drawn_ns(draw);
    }
  }
}

TableTruth table_of(Draw& draw, const std::string& kind, const std::string& gpu) {
  TableTruth table;
  table.kind = kind;
  table.gpu = gpu;
  table.source = name_text(draw) + ": measured";
  table.licence = draw.one_in(2) ? name_text(draw) : "";
  table.columns = table_columns().at(kind);
  return table;
}

std::vector<TableTruth> attention_tables(Draw& draw, const std::string& gpu) {
  std::vector<TableTruth> tables{table_of(draw, "attention", gpu)};
  const std::int64_t heads = 1 << draw.below(5);
  const Sizes window = draw.one_in(2) ? Sizes{0} : Sizes{64};  // below every sequence, so that it hides keys
  const Sizes kv{draw.one_in(2) ? heads : 1};
  if (draw.one_in(2)) tables.front().precision = "fp8";
  fill_grid(draw,
            {{static_cast<std::int64_t>(draw.pick<int>({64, 128}))},
             window,
             kv,
             {heads},
             axis_of(draw, 1, 2),
             axis_of(draw, 256, 3)},
            tables.front());
  if (draw.one_in(2)) {
    tables.push_back(table_of(draw, "training_attention", gpu));
    tables.back().precision = tables.front().precision;
    fill_training(draw, tables.front(), tables.back());
  }
  tables.push_back(table_of(draw, "latent_attention", gpu));
  const std::size_t latent = tables.size() - 1;
  fill_grid(draw, {axis_of(draw, 1, 2), axis_of(draw, 1, 2), axis_of(draw, 128, 3)}, tables[latent]);
  if (draw.one_in(2)) {
    tables.push_back(table_of(draw, "training_latent_attention", gpu));
    fill_training(draw, tables[latent], tables.back());
  }
  return tables;
}

std::vector<TableTruth> decode_tables(Draw& draw, const std::string& gpu) {
  std::vector<TableTruth> tables{table_of(draw, "decode_attention", gpu), table_of(draw, "decode_latent_attention", gpu)};
  if (draw.one_in(2)) tables.front().precision = "fp8";
  const std::int64_t heads = 1 << draw.below(5);
  fill_grid(draw,
            {{static_cast<std::int64_t>(draw.pick<int>({64, 128}))},
             {draw.one_in(2) ? heads : 1},
             {heads},
             axis_of(draw, 1, 2),
             axis_of(draw, 256, 3)},
            tables.front());
  fill_grid(draw, {axis_of(draw, 1, 2), axis_of(draw, 1, 2), axis_of(draw, 128, 3)}, tables.back());
  return tables;
}

TablesTruth draw_tables(std::uint64_t seed) {
  Draw draw(seed, "operators/truth");
  TablesTruth truth;
  const std::string gpu = draw.pick<std::string>({"mine", "B300-x", "h100-SXM", "a_1"});
  truth.device = {{"bf16_tflops", static_cast<double>(draw.from_to(1, 4000)) / 4.0},
                  {"memory_gb_per_s", static_cast<double>(draw.from_to(100, 9000))}};
  // Precisions that are not in the file would compute in another one.
  for (const char* precision : {"fp8_tflops", "fp4_tflops"})
    truth.device[precision] = static_cast<double>(draw.from_to(1, 9000));
  if (draw.one_in(3)) {
    truth.device["multiprocessors"] = static_cast<double>(draw.from_to(1, 150));
    truth.device["tile_128x256"] = 1.0;
  }
  TableTruth products = table_of(draw, "products", gpu);
  products.precision = draw.pick<std::string>({"bf16", "fp8", "fp8_block", "fp4"});
  fill_grid(draw, {axis_of(draw, 2, 3), axis_of(draw, 128, 3), axis_of(draw, 64, 3)}, products);
  if (draw.one_in(3)) fill_grid(draw, {{1, 3}, axis_of(draw, 128, 2), {64}}, products);  // odd rows: a grid of their own
  truth.tables.push_back(std::move(products));
  TableTruth experts = table_of(draw, "experts", gpu);
  experts.precision = draw.pick<std::string>({"bf16", "fp8", "fp8_block", "fp4"});
  fill_experts(draw, experts);
  truth.tables.push_back(std::move(experts));
  for (TableTruth& table : attention_tables(draw, gpu)) truth.tables.push_back(std::move(table));
  for (TableTruth& table : decode_tables(draw, gpu)) truth.tables.push_back(std::move(table));
  return truth;
}

// ---- writing

std::string header_text(Draw& style, const std::map<std::string, std::string>& lines) {
  std::vector<std::string> all{"a remark", "tool: bench 2"};
  for (const auto& [key, value] : lines) all.push_back(key + style.pick<std::string>({":", ": ", " : "}) + value);
  style.shuffle(all);
  std::string text = style.pick<std::string>({"# ", "#"}) + "photonrail.operators/1\n";
  for (const std::string& line : all) text += style.pick<std::string>({"# ", "#", "#   "}) + line + "\n";
  return text;
}

std::string decimal(std::uint64_t ns, unsigned digits) {
  std::string text = std::to_string(ns);
  if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
  return text.insert(text.size() - digits, ".");
}

std::string table_text(Draw& style, const TableTruth& table, Cover& cover) {
  std::map<std::string, std::string> lines{
      {"gpu", table.gpu}, {"kind", table.kind}, {"precision", table.precision}, {"source", table.source}};
  if (!table.licence.empty()) lines["licence"] = table.licence;
  for (const auto& [key, value] : lines) cover.add(key);
  cover.add(table.kind);
  cover.add(table.precision);
  const auto unit = style.below(3);
  const std::string time = std::vector<std::string>{"time_us", "time_ms", "time_s"}[unit];
  std::vector<std::size_t> order(table.columns.size() + 1);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  style.shuffle(order);
  std::string text = header_text(style, lines);
  const auto cell = [&](bool first, const std::string& value) {
    text += (first ? "" : ",") + style.pick<std::string>({"", "", " "}) + value + style.pick<std::string>({"", "", " "});
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& name = order[i] < table.columns.size() ? table.columns[order[i]] : time;
    cover.add(name);
    cell(i == 0, name);
  }
  text += "\n";
  std::vector<std::pair<Sizes, std::uint64_t>> rows(table.time_ns.begin(), table.time_ns.end());
  style.shuffle(rows);
  for (const auto& [sizes, ns] : rows) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool is_time = order[i] == sizes.size();
      const std::string exact = decimal(ns, static_cast<unsigned>(3 * (unit + 1)));
      const std::string written = style.one_in(2) ? exact : number_text(style, std::stod(exact));
      cell(i == 0, is_time ? written : number_text(style, static_cast<double>(sizes[order[i]])));
    }
    text += "\n";
    if (style.one_in(6)) text += style.pick<std::string>({"\n", "# a remark\n"});
  }
  if (style.one_in(4)) text.pop_back();
  return maybe_crlf(style, text);
}

std::string device_text(Draw& style, const TablesTruth& truth, Cover& cover) {
  std::string text = header_text(style, {{"gpu", truth.tables.front().gpu}, {"kind", "device"}, {"source", "a datasheet"}});
  text += "quantity,value\n";
  std::vector<std::pair<std::string, double>> rows(truth.device.begin(), truth.device.end());
  style.shuffle(rows);
  for (const auto& [name, value] : rows) {
    cover.add(name);
    text += name + style.pick<std::string>({",", ", ", " ,"}) + number_text(style, value) + "\n";
  }
  return maybe_crlf(style, text);
}

// ---- comparing

void compare_rows(const TableTruth& truth, const std::string& text, Differences& found) {
  const Csv csv = formats::operators::parse_table(text, "drawn");
  found.compare("gpu", truth.gpu, csv.header.gpu);
  found.compare("kind", truth.kind, std::string(to_string(csv.kind)));
  found.compare("precision", truth.precision, csv.header.precision);
  found.compare("source", truth.source, csv.header.source);
  found.compare("licence", truth.licence, csv.header.licence);
  found.compare("rows", truth.time_ns.size(), csv.rows());
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const auto row = csv.row(i);
    const auto at = truth.time_ns.find(Sizes(row.begin(), row.end() - 1));
    if (at == truth.time_ns.end()) {
      found.add(truth.kind + ": a row that was not written, " + ::testing::PrintToString(Sizes(row.begin(), row.end())));
    } else {
      found.near(truth.kind + " time", static_cast<double>(at->second) / 1e3, row.back(), kRounding);
    }
  }
}

/// What import gives: lines of `# key: value`, the columns, and rows, in the order of the documentation.
void compare_import(const TableTruth& truth, const std::filesystem::path& file, Differences& found) {
  const formats::operators::ImportedOperatorTable imported = formats::operators::import_operator_table(file);
  found.compare("import name", truth.gpu + "/" + truth.kind + "_" + truth.precision + ".csv", imported.name);
  found.compare("import rows", truth.time_ns.size(), imported.rows);
  std::string head = "# photonrail.operators/1\n# gpu: " + truth.gpu + "\n# kind: " + truth.kind +
                     "\n# precision: " + truth.precision + "\n# source: " + truth.source + "\n# licence: " + truth.licence +
                     "\n";
  for (const std::string& column : truth.columns) head += column + ",";
  head += "time_us\n";
  found.compare("import header", head, imported.text.substr(0, head.size()));
  std::map<Sizes, double> rows;
  std::istringstream lines(imported.text.substr(std::min(head.size(), imported.text.size())));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    Sizes sizes;
    std::string cell;
    while (sizes.size() < truth.columns.size() && std::getline(cells, cell, ','))
      sizes.push_back(std::llround(std::stod(cell)));
    cells >> rows[sizes];
  }
  found.compare("import rows", truth.time_ns.size(), rows.size());
  for (const auto& [sizes, ns] : truth.time_ns)
    found.near("import time", static_cast<double>(ns) / 1e3, rows[sizes], kRounding);
}

OperatorPrecision precision_of(const std::string& word) {
  if (word == "fp8") return OperatorPrecision::kFp8;
  if (word == "fp8_block") return OperatorPrecision::kFp8Block;
  return word == "fp4" ? OperatorPrecision::kFp4 : OperatorPrecision::kBf16;
}

/// The operator that a row of a table is of, by the documentation of its columns.
Operator operator_of(const TableTruth& table, const Sizes& row) {
  const OperatorPrecision precision = precision_of(table.precision);
  const auto at = [&](const char* column) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), column);
    return row[static_cast<std::size_t>(found - table.columns.begin())];
  };
  if (table.kind == "products") return MatrixProduct{precision, at("m"), at("n"), at("k"), true};
  if (table.kind == "experts") {
    GroupedProduct op;
    op.precision = precision;
    op.pairs = at("tokens") * at("top_k") / at("ep");
    op.hidden = at("hidden");
    op.ffn = at("ffn") / at("tp");
    op.experts = at("experts") / at("ep");
    op.total_experts = at("experts");
    op.top_k = at("top_k");
    op.gated = at("gated") == 1;
    op.routed_tokens = at("tokens");
    return op;
  }
  if (table.kind.starts_with("decode")) {
    DecodeAttention op;
    op.precision = precision;
    op.latent = table.kind == "decode_latent_attention";
    if (!op.latent) op.head_dim = at("head_dim");
    if (!op.latent) op.kv_heads = at("kv_heads");
    op.heads = at("heads");
    op.batch = at("batch");
    op.cached = at("cached");
    return op;
  }
  const bool backward = table.kind.starts_with("training") && at("backward") == 1;
  if (table.kind.ends_with("latent_attention")) {
    LatentCore op;
    op.heads = at("heads");
    op.batch = at("batch");
    op.queries = op.keys = at("sequence");
    op.backward = backward;
    return op;
  }
  Attention op;
  op.precision = precision;
  op.head_dim = at("head_dim");
  op.window = at("window");
  op.kv_heads = at("kv_heads");
  op.heads = at("heads");
  op.batch = at("batch");
  op.queries = op.keys = at("sequence");
  op.backward = backward;
  return op;
}

bool has_training(const TablesTruth& truth, const TableTruth& table) {
  return std::any_of(truth.tables.begin(), truth.tables.end(),
                     [&](const TableTruth& other) { return other.kind == "training_" + table.kind; });
}

void compare_points(const TablesTruth& truth, const OperatorTimes& times, Differences& found) {
  for (const TableTruth& table : truth.tables) {
    if (has_training(truth, table)) continue;  // a forward pass then takes the time of training
    for (const auto& [sizes, ns] : table.time_ns) {
      const OperatorTime read = times.time(operator_of(table, sizes));
      const std::string what = table.kind + " " + ::testing::PrintToString(sizes);
      found.near(what + " ps", static_cast<double>(ns) * 1e3, static_cast<double>(read.time.count()), kSingle);
      found.compare(what + " source", std::string("table"), std::string(to_string(read.source)));
    }
  }
}

// Between two measured points the logarithm of time / base is the mean where the size is the geometric mean. base =
// max(FLOPs / peak, bytes / bandwidth) + the smallest time (docs/models/operators.md).
void compare_middles(const TablesTruth& truth, const OperatorTimes& times, Differences& found) {
  const TableTruth& table = truth.tables.front();
  if (truth.device.contains("multiprocessors")) return;  // whole waves of tiles count there
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [sizes, ns] : table.time_ns) smallest = std::min(smallest, ns);
  const double element = table.precision == "bf16" ? 2.0 : table.precision == "fp4" ? 0.5 : 1.0;
  const std::string peak = table.precision == "fp8_block" ? "fp8_tflops" : table.precision + "_tflops";
  const auto base = [&](const Sizes& s) {
    const double m = static_cast<double>(s[0]), n = static_cast<double>(s[1]), k = static_cast<double>(s[2]);
    const double bytes = element * (m * k + n * k) + 2.0 * m * n;
    return std::max(2.0 * m * n * k / truth.device.at(peak), bytes * 1000.0 / truth.device.at("memory_gb_per_s")) +
           static_cast<double>(smallest) * 1e3;
  };
  for (const auto& [low, low_ns] : table.time_ns) {
    if (low[0] % 2 != 0) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Sizes high = low, middle = low;
      high[axis] *= 4;
      middle[axis] *= 2;
      const auto above = table.time_ns.find(high);
      if (above == table.time_ns.end()) continue;
      const double ratio = std::sqrt(static_cast<double>(low_ns) * 1e3 / base(low) *
                                     (static_cast<double>(above->second) * 1e3 / base(high)));
      const OperatorTime read = times.time(operator_of(table, middle));
      const std::string what = "between " + ::testing::PrintToString(low) + " and " + ::testing::PrintToString(high);
      found.near(what, base(middle) * ratio, static_cast<double>(read.time.count()), kSingle);
      found.compare(what, std::string("interpolated"), std::string(to_string(read.source)));
    }
  }
}

void compare_device(const TablesTruth& truth, const OperatorRoofline& read, Differences& found) {
  found.compare("bf16_tflops", truth.device.at("bf16_tflops"), read.bf16_tflops);
  found.compare("fp8_tflops", truth.device.at("fp8_tflops"), read.fp8_tflops);
  found.compare("fp4_tflops", truth.device.at("fp4_tflops"), read.fp4_tflops);
  found.compare("memory_gb_per_s", truth.device.at("memory_gb_per_s"), read.memory_gb_per_s);
}

/// Writes `written` in the style of the seed and compares what is read with `truth`.
Differences read_tables(std::uint64_t seed, const TablesTruth& written, const TablesTruth& truth, Cover& cover) {
  Draw style(seed, "operators/style");
  Differences found;
  const Folder folder;
  const std::string& gpu = written.tables.front().gpu;
  std::filesystem::create_directories(folder.path() / gpu);
  folder.write(gpu + "/device.csv", device_text(style, written, cover));
  for (std::size_t t = 0; t < written.tables.size(); ++t) {
    const TableTruth& table = written.tables[t];
    const std::string text = table_text(style, table, cover);
    compare_rows(truth.tables[t], text, found);
    const std::string packed = maybe_gzip(style, text);
    const std::string name = gpu + "/" + table.kind + "_" + table.precision + (packed == text ? ".csv" : ".csv.gz");
    compare_import(truth.tables[t], folder.write(name, packed), found);
  }
  const OperatorTimes times = formats::operators::operator_times(gpu, folder.path());
  compare_device(truth, times.device(), found);
  compare_points(truth, times, found);
  compare_middles(truth, times, found);
  return found;
}

TEST(DrawnOperators, TablesAreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(200, [&](std::uint64_t seed) {
    const TablesTruth truth = draw_tables(seed);
    return read_tables(seed, truth, truth, cover);
  });
  std::set<std::string> known = words_in({"src/formats/operators/csv.cpp"}, {R"rx("([a-z][a-z0-9_]*)")rx"});
  known.merge(words_in({"src/formats/operators/reader.cpp"}, {R"rx(q\.name == "([a-z0-9_]+)")rx"}));
  cover.expect_all(known, {{"device", "the kind of device.csv, which has one kind and no choice"}});
}

TEST(DrawnOperators, AnotherValueIsNoticed) {
  Cover cover;
  expect_changes_noticed(40, {"time", "size", "peak", "gpu"}, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "operators/planted");
    const TablesTruth truth = draw_tables(seed);
    TablesTruth other = truth;
    TableTruth& table = other.tables[draw.below(other.tables.size())];
    name = draw.pick<std::string>({"time", "size", "peak", "gpu"});
    const auto row = *std::next(table.time_ns.begin(), static_cast<std::ptrdiff_t>(draw.below(table.time_ns.size())));
    if (name == "time") table.time_ns[row.first] += 1;
    if (name == "peak") other.device["bf16_tflops"] += 0.25;
    if (name == "gpu") table.gpu += "1";
    if (name == "size") {
      Sizes sizes = row.first;
      sizes.back() += 1;
      table.time_ns.erase(row.first);
      table.time_ns[sizes] = row.second;
    }
    try {
      return !read_tables(seed, other, truth, cover).none();
    } catch (const ConfigError&) {
      return true;
    }
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
