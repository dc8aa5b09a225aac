// The command explains what "auto" would choose for a collective, and why.
#include "columns.hpp"
#include "commands.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/error.hpp"

#include <cmath>
#include <iostream>
#include <limits>

namespace photonrail::command {

namespace {

CollectiveOp op_of(const std::string& word) {
  if (const auto op = collective_op_from(word)) return *op;
  std::vector<std::string> known;
  for (int i = 0; i < kCollectiveOpCount; ++i) known.emplace_back(name(static_cast<CollectiveOp>(i)));
  throw ConfigError("--op", "unknown collective \"" + word + "\"", suggest(word, known));
}

/// The command line has checked that what it takes is finite and not negative.
Duration time_of(double value, double seconds_per_unit, const char* option) {
  if (value * seconds_per_unit <= 1e6) return from_seconds(value * seconds_per_unit);
  throw ConfigError(option, "more than 1e6 s");
}

CollectiveCall call_of(const ExplainOptions& options) {
  CollectiveCall call;
  call.op = op_of(options.op);
  call.members = options.ranks;
  call.size = {options.bytes};
  call.root = options.root;
  call.pieces = options.chunks;
  call.ports = options.ports;
  if (call.op == CollectiveOp::kSend && call.members != 2) throw ConfigError("--ranks", "a send has two", "--ranks 2");
  if (options.root >= options.ranks) throw ConfigError("--root", "is not among the ranks", "they count from 0");
  if (options.ranks % options.ranks_per_server != 0) {
    throw ConfigError("--ranks-per-server", "does not divide the ranks", "every server has as many");
  }
  if (options.ranks_per_server == 1) return call;
  for (std::uint32_t m = 0; m < options.ranks; ++m) {
    call.places.push_back({m / options.ranks_per_server, m % options.ranks_per_server});
  }
  return call;
}

CostModel model_of(const ExplainOptions& options) {
  const Duration overhead = time_of(options.overhead_ns, 1e-9, "--overhead-ns");
  CostModel on;
  on.rail = {time_of(options.latency_ns, 1e-9, "--latency-ns"), overhead,
             Bandwidth::from_gb_per_s(options.port_gb_per_s * options.ports)};
  on.scale_up = {time_of(options.scale_up_latency_ns, 1e-9, "--scale-up-latency-ns"), overhead,
                 Bandwidth::from_gb_per_s(options.scale_up_gb_per_s)};
  on.ports = options.ports;
  if (options.reconfiguration_ms) on.reconfiguration = time_of(*options.reconfiguration_ms, 1e-3, "--reconfiguration-ms");
  return on;
}

}  // namespace

void explain_collectives(const ExplainOptions& options, const CollectiveRegistry& known) {
  const CollectiveCall call = call_of(options);
  const CostModel on = model_of(options);
  const std::vector<CollectiveCandidate> ranked = rank_collectives(known, call, on);
  std::vector<std::vector<std::string>> rows;
  for (const CollectiveCandidate& candidate : ranked) {
    const std::string text = describe(candidate, on);
    const auto colon = text.find(": ");
    const bool chosen = rows.empty() && candidate.problem.empty();
    rows.push_back({chosen                      ? "auto takes"
                    : candidate.problem.empty() ? ""
                                                : "cannot",
                    text.substr(0, colon), text.substr(colon + 2)});
  }
  std::cout << in_columns(rows);
}

}  // namespace photonrail::command
