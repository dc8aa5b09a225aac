#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"
#include "workload/training/spec_check.hpp"

#include <algorithm>
#include <string>

namespace photonrail {

using workload::check_model;
using workload::check_parallelism;
using workload::require_divides;
using workload::require_positive;

void workload::require_positive(const core::Field& where, std::uint32_t value) {
  if (value == 0) throw core::FieldError(where, "is 0", "must be at least 1");
}

void workload::require_divides(const core::Field& where, const std::string& what, std::uint64_t divisor,
                               std::uint64_t value) {
  if (value % divisor == 0) return;
  throw core::FieldError(where, what + ": " + std::to_string(value) + " is not a multiple of " + std::to_string(divisor),
                         "the next multiple is " + std::to_string((value / divisor + 1) * divisor));
}

namespace {

using core::field;
using core::FieldError;

constexpr std::uint64_t kMaxRanks = 1u << 24;
constexpr double kMaxBytes = 4e18;       // of one task; Bytes is a signed 64-bit count
constexpr double kMaxLayerPasses = 1e6;  // of all stages; each is some dozen tasks of about 120 bytes
constexpr std::uint32_t kMaxElementBytes = 8;

void check_positive(const TrainingSpec& s) {
  require_positive(field("model.layers"), s.model.layers);
  require_positive(field("model.hidden"), s.model.hidden);
  require_positive(field("model.ffn"), s.model.ffn);
  require_positive(field("model.heads"), s.model.heads);
  require_positive(field("model.kv_heads"), s.model.kv_heads);
  require_positive(field("model.vocabulary"), s.model.vocabulary);
  require_positive(field("parallelism.tp"), s.parallelism.tp);
  require_positive(field("parallelism.pp"), s.parallelism.pp);
  require_positive(field("parallelism.dp"), s.parallelism.dp);
  require_positive(field("parallelism.cp"), s.parallelism.cp);
  require_positive(field("parallelism.ep"), s.parallelism.ep);
  require_positive(field("parallelism.virtual_stages"), s.parallelism.virtual_stages);
  require_positive(field("parallelism.dp_replicate"), s.parallelism.dp_replicate);
  require_positive(field("sequence"), s.sequence);
  require_positive(field("global_batch"), s.global_batch);
  require_positive(field("micro_batch"), s.micro_batch);
  require_positive(field("parameter_bytes"), s.parameter_bytes);
  require_positive(field("gradient_bytes"), s.gradient_bytes);
}

void check_order(const TrainingSpec& s) {
  std::vector<std::string> sorted = s.order;
  std::sort(sorted.begin(), sorted.end());
  const bool four = sorted == std::vector<std::string>{"cp", "dp", "pp", "tp"};
  if (four || (s.parallelism.cp == 1 && sorted == std::vector<std::string>{"dp", "pp", "tp"})) return;
  std::string given;
  for (const std::string& word : s.order) given += (given.empty() ? "" : ", ") + word;
  throw FieldError(field("order"), "[" + given + "] is not a rank order",
                   "tp, cp, dp and pp, each once, innermost first; experts are laid over them");
}

void check_ranks(const ParallelismSpec& p) {
  std::uint64_t ranks = 1;
  for (const std::uint32_t size : {p.tp, p.cp, p.pp, p.dp}) {
    ranks *= size;
    if (ranks > kMaxRanks) {
      throw FieldError(field("parallelism"), "tp x cp x pp x dp is more than " + std::to_string(kMaxRanks) + " ranks");
    }
  }
}

/// Elements that a token has at most in any part of a layer.
double widest(const ModelSpec& m) {
  double width = static_cast<double>(m.hidden) + m.ffn + m.vocabulary + static_cast<double>(m.heads) * m.head_width();
  if (m.latent) width += static_cast<double>(m.heads) * (m.latent->nope_head + m.latent->rope_head + m.latent->value_head);
  if (m.moe) width += m.moe->experts + (m.moe->top_k + m.moe->shared) * (static_cast<double>(m.hidden) + m.expert_ffn());
  return width;
}

void check_extent(const TrainingSpec& s) {
  const ParallelismSpec& p = s.parallelism;
  if (s.parameter_bytes > kMaxElementBytes) throw FieldError(field("parameter_bytes"), "is more than 8 bytes");
  if (s.gradient_bytes > kMaxElementBytes) throw FieldError(field("gradient_bytes"), "is more than 8 bytes");
  // No formula of layer_cost.hpp counts more than 256 bytes per parameter, or per token and per unit of width.
  const double tokens = static_cast<double>(s.micro_batch) * s.sequence;
  if (256.0 * tokens * widest(s.model) > kMaxBytes)
    throw FieldError(field("micro_batch"), "activations exceed 64-bit sizes");
  if (256.0 * s.model.parameters() > kMaxBytes) throw FieldError(field("model"), "parameters exceed 64-bit sizes");
  const double passes = static_cast<double>(s.micro_batches()) * s.model.layers;
  if (passes * p.cp > kMaxLayerPasses) {
    throw FieldError(field("global_batch"),
                     std::to_string(s.micro_batches()) + " micro-batches are too many for a task graph",
                     "a larger micro_batch, or fewer sequences");
  }
}

}  // namespace

std::uint32_t TrainingSpec::micro_batches() const {
  const std::uint64_t at_once = std::uint64_t{parallelism.dp} * micro_batch;
  return at_once == 0 ? 0 : static_cast<std::uint32_t>(global_batch / at_once);
}

MoeSpec TrainingSpec::expert_traffic() const {
  MoeSpec traffic = moe.value_or(MoeSpec{});
  traffic.members = parallelism.ep;
  traffic.experts = model.moe->experts;
  traffic.top_k = model.moe->top_k;
  traffic.tokens = std::uint64_t{micro_batch} * sequence / parallelism.cp / parallelism.tp;
  traffic.hidden = model.hidden;
  traffic.layers = model.layers + model.predicted_tokens;
  traffic.micro_batches = micro_batches();
  return traffic;
}

void TrainingSpec::validate() const {
  check_positive(*this);
  check_model(model);
  check_ranks(parallelism);
  require_divides(field("global_batch"), "dp x micro_batch sequences are in flight at once",
                  std::uint64_t{parallelism.dp} * micro_batch, global_batch);
  check_order(*this);
  check_extent(*this);
  check_parallelism(*this);
}

}  // namespace photonrail
