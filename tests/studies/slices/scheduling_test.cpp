#include "studies/slices/pods/scheduling.hpp"
#include "photonrail/error.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"
#include "support/shared_data.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace photonrail::slices {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const AllocatorFactory& policy(const std::string& name) {
  static const AllocatorRegistry known = AllocatorRegistry::builtin();
  return known.find(name);
}

std::vector<SliceJob> jobs_of(const json& trace) {
  std::vector<SliceJob> jobs;
  for (const json& row : trace["jobs"]) {
    const auto sides = row[1].get<std::vector<std::uint32_t>>();
    jobs.push_back(
        {seconds(row[0].get<std::int64_t>()), seconds(row[2].get<std::int64_t>()), SliceRequest::box(Shape::of(sides))});
  }
  return jobs;
}

ScheduleSpec spec_of(const json& trace) {
  const auto sides = trace["dims"].get<std::vector<std::uint32_t>>();
  ScheduleSpec spec;
  spec.pod.torus = Shape::of(sides);
  spec.pod.block = trace["block"].get<std::uint32_t>();
  spec.impossible = ImpossibleJobs::kBlockUntilEmpty;
  return spec;
}

TEST(FifoTraces, StartsAndUtilisationAreThoseOfThePublicAllocator) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json traces = json::parse(std::ifstream(data / "slices/fifo_traces.json")).at("traces");
  for (const json& trace : traces) {
    for (const json& row : trace["results"]) {
      const std::string name = row["policy"].get<std::string>();
      const double before = test::processor_seconds();
      const ScheduleResult result = schedule_jobs(jobs_of(trace), spec_of(trace), policy(name));
      std::cout << trace["name"] << ' ' << name << ": utilisation " << result.utilisation << ", mean completion "
                << result.times.mean_completion << " s, " << test::processor_seconds() - before << " s of processor time\n";
      EXPECT_NEAR(result.utilisation, row["utilisation"].get<double>(), 0.02) << name;
      const bool exact = name == "firstfit" || name == "slurm_hilbert" ||
                         (name == "reconfig" && trace["name"].get<std::string>().starts_with("tpu_"));
      if (!exact) continue;
      EXPECT_NEAR(result.times.mean_completion, row["mean_jct_s"].get<double>(), 0.01) << name;
      EXPECT_NEAR(result.times.median_completion, row["median_jct_s"].get<double>(), 0.01) << name;
      EXPECT_NEAR(result.utilisation, row["utilisation"].get<double>(), 1e-5) << name;
      for (std::size_t j = 0; j < row["starts"].size(); ++j) {
        const json& start = row["starts"][j];
        ASSERT_EQ(result.jobs[j].start.has_value(), !start.is_null()) << name << " job " << j;
        if (!start.is_null()) {
          ASSERT_EQ(*result.jobs[j].start, seconds(start.get<std::int64_t>())) << name << " job " << j;
        }
      }
    }
  }
}

/// A 4x4 pod of accelerators that are servers of their own.
ScheduleSpec small_spec() {
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({4, 4});
  spec.pod.server = Shape::of({1, 1});
  return spec;
}

SliceJob job(std::int64_t arrival_s, std::int64_t duration_s, std::uint32_t x, std::uint32_t y) {
  return {seconds(arrival_s), seconds(duration_s), SliceRequest::box(Shape::of({x, y}))};
}

std::vector<std::int64_t> starts_of(const ScheduleResult& result) {
  std::vector<std::int64_t> starts;
  for (const JobOutcome& outcome : result.jobs) {
    starts.push_back(outcome.start ? std::chrono::duration_cast<seconds>(*outcome.start).count() : -1);
  }
  return starts;
}

// Job 0 leaves a 4x2 hole until 100. Job 1 wants all 16 and blocks. Job 2 (8 of 16, 50 s) would be done at 62 and 3 (8 of
// 16, 200 s) would not.
TEST(QueueOrders, DifferInWhoOvertakes) {
  const std::vector<SliceJob> jobs{job(0, 100, 4, 2), job(10, 10, 4, 4), job(12, 50, 4, 2), job(13, 200, 4, 2)};
  ScheduleSpec spec = small_spec();
  EXPECT_EQ(starts_of(schedule_jobs(jobs, spec, policy("firstfit"))), (std::vector<std::int64_t>{0, 100, 110, 110}));
  spec.order = QueueOrder::kBackfill;
  EXPECT_EQ(starts_of(schedule_jobs(jobs, spec, policy("firstfit"))), (std::vector<std::int64_t>{0, 100, 12, 110}));
  // Least accelerators x seconds first: job 1 has 160, job 2 400, job 3 1,600. 1 is refused, 2 and 3 go by its side.
  spec.order = QueueOrder::kShortestService;
  EXPECT_EQ(starts_of(schedule_jobs(jobs, spec, policy("firstfit"))), (std::vector<std::int64_t>{0, 262, 12, 62}));
  // With preemption job 1 stops job 0 at 10 (720 left against 160) and job 0 goes on at 20 by the side of job 2.
  spec.preempt = true;
  const ScheduleResult preempted = schedule_jobs(jobs, spec, policy("firstfit"));
  EXPECT_EQ(starts_of(preempted), (std::vector<std::int64_t>{0, 10, 20, 70}));
  EXPECT_EQ(preempted.jobs[0].stops, 1u);
  EXPECT_EQ(*preempted.jobs[0].end, seconds(110));
}

// Both want the whole pod and take 10 s to start. Job 0 has 100 s left when it has begun, and job 1 105: job 0 runs on,
// though its end is 110 s away.
TEST(Preemption, ComparesWhatTheQueueWouldHave) {
  ScheduleSpec spec = small_spec();
  spec.order = QueueOrder::kShortestService;
  spec.preempt = true;
  spec.reconfiguration = seconds(10);
  const ScheduleResult result = schedule_jobs({job(0, 100, 4, 4), job(0, 105, 4, 4)}, spec, policy("firstfit"));
  EXPECT_EQ(starts_of(result), (std::vector<std::int64_t>{0, 110}));
  EXPECT_EQ(result.jobs[0].stops + result.jobs[1].stops, 0u);
}

// Rows 0 to 4 have jobs 0, 1, 2, 2, 3. Job 4 wants two rows at 10. Job 0 has most left, but its row lies between those of 1
// and 3, which have less left than job 4: 2 alone makes room.
TEST(Preemption, StopsOnlyJobsWhoseRoomIsNeeded) {
  ScheduleSpec spec = small_spec();
  spec.pod.torus = Shape::of({4, 5});
  spec.order = QueueOrder::kShortestService;
  spec.preempt = true;
  const ScheduleResult result =
      schedule_jobs({job(0, 1'000, 4, 1), job(0, 13, 4, 1), job(0, 450, 4, 2), job(0, 13, 4, 1), job(10, 2, 4, 2)}, spec,
                    policy("firstfit"));
  EXPECT_EQ(starts_of(result), (std::vector<std::int64_t>{0, 0, 0, 0, 10}));
  EXPECT_EQ(result.jobs[0].stops, 0u);
  EXPECT_EQ(result.jobs[2].stops, 1u);
  EXPECT_EQ(*result.jobs[2].end, seconds(12 + 440));
}

// 4x2 of 16 for 100 s, then 16 of 16 from 100 to 110, then two of 8 to 160 and 310: 800 + 160 + 400 + 1,600 of 16 x 310.
TEST(Accounts, UtilisationAndBlockingAddUp) {
  const std::vector<SliceJob> jobs{job(0, 100, 4, 2), job(10, 10, 4, 4), job(12, 50, 4, 2), job(13, 200, 4, 2)};
  const ScheduleResult result = schedule_jobs(jobs, small_spec(), policy("firstfit"));
  EXPECT_EQ(result.makespan, seconds(310));
  EXPECT_DOUBLE_EQ(result.utilisation, 2960.0 / (16 * 310));
  EXPECT_DOUBLE_EQ(result.goodput, result.utilisation);
  EXPECT_EQ(result.blocked_for_resource, seconds(100));  // job 1 from 10 to 100, job 2 from 100 to 110
  EXPECT_EQ(result.blocked_for_shape, seconds(0));
  EXPECT_DOUBLE_EQ(result.times.mean_waiting, (0 + 90 + 98 + 97) / 4.0);
}

TEST(Accounts, AJobThatTheEmptyPodRefusesIsSkipped) {
  const std::vector<SliceJob> jobs{job(0, 10, 8, 1), job(1, 10, 4, 4), job(2, 10, 6, 2)};
  const ScheduleResult result = schedule_jobs(jobs, small_spec(), policy("firstfit"));
  EXPECT_EQ(starts_of(result), (std::vector<std::int64_t>{-1, 1, -1}));
  EXPECT_EQ(result.skipped, 2u);
}

// Jobs 1 to 3 ask for what the pod never has, the last one when nothing is left to run: all of a kind are skipped in every
// order, whether they are refused at once or when the pod is empty.
TEST(Accounts, ImpossibleJobsOfAKindAreSkippedTogether) {
  const std::vector<SliceJob> jobs{job(0, 100, 4, 2), job(1, 10, 3, 5), job(2, 10, 3, 5), job(200, 10, 3, 5)};
  ScheduleSpec spec = small_spec();
  spec.pod.domain = 8;
  for (const QueueOrder order : {QueueOrder::kFifo, QueueOrder::kBackfill, QueueOrder::kShortestService,
                                 QueueOrder::kScarcestShape, QueueOrder::kRandom}) {
    for (const ImpossibleJobs impossible : {ImpossibleJobs::kSkip, ImpossibleJobs::kBlockUntilEmpty}) {
      spec.order = order;
      spec.impossible = impossible;
      for (const char* name : {"firstfit", "reconfig", "switched"}) {
        const ScheduleResult result = schedule_jobs(jobs, spec, policy(name));
        EXPECT_EQ(result.skipped, 3u) << name << ' ' << static_cast<int>(order);
        EXPECT_EQ(*result.jobs[0].end, seconds(100));
      }
    }
  }
}

// 16 servers that are up 1 h of 21: all at once never. The job that waits is named, and not after hours.
TEST(Failures, AJobThatWaitsForAllServersForEverIsNamed) {
  ScheduleSpec spec = small_spec();
  spec.failures = {std::chrono::hours(1), std::chrono::hours(20), {}, {}};
  try {
    static_cast<void>(schedule_jobs({job(0, 10, 1, 1), job(36'000, 100, 4, 4)}, spec, policy("firstfit")));
    FAIL() << "placed on servers that are down";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("job 1 (4x4) waits for a slice that failed servers never leave whole"));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("job 0")));
  }
}

// Job 0 has 8 of 16 until 100; job 1 can never run. It waits for the empty pod, or does not.
TEST(Accounts, AnImpossibleJobMayDrainTheQueue) {
  ScheduleSpec spec = small_spec();
  spec.pod.torus = Shape::of({4, 8});
  spec.pod.block = 2;
  EXPECT_EQ(starts_of(schedule_jobs({job(0, 100, 4, 2), job(10, 10, 5, 5), job(12, 50, 4, 2)}, spec, policy("firstfit"))),
            (std::vector<std::int64_t>{0, -1, 12}));
  spec.impossible = ImpossibleJobs::kBlockUntilEmpty;
  EXPECT_EQ(starts_of(schedule_jobs({job(0, 100, 4, 2), job(10, 10, 5, 5), job(12, 50, 4, 2)}, spec, policy("firstfit"))),
            (std::vector<std::int64_t>{0, -1, 100}));
}

// Windows of Hilbert's curve ignore shapes, so that a job of 4 x 4 x 16 runs in a torus of 8 x 4 x 12. A shorter job stops
// it, and takes its room: it waits, and ends. One that has not begun is skipped when it is refused, as the public allocator
// does.
TEST(Accounts, AJobThatIsTooLongWaitsWhereItWasStopped) {
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({8, 4, 12});
  spec.order = QueueOrder::kShortestService;
  spec.preempt = true;
  const auto box = [](std::int64_t at, std::int64_t lasts, const Shape& shape) {
    return SliceJob{seconds(at), seconds(lasts), SliceRequest::box(shape)};
  };
  const Shape too_long = Shape::of({4, 4, 16});
  const std::vector<SliceJob> jobs{box(0, 1000, too_long), box(100, 10, Shape::of({4, 4, 12})), box(105, 2000, too_long)};
  const ScheduleResult result = schedule_jobs(jobs, spec, policy("slurm_hilbert"));
  EXPECT_EQ(result.jobs[0].stops, 1U);
  ASSERT_TRUE(result.jobs[0].end.has_value());
  EXPECT_GE(*result.jobs[0].end, Instant{seconds(1010)});
  EXPECT_EQ(*result.jobs[1].end, Instant{seconds(110)});
  EXPECT_FALSE(result.jobs[2].start.has_value());
  EXPECT_EQ(result.skipped, 1U);
}

/// None is in two places, and none keeps a failed server.
void expect_exclusive(const ScheduleResult& result, const ScheduleSpec& spec) {
  std::map<std::uint32_t, std::vector<std::pair<Instant, Instant>>> stays;  // by accelerator
  for (const SliceRun& run : result.runs) {
    for (const std::uint32_t a : run.slice.accelerators) stays[a].emplace_back(run.start, run.end);
  }
  for (const Outage& outage : result.outages) {
    for (const std::uint32_t a : server_of(spec.pod, outage.server)) {
      stays[a].emplace_back(outage.start, std::min(outage.end, std::max(outage.start, result.makespan)));
    }
  }
  for (auto& [accelerator, list] : stays) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i) EXPECT_LE(list[i - 1].second, list[i].first) << accelerator;
  }
}

/// Runs that begin at the instant at which a failure stopped the job.
std::uint32_t seamless(const ScheduleResult& result) {
  std::map<std::uint32_t, std::set<Instant>> starts;  // by job
  for (const SliceRun& run : result.runs) starts[run.job].insert(run.start);
  return static_cast<std::uint32_t>(std::count_if(result.runs.begin(), result.runs.end(), [&](const SliceRun& run) {
    return run.how == RunEnd::kFailure && starts[run.job].contains(run.end);
  }));
}

// Slices of 8 and 16 in racks of 64 that are nearly always full. One server of each rack held back takes the place of a
// failed one where servers are photonic; aligned boxes can rarely use it. Spare cubes do for whole cubes.
TEST(Spares, LetJobsGoOnWhenAServerFails) {
  StreamSpec stream;
  stream.jobs = 400;
  stream.slices = {{Shape::of({2, 2, 2}), 1.0}, {Shape::of({2, 2, 4}), 1.0}};
  stream.mean_interarrival = seconds(120);
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({4, 4, 16});
  spec.failures = {std::chrono::hours(20), std::chrono::hours(1), std::chrono::minutes(10), seconds(30), {1}};
  std::map<std::string, double> at_once;  // of the jobs that a failure stopped
  for (const char* name : {"aligned", "photonic"}) {
    const ScheduleResult result = schedule_jobs(draw_jobs(stream), spec, policy(name));
    expect_exclusive(result, spec);
    const auto stops = std::count_if(result.runs.begin(), result.runs.end(),
                                     [](const SliceRun& run) { return run.how == RunEnd::kFailure; });
    EXPECT_GT(stops, 20);
    EXPECT_EQ(result.restarts_at_once, seamless(result));
    at_once[name] = result.restarts_at_once / static_cast<double>(stops);
  }
  std::cout << "go on at once: aligned " << at_once["aligned"] << ", photonic " << at_once["photonic"] << '\n';
  EXPECT_GT(at_once["photonic"], 0.9);
  EXPECT_LT(at_once["aligned"], at_once["photonic"]);
  spec.failures.spares = {};
  EXPECT_EQ(schedule_jobs(draw_jobs(stream), spec, policy("photonic")).restarts_at_once, 0u);

  stream.slices = {{Shape::of({4, 4, 4}), 1.0}};
  spec.failures.spares = {1, Spares::Kind::kRacks};
  const ScheduleResult racks = schedule_jobs(draw_jobs(stream), spec, policy("ocs_cubes"));
  expect_exclusive(racks, spec);
  EXPECT_GT(racks.restarts_at_once, 5u);
  EXPECT_EQ(racks.restarts_at_once, seamless(racks));
}

// Four servers, the last one held back. A job of four is impossible, one of three never waits while one server is down.
TEST(Spares, AreNoRoomForTheQueue) {
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({4});
  spec.pod.server = Shape::of({1});
  spec.failures = {std::chrono::hours(100), seconds(1), std::chrono::hours(1), {}, {1}};
  const auto line = [](std::uint32_t servers, int hours) {
    return SliceJob{Instant{}, std::chrono::hours(hours), SliceRequest::count(servers)};
  };
  const ScheduleResult result = schedule_jobs({line(4, 1), line(3, 1'000)}, spec, policy("switched"));
  EXPECT_EQ(result.skipped, 1u);
  EXPECT_EQ(result.jobs[1].stops, result.restarts_at_once);
  EXPECT_GT(result.restarts_at_once, 5u);
  EXPECT_EQ(result.jobs[1].waiting, Span{});
  spec.failures.spares.count = 4;
  EXPECT_THROW((void)schedule_jobs({line(1, 1)}, spec, policy("switched")), ConfigError);
  spec.failures.spares = {1, Spares::Kind::kRacks};
  EXPECT_THROW((void)schedule_jobs({line(1, 1)}, spec, policy("switched")), ConfigError);
}

// Whatever fails: every job ends, none is in two places, busy time is that of the runs, and none keeps a failed server.
TEST(Failures, LoseOnlyWhatWasNotSaved) {
  StreamSpec stream;
  stream.jobs = 300;
  stream.slices = {{Shape::of({4, 4, 4}), 3.0}, {Shape::of({2, 2, 2}), 1.0}, {Shape::of({4, 4, 8}), 1.0}};
  stream.mean_interarrival = seconds(400);
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({8, 8, 8});
  spec.failures = {std::chrono::hours(100), std::chrono::hours(2), std::chrono::minutes(10), seconds(30)};
  spec.reconfiguration = seconds(10);
  const ScheduleResult result = schedule_jobs(draw_jobs(stream), spec, policy("ocs_cubes"));
  EXPECT_GT(result.outages.size(), 50u);
  std::uint32_t stops = 0;
  for (const JobOutcome& outcome : result.jobs) {
    EXPECT_TRUE(outcome.end.has_value());
    stops += outcome.stops;
  }
  EXPECT_GT(stops, 10u);
  EXPECT_GE(result.blast_radius, 4.0);
  EXPECT_LE(result.blast_radius, 128.0);
  EXPECT_EQ(result.runs.size(), result.jobs.size() + stops);
  EXPECT_LT(result.goodput, result.utilisation);
  expect_exclusive(result, spec);
}

// 4x2 of a 4x4 torus of servers of one: fixed links give 4 ring links in x of 2 each and one of two in y: (1 + 1/2 + 0)
// / 3.
TEST(Bandwidth, FixedEgressStretchesJobs) {
  ScheduleSpec spec = small_spec();
  spec.fixed_egress = true;
  const ScheduleResult slow = schedule_jobs({job(0, 100, 4, 2)}, spec, policy("firstfit"));
  EXPECT_DOUBLE_EQ(slow.mean_share, 0.5);
  EXPECT_EQ(slow.makespan, seconds(200));
  EXPECT_DOUBLE_EQ(slow.goodput, slow.utilisation / 2);
  spec.stretch = [](double share) { return 0.6 + 0.4 / share; };  // 40 % of a step communicates
  EXPECT_EQ(schedule_jobs({job(0, 100, 4, 2)}, spec, policy("firstfit")).makespan, seconds(140));
  spec.stretch = [](double) { return 0.5; };
  EXPECT_THROW((void)schedule_jobs({job(0, 100, 4, 2)}, spec, policy("firstfit")), ConfigError);
}

// Tenants that share links: of two lines that interleave, the second has half of its bandwidth.
TEST(Bandwidth, SharedLinksAreSeenAtTheStart) {
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({1, 4});
  spec.shared_links = true;
  AllocatorFactory scattered = policy("firstfit");
  class EveryOther : public Allocator {
   public:
    [[nodiscard]] std::optional<Placement> place(const Pod& pod, const Shape& shape) const override {
      const std::uint32_t first = pod.idle(0) ? 0 : 1;
      return pod.idle(first) ? std::optional(Placement{shape, {first, first + 2}, {}}) : std::nullopt;
    }
  };
  scattered.make = [](const PodSpec&) { return std::make_unique<EveryOther>(); };
  const ScheduleResult result = schedule_jobs({job(0, 100, 1, 2), job(0, 100, 1, 2)}, spec, scattered);
  EXPECT_EQ(*result.jobs[0].end, seconds(100));
  EXPECT_EQ(*result.jobs[1].end, seconds(200));
}

TEST(Failures, CheckpointsThatAreTooRareEndInAnError) {
  ScheduleSpec spec = small_spec();
  spec.failures = {seconds(100), seconds(1), seconds(10'000), {}};
  EXPECT_THROW((void)schedule_jobs({job(0, 100'000, 4, 4)}, spec, policy("firstfit")), DeadlockError);
}

// At night 10,000 jobs: 8 s and less of processor time each.
TEST(Scale, AThousandJobsOverSixtyFourCubesWithFailures) {
  StreamSpec stream;
  stream.jobs = test::test_cases(1'000) > 1'000 ? 10'000 : 1'000;
  stream.slices = tpu_v4_slices();
  stream.mean_interarrival = seconds(621);
  stream.mean_duration = seconds(4'000);
  const std::vector<SliceJob> jobs = draw_jobs(stream);
  ScheduleSpec spec;
  spec.pod.torus = Shape::of({16, 16, 16});
  spec.failures = {std::chrono::hours(2'000), std::chrono::hours(6), std::chrono::minutes(30), seconds(60)};
  spec.reconfiguration = seconds(10);
  for (const QueueOrder order : {QueueOrder::kFifo, QueueOrder::kBackfill, QueueOrder::kShortestService,
                                 QueueOrder::kRandom, QueueOrder::kScarcestShape}) {
    spec.order = order;
    const double before = test::processor_seconds();
    const ScheduleResult result = schedule_jobs(jobs, spec, policy("ocs_cubes"));
    const double took = test::processor_seconds() - before;
    std::cout << "order " << static_cast<int>(order) << ": " << took << " s, utilisation " << result.utilisation
              << ", mean completion " << result.times.mean_completion << " s, " << result.outages.size() << " outages\n";
    if (!PHOTONRAIL_SANITIZED) {
      EXPECT_LE(took, stream.jobs / 1'000 * 2.0);
    }
    EXPECT_EQ(result.skipped, 0u);
  }
}

TEST(Streams, KeepTheirMixAndTheirMeans) {
  StreamSpec spec;
  spec.jobs = 20'000;
  spec.slices = tpu_v4_slices();
  const std::vector<SliceJob> jobs = draw_jobs(spec);
  double accelerators = 0.0;
  double durations = 0.0;
  for (const SliceJob& one : jobs) {
    accelerators += one.request.accelerators / 20'000.0;
    durations += static_cast<double>(one.duration.count()) / 1e6 / 20'000.0;
  }
  EXPECT_NEAR(accelerators, 408.7, 15.0);  // mean of the mix; deviation 630 / sqrt(20,000) = 4.5
  EXPECT_NEAR(durations, 3'600.0, 100.0);  // exponential: 3,600 / sqrt(20,000) = 25
  EXPECT_NEAR(static_cast<double>(jobs.back().arrival.count()) / 1e6 / 20'000, 600.0, 17.0);
  const double sum = std::accumulate(spec.slices.begin(), spec.slices.end(), 0.0,
                                     [](double s, const SliceShare& slice) { return s + slice.share; });
  EXPECT_NEAR(sum, 97.5, 1e-9);
}

}  // namespace
}  // namespace photonrail::slices
