// Each note appears where it is true, and not where it is not.
#include "run/notes.hpp"
#include "golden/golden.hpp"
#include "photonrail/config.hpp"
#include "run/expected_time.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;

json noted_job() {
  return {{"schema", "photonrail.scenario/1"},
          {"cluster",
           {{"servers", 6}, {"gpus_per_server", 1}, {"nic", {{"port_gb_per_s", 50}}}, {"rail", {{"kind", "electrical"}}}}},
          {"workload", {{"collective", {{"op", "all_reduce"}, {"bytes", 1000000}}}}},
          {"run", {{"iterations", 2}}}};
}

RunResult run_of(const json& text) { return simulate(parse_scenario(text.dump(), ".")); }

const Note* find_note(const RunResult& result, const std::string& id) {
  const auto found = std::find_if(result.notes.begin(), result.notes.end(), [&](const Note& n) { return n.id == id; });
  return found == result.notes.end() ? nullptr : &*found;
}

bool has_note(const json& text, const std::string& id) { return find_note(run_of(text), id) != nullptr; }

TEST(Notes, OneTierMakesOversubscriptionVoid) {
  json text = noted_job();
  EXPECT_FALSE(has_note(text, "one-tier")) << "nothing is oversubscribed";
  text["cluster"]["rail"]["oversubscription"] = 2;
  const RunResult result = run_of(text);
  ASSERT_NE(find_note(result, "one-tier"), nullptr);
  EXPECT_EQ(find_note(result, "one-tier")->key, "/cluster/rail/oversubscription");
  EXPECT_EQ(find_note(result, "one-tier")->value, 6.0);
  text["cluster"]["rail"]["radix"] = 4;
  EXPECT_FALSE(has_note(text, "one-tier"));
}

// Radix 8 at 3:1 has 6 ports below a leaf and 2 uplinks: of 12 servers in two leaves a ring keeps the uplinks half as busy
// as a port. At 1.5:1 there are 4 below, with the rate of 2.67 ports above, so that they are busy 37 % of the time.
TEST(Notes, RingsCrossEachLeafOnce) {
  json text = noted_job();
  text["cluster"]["servers"] = 12;
  text["cluster"]["rail"] = {{"kind", "electrical"}, {"radix", 8}, {"oversubscription", 1.5}};
  const RunResult result = run_of(text);
  const Note* const note = find_note(result, "uplinks");
  ASSERT_NE(note, nullptr);
  EXPECT_THAT(note->text, ::testing::HasSubstr("cross each leaf once"));
  EXPECT_NEAR(note->value, result.utilisation->rail_ports / (4 / 1.5), 1e-6);
  text["workload"]["collective"]["op"] = "all_to_all";
  text["cluster"]["rail"]["oversubscription"] = 3;
  EXPECT_FALSE(has_note(text, "uplinks")) << "an all-to-all keeps them busy";
}

TEST(Notes, IdleGpusAreCounted) {
  json text = noted_job();
  EXPECT_FALSE(has_note(text, "idle-gpus"));
  text["workload"]["collective"]["ranks"] = 3;
  const RunResult result = run_of(text);
  ASSERT_NE(find_note(result, "idle-gpus"), nullptr);
  EXPECT_DOUBLE_EQ(find_note(result, "idle-gpus")->value, 0.5);
}

TEST(Notes, AJobInsideAServerUsesNoRail) {
  json text = noted_job();
  EXPECT_FALSE(has_note(text, "no-rail-traffic"));
  text["cluster"]["servers"] = 1;
  text["cluster"]["gpus_per_server"] = 6;
  EXPECT_TRUE(has_note(text, "no-rail-traffic"));
  text = noted_job();
  text["workload"]["collective"] = {{"op", "barrier"}};
  EXPECT_FALSE(has_note(text, "no-rail-traffic")) << "a barrier has no bytes, and pays latencies";
}

TEST(Notes, RailsOfOneDimensionNeverSwitch) {
  json text = noted_job();
  EXPECT_FALSE(has_note(text, "never-switches")) << "electrical";
  text["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 5}}}};
  text["controller"] = {{"name", "opus"}};
  const RunResult result = run_of(text);
  ASSERT_NE(find_note(result, "never-switches"), nullptr);
  EXPECT_DOUBLE_EQ(find_note(result, "never-switches")->value, 0.005);
  ASSERT_NE(find_note(result, "first-step"), nullptr) << "the first step lights the circuits";
  EXPECT_NEAR(find_note(result, "first-step")->value, 0.005, 1e-9);
  EXPECT_FALSE(find_note(run("quickstart.json"), "never-switches")) << "dp and pp cross its rails";
}

TEST(Notes, SettingsWithoutEffectSaySo) {
  json text = noted_job();
  for (const char* id : {"unused-sm-share", "unused-accuracy", "nothing-drawn"}) EXPECT_FALSE(has_note(text, id));
  text["executor"]["sm_share"] = {{"pp", 0.2}};
  text["network"]["accuracy"] = 0.01;
  text["run"]["spread_seeds"] = 3;
  for (const char* id : {"unused-sm-share", "unused-accuracy", "nothing-drawn"}) EXPECT_TRUE(has_note(text, id)) << id;
}

// 2 x 5 sends of 1/6 of 1 MB at 50 GB/s, twice, and nothing else: all of the path is time at the ports.
TEST(Notes, WhatBindsIsTheLongestPartOfThePath) {
  json text = noted_job();
  EXPECT_FALSE(has_note(text, "binds")) << "no path was asked for";
  text["run"]["critical_path"] = true;
  text["cluster"]["nic"]["latency_ns"] = 0;
  const RunResult ports = run_of(text);
  ASSERT_NE(find_note(ports, "binds"), nullptr);
  EXPECT_EQ(find_note(ports, "binds")->key, "/cluster/nic/port_gb_per_s");
  EXPECT_NEAR(find_note(ports, "binds")->value, 1.0, 1e-6);
  // 33 us for the bytes, 10 x 100 us of latency.
  text["cluster"]["nic"]["latency_ns"] = 100000;
  const RunResult latency = run_of(text);
  ASSERT_NE(find_note(latency, "binds"), nullptr);
  EXPECT_EQ(find_note(latency, "binds")->key, "/cluster/nic/latency_ns");
}

// Both ranks of a pair compute for 50 ms while their all-reduce waits 5 ms for its circuits, or for 1 ms.
TEST(Notes, SwitchingIsHiddenWhereNoRankWaits) {
  json text = noted_job();
  text["cluster"]["servers"] = 2;
  text["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 5}}}};
  text["controller"] = {{"name", "opus"}};
  text["workload"] = {
      {"graph",
       {{"schema", "photonrail.graph/1"},
        {"ranks", 2},
        {"communicators", {{"g", {{"ranks", {0, 1}}}}}},
        {"tasks",
         {{{"rank", {0, 1}}, {"id", "c"}, {"compute_us", 50000}},
          {{"rank", {0, 1}}, {"id", "r"}, {"collective", "all_reduce"}, {"communicator", "g"}, {"bytes", 1000000}}}}}}};
  const RunResult hidden = run_of(text);
  ASSERT_NE(find_note(hidden, "hidden-switching"), nullptr);
  EXPECT_EQ(find_note(hidden, "hidden-switching")->value, 1.0) << "both circuits at once";
  text["cluster"]["rail"]["switch"]["reconfiguration_ms"] = 0;
  EXPECT_FALSE(has_note(text, "hidden-switching")) << "there is nothing to hide";
  text["cluster"]["rail"]["switch"]["reconfiguration_ms"] = 5;
  text["workload"]["graph"]["tasks"][0]["compute_us"] = 1000;
  EXPECT_FALSE(has_note(text, "hidden-switching")) << "4 ms are waited for";
}

// By the forecast ten million all-to-alls of six ranks take more than ten seconds, and two take none.
TEST(Notes, ALongRunSaysItsForecast) {
  json text = noted_job();
  RunResult result = run_of(text);
  text["workload"]["collective"] = {{"op", "all_to_all"}, {"bytes", 1000000}, {"repeat", 10}};
  text["run"] = {{"iterations", 1000000}, {"folding", false}};
  const Scenario longer = parse_scenario(text.dump(), ".");
  run::add_forecast(longer, {}, result);
  EXPECT_EQ(find_note(result, "forecast"), nullptr) << "so few events were soon simulated";
  result.engine.events = 100'000'000;
  run::add_forecast(longer, {}, result);
  ASSERT_NE(find_note(result, "forecast"), nullptr);
  EXPECT_EQ(find_note(result, "forecast")->key, "--work-limit");
  EXPECT_EQ(find_note(result, "forecast")->value, run::expected_work(longer, {}).seconds());
  EXPECT_GE(find_note(result, "forecast")->value, 10.0);
}

TEST(Notes, OpticalRailsThatAreFasterSayWhy) {
  RunResult electrical = run_of(noted_job());
  RunResult optical = electrical;
  optical.name = "optical";
  optical.cluster.rail.kind = RailKind::kOptical;
  for (Duration& step : optical.iterations) step = Duration{step.count() / 2};
  optical.makespan = optical.iterations[0] + optical.iterations[1];
  const auto why = [&] {
    const std::vector<Note> notes = notes_of(std::vector<RunResult>{electrical, optical});
    return notes.size() == 1 && notes[0].id == "faster-than-electrical" ? notes[0].text : "";
  };
  EXPECT_THAT(why(), ::testing::HasSubstr("messages that overlap share a port"));
  electrical.cluster.scale_up.faults.resize(1);
  EXPECT_THAT(why(), ::testing::HasSubstr("electrical: failures at given times strike other messages there."));
  electrical.cluster.scale_up.faults.clear();
  electrical.cluster.rail.switch_radix = 4;
  electrical.cluster.rail.oversubscription = 3;
  EXPECT_THAT(why(), ::testing::HasSubstr("uplinks are oversubscribed."));
  electrical.choices = {"all_reduce among 4 ranks, 8 bytes: auto took ring: 3 us"};
  optical.choices = {"all_reduce among 4 ranks, 8 bytes: auto took ring: 9 us", "steps: 20 of 100 were simulated"};
  EXPECT_THAT(why(), ::testing::Not(::testing::HasSubstr("auto"))) << "its cost alone is another";
  optical.choices = {"all_reduce among 4 ranks, 8 bytes: auto took direct: 9 us"};
  EXPECT_THAT(why(), ::testing::HasSubstr("oversubscribed, and \"auto\" takes other collectives there."));
  optical.choices = {electrical.choices[0],
                     "fidelity: every send is simulated, because the controller serves pairs one by one"};
  EXPECT_THAT(why(), ::testing::HasSubstr("oversubscribed, and its collectives are streams, and here every send is"));
  optical.choices = {electrical.choices[0], "oracle: the result is a lower bound on the runs of all policies, and no run"};
  EXPECT_THAT(why(), ::testing::HasSubstr("oversubscribed, and the time behind circuits is a lower bound, and no run."));
  std::swap(electrical.makespan, optical.makespan);
  std::swap(electrical.iterations, optical.iterations);
  EXPECT_EQ(why(), "") << "they are slower";
}

// One reduce-scatter a step. The server is gone from 20 to 50 us: in the first step behind circuits, which are lit late,
// and in the second one, by which runs are compared, on electrical rails.
TEST(Notes, AFailureInAnotherStepIsNoSharedPort) {
  nlohmann::json text = nlohmann::json::parse(R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2,
      "gpus_per_server": 1, "scale_up": {"gb_per_s": 70, "latency_ns": 0},
      "nic": {"ports": 1, "port_gb_per_s": 33.3, "latency_ns": 1000},
      "rail": {"kind": "optical", "switch": {"reconfiguration_us": 10}}},
      "controller": {"name": "static", "circuits": [{"from": 0, "to": 1}, {"from": 1, "to": 0}]},
      "workload": {"collective": {"op": "reduce_scatter", "bytes": 1000000}}, "run": {"iterations": 2},
      "server_faults": [{"server": 1, "at_us": 20, "lasts_us": 30}]})");
  nlohmann::json electrical = text;
  electrical["cluster"]["rail"] = {{"kind", "electrical"}};
  electrical.erase("controller");
  const std::vector<Note> notes = notes_of(std::vector<RunResult>{run_of(electrical), run_of(text)});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].text, ::testing::HasSubstr("failures at given times strike other messages there."));
}

// One ring of 12 members over max_weight, which serves pairs one by one: the other fidelity is what makes it faster, and no
// two messages share a port.
TEST(Notes, ARunOfEverySendIsNotFasterForItsCircuits) {
  nlohmann::json text = nlohmann::json::parse(R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 3,
      "gpus_per_server": 4, "scale_up": {"gb_per_s": 450, "latency_ns": 500},
      "nic": {"ports": 1, "port_gb_per_s": 25, "latency_ns": 1000, "message_overhead_ns": 10},
      "rail": {"kind": "optical", "switch": {"reconfiguration_us": 1}}}, "controller": {"name": "max_weight"},
      "workload": {"collective": {"op": "all_reduce", "bytes": 1000000}}, "run": {"iterations": 2}})");
  nlohmann::json electrical = text;
  electrical["cluster"]["rail"] = {{"kind", "electrical"}};
  electrical.erase("controller");
  const auto notes = [&] { return notes_of(std::vector<RunResult>{run_of(electrical), run_of(text)}); };
  ASSERT_EQ(notes().size(), 1u);
  EXPECT_THAT(notes()[0].text, ::testing::HasSubstr("whose rails are electrical: its collectives are streams"));
  for (nlohmann::json* const one : {&text, &electrical}) (*one)["run"]["fidelity"] = "exact";
  for (const Note& note : notes()) EXPECT_NE(note.id, "faster-than-electrical") << note.text;
}

TEST(Notes, OfRunsSideBySideNameWhatCoincides) {
  RunResult a = run_of(noted_job());
  RunResult b = a;
  b.name = "other";
  const std::vector<Note> notes = notes_of(std::vector<RunResult>{a, b});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].id, "coincide");
  b.makespan += Duration{1};
  b.iterations.back() += Duration{1};
  EXPECT_TRUE(notes_of(std::vector<RunResult>{a, b}).empty());
}

}  // namespace
}  // namespace photonrail::test
