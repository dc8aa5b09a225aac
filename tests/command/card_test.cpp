#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Command, ACardGoesOutAndComesIn) {
  json scenario = tiny("first");
  scenario["cluster"]["gpu"] = "h100";
  scenario["workload"] = {{"training",
                           {{"model", "llama3_8b"},
                            {"sequence", 4096},
                            {"global_batch", 8},
                            {"micro_batch", 2},
                            {"parallelism", {{"dp", 4}, {"fsdp", true}}}}}};
  write("a.json", scenario);
  const Outcome out = run("card export a.json -o a.yaml");
  ASSERT_EQ(out.status, 0) << out.err;
  EXPECT_EQ(out.out, "wrote a.yaml\n");
  const Outcome in = run("card import a.yaml -o b.json");
  ASSERT_EQ(in.status, 0) << in.err;
  ASSERT_EQ(run("run a.json --quiet --out a").status, 0);
  ASSERT_EQ(run("run b.json --quiet --out b").status, 0);
  EXPECT_EQ(result("a/result.json")["makespan_s"], result("b/result.json")["makespan_s"]);
  EXPECT_EQ(run("card import a.yaml").status, 2);  // where to?
  const Outcome missing = run("card import none.yaml -o c.json");
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("none.yaml: no such file"));
}

}  // namespace
}  // namespace photonrail::test
