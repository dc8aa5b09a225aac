// `photonrail schema`, with plug-ins, and as another program's validator sees it.
#include "command/command.hpp"
#include "support/source_dir.hpp"

namespace photonrail::test {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  for (const char* format : {"scenario", "sweep", "graph", "model", "catalogue"}) {
    ASSERT_EQ(run(std::string("schema ") + format).status, 0);
    fs::copy_file(folder_ / ".out", folder_ / (std::string(format) + ".schema.json"));
  }
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
)py";
  const std::string line = "cd '" + folder_.string() + "' && python3 check.py '" PHOTONRAIL_SOURCE_DIR "' >.out 2>.err";
  EXPECT_EQ(std::system(line.c_str()), 0) << read(folder_ / ".err");
}

}  // namespace
}  // namespace photonrail::test
