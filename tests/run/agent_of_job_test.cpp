// What an agent of one of several jobs does wrong is said of that job.
#include "run/agent_of_job.hpp"

#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using DoesWrong = std::function<void(const WorkEvent&, WorkSink&)>;

struct WrongAgent : WorkloadAgent {
  explicit WrongAgent(DoesWrong what) : does(std::move(what)) {}
  void on(const WorkEvent& event, WorkSink& sink) override { does(event, sink); }
  [[nodiscard]] bool finished() const override { return false; }
  DoesWrong does;
};

struct WrongWorkload : Workload {
  explicit WrongWorkload(DoesWrong what) : does(std::move(what)) {}
  [[nodiscard]] std::string name() const override { return "wrong"; }
  [[nodiscard]] std::unique_ptr<WorkloadAgent> make(const Scenario&, std::uint64_t) const override {
    return std::make_unique<WrongAgent>(does);
  }
  DoesWrong does;
};

/// Job 0 has two ranks that reduce, and job 1 two on servers of its own with this agent: ranks 0 and 1 of the job.
std::string problem_beside_another_job(const DoesWrong& does) {
  Job job(2);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, kMegabyte).build();
  Scenario all;
  all.cluster = job.scenario.cluster;
  all.cluster.servers = 4;
  all.jobs.assign(2, job.scenario);
  all.jobs[0].name = "steady";
  all.jobs[1].name = "wrong";
  all.jobs[1].gpu_of_rank = {GpuId{2U}, GpuId{3U}};
  all.jobs[1].graph = idle_graph(2);
  all.jobs[1].workload = std::make_shared<WrongWorkload>(does);
  try {
    static_cast<void>(simulate(all));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AgentOfJob, MistakesNameTheJob) {
  // Rank 2 of all is the first of this job, which calls it 0.
  EXPECT_THAT(problem_beside_another_job(
                  [](auto&, WorkSink& sink) { static_cast<void>(sink.compute(std::vector{RankId{2U}}, us(1))); }),
              AllOf(HasSubstr("jobs[1].graph: "),
                    HasSubstr("launches something on rank 2, which its job does not have (it has 2 ranks)")));
  EXPECT_THAT(problem_beside_another_job([](auto&, WorkSink&) { throw std::runtime_error("no such request"); }),
              AllOf(HasSubstr("jobs[1].graph: "), HasSubstr("its agent: on() failed: no such request")));
  EXPECT_THAT(problem_beside_another_job([](auto&, WorkSink&) { throw DeadlockError({"told of too much"}); }),
              HasSubstr("wrong: told of too much"));
  EXPECT_THAT(problem_beside_another_job([](auto&, auto&) {}),
              HasSubstr("wrong: the workload has launched nothing more, and is not finished"));
}

TEST(AgentOfJob, IsTheAgentElse) {
  const auto agent = run::agent_of_job(std::make_unique<WrongAgent>([](auto&, auto&) {}), 1, "wrong");
  EXPECT_FALSE(agent->finished());
  EXPECT_EQ(agent->kinds(), WrongAgent({}).kinds());
  EXPECT_FALSE(agent->known_future());
}

}  // namespace
}  // namespace photonrail::test
