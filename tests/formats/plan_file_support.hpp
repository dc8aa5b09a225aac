// Collectives from files, for tests: what they send, whether they are right, how long they take.
#pragma once

#include "photonrail/collective/plan_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::test {

inline CollectiveCall call_of(const CollectiveFile& file, std::int64_t size) {
  return {.op = file.op, .members = file.members, .size = Bytes{size}, .root = file.root};
}

/// Right in whatever order messages arrive.
inline void expect_correct(const CollectiveCall& call, const SendPlan& plan, const std::string& what) {
  using testing::ArrivalOrder;
  for (const ArrivalOrder order :
       {ArrivalOrder::kOldestFirst, ArrivalOrder::kNewestFirst, ArrivalOrder::kStarveOne, ArrivalOrder::kRandom}) {
    const auto report = testing::replay(call, plan, {.order = order, .seed = 7});
    EXPECT_TRUE(report.correct) << what << ": " << report.problem;
  }
}

using Sent = std::tuple<Member, Member, std::uint32_t, std::uint32_t, bool>;

/// From, to, first chunk, chunks, reduce of every run of every send, ascending.
inline std::vector<Sent> sent_by(const SendPlan& plan) {
  std::vector<Sent> all;
  std::vector<ChunkRun> runs;
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send s = plan.send(i);
    runs.clear();
    plan.data(i, runs);
    for (const ChunkRun& run : runs) all.emplace_back(s.from, s.to, run.first, run.count, s.reduce);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// A scenario of one collective on electrical rails, one GPU a server, one port of 50 GiB/s that is held for 0.5 us and the
/// bytes of a message: the alpha-beta model. `algorithm` is JSON.
inline std::string alpha_beta(const std::string& op, std::size_t ranks, std::int64_t bytes, const std::string& algorithm) {
  return R"({"schema": "photonrail.scenario/1", "cluster": {"servers": )" + std::to_string(ranks) +
         R"(, "gpus_per_server": 1, "nic": {"port_gb_per_s": 53.6870912, "message_overhead_ns": 500},
         "rail": {"kind": "electrical"}}, "run": {"fidelity": "exact"}, "collectives": {")" +
         op + R"(": )" + algorithm + R"(}, "workload": {"collective": {"op": ")" + op + R"(", "bytes": )" +
         std::to_string(bytes) + "}}}";
}

inline double simulated_us(const Scenario& scenario) { return to_seconds(simulate(scenario).makespan) * 1e6; }

/// A call of the algorithm alone, on the rails of alpha_beta().
inline double alone_us(const CollectiveFile& file, std::int64_t bytes) {
  const std::string op(name(file.op));
  const bool exchanges = file.op == CollectiveOp::kAllToAll;
  Scenario scenario = parse_scenario(alpha_beta(op, file.members, bytes, exchanges ? R"("pairwise")" : R"("ring")"), {});
  scenario.collectives.own.push_back(file.algorithm);
  scenario.collectives.algorithm[static_cast<std::size_t>(file.op)] = std::string(file.algorithm->name());
  return simulated_us(scenario);
}

inline std::string problem_of(const std::string& xml) {
  try {
    static_cast<void>(parse_msccl(xml, "x.xml"));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return {};
}

}  // namespace photonrail::test
