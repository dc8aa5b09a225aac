// Damaged files: the reader gives a graph or a ConfigError, and nothing else. Seeded, so that a failure can be repeated.
#include "formats/chakra/chakra_support.hpp"
#include "formats/chakra/trace.hpp"
#include "support/test_cases.hpp"

#include <random>

namespace photonrail::test {
namespace {

using Random = std::mt19937_64;  // its sequence is the same everywhere, unlike that of the standard distributions

// All kinds of nodes and attribute kinds that are read, on two ranks.
std::vector<std::string> valid_files() {
  std::vector<std::string> files;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Node kinds(3, kMemoryLoad, "kinds");
    kinds.attribute("tensor_size", [](auto& a) { a.add_double(3, 64); });
    kinds.attribute("num_ops", [](auto& a) { a.add_sint64(17, 9); });
    kinds.attribute("is_cpu_op", [](auto& a) { a.add_bool(27, true); });
    kinds.attribute("comm_tag", [](auto& a) { a.add_sfixed32(23, 2); });
    kinds.attribute("inputs", [](auto& a) { a.add_message(30, std::string("\x0a\x01x")); });
    Node groups(6, kMetadata, "groups");
    groups.text("pgs", R"([{"pg_name": "5", "ranks": [0, 1]}, {"pg_name": "6", "ranks": [1]}])");
    const Node message = rank == 0 ? send(4, 1, 100, 1) : receive(4, 0, 100, 1);
    files.push_back(
        trace({Node(1, kCompute, "compute").number("num_ops", 1000).duration_micros(7),
               collective(2, 0, 1 << 20, "5").waits_for({1, 77}), kinds.waits_for({1}, 4), message,
               collective(5, 9, 0).waits_for({2, 3, 4}), groups, Node(7, kCollective, "cpu").number("is_cpu_op", 1)}));
  }
  return files;
}

void mutate(std::string& data, const std::string& other, Random& random) {
  const std::size_t at = below(random, data.size());
  switch (below(random, 6)) {
    case 0:
      data[at] = static_cast<char>(data[at] ^ (1 << below(random, 8)));
      break;
    case 1:
      data[at] = static_cast<char>(random());
      break;
    case 2:
      data.resize(at + 1);
      break;
    case 3:
      data.erase(at, 1 + below(random, 8));
      break;
    case 4:
      data.insert(at, std::string(1 + below(random, 4), static_cast<char>(random())));
      break;
    default:
      data = data.substr(0, at) + other.substr(below(random, other.size()));
      break;
  }
  if (data.empty()) data = "x";
}

TEST(ChakraFuzz, AParserGivesATraceOrAnError) {
  const auto files = valid_files();
  Random random(1);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(8'000));
  for (int i = 0; i < kCases; ++i) {
    std::string data = files[below(random, 2)];
    for (std::size_t n = 1 + below(random, 3); n > 0; --n) mutate(data, files[below(random, 2)], random);
    try {
      const auto parsed = formats::chakra::parse_trace(data);
      // A node takes two bytes at the least, a dependency one: nothing grows beyond the data.
      ASSERT_LE(parsed.nodes.size() * 2 + parsed.data_dependencies.size() + parsed.control_dependencies.size(),
                data.size());
      ASSERT_LE(parsed.text.size(), data.size() * 20);  // a number as a pg_name is written out
      ++sound;
    } catch (const ConfigError&) {
    }
  }
  // Neither all are accepted nor all are refused: the mutations do reach into the nodes.
  EXPECT_GT(sound, kCases / 20);
  EXPECT_LT(sound, kCases * 9 / 10);
}

TEST(ChakraFuzz, AReaderGivesAGraphOrAnError) {
  const auto files = valid_files();
  const Folder folder;
  ChakraOptions options = put(folder, files);
  EXPECT_EQ(message_of([&] { static_cast<void>(read_chakra(options)); }), "");  // as it is, it is sound
  Random random(2);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(2'000));
  for (int i = 0; i < kCases; ++i) {
    auto damaged = files;
    std::string& data = damaged[below(random, 2)];
    mutate(data, files[below(random, 2)], random);
    if (below(random, 4) == 0) {
      data = gzipped(data);
      if (below(random, 2) == 0) mutate(data, gzipped(files[0]), random);
    }
    options.compute_time = below(random, 2) == 0 ? ComputeTime::kTrace : ComputeTime::kRoofline;
    sound += message_of([&] { EXPECT_EQ(read_chakra(put(folder, damaged)).ranks(), 2u); }).empty();
  }
  EXPECT_GT(sound, kCases / 20);
  EXPECT_LT(sound, kCases * 9 / 10);
}

TEST(ChakraFuzz, AGroupsFileGivesAGraphOrAnError) {
  const auto files = valid_files();
  const Folder folder;
  ChakraOptions options = put(folder, files);
  const std::string groups = R"({ "5": [0, 1], // pairs
    "0": [1, 0], "13": [1], "6": [1] })";
  Random random(3);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(1'000));
  for (int i = 0; i < kCases; ++i) {
    std::string damaged = groups;
    mutate(damaged, groups, random);
    options.comm_groups = folder.write("groups.json", damaged);
    sound += message_of([&] { static_cast<void>(read_chakra(options)); }).empty();
  }
  EXPECT_GT(sound, kCases / 20);
  EXPECT_LT(sound, kCases * 9 / 10);
}

}  // namespace
}  // namespace photonrail::test
