#include "serving/engine/kernel_tables.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace photonrail::serving {

namespace {

// The segment of an ascending axis in which `x` lies, and how far along: beyond the end more than 1, before it 0.
struct Along {
  std::size_t at = 0;
  double share = 0.0;
};

Along along(const std::vector<double>& axis, double x) {
  if (axis.size() < 2 || x <= axis.front()) return {};
  std::size_t above = static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), x) - axis.begin());
  above = std::min(above, axis.size() - 1);
  return {above - 1, (x - axis[above - 1]) / (axis[above] - axis[above - 1])};
}

double between(double low, double high, double share) { return low + (high - low) * share; }

}  // namespace

Curve::Curve(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {
  PHOTONRAIL_CHECK(!points_.empty());
  std::sort(points_.begin(), points_.end());
}

double Curve::at(double x) const {
  if (points_.size() == 1 || x <= points_.front().first) return points_.front().second;
  auto above = std::upper_bound(points_.begin(), points_.end(), x, [](double v, const auto& p) { return v < p.first; });
  if (above == points_.end()) --above;
  const auto below = above - 1;
  const double value = between(below->second, above->second, (x - below->first) / (above->first - below->first));
  return std::max(value, 0.0);  // beyond a last point that is below the one before it
}

AttentionTable::AttentionTable(const std::vector<Row>& rows) {
  std::map<Key, double> decodes;
  std::map<Key, double> chunks;
  for (const Row& row : rows) {
    const AttentionSizes& s = row.sizes;
    (s.chunk > 0 ? chunks : decodes)[{s.decodes, s.chunk, s.chunk_cached, s.decode_cached}] = row.us;
    mixed_ = mixed_ || (s.chunk > 0 && s.decodes > 0);
    if (s.chunk > 0) least_chunk_ = least_chunk_ == 0.0 ? s.chunk : std::min(least_chunk_, s.chunk);
  }
  if (!decodes.empty()) decodes_ = grow(decodes, {}, 0);
  if (!chunks.empty()) chunks_ = grow(chunks, {}, 0);
}

// The node of all rows whose first `depth` sizes are those of `from`.
std::uint32_t AttentionTable::grow(const std::map<Key, double>& rows, const Key& from, std::size_t depth) {
  Node node;
  Key next = from;
  std::fill(next.begin() + static_cast<std::ptrdiff_t>(depth), next.end(), 0.0);
  for (auto row = rows.lower_bound(next);
       row != rows.end() && std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(depth), row->first.begin());
       row = rows.lower_bound(next)) {
    node.axis.push_back(row->first[depth]);
    next = row->first;
    if (depth + 1 == next.size()) {
      node.us.push_back(row->second);
    } else {
      node.child.push_back(grow(rows, next, depth + 1));
    }
    std::fill(next.begin() + static_cast<std::ptrdiff_t>(depth) + 1, next.end(), 0.0);
    next[depth] = std::nextafter(next[depth], HUGE_VAL);
  }
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

double AttentionTable::at(std::uint32_t number, const Key& sizes, std::size_t depth) const {
  const Node& node = nodes_[number];
  const auto value = [&](std::size_t i) { return node.child.empty() ? node.us[i] : at(node.child[i], sizes, depth + 1); };
  const Along place = along(node.axis, sizes[depth]);
  if (place.share == 0.0) return value(place.at);
  return between(value(place.at), value(place.at + 1), place.share);
}

// Below the smallest chunk that was measured the time goes to that of the decodes alone.
double AttentionTable::us(const AttentionSizes& s) const {
  const Key sizes{s.decodes, s.chunk, s.chunk_cached, s.decode_cached};
  if (s.chunk <= 0 && s.decodes <= 0) return 0.0;
  const auto alone = [&] { return decodes_ == kNone || s.decodes <= 0 ? 0.0 : at(decodes_, sizes, 0); };
  if (s.chunk <= 0) return alone();
  if (chunks_ == kNone) return alone();
  if (!mixed_) return at(chunks_, {0.0, s.chunk, s.chunk_cached, 0.0}, 0) + alone();
  if (s.chunk >= least_chunk_) return at(chunks_, sizes, 0);
  const double least = at(chunks_, {s.decodes, least_chunk_, s.chunk_cached, s.decode_cached}, 0);
  return s.decodes <= 0 ? least : between(alone(), least, s.chunk / least_chunk_);
}

namespace {

// The kernels that a step has once; every other one is in each layer, and the norm twice.
constexpr std::string_view kOnce[] = {"embedding", "final_layernorm"};
constexpr std::string_view kTwice = "layernorm";

// vLLM captures graphs of 1, 2 and 4 tokens, of multiples of 8 up to 256, and of 16 beyond.
std::uint32_t padded_to_graph(std::uint32_t tokens) {
  if (tokens <= 2) return tokens;
  const std::uint32_t multiple = tokens <= 4 ? 4 : tokens <= 256 ? 8 : 16;
  return (tokens + multiple - 1) / multiple * multiple;
}

bool is_once(std::string_view kernel) { return std::find(std::begin(kOnce), std::end(kOnce), kernel) != std::end(kOnce); }

}  // namespace

KernelStepTime::KernelStepTime(KernelTables tables, const KernelModel& model) : tables_(std::move(tables)), model_(model) {
  const auto need = [](const auto& kernels, const char* table, const char* kernel) {
    if (kernels.count(kernel) == 0) throw ConfigError(table, std::string("lacks the kernel \"") + kernel + "\"");
  };
  for (const char* kernel : {"qkv_proj", "o_proj", "layernorm"}) need(tables_.dense, "dense.csv", kernel);
  need(tables_.per_sequence, "per_sequence.csv", "lm_head");
  if (tables_.experts.empty()) need(tables_.dense, "dense.csv", "down_proj");
  if (!tables_.attention.has_chunks() && !tables_.attention.has_decodes())
    throw ConfigError("attention.csv", "has no rows");
  if (!tables_.experts.empty() && model_.experts == 0)
    throw ConfigError("moe.csv", "is of a model with experts, and the scenario's model has none", "remove it");
  if (tables_.experts.empty() && model_.experts > 0)
    throw ConfigError("moe.csv", "is missing, and the scenario's model has experts", "profile them");
  dense_.reserve(model_.max_tokens + 1);
  for (std::uint32_t tokens = 0; tokens <= model_.max_tokens; ++tokens) {
    dense_.push_back(dense_us(tokens <= model_.graph_tokens ? padded_to_graph(tokens) : tokens));
  }
}

double KernelStepTime::dense_us(std::uint32_t tokens) const {
  double us = 0.0;
  for (const auto& [kernel, curve] : tables_.dense) {
    us += curve.at(tokens) * (is_once(kernel) ? 1.0 : model_.layers * (kernel == kTwice ? 2.0 : 1.0));
  }
  if (!tables_.experts.empty()) us += experts_us(tokens) * model_.layers;
  if (model_.tp > 1) us += 2.0 * model_.layers * reduce_us(tokens);
  return us;
}

double KernelStepTime::reduce_us(std::uint32_t tokens) const {
  const double bytes = 2.0 * tokens * model_.hidden;
  if (!model_.measured_reduce.empty()) return model_.measured_reduce.at(bytes);
  return to_seconds(model_.reduce) * 1e6 + bytes / model_.reduce_rate.bytes_per_second * 1e6;
}

// Tokens that choose their experts at random use so many of them.
double KernelStepTime::experts_us(std::uint32_t tokens) const {
  const double all = model_.experts;
  const double used = all * (1.0 - std::pow(1.0 - model_.top_k / all, tokens));
  auto above = tables_.experts.lower_bound(tokens);
  if (above == tables_.experts.end()) --above;
  if (above == tables_.experts.begin() || above->first == tokens) return above->second.at(used);
  const auto below = std::prev(above);
  return between(below->second.at(used), above->second.at(used), (tokens - below->first) / (above->first - below->first));
}

double KernelStepTime::least_s_per_token(std::uint32_t most) const {
  const double host = to_seconds(model_.host.token);
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t tokens = 1; tokens <= most; ++tokens) {
    const double us = dense_[std::min(tokens, model_.max_tokens)];
    least = std::min(least, (us * 1e-6 + to_seconds(model_.host.step)) / tokens);
  }
  return std::max(0.0, least + host);
}

// Prompts of a step do not see each other: together they have the scores of one chunk that is shorter than their sum. Rows
// of a profile are of all tokens of prompts, as its own simulator reads them.
double KernelStepTime::attention_us(const Step& step) const {
  AttentionSizes sizes;
  sizes.decodes = step.decodes;
  if (step.decodes > 0) sizes.decode_cached = static_cast<double>(step.decode_cached) / step.decodes;
  if (step.prefill_tokens > 0) {
    const double shorter = tables_.prompts_apart ? std::sqrt(std::max(step.prefills, 1U)) : 1.0;
    sizes.chunk = step.prefill_tokens / shorter;
    sizes.chunk_cached = shorter * static_cast<double>(step.prefill_reads) / step.prefill_tokens;
  }
  return tables_.attention.us(sizes);
}

Duration KernelStepTime::of(const Step& step) const {
  double us = dense_[std::min(step.tokens(), model_.max_tokens)];
  for (const auto& [kernel, curve] : tables_.per_sequence) us += curve.at(step.sequences);
  us += std::max(attention_us(step), 0.0) * model_.layers;
  if (step.tokens() > model_.graph_tokens) us = std::max(us, to_seconds(model_.eager_layer) * 1e6 * model_.layers);
  return Duration{std::llround(us * 1e6)} + model_.host.of(step);
}

}  // namespace photonrail::serving
