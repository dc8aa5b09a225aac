// Drawn Chakra traces: nodes of every kind on a few ranks, with groups, dependencies that cannot be and sizes in either
// unit, read back node by node.
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
  known.merge(
      words_in({"src/formats/chakra/attribute.cpp"}, {R"rx(field::(kDouble|kFloat|k[US]?[a-z]+(?:32|64)|kBool))rx"}));
  cover.expect_all(known, {{"comm_priority", "of ASTRA-sim's rules alone: tests/formats/drawn/astra_test.cpp"},
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

// A chain of computations on each rank, then an all-reduce by a ring of n: it begins when the last chain ends, and takes
// 2 (n - 1) steps of S / n bytes at 1 GB/s, 1,000 ps each, and 500 ns for a message.
TEST(DrawnChakra, AChainAndACollectiveTakeTheirTime) {
  Cover cover;
  expect_read_as_written(40, [&](std::uint64_t seed) {
    Draw draw(seed, "chakra/chain");
    Draw style(seed, "chakra/style");
    const auto ranks = draw.from_to(2, 6);
    const std::uint64_t share = draw.from_to(1, 1'000'000);
    const bool in_micros = draw.one_in(2);
    std::uint64_t longest = 0;
    const Folder folder;
    for (std::uint64_t r = 0; r < ranks; ++r) {
      std::vector<ChakraNode> nodes;
      std::uint64_t whole = 0;
      for (std::uint64_t n = draw.from_to(1, 5); n > 0; --n) {
        ChakraNode node{.id = nodes.size() + 1};
        if (!nodes.empty()) node.data = {nodes.size()};
        const std::uint64_t time = draw.from_to(1, 5000);
        if (in_micros)
          node.micros = time;
        else
          node.numbers["photonrail_duration_ps"] = time;
        whole += in_micros ? time * 1'000'000 : time;
        nodes.push_back(node);
      }
      nodes.push_back({.id = nodes.size() + 1, .type = chakra_type::kCollective, .name = "sum"});
      nodes.back().data = {nodes.size() - 1};
      nodes.back().numbers = {{"comm_type", 0}, {"comm_size", share * ranks}};
      folder.write("t." + std::to_string(r) + ".et", ChakraFile(style, cover).of(nodes, true));
      longest = std::max(longest, whole);
    }
    const Scenario scenario = parse_scenario(
        R"({"schema": "photonrail.scenario/1", "cluster": {"servers": )" + std::to_string(ranks) +
            R"(, "gpus_per_server": 1, "nic": {"port_gb_per_s": 1, "message_overhead_ns": 500}, "rail": {"kind": "electrical"}},
            "run": {"fidelity": "exact"}, "collectives": {"all_reduce": "ring"},
            "workload": {"chakra": {"prefix": "t", "compute_time": "trace"}}})",
        folder.path());
    Differences found;
    const std::uint64_t steps = 2 * (ranks - 1);
    found.compare("makespan in ps", longest + steps * (500'000 + share * 1000),
                  static_cast<std::uint64_t>(simulate(scenario).makespan.count()));
    return found;
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
