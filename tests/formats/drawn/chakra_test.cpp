// Drawn Chakra traces: nodes of every kind on a few ranks, with groups, dependencies that cannot be and sizes in either
// unit, read back node by node.
#include "formats/drawn/chains.hpp"
#include "formats/drawn/chakra_expected.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/folder.hpp"

namespace photonrail::test::drawn {
namespace {

/// Writes `written` in the style of the seed; returns the options that read it.
ChakraOptions write_chakra_truth(std::uint64_t seed, const ChakraTruth& written, const Folder& folder, Cover& cover) {
  Draw style(seed, "chakra/style");
  ChakraOptions options;
  options.prefix = folder.path() / "trace";
  options.size_unit = written.element_bytes > 0 ? SizeUnit::kElements : SizeUnit::kBytes;
  if (written.element_bytes > 0) options.element_bytes = written.element_bytes;
  options.compute_time = written.trace_time ? ComputeTime::kTrace : ComputeTime::kRoofline;
  options.dimensions = written.dimensions;
  const bool alike = style.one_in(2);
  for (std::uint32_t r = 0; r < written.ranks.size(); ++r) {
    Draw of_rank(seed, alike ? "chakra/style of all" : "chakra/style of " + std::to_string(r));
    std::vector<ChakraNode> nodes;
    for (const ChakraTask& task : written.ranks[r]) nodes.push_back(node_of(written, task, of_rank));
    if (const std::string groups = groups_in_trace(style, written, r); !groups.empty()) {
      // Its own node, behind all others, so that no id moves.
      ChakraNode node{.id = written.ranks[r].empty() ? 1 : written.ranks[r].back().id + 1, .type = chakra_type::kMetadata};
      node.texts[style.pick<std::string>({"pg_config", "process_group"})] = groups;
      nodes.push_back(node);
    }
    folder.write("trace." + std::to_string(r) + ".et", ChakraFile(of_rank, cover).of(nodes, written.versions[r]));
  }
  if (const std::string groups = groups_file(style, written); !groups.empty()) {
    options.comm_groups = folder.write("groups.json", maybe_gzip(style, groups));
  }
  return options;
}

Differences read_drawn_chakra(std::uint64_t seed, const ChakraTruth& written, const ChakraTruth& truth, Cover& cover) {
  const Folder folder;
  const TaskGraph graph = read_chakra(write_chakra_truth(seed, written, folder, cover));
  Differences found;
  compare_graph(expected_chakra(truth), graph, found);
  compare_communicators(expected_communicators(truth), graph, found);
  std::string warnings;
  for (const std::string& line : graph.warnings()) warnings += line + "\n";
  for (const auto& [what, count] : expected_doubts(truth)) {
    const bool said = warnings.find(what + ": " + std::to_string(count) + ", the first") != std::string::npos;
    const bool quiet = warnings.find(what + ": ") == std::string::npos;
    if (count > 0 ? !said : !quiet)
      found.add(what + ": " + std::to_string(count) + " were written, but the warnings are\n" + warnings);
  }
  return found;
}

TEST(DrawnChakra, TracesAreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(300, [&](std::uint64_t seed) {
    const ChakraTruth truth = draw_chakra(seed);
    return read_drawn_chakra(seed, truth, truth, cover);
  });
  // Names of attributes, and kinds of values.
  std::set<std::string> known = words_in({"src/formats/chakra/format.hpp"}, {R"rx(k\w+ = "([a-z_]+)")rx"});
  known.merge(words_in({"src/formats/chakra/attribute.cpp", "src/formats/chakra/trace.cpp"},
                       {R"rx(tag_and_type\(field::(\w+),)rx"}));
  cover.expect_all(known, {{"comm_priority", "of ASTRA-sim's rules alone: tests/formats/drawn/astra_test.cpp"},
                           {"kBoolList", "of involved_dim"},
                           {"involved_dim", "of ASTRA-sim's rules alone: tests/formats/drawn/astra_test.cpp"}});
}

TEST(DrawnChakra, AnotherValueIsNoticed) {
  Cover cover;
  const std::set<std::string> names{"exact time", "size", "type", "tag", "dependency", "name", "unit", "operations"};
  expect_changes_noticed(400, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "chakra/planted");
    const ChakraTruth truth = draw_chakra(seed);
    ChakraTruth other = truth;
    const auto choice = draw.pick(std::vector<std::string>(names.begin(), names.end()));
    std::vector<ChakraTask>& tasks = other.ranks[draw.below(other.ranks.size())];
    if (!plant(choice, other, tasks, draw)) return true;
    name = choice;
    try {
      return !read_drawn_chakra(seed, other, truth, cover).none();
    } catch (const ConfigError&) {
      return true;
    }
  });
}

TEST(DrawnChakra, AChainAndACollectiveTakeTheirTime) {
  Cover cover;
  expect_read_as_written(40, [&](std::uint64_t seed) {
    const Folder folder;
    const ChakraChain chain = write_chakra_chain(seed, folder, cover);
    Differences found;
    const Scenario scenario = parse_scenario(chain.scenario, folder.path());
    found.compare("makespan in ps", chain.picoseconds, static_cast<std::uint64_t>(simulate(scenario).makespan.count()));
    return found;
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
