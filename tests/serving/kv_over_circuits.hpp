// KV from one prefill engine to eight decode engines over a rail: what several tests run.
#pragma once

#include "control/matrix_circuits.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "serving/agent.hpp"

#include <memory>
#include <string>
#include <vector>

namespace photonrail::test {

inline constexpr double kBytes = 1.342177280e9 / 8;  // of 4,096 tokens of Llama-3-70B that one of eight NICs sends
inline constexpr double kTransferMs = kBytes / 50e9 * 1e3;
inline constexpr std::uint32_t kDestinations = 8;

inline serving::ServingSpec one_to_eight(double per_s, std::uint64_t transfers) {
  using namespace serving;
  ServingSpec spec;
  EngineSpec engine;
  engine.blocks = 1'000'000;
  engine.max_sequences = 10'000;
  engine.prefix_caching = false;
  PoolSpec prefill;
  prefill.name = "prefill";
  prefill.role = PoolRole::kPrefill;
  prefill.engine = engine;
  prefill.engines = {{RankId{0U}}};
  prefill.times = std::make_shared<LinearStepTime>(LinearLaw{Duration{1}, {}, {}, {}});
  PoolSpec decode = prefill;
  decode.name = "decode";
  decode.role = PoolRole::kDecode;
  decode.engines.clear();
  for (std::uint32_t i = 1; i <= kDestinations; ++i) decode.engines.push_back({RankId{i}});
  spec.pools = {prefill, decode};
  spec.routing.decode = RoutePolicy::kRandom;
  spec.transfer.bytes_per_token = kBytes;
  spec.transfer.order = TransferSpec::Order::kFifo;
  spec.transfer.rate = {50e9};
  spec.requests.arrivals.stages = {{per_s}};
  spec.requests.count = transfers;
  return spec;
}

inline ServingResult over_rail(const serving::ServingSpec& spec, const std::string& controller, Duration delay,
                               bool provisioned = false) {
  testing::TinyJob job(1 + kDestinations);
  if (!controller.empty()) job.optical(delay, controller);
  if (provisioned && controller == "opus") job.scenario.controller.parameters.set("mode", "provisioned");
  if (provisioned && controller != "opus") job.scenario.controller.parameters.set("provisioned", 1.0);
  job.build();
  job.scenario.graph = idle_graph(1 + kDestinations);
  serving::ServingAgent agent(spec);
  static_cast<void>(simulate(job.scenario, agent));
  return agent.result();
}

/// The port of the prefill engine is eight ports, split among the others by `shares`.
inline ServingResult over_split(const serving::ServingSpec& spec, const std::vector<double>& shares) {
  testing::TinyJob job(1 + kDestinations);
  job.optical({}, "static");
  job.scenario.cluster.nic.ports = kDestinations;
  job.scenario.cluster.nic.per_port = {50e9 / kDestinations};
  control::ShareMatrix matrix{{0}, {}, {shares}};
  for (std::uint32_t i = 1; i <= shares.size(); ++i) matrix.to.push_back(i);
  for (const Circuit circuit : control::circuits_by_shares(matrix, {1 + kDestinations, kDestinations}).connect) {
    job.scenario.controller.circuits.push_back({GpuId{circuit.from.value / kDestinations},
                                                GpuId{circuit.to.value / kDestinations}, circuit.from.value % kDestinations,
                                                circuit.to.value % kDestinations});
  }
  job.build();
  job.scenario.graph = idle_graph(1 + kDestinations);
  serving::ServingAgent agent(spec);
  static_cast<void>(simulate(job.scenario, agent));
  return agent.result();
}

}  // namespace photonrail::test
