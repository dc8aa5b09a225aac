#include "photonrail/error.hpp"
#include "photonrail/training.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

namespace {

constexpr std::uint64_t kMostRanks = 1u << 24;
constexpr double kMostBytes = 4e18;       // of one task; Bytes is a signed 64-bit count
constexpr double kMostLayerPasses = 4e6;  // of one program; each is a dozen tasks
constexpr std::uint32_t kMostElementBytes = 8;

void require_positive(std::string pointer, std::uint32_t value) {
  if (value == 0) throw ConfigError(std::move(pointer), "is 0", "must be at least 1");
}

void require_divides(std::string pointer, const std::string& what, std::uint64_t divisor, std::uint64_t value) {
  if (value % divisor == 0) return;
  throw ConfigError(std::move(pointer),
                    what + ": " + std::to_string(value) + " is not a multiple of " + std::to_string(divisor),
                    "the next multiple is " + std::to_string((value / divisor + 1) * divisor));
}

void check_positive(const TrainingSpec& s) {
  require_positive("/model/layers", s.model.layers);
  require_positive("/model/hidden", s.model.hidden);
  require_positive("/model/ffn", s.model.ffn);
  require_positive("/model/heads", s.model.heads);
  require_positive("/model/kv_heads", s.model.kv_heads);
  require_positive("/model/vocabulary", s.model.vocabulary);
  require_positive("/parallelism/tp", s.parallelism.tp);
  require_positive("/parallelism/pp", s.parallelism.pp);
  require_positive("/parallelism/dp", s.parallelism.dp);
  require_positive("/parallelism/virtual_stages", s.parallelism.virtual_stages);
  require_positive("/sequence", s.sequence);
  require_positive("/global_batch", s.global_batch);
  require_positive("/micro_batch", s.micro_batch);
  require_positive("/precision/parameters", s.parameter_bytes);
  require_positive("/precision/gradients", s.gradient_bytes);
}

void check_model(const ModelSpec& m) {
  require_divides("/model/heads", "hidden is cut into heads", m.heads, m.hidden);
  require_divides("/model/kv_heads", "query heads share KV heads evenly", m.kv_heads, m.heads);
}

void check_tensor_parallelism(const TrainingSpec& s) {
  const std::uint32_t tp = s.parallelism.tp;
  const ModelSpec& m = s.model;
  require_divides("/parallelism/tp", "heads are split over tp", tp, m.heads);
  if (m.kv_heads % tp != 0 && tp % m.kv_heads != 0) {
    throw ConfigError("/parallelism/tp",
                      std::to_string(m.kv_heads) + " KV heads can be neither split nor repeated evenly over " +
                          std::to_string(tp) + " ranks",
                      "a divisor or a multiple of kv_heads");
  }
  require_divides("/parallelism/tp", "ffn is split over tp", tp, m.ffn);
  require_divides("/parallelism/tp", "the vocabulary is split over tp (pad it)", tp, m.vocabulary);
  if (s.sequence_parallel) require_divides("/parallelism/tp", "the sequence is split over tp", tp, s.sequence);
}

void check_pipeline(const TrainingSpec& s) {
  const std::uint64_t parts = std::uint64_t{s.parallelism.pp} * s.parallelism.virtual_stages;
  if (parts <= s.model.layers) return;
  throw ConfigError("/parallelism/pp", std::to_string(parts) + " stages for " + std::to_string(s.model.layers) + " layers",
                    "each stage needs a layer");
}

void check_order(const std::vector<std::string>& order) {
  std::vector<std::string> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == std::vector<std::string>{"dp", "pp", "tp"}) return;
  std::string given;
  for (const std::string& word : order) given += (given.empty() ? "" : ", ") + word;
  throw ConfigError("/order", "[" + given + "] is not a rank order", R"(tp, dp and pp, each once, innermost first)");
}

void check_extent(const TrainingSpec& s) {
  const ParallelismSpec& p = s.parallelism;
  if (std::uint64_t{p.tp} * p.pp > kMostRanks || std::uint64_t{p.tp} * p.pp * p.dp > kMostRanks) {
    throw ConfigError("/parallelism", "tp x pp x dp is more than " + std::to_string(kMostRanks) + " ranks");
  }
  if (s.parameter_bytes > kMostElementBytes) throw ConfigError("/precision/parameters", "is more than 8 bytes");
  if (s.gradient_bytes > kMostElementBytes) throw ConfigError("/precision/gradients", "is more than 8 bytes");
  // No formula of layer_cost.cpp counts more than 256 bytes per parameter, or per token and per unit of width.
  const double tokens = static_cast<double>(s.micro_batch) * s.sequence;
  const double width = static_cast<double>(s.model.hidden) + s.model.ffn + s.model.vocabulary;
  if (256.0 * tokens * width > kMostBytes) throw ConfigError("/micro_batch", "activations exceed 64-bit sizes");
  if (256.0 * s.model.parameters() > kMostBytes) throw ConfigError("/model", "parameters exceed 64-bit sizes");
  if (static_cast<double>(s.micro_batches()) * s.model.layers / p.pp > kMostLayerPasses) {
    throw ConfigError("/global_batch", std::to_string(s.micro_batches()) + " micro-batches are too many for a task graph",
                      "a larger micro_batch, or fewer sequences");
  }
}

}  // namespace

std::uint32_t TrainingSpec::micro_batches() const {
  const std::uint64_t at_once = std::uint64_t{parallelism.dp} * micro_batch;
  return at_once == 0 ? 0 : static_cast<std::uint32_t>(global_batch / at_once);
}

void TrainingSpec::validate() const {
  check_positive(*this);
  check_model(model);
  check_tensor_parallelism(*this);
  check_pipeline(*this);
  require_divides("/global_batch", "dp x micro_batch sequences are in flight at once",
                  std::uint64_t{parallelism.dp} * micro_batch, global_batch);
  check_order(order);
  check_extent(*this);
  pipeline().validate();
}

}  // namespace photonrail
