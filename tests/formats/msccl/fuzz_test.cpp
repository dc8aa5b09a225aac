// Damaged files: the reader gives a collective or a ConfigError, and nothing else. Seeded, so that a failure can be
// repeated.
#include "formats/chakra/chakra_support.hpp"
#include "formats/plan_file_support.hpp"
#include "support/test_cases.hpp"

#include <random>

namespace photonrail::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return static_cast<std::size_t>(random() % end); }

std::string exported(const char* algorithm, CollectiveOp op) {
  const CollectiveCall call{.op = op, .members = 3, .size = Bytes{900}};
  return msccl_xml(call, *CollectiveRegistry::builtin().find(algorithm).expand(call), "x");
}

// Mostly what a mistaken writer would do: another number or word; now and then a byte.
void mutate_xml(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size());
  const std::size_t quote = text.find('"', at);
  if (below(random, 4) != 0 && quote != std::string::npos) {
    static const std::vector<std::string> kWords{"0", "1",   "2", "3", "-1",  "99999999", "s",
                                                 "r", "rrc", "i", "o", "nop", "",         "rcs"};
    const std::size_t end = text.find('"', quote + 1);
    if (end == std::string::npos) return;
    text.replace(quote + 1, end - quote - 1, kWords[below(random, kWords.size())]);
    return;
  }
  switch (below(random, 3)) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + below(random, 60));
      break;
    default:
      text.insert(at, text.substr(below(random, text.size()), below(random, 200)));
      break;
  }
  if (text.empty()) text = "x";
}

TEST(MscclFuzz, AFileGivesACollectiveOrAnError) {
  const std::vector<std::string> files{exported("ring", CollectiveOp::kAllReduce),
                                       exported("pairwise", CollectiveOp::kAllToAll),
                                       exported("ring", CollectiveOp::kAllGather)};
  Random random(1);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(2'000));
  for (int i = 0; i < kCases; ++i) {
    std::string text = files[below(random, files.size())];
    for (std::size_t n = 1 + below(random, 2); n > 0; --n) mutate_xml(text, random);
    const std::string problem = problem_of(text);
    if (!problem.empty()) {
      EXPECT_TRUE(problem.starts_with("x.xml: ")) << problem;
      continue;
    }
    ++sound;
    // What is accepted is right.
    const CollectiveFile read = parse_msccl(text, "x.xml");
    const CollectiveCall call = call_of(read, 900);
    const auto report = testing::replay(call, *read.algorithm->expand(call), {});
    EXPECT_TRUE(report.correct) << report.problem << '\n' << text;
  }
  EXPECT_GT(sound, kCases / 50);
  EXPECT_LT(sound, kCases * 9 / 10);
}

TEST(MscclFuzz, ATacclFileGivesACollectiveOrAnError) {
  const std::string good = R"json({"sccl_type": "algorithm", "input_map": {"0": [0], "1": [1], "2": [2]},
    "collective": {"name": "Allgather(n=3)", "nodes": 3}, "steps": [
    {"sends": [[0, 0, 1, 0, 0], [1, 1, 2], [2, 2, 0, 0, 0, null]]}, {"sends": [[2, 0, 1], [0, 1, 2], [1, 2, 0]]}]})json";
  const Folder folder;
  ASSERT_EQ(read_taccl(folder.write("good.json", good)).members, 3u);
  const std::string_view marks = "0123456789[],{}'";
  Random random(2);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(500));
  for (int i = 0; i < kCases; ++i) {
    std::string text = good;
    const std::size_t at = below(random, text.size());
    if (below(random, 2) == 0) {
      text[at] = marks[below(random, marks.size())];
    } else {
      text.erase(at, 1 + below(random, 12));
    }
    try {
      const CollectiveFile read = read_taccl(folder.write("x.json", text));
      const CollectiveCall call = call_of(read, 900);
      EXPECT_TRUE(testing::replay(call, *read.algorithm->expand(call), {}).correct) << text;
      ++sound;
    } catch (const ConfigError&) {
    }
  }
  EXPECT_GT(sound, kCases / 50);
  EXPECT_LT(sound, kCases * 9 / 10);
}

}  // namespace
}  // namespace photonrail::test
