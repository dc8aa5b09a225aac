// Examines a scheduler of engines that serve requests, without an engine and with drawn ones.
//
//     QueueView queue;
//     queue.running({.prompt = 100, .generated = 3, .output = 10, .computed = 102, .blocks = 7}).waiting({.prompt = 50});
//     EXPECT_EQ(policy.decide(queue.view()).run.size(), 1u);
#pragma once

#include "photonrail/workload/scheduling.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::testing {

/// Writes a view in verbs. It must outlive its view().
class QueueView {
 public:
  QueueView& running(const RequestView& request) {
    running_.push_back(request);
    return *this;
  }
  QueueView& waiting(const RequestView& request) {
    waiting_.push_back(request);
    return *this;
  }
  /// The view of `engine` with these requests.
  [[nodiscard]] EngineView view(EngineView engine = {.free_blocks = 1000, .total_blocks = 1000}) const {
    engine.running = running_;
    engine.waiting = waiting_;
    return engine;
  }

 private:
  std::vector<RequestView> running_;
  std::vector<RequestView> waiting_;
};

/// The first law that the scheduler breaks on `cases` small engines with requests that are drawn from the seed, or "":
/// every decision can be carried out, equal views have equal decisions, every request is finished, and its blocks are given
/// back.
[[nodiscard]] std::string scheduler_problem(const SchedulingPolicy& policy, std::uint32_t cases = 40,
                                            std::uint64_t seed = 1);

}  // namespace photonrail::testing
