#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <limits>

namespace photonrail::command {

namespace {

constexpr std::array<const char*, 4> kKindNames{"compute", "collective", "send", "receive"};  // by TaskKind

struct Tally {
  std::uint64_t tasks = 0;
  Bytes bytes{};
};

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0.0;

  void add(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

struct Counts {
  Tally compute;
  std::array<std::array<Tally, kDimensionCount>, kKindNames.size()> communication{};  // by TaskKind, then Dimension
  Range flops;                                                                        // of a rank
  Range given_time;                                                                   // of a rank, picoseconds
};

void count_rank(const TaskGraph& graph, RankId rank, Counts& counts) {
  double flops = 0.0;
  double given_time = 0.0;
  for (const Task& task : graph.program(rank).tasks()) {
    if (task.kind == TaskKind::kCompute) {
      ++counts.compute.tasks;
      flops += task.flops;
      if (task.time()) given_time += static_cast<double>(task.time()->count());
      continue;
    }
    const Communicator& group = graph.communicators()[graph.communicator(rank, task.slot).index()];
    Tally& tally = counts.communication[static_cast<std::size_t>(task.kind)][static_cast<std::size_t>(group.dimension)];
    ++tally.tasks;
    tally.bytes += task.size();
  }
  counts.flops.add(flops);
  counts.given_time.add(given_time);
}

std::string scientific(double value) { return fmt::format("{:.4g}", value); }

std::string counts_text(const Counts& counts) {
  std::vector<std::vector<std::string>> rows{{"kind", "dimension", "tasks", "bytes named by the tasks"}};
  rows.push_back({"compute", "-", std::to_string(counts.compute.tasks), "-"});
  for (std::size_t kind = 0; kind < kKindNames.size(); ++kind) {
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      const Tally& tally = counts.communication[kind][d];
      if (tally.tasks == 0) continue;
      rows.push_back({kKindNames[kind], std::string(name(static_cast<Dimension>(d))), std::to_string(tally.tasks),
                      std::to_string(tally.bytes.count) + " (" + to_text(tally.bytes) + ")"});
    }
  }
  return in_columns(rows);
}

std::string describe(const TaskGraph& graph) {
  Counts counts;
  for (std::size_t r = 0; r < graph.ranks(); ++r) count_rank(graph, RankId{r}, counts);
  std::string text = core::counted(graph.ranks(), "rank") + ", " + core::counted(graph.programs().size(), "program") +
                     ", " + core::counted(graph.communicators().size(), "group") + ", " +
                     core::counted(graph.task_count(), "task") + "\n" + counts_text(counts);
  text +=
      "FLOPs of a rank: least " + scientific(counts.flops.least) + ", greatest " + scientific(counts.flops.greatest) + "\n";
  if (counts.given_time.greatest > 0.0) {
    text += "compute time given for a rank: least " + to_text(round_up_picoseconds(counts.given_time.least)) +
            ", greatest " + to_text(round_up_picoseconds(counts.given_time.greatest)) + "\n";
  }
  return text;
}

TaskGraph read_graph(const TraceOptions& options, const Registries& known) {
  if (options.prefix.empty() == options.scenario.empty()) {
    throw ConfigError("trace info", "needs a scenario file or --prefix, one of the two");
  }
  if (options.prefix.empty()) return read_one_job(options.scenario, options.set, known).graph;
  if (!options.set.empty()) throw ConfigError("--set", "changes a scenario, and --prefix reads none");
  ChakraOptions chakra;
  chakra.prefix = options.prefix;
  chakra.comm_groups = options.groups;
  // `trace export` writes it there.
  const std::filesystem::path beside = options.prefix.string() + ".json";
  std::error_code ignored;
  if (options.groups.empty() && std::filesystem::is_regular_file(beside, ignored)) chakra.comm_groups = beside;
  return read_chakra(chakra);
}

}  // namespace

void trace_info(const TraceOptions& options, const Registries& known) {
  const TaskGraph graph = read_graph(options, known);
  warn((options.prefix.empty() ? options.scenario : options.prefix).string(), graph.warnings());
  std::cout << describe(graph);
}

void trace_export(const TraceOptions& options, const Registries& known) {
  const Scenario scenario = read_one_job(options.scenario, options.set, known);
  const auto files = write_chakra(scenario.graph, options.prefix);
  std::cout << "wrote " << core::counted(files.size(), "file") << ", " << files.front().string() << " to "
            << files.back().string() << '\n';
}

}  // namespace photonrail::command
