// What the parts of a "serving" section have to do with each other: settings without effect, and requests that none fits.
#include "config/scenario_serving.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace photonrail::config {

namespace {

using serving::PoolSpec;
using serving::ServingSpec;

// Keys of a trace are those of its own blocks, which the engine's must divide.
void check_hashes(const JsonReader& section, const ServingSpec& spec) {
  if (!spec.requests.trace) return;
  const serving::Trace& trace = *spec.requests.trace;
  const bool has = std::any_of(trace.rows.begin(), trace.rows.end(), [](const auto& row) { return !row.hashes.empty(); });
  for (const PoolSpec& pool : spec.pools) {
    if (has && trace.hash_tokens % pool.engine.block_tokens != 0) {
      section.fail("block_tokens " + std::to_string(pool.engine.block_tokens) + " does not divide the " +
                       std::to_string(trace.hash_tokens) + " tokens of the trace's hashes",
                   "16, 64 or 512");
    }
  }
}

// Settings without an effect.
void check_effects(const JsonReader& section, const ServingFile& file) {
  const auto& pools = file.spec.pools;
  const auto any = [&](auto&& has) { return std::any_of(pools.begin(), pools.end(), has); };
  if (file.flows && !any([](const PoolSpec& pool) { return pool.flows.any(); }))
    section.fail_at("collectives", "has no traffic to show", "engines of one GPU have no collectives: raise \"tp\"");
  const auto& classes = file.spec.requests.classes;
  const bool ranked = std::any_of(classes.begin(), classes.end(), [](const auto& of) { return of.priority != 0; });
  if (ranked && !any([](const PoolSpec& pool) { return pool.engine.order == serving::QueueOrder::kPriority; }))
    section.fail_at("requests", "has classes with priorities, and no engine orders by them",
                    "set \"order\" of the engine to \"priority\"");
  if (any([](const PoolSpec& pool) { return pool.scaling && pool.scaling->least == pool.engines.size(); }))
    section.fail_at("pools", "has a pool whose engines are all there always", "lower \"least\" of its \"scaling\"");
}

// Tokens of KV that the largest engine of a role holds.
std::uint64_t most_tokens(const ServingSpec& spec, bool of_prompts) {
  std::uint64_t most = 0;
  for (const PoolSpec& pool : spec.pools) {
    if (pool.role == (of_prompts ? serving::PoolRole::kDecode : serving::PoolRole::kPrefill)) continue;
    most = std::max(most, pool.engine.blocks * pool.engine.block_tokens);
  }
  return most;
}

// Single requests that never fit are refused in the run: here none ever could be served.
void check_fits(const JsonReader& section, const ServingSpec& spec) {
  const serving::RequestSpec& requests = spec.requests;
  const std::uint64_t room[] = {most_tokens(spec, true), most_tokens(spec, false)};
  const auto fits = [&](std::uint64_t prompt, std::uint64_t output) {
    return prompt <= room[0] && prompt + output - 1 <= room[1];
  };
  const std::string engines = "the largest engines hold " + std::to_string(std::min(room[0], room[1])) + " tokens of KV";
  const char* const remedy = "give engines more memory: \"blocks\", \"tp\" or another GPU; or shorter requests";
  JsonReader reader = section;
  const JsonReader at = *reader.optional("requests");
  if (requests.trace) {
    const auto& rows = requests.trace->rows;
    if (rows.empty() ||
        std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return fits(row.prompt, row.output); }))
      return;
    at.fail_at("trace", "has no request that could ever be served: " + engines, remedy);
  }
  const std::uint64_t prompt = requests.input.least();
  const std::uint64_t output = requests.output.least();
  if (fits(prompt, output)) return;
  at.fail_at(fits(prompt, 1) ? "output" : "input",
             "no request could ever be served: each has at least " + std::to_string(prompt + output - 1) + " tokens, and " +
                 engines,
             remedy);
}

// Times end at 46 days: a trace may be longer, where fewer of its rows are used, or they come faster.
void check_time(const JsonReader& section, const ServingSpec& spec) {
  constexpr double kMostSeconds = 4e6;
  const double seconds = spec.requests.trace ? spec.requests.arrivals_s() : 0.0;
  if (seconds <= kMostSeconds) return;
  JsonReader reader = section;
  std::string days = std::to_string(seconds / 86400.0);
  days.resize(days.find('.'));
  reader.optional("requests")
      ->fail_at("trace", "has requests for " + days + " days, and times end at 46 days",
                "a smaller \"count\", or a greater \"rate_factor\"");
}

// Classes are told apart by their names in results, and donors in the section.
void check_names(const JsonReader& section, const ServingFile& file) {
  std::set<std::string> classes;
  for (const serving::RequestClass& of : file.spec.requests.classes) {
    JsonReader reader = section;
    if (!classes.insert(of.name).second)
      reader.optional("requests")->fail_at("classes", "has two classes of the name \"" + of.name + "\"", "a name for each");
  }
  for (const ServedPool& one : file.pools) {
    const auto alike = [&](const ServedPool& other) { return other.name == one.name; };
    const auto other_role = [&](const ServedPool& other) { return alike(other) && other.role != one.role; };
    const bool lends = std::any_of(file.pools.begin(), file.pools.end(),
                                   [&](const ServedPool& pool) { return pool.offload && pool.offload->to == one.name; });
    if (std::any_of(file.pools.begin(), file.pools.end(), other_role) ||
        (lends && std::count_if(file.pools.begin(), file.pools.end(), alike) > 1))
      section.fail_at("pools", "has two pools of the name \"" + one.name + "\"", "a name for each");
  }
}

void check_search(const JsonReader& section, const ServingSpec& spec) {
  if (!spec.find_rate) return;
  const auto& classes = spec.requests.classes;
  const bool own = std::any_of(classes.begin(), classes.end(), [](const auto& of) { return of.ttft || of.tpot; });
  if (!spec.slo || (!spec.slo->ttft && !spec.slo->tpot && !own))
    section.fail_at("find_rate", "needs limits to keep", "give \"slo\" a \"ttft_ms\" or a \"tpot_ms\"");
  if (spec.requests.arrivals_per_s() <= 0.0)
    section.fail_at("find_rate", "has no rate to change", "give \"requests\" \"arrivals\", or a trace of some time");
}

}  // namespace

void check_served(const JsonReader& section, const ServingFile& file) {
  check_names(section, file);
  check_time(section, file.spec);
  check_hashes(section, file.spec);
  check_fits(section, file.spec);
  check_search(section, file.spec);
  check_effects(section, file);
}

}  // namespace photonrail::config
