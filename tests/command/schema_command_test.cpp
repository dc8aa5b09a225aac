// `photonrail schema`, with plug-ins, and as another program's validator sees it.
#include "command/command.hpp"
#include "support/json_schema.hpp"
#include "support/source_dir.hpp"

#include <set>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SchemaCommand : public Command {};

TEST_F(SchemaCommand, KnowsTheNamesOfPlugIns) {
  EXPECT_THAT(run("schema scenario").out, Not(HasSubstr("oldest_first")));
  const Outcome outcome = run("--plugin '" PHOTONRAIL_PLUGINS "/plugin_oldest_first.so' schema scenario");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"oldest_first\""));
}

TEST_F(SchemaCommand, AnotherProgramTakesTheSchemasAndTheFiles) {
  if (std::system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "SKIPPED, NOT CHECKED: python3-jsonschema is not installed";
  for (const char* format : {"scenario", "sweep", "graph", "model", "catalogue", "result"}) {
    ASSERT_EQ(run(std::string("schema ") + format).status, 0);
    fs::copy_file(folder_ / ".out", folder_ / (std::string(format) + ".schema.json"));
  }
  ASSERT_EQ(run("run '" PHOTONRAIL_SOURCE_DIR "/configs/quickstart.json' --quiet --out whole").status, 0);
  std::ofstream(folder_ / "check.py") << R"py(
import glob, json, sys, jsonschema
checked = 0
for format in ["scenario", "sweep", "graph", "model", "catalogue"]:
    schema = json.load(open(format + ".schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in glob.glob(sys.argv[1] + "/configs/**/*.json", recursive=True):
        content = json.load(open(path))
        if content.get("schema") == "photonrail." + format + "/1" and "astra" not in content:  # sections from other files
            validator.validate(content)
            checked += 1
assert checked > 40, checked
schema = json.load(open("result.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(json.load(open("whole/result.json")))
)py";
  const std::string line = "cd '" + folder_.string() + "' && python3 check.py '" PHOTONRAIL_SOURCE_DIR "' >.out 2>.err";
  EXPECT_EQ(std::system(line.c_str()), 0) << read(folder_ / ".err");
}

// Keys of the value that the schema does not name, below keys that are names themselves too.
void collect_unknown(const json& root, const json& at, const json& value, const std::string& place,
                     std::vector<std::string>& unknown) {
  const json& schema = at.contains("$ref") ? root.at(json::json_pointer(at["$ref"].get<std::string>().substr(1))) : at;
  if (value.is_array() && schema.contains("items")) {
    for (const json& element : value) collect_unknown(root, schema["items"], element, place + "/[]", unknown);
  }
  if (!value.is_object() || (!schema.contains("properties") && !schema.contains("additionalProperties"))) return;
  for (const auto& [key, inner] : value.items()) {
    const bool named = schema.contains("properties") && schema["properties"].contains(key);
    if (named || schema.contains("additionalProperties")) {
      const json& of = named ? schema["properties"][key] : schema["additionalProperties"];
      collect_unknown(root, of, inner, place + "/" + key, unknown);
    } else if (!place.ends_with("/simulated/controller")) {  // which has the parameters of any policy
      unknown.push_back(place + "/" + key);
    }
  }
}

// Results of jobs that differ in what they write, against the schema; it names every key of theirs.
TEST_F(SchemaCommand, ResultsAreAsTheirSchemaSays) {
  const json schema = json::parse(run("schema result").out);
  const JsonSchema check(schema);
  const std::string source = PHOTONRAIL_SOURCE_DIR;
  const std::vector<std::string> runs{
      "'" + source + "/configs/quickstart.json' --set /run/iterations=2",
      "'" + source + "/configs/quickstart-electrical.json'",
      "'" + source + "/configs/llama3-8b-16gpu.json'",
      "'" + source + "/configs/leaf-spine/two-sites.json'",
      "'" + source + "/configs/leaf-spine/cut-spine.json'",
      "'" + source + "/configs/serving/failures-and-scaling.json'",
      "'" + source + "/configs/rl/tools.json'",
      "--plugin '" PHOTONRAIL_PLUGINS "/plugin_oldest_first.so' '" + source + "/docs/examples/my_policy.json'"};
  std::set<std::string> seen;
  for (const std::string& line : runs) {
    const Outcome outcome = run("run " + line + " --quiet --out out");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json value = result("out/result.json");
    EXPECT_EQ(check.problem(value), "") << line;
    std::vector<std::string> unknown;
    collect_unknown(schema, schema, value, "", unknown);
    EXPECT_EQ(unknown, std::vector<std::string>{}) << line;
    for (const auto& [key, unused] : value.items()) seen.insert(key);
  }
  for (const char* key : {"plugins", "cost", "utilisation", "mfu", "rank_classes", "windows_s", "serving", "rl"})
    EXPECT_TRUE(seen.contains(key)) << key;
  // A result with a key of another kind is refused.
  json wrong = result("out/result.json");
  wrong["makespan_s"] = "long";
  EXPECT_NE(check.problem(wrong), "");
}

}  // namespace
}  // namespace photonrail::test
