// A scenario from recorded traces in one call: what they do not say is guessed, and each guess is told.
#include "commands.hpp"
#include "core/counted.hpp"
#include "format_commands.hpp"
#include "formats/chakra/files.hpp"
#include "formats/kineto/files.hpp"
#include "json/json.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::command {

namespace {

namespace fs = std::filesystem;
using json::Json;

/// What is written, and what of it nothing said.
struct TraceScenario {
  std::string name;
  Json workload;
  std::optional<Json> placement{};  ///< none: rank r is GPU r
  std::size_t ranks = 0;
  std::vector<std::string> guesses;
};

// The one trace of a folder, or the prefix that was given.
fs::path chakra_prefix(const fs::path& given) {
  if (!fs::is_directory(given)) return given;
  const auto traces = formats::chakra::traces_in(given);
  std::vector<std::string> names;
  for (const auto& [name, ranks] : traces) names.push_back(name);
  if (names.size() == 1) return given / names.front();
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + (given / name).string();
  throw ConfigError(given.string(), names.empty() ? "has no PREFIX.RANK.et" : "has " + core::counted(names.size(), "trace"),
                    names.empty() ? "name a folder with Chakra traces, one file a rank" : "name one of " + list);
}

// The groups of a trace: PREFIX.json, else the one file of its folder that is called *group*.json.
fs::path groups_of(const fs::path& prefix) {
  const fs::path own = prefix.string() + ".json";
  if (fs::exists(own)) return own;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(prefix.parent_path())) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(".json") && file.find("group") != std::string::npos) found.push_back(entry.path());
  }
  return found.size() == 1 ? found.front() : fs::path{};
}

TraceScenario from_chakra(const fs::path& given) {
  const fs::path prefix = fs::absolute(chakra_prefix(given)).lexically_normal();
  TraceScenario scenario;
  scenario.name = prefix.filename().string();
  scenario.ranks = formats::chakra::find_traces(prefix).size();
  Json chakra{{"prefix", prefix.string()}};
  if (const fs::path groups = groups_of(prefix); !groups.empty()) {
    chakra["comm_groups"] = groups.string();
    scenario.guesses.push_back("its groups are those of " + groups.filename().string());
  }
  scenario.workload = Json{{"chakra", std::move(chakra)}};
  return scenario;
}

TraceScenario from_kineto(const fs::path& given) {
  const fs::path files = fs::absolute(given).lexically_normal();
  TraceScenario scenario;
  scenario.name = files.filename().string();
  scenario.ranks = formats::kineto::find_files(files).size();
  scenario.workload = Json{{"kineto", Json{{"files", files.string()}}}};
  scenario.guesses.push_back("every kernel counts: \"iteration\" in /workload/kineto takes one ProfilerStep");
  return scenario;
}

// As many GPUs as servers mostly have, where they divide the ranks.
std::vector<std::uint32_t> likely_gpus_per_server(std::size_t ranks) {
  std::vector<std::uint32_t> likely;
  for (const std::uint32_t gpus : {8u, 4u, 2u}) {
    if (ranks % gpus == 0 && ranks >= gpus) likely.push_back(gpus);
  }
  if (likely.empty()) likely.push_back(ranks <= 8 ? static_cast<std::uint32_t>(ranks) : 1);
  return likely;
}

std::string text_of_import(const TraceScenario& scenario, std::uint32_t gpus) {
  const std::size_t servers = (scenario.ranks + gpus - 1) / gpus;
  Json root{{"schema", "photonrail.scenario/1"},
            {"name", scenario.name},
            {"why", "imported: cluster and placement are guesses"},
            {"cluster", Json{{"servers", servers},
                             {"gpus_per_server", gpus},
                             {"gpu", Json{{"preset", "h100"}, {"compute_efficiency", 0.5}}},
                             {"scale_up", Json{{"gb_per_s", 450}}},
                             {"nic", Json{{"ports", 1}, {"port_gb_per_s", 50}}},
                             {"rail", Json{{"kind", "electrical"}}}}},
            {"workload", scenario.workload}};
  if (scenario.placement) root["placement"] = *scenario.placement;
  return root.dump(2) + "\n";
}

/// Ranks that are numbered with dp innermost, so that ranks of one tensor-parallel group are `dp` apart.
struct DpInnermost {
  std::size_t dp = 0;
  std::size_t tp = 0;
};

// The numbering of the ranks, where all tensor-parallel groups step over ranks alike.
std::optional<DpInnermost> dp_innermost(const Scenario& scenario) {
  std::optional<DpInnermost> found;
  for (const Communicator& c : scenario.graph.communicators()) {
    if (c.dimension != Dimension::kTp) continue;
    const std::size_t first = c.members.front().index();
    if (c.members[1].index() <= first) return std::nullopt;
    const std::size_t stride = c.members[1].index() - first;
    if (!found) found = DpInnermost{.dp = stride, .tp = c.members.size()};
    if (c.members.size() != found->tp || first % (found->dp * found->tp) >= found->dp) return std::nullopt;
    for (std::size_t i = 1; i < c.members.size(); ++i) {
      if (c.members[i].index() != first + i * found->dp) return std::nullopt;
    }
  }
  const bool apart = found && found->dp > 1 && scenario.graph.ranks() % (found->dp * found->tp) == 0;
  return apart ? found : std::nullopt;
}

// Tensor-parallel groups belong into servers: places them there.
void place_dp_innermost(const DpInnermost& of, TraceScenario& scenario) {
  const std::size_t pp = scenario.ranks / (of.dp * of.tp);
  Json sizes{{"dp", of.dp}, {"tp", of.tp}};
  std::vector<std::string> ranks{"dp", "tp"};
  std::vector<std::string> order{"tp", "dp"};
  if (pp > 1) {
    sizes["pp"] = pp;
    for (auto* names : {&ranks, &order}) names->emplace_back("pp");
  }
  scenario.placement = Json{{"rank_order", ranks}, {"order", order}, {"sizes", sizes}};
}

// How many groups have each dimension, as they are read with this cluster.
std::string dimensions_text(const Scenario& scenario) {
  std::map<Dimension, std::size_t> groups;
  for (const Communicator& communicator : scenario.graph.communicators()) ++groups[communicator.dimension];
  std::string text;
  for (const auto& [dimension, count] : groups) {
    text += (text.empty() ? "" : ", ") + core::counted(count, "group") + " of " + std::string(name(dimension));
  }
  return text.empty() ? "no groups" : text;
}

// Computations that say nothing of their work would take no time: where they were recorded, they take what they took.
bool needs_recorded_times(const Scenario& scenario) {
  const auto& warnings = scenario.graph.warnings();
  return std::any_of(warnings.begin(), warnings.end(), [](const std::string& line) {
    return line.find("\"compute_time\": \"trace\" would use") != std::string::npos;
  });
}

}  // namespace

void import_trace(const ImportTraceOptions& options, const Registries& known) {
  TraceScenario scenario = options.kineto ? from_kineto(options.from) : from_chakra(options.from);
  const auto read_with = [&](std::uint32_t gpus) {
    return parse_scenario(text_of_import(scenario, gpus), ".", options.out.string(), {}, known);
  };
  const bool asked = options.gpus_per_server > 0;
  std::uint32_t gpus = options.gpus_per_server;
  std::optional<Scenario> best;
  for (const std::uint32_t likely : asked ? std::vector{gpus} : likely_gpus_per_server(scenario.ranks)) {
    // Names of groups that disagree with where their ranks are become warnings: the size with the fewest is taken.
    Scenario tried = read_with(likely);
    if (best && tried.graph.warnings().size() >= best->graph.warnings().size()) continue;
    best = std::move(tried);
    gpus = likely;
  }
  const bool times = !options.kineto && needs_recorded_times(*best);
  if (times) {
    scenario.workload["chakra"]["compute_time"] = "trace";
    scenario.guesses.push_back("computations take their recorded times (\"compute_time\" in /workload/chakra)");
  }
  const std::optional<DpInnermost> numbering = dp_innermost(*best);
  if (numbering) {
    place_dp_innermost(*numbering, scenario);
    if (!asked && numbering->tp <= 8) gpus = static_cast<std::uint32_t>(numbering->tp);  // a server has a group
  }
  if (times || numbering) best = read_with(gpus);
  const Scenario& read = *best;
  if (!asked) scenario.guesses.push_back(core::counted(gpus, "GPU") + " a server (--gpus-per-server)");
  scenario.guesses.push_back(numbering ? "ranks are numbered with dp innermost, and tp is put into servers (/placement)"
                                       : "rank r is GPU r: ranks fill servers in order (/placement)");
  scenario.guesses.push_back("H100s, 450 GB/s inside a server, a NIC of 50 GB/s a GPU, electrical rails (/cluster)");
  scenario.guesses.push_back("dimensions of groups by places, strides and operations; sends are pp (/workload)");
  write_file(options.out, text_of_import(scenario, gpus));
  std::cout << "wrote " << options.out.string() << ": " << core::counted(scenario.ranks, "rank") << ", "
            << dimensions_text(read) << "\nguessed:\n";
  for (const std::string& guess : scenario.guesses) std::cout << "  " << guess << '\n';
}

}  // namespace photonrail::command
