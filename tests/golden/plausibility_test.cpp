// What is valid and yet looks like a mistake: the same lines from a scenario, a run and each of several jobs.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace photonrail::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Llama-3-8B over 2 servers of 4 GPUs.
json training(int tp, int dp) {
  return {{"schema", "photonrail.scenario/1"},
          {"cluster",
           {{"servers", 2},
            {"gpus_per_server", 4},
            {"gpu", {{"preset", "h200"}, {"compute_efficiency", 0.5}}},
            {"rail", {{"kind", "electrical"}}}}},
          {"workload",
           {{"training",
             {{"model", {{"preset", "llama3_8b"}, {"layers", 2}}},
              {"sequence", 1024},
              {"global_batch", 8},
              {"parallelism", {{"tp", tp}, {"dp", dp}, {"fsdp", true}}}}}}}};
}

Scenario parse_checked(const json& text) { return parse_scenario(text.dump(), "."); }

/// Both entry points have the lines.
std::vector<std::string> warnings_of(const json& text) {
  const Scenario scenario = parse_checked(text);
  const std::vector<std::string> lines = scenario.warnings();
  EXPECT_EQ(simulate(scenario).warnings, lines);
  return lines;
}

TEST(Plausibility, AUsualClusterHasNoWarnings) { EXPECT_THAT(warnings_of(training(4, 2)), IsEmpty()); }

TEST(Plausibility, ARateThatNoDeviceHasIsPointedAt) {
  json text = training(4, 2);
  text["cluster"]["nic"]["port_gb_per_s"] = 400;
  EXPECT_THAT(warnings_of(text),
              ElementsAre(AllOf(StartsWith("the rate of a NIC port is 400 GB/s, which no such device has"),
                                HasSubstr("400 Gb/s is 50 GB/s"))));
  text = training(4, 2);
  text["cluster"]["scale_up"]["gb_per_s"] = 3600;
  EXPECT_THAT(warnings_of(text), ElementsAre(StartsWith("the scale-up rate of a GPU is 3600 GB/s")));
  text = training(4, 2);
  text["cluster"]["gpu"] = {
      {"peak_tflops", 989e3}, {"memory_gb_per_s", 3.35}, {"memory_gb", 141}, {"compute_efficiency", 0.5}};
  EXPECT_THAT(warnings_of(text), ElementsAre(StartsWith("the peak of the GPU is 9.89e+05 TFLOP/s"),
                                             StartsWith("the memory rate of the GPU is 3.35 GB/s")));
}

// Files and the library have other names for a value: warnings have the words of both, and no member of ClusterSpec.
TEST(Plausibility, NoWarningNamesAMemberOfTheLibrary) {
  json text = training(8, 1);
  text["cluster"]["servers"] = 600;
  text["cluster"]["gpu"] = "h200";
  text["cluster"]["nic"]["port_gb_per_s"] = 400;
  text["cluster"]["scale_up"]["gb_per_s"] = 3600;
  text["cluster"]["unlike_gpus"] = {{{"servers", {1}}, {"gpu", {{"peak_tflops", 989e3}, {"memory_gb_per_s", 3.35}}}}};
  text["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 1}, {"ports", 2000}}}};
  text["controller"] = {{"name", "opus"}};
  const std::vector<std::string> lines = warnings_of(text);
  EXPECT_THAT(lines, ::testing::IsSupersetOf({HasSubstr("the peak of the GPU of unlike GPUs[0] is 9.89e+05 TFLOP/s"),
                                              HasSubstr("the optical switch of a rail has 2000 ports"),
                                              HasSubstr("the compute_efficiency of the GPU of unlike GPUs[0]")}));
  for (const std::string& line : lines) EXPECT_THAT(line, ::testing::Not(::testing::ContainsRegex("[a-z]\\.[a-z]")));
}

TEST(Plausibility, TheFullPeakIsAWarningOnlyWhereItIsTheDefault) {
  json text = training(4, 2);
  text["cluster"]["gpu"] = "h200";
  EXPECT_THAT(warnings_of(text), ElementsAre(HasSubstr("since the compute_efficiency of the GPU is not given")));
  text["cluster"]["gpu"] = {{"preset", "h200"}, {"compute_efficiency", 1}};
  EXPECT_THAT(warnings_of(text), IsEmpty());
  // Nothing computes: the efficiency is no matter.
  text["cluster"]["gpu"] = "h200";
  text["workload"] = {{"collective", {{"op", "all_reduce"}, {"bytes", 1000}}}};
  EXPECT_THAT(warnings_of(text), IsEmpty());
}

TEST(Plausibility, TensorParallelismOverServersIsPointedAt) {
  EXPECT_THAT(warnings_of(training(8, 1)), ElementsAre(AllOf(HasSubstr("tensor parallelism is wider than a server"),
                                                             HasSubstr("8 ranks on 2 servers of 4 GPUs"))));
  json text = training(4, 2);  // tp is the outer dimension: its groups leave the servers all the same
  text["placement"] = {{"order", {"dp", "tp"}}};
  EXPECT_THAT(warnings_of(text), ElementsAre(HasSubstr("4 ranks on 2 servers")));
}

TEST(Plausibility, APlanThatDoesNotFitIsInfeasible) {
  json text = training(4, 2);
  text["cluster"]["gpu"] = {{"preset", "h100"}, {"memory_gb", 1}, {"compute_efficiency", 0.5}};
  const Scenario scenario = parse_checked(text);
  EXPECT_THAT(scenario.infeasible(), AllOf(StartsWith("stage 0 needs "), HasSubstr(" GB, and a GPU has 1.0")));
  EXPECT_THAT(warnings_of(text),
              ElementsAre(AllOf(StartsWith("the plan does not fit the GPU: stage 0 needs "), HasSubstr("(parameters "))));
  EXPECT_EQ(simulate(scenario).infeasible, scenario.infeasible());
  text["cluster"]["gpu"]["memory_gb"] = 0;  // unknown
  EXPECT_EQ(parse_checked(text).infeasible(), "");
}

TEST(Plausibility, EachJobSaysItsOwn) {
  json text = training(4, 1);
  const json job = text["workload"];
  text.erase("workload");
  text["cluster"]["gpu"] = {{"preset", "h100"}, {"memory_gb", 1}, {"compute_efficiency", 0.5}};
  text["cluster"]["nic"]["port_gb_per_s"] = 400;
  text["jobs"] = {{{"name", "a"}, {"servers", {0}}, {"workload", job}},
                  {{"name", "b"}, {"servers", {1}}, {"workload", job}}};
  const auto lines = warnings_of(text);
  EXPECT_THAT(lines, ElementsAre(StartsWith("the rate of a NIC port"), StartsWith("a: the plan does not fit"),
                                 StartsWith("b: the plan does not fit")));
  EXPECT_THAT(parse_checked(text).infeasible(), StartsWith("a: stage 0 needs "));
  const RunResult result = simulate(parse_checked(text));
  EXPECT_EQ(result.jobs[1].infeasible, result.infeasible.substr(3));
  EXPECT_GT(result.peak_memory_bytes().value(), 1e9);
}

}  // namespace
}  // namespace photonrail::test
