#include "serving/engine/scheduler.hpp"

#include "serving/one_engine.hpp"
#include "support/shared_data.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace photonrail::serving {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMicrosecond = 1'000'000;

EngineSpec engine_of(const Json& engine) {
  EngineSpec spec;
  spec.max_sequences = engine.at("max_sequences");
  spec.token_budget = engine.at("token_budget");
  spec.blocks = engine.at("blocks");
  spec.block_tokens = engine.at("block_tokens");
  spec.prefix_caching = engine.at("prefix_caching");
  spec.long_prefill = engine.at("long_prefill_threshold");
  return spec;
}

LinearStepTime law_of(const Json& us) {
  return LinearStepTime({Duration{us.at("fixed").get<std::int64_t>() * kMicrosecond},
                         Duration{us.at("per_prefill_token").get<std::int64_t>() * kMicrosecond},
                         Duration{us.at("per_decode").get<std::int64_t>() * kMicrosecond},
                         {}});
}

std::vector<Arrival> requests_of(const Json& file) {
  std::vector<Arrival> list;
  for (const Json& row : file.at("requests")) {
    Arrival arrival{Time{row.at(0).get<std::int64_t>() * kMicrosecond}, {}};
    arrival.request.prompt = row.at(1);
    arrival.request.output = row.at(2);
    if (file.contains("block_hashes")) {
      arrival.request.keys = file.at("block_hashes").at(list.size()).get<std::vector<std::uint64_t>>();
      const std::size_t full = arrival.request.prompt / file.at("engine").at("block_tokens").get<std::uint32_t>();
      if (arrival.request.keys.size() > full) arrival.request.keys.resize(full);
    }
    list.push_back(std::move(arrival));
  }
  return list;
}

Json us(const std::optional<Time>& time) { return time ? Json(time->since_start().count() / kMicrosecond) : Json(nullptr); }

// A case writes what came out as it has what is expected, so that a difference shows as one of two texts.
void expect_case(const std::filesystem::path& path) {
  SCOPED_TRACE(path.filename().string());
  const Json file = Json::parse(std::ifstream(path));
  Json log = Json::array();
  const StepSeen seen = [&](Time start, const Step& step, const std::vector<Running>& running, const StepEnd& end,
                            const Scheduler& scheduler) {
    Json line{{"start_us", us(start)},      {"tokens", Json::array()},   {"admitted", Json::array()},
              {"preempted", Json::array()}, {"finished", Json::array()}, {"free_blocks", scheduler.blocks().free()}};
    std::uint32_t tokens = 0;
    for (const Running& r : running) {
      if (r.now > 0) line["tokens"].push_back(Json::array({scheduler.id(r.slot), r.now}));
      tokens += r.now;
    }
    EXPECT_LE(tokens, file.at("engine").value("token_budget", 8192U));
    EXPECT_EQ(tokens, step.tokens());
    for (const auto& a : step.admitted) line["admitted"].push_back(Json::array({scheduler.id(a.slot), a.cached}));
    for (const Slot slot : step.preempted) line["preempted"].push_back(scheduler.id(slot));
    for (const auto& f : end.finished) line["finished"].push_back(scheduler.id(f.slot));
    log.push_back(std::move(line));
  };
  const bool logged = file.contains("log");
  const OneEngine run = run_one_engine(engine_of(file.at("engine")), requests_of(file),
                                       law_of(file.at("engine").at("step_us")), logged ? seen : StepSeen{});
  Json got{{"first_us", Json::array()},    {"last_us", Json::array()},       {"scheduled_us", Json::array()},
           {"preemptions", Json::array()}, {"cached_tokens", Json::array()}, {"steps", run.steps},
           {"end_us", us(run.end)},        {"dropped", run.refused}};
  for (const Outcome& outcome : run.outcomes) {
    got["first_us"].push_back(us(outcome.first));
    got["last_us"].push_back(us(outcome.last));
    got["scheduled_us"].push_back(us(outcome.scheduled));
    got["preemptions"].push_back(outcome.preemptions);
    got["cached_tokens"].push_back(outcome.cached);
  }
  for (const auto& [key, value] : file.at("expected").items()) EXPECT_EQ(got.at(key), value) << key;
  if (!logged) return;
  ASSERT_EQ(log.size(), file.at("log").size());
  for (std::size_t i = 0; i < log.size(); ++i) {
    Json expected = file.at("log")[i];
    expected.erase("us");  // the next line's start has it
    EXPECT_EQ(log[i], expected) << "step " << i;
  }
}

void expect_cases(const std::filesystem::path& folder, std::size_t least) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), least);
  for (const auto& file : files) expect_case(file);
}

TEST(ServingScheduler, GivesTheTimesAndStepsOfEveryCase) {
  expect_cases(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "tests" / "serving" / "cases", 13);
}

TEST(ServingSchedulerData, GivesTheTimesAndStepsOfEveryCaseThatIsThere) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  expect_cases(data / "serving" / "v2" / "scheduler", 1);
}

}  // namespace
}  // namespace photonrail::serving
