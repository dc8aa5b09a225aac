// What a part of the execution works on, for tests that build the part alone: a small electrical job and its tables.
#pragma once

#include "collective/algorithm_table.hpp"
#include "execution/circuit_service.hpp"
#include "execution/run_context.hpp"
#include "folding/member_placement.hpp"
#include "run/job.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

/// Two ranks on two servers unless the test builds another job.
struct PartFixture {
  explicit PartFixture(Job job = Job(2), Fidelity plans_at = Fidelity::kExact)
      : job_(built(std::move(job))), fidelity(plans_at) {}

  [[nodiscard]] static Job built(Job job) {
    job.build();
    return job;
  }
  [[nodiscard]] const TaskGraph& graph() const { return job_.scenario.graph; }
  [[nodiscard]] execution::RunContext context() {
    return {engine, fabric, operations, accounting, stragglers, gpus, observers};
  }
  /// Runs every event; returns the time of the last.
  Time run_all() {
    engine.run();
    return engine.now();
  }

  Job job_;
  Fidelity fidelity;
  engine::Engine engine;
  CollectiveRegistry registry = CollectiveRegistry::builtin();
  collective::AlgorithmTable algorithms{job_.scenario.collectives, registry};
  execution::PlanCache plans{algorithms, nullptr, {.fidelity = fidelity}};
  fabric::Fabric fabric{engine, job_.scenario.cluster, fabric::FabricSettings{}};
  folding::MemberPlacement placement = folding::MemberPlacement::of(job_.scenario.graph, job_.scenario.gpu_of_rank);
  execution::OperationTable operations{job_.scenario.graph, placement, fabric, plans, nullptr};
  execution::TimeAccounting accounting{job_.scenario.graph.ranks()};
  execution::StragglerInjector stragglers{{}, job_.scenario.graph.ranks(), 1};
  execution::RankGpus gpus{job_.scenario.cluster, job_.scenario.gpu_of_rank};
  execution::ObserverList observers{{}};
};

/// Hears of deliveries and does nothing.
struct FakeDeliveries : network::DeliveryListener {
  void delivered(std::uint64_t tag) override { tags.push_back(tag); }
  std::vector<std::uint64_t> tags;
};

/// Writes down what execution asks of circuits, and opens rounds when the test says so.
struct FakeCircuits : execution::CircuitService {
  void attach(execution::RoundListener& r, execution::LaneArbiter& l) override {
    rounds = &r;
    lanes = &l;
  }
  void request(execution::OpId, std::uint32_t round, Member member, TaskId) override {
    calls.push_back("request " + std::to_string(round) + " by " + std::to_string(member));
  }
  void enter(execution::OpId, std::uint32_t round) override { calls.push_back("enter " + std::to_string(round)); }
  void send(execution::OpId, const Send& send, std::uint64_t tag) override {
    calls.push_back("send " + std::to_string(send.from) + ">" + std::to_string(send.to));
    tags.push_back(tag);
  }
  void leave(execution::OpId, const Send& send, bool sender_done, bool round_done) override {
    calls.push_back("leave " + std::to_string(send.from) + (sender_done ? " sender done" : "") +
                    (round_done ? " round done" : ""));
  }
  void retry(execution::OpId) override { calls.push_back("retry"); }
  void set_running(std::uint32_t operations) override { running = operations; }
  void task_ended(RankId rank) override { calls.push_back("ended on " + std::to_string(rank.value)); }
  void job_ended() override { calls.push_back("job ended"); }
  void set_progress(RankId rank, std::uint32_t, std::size_t next) override { progress.emplace_back(rank.value, next); }
  [[nodiscard]] execution::MissingCircuits missing(execution::OpId) const override { return {lack}; }

  execution::RoundListener* rounds = nullptr;
  execution::LaneArbiter* lanes = nullptr;
  std::vector<std::string> calls;
  std::vector<std::uint64_t> tags;
  std::vector<std::pair<std::uint32_t, std::size_t>> progress;
  std::uint32_t running = 0;
  std::string lack;
};

}  // namespace photonrail::test
