// The dependency table of the project (src/rooms.txt), and the check of one include line against it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

namespace photonrail::test {

struct Room {
  std::string name;
  std::vector<std::string> may_include;  ///< rooms, besides itself
  std::vector<std::string> third_party;  ///< beginnings of include names (POSIX too), in .cpp and private headers only
};

/// The lines of src/rooms.txt. Includes point only up in this list.
inline const std::vector<Room>& rooms() {
  static const std::vector<Room> table = [] {
    std::vector<Room> read;
    std::ifstream file(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "src/rooms.txt");
    for (std::string line; std::getline(file, line);) {
      const std::size_t colon = line.find(':');
      if (line.starts_with('#') || colon == std::string::npos) continue;
      Room& room = read.emplace_back(Room{line.substr(0, colon), {}, {}});
      std::istringstream words(line.substr(colon + 1));
      std::vector<std::string>* into = &room.may_include;
      for (std::string word; words >> word;) {
        if (word == "|") {
          into = &room.third_party;
        } else {
          into->push_back(word);
        }
      }
    }
    return read;
  }();
  return table;
}

/// The room of each public header, by name below include/photonrail/. Those of testing/ are the room testing.
inline const std::map<std::string, std::string, std::less<>>& public_headers() {
  // clang-format off
  static const std::map<std::string, std::string, std::less<>> table{
      {"error.hpp", "core"}, {"ids.hpp", "core"}, {"units.hpp", "core"}, {"version.hpp", "core"},
      {"core/circuit.hpp", "core"}, {"core/random.hpp", "core"}, {"core/durations.hpp", "core"},
      {"core/work.hpp", "core"}, {"cluster/scale_up.hpp", "core"}, {"cluster/topology.hpp", "topology"},
      {"pip/pip_switch.hpp", "pip"}, {"cluster/device.hpp", "device"}, {"collective.hpp", "collective"},
      {"collective/choice.hpp", "collective"}, {"collective/cost.hpp", "collective"},
      {"collective/send_plan.hpp", "collective"}, {"collective/traffic_matrix.hpp", "collective"},
      {"task_graph.hpp", "workload"}, {"training.hpp", "workload"}, {"workload/model.hpp", "workload"},
      {"workload/moe.hpp", "workload"}, {"workload/pipeline.hpp", "workload"}, {"workload/agent.hpp", "workload"},
      {"workload/operators.hpp", "workload"},
      {"workload/training_operators.hpp", "workload"}, {"workload/registry.hpp", "run"},
      {"workload/serving.hpp", "serving"}, {"workload/scheduling.hpp", "serving"}, {"workload/rl.hpp", "rl"},
      {"controller.hpp", "control"}, {"fabric_view.hpp", "control"}, {"control/control_plane.hpp", "control"},
      {"control/decision.hpp", "control"}, {"control/needs.hpp", "control"}, {"control/parameter.hpp", "control"},
      {"control/waiting.hpp", "control"}, {"cluster.hpp", "fabric"}, {"study/cost.hpp", "cost"},
      {"observer.hpp", "execution"}, {"accounting.hpp", "execution"}, {"execution.hpp", "execution"},
      {"result.hpp", "run"}, {"scenario.hpp", "run"}, {"simulate.hpp", "run"}, {"plugin.hpp", "run"},
      {"study/calibrate.hpp", "run"}, {"study/goodput/history.hpp", "studies/goodput/process"},
      {"study/goodput/policy.hpp", "studies/goodput/process"}, {"study/goodput/spec.hpp", "studies/goodput/process"},
      {"config.hpp", "config"}, {"study/slices/allocator.hpp", "studies/slices/pods"},
      {"collective/plan_file.hpp", "formats"}, {"formats/astra.hpp", "astra"}, {"formats/trace.hpp", "formats"},
      {"report.hpp", "report"}, {"study/slices.hpp", "studies/slices"}, {"study/goodput.hpp", "studies/goodput"},
      {"study/sweep.hpp", "studies/sweep"}, {"study/plan.hpp", "studies/plan"}, {"study/explanation.hpp", "run"},
      {"study/work.hpp", "studies"}, {"command.hpp", "tools"},
  };
  // clang-format on
  return table;
}

/// Private headers that the command includes besides public ones: what only the command uses is not installed.
inline bool is_for_the_command(std::string_view header) {
  // clang-format off
  static constexpr std::string_view kHeaders[] = {
      "collective/scale_up.hpp", "collective/synthesis/synthesis.hpp", "config/huggingface.hpp", "core/counted.hpp",
      "core/guarded.hpp", "core/number_in.hpp", "formats/chakra/files.hpp", "formats/kineto/files.hpp",
      "formats/operators/operators.hpp", "formats/synthesis/topology_and_sketch.hpp", "json/file_text.hpp",
      "json/json.hpp", "report/ccl_bench.hpp", "report/chart.hpp", "report/compare.hpp", "report/cost_report.hpp",
      "report/explanation.hpp", "report/operators_text.hpp", "report/page.hpp", "report/replace_file.hpp",
      "report/rl_report.hpp", "report/run_json.hpp", "report/serving_report.hpp", "run/rate_search.hpp",
      "run/served_workload.hpp", "run/worth.hpp", "schema/schema.hpp", "studies/sweep/plugin_list.hpp",
      "studies/sweep/slurm.hpp", "studies/work.hpp"};
  // clang-format on
  return std::find(std::begin(kHeaders), std::end(kHeaders), header) != std::end(kHeaders);
}

inline const Room* find_room(std::string_view name) {
  const auto at = std::find_if(rooms().begin(), rooms().end(), [&](const Room& r) { return r.name == name; });
  return at == rooms().end() ? nullptr : &*at;
}

/// "studies/sweep/" where `path` is src/studies/sweep/command.cpp, the command of a study; else "".
inline std::string_view study_of_command(std::string_view path) {
  constexpr std::string_view kBegin = "src/studies/";
  constexpr std::string_view kEnd = "/command.cpp";
  if (!path.starts_with(kBegin) || !path.ends_with(kEnd) || path.size() <= kBegin.size() + kEnd.size()) return {};
  const std::string_view folder = path.substr(4, path.size() - 4 - kEnd.size() + 1);
  return std::count(folder.begin(), folder.end(), '/') == 2 ? folder : std::string_view{};
}

/// The room of a file by its path below src/: its folder; of studies/ the innermost folder that the table has, and a folder
/// directly below it that the table has not is no room.
inline std::string room_below_src(std::string_view path) {
  std::string room(path.substr(0, path.find('/')));
  if (room != "studies") return room;
  for (std::size_t at = room.size() + 1, end = 0; (end = path.find('/', at)) != std::string_view::npos; at = end + 1) {
    const std::string_view inner = path.substr(0, end);
    const bool is_study = at == std::string_view("studies/").size();
    if (is_study || find_room(inner) != nullptr) room = inner;
  }
  return room;
}

/// The room of a path from the root of the project; "" when it has none.
inline std::string room_of(std::string_view path) {
  if (!study_of_command(path).empty()) return "tools";
  const auto take = [&](std::string_view prefix) {
    const bool found = path.starts_with(prefix);
    if (found) path.remove_prefix(prefix.size());
    return found;
  };
  if (take("tools/")) return "tools";
  if (take("src/")) return room_below_src(path);
  if (!take("include/photonrail/")) return {};
  if (take("testing/")) return "testing";
  const auto at = public_headers().find(path);
  return at == public_headers().end() ? std::string{} : at->second;
}

/// C++ headers have neither a folder nor an extension.
inline bool is_standard(std::string_view name) { return name.find_first_of("/.") == std::string_view::npos; }

/// What is wrong with one include line of the file at `path`; nullopt when nothing is.
inline std::optional<std::string> violation(std::string_view path, const Include& include) {
  const auto complaint = [&](std::string_view why) {
    return std::string(path) + " includes " + include.name + ": " + std::string(why);
  };
  const std::string room = room_of(path);
  const bool is_public = path.starts_with("include/");
  const bool is_tool = room == "tools";
  static const Room tools{
      "tools", {}, {"CLI/", "fmt/", "spdlog/", "dlfcn.h", "elf.h", "malloc.h", "spawn.h", "unistd.h", "sys/"}};
  const Room* from = is_tool ? &tools : find_room(room);
  if (from == nullptr) return complaint("the file is in no known room");

  if (!include.quoted) {
    if (is_standard(include.name)) return std::nullopt;
    const bool has_third_party = room == "testing" ? is_public : !is_public;  // the kit's headers, never its library
    if (!has_third_party)
      return complaint(is_public ? "a public header names no third party" : "the kit's library does not");
    const bool allowed = std::any_of(from->third_party.begin(), from->third_party.end(),
                                     [&](const auto& prefix) { return include.name.starts_with(prefix); });
    return allowed ? std::nullopt : std::optional(complaint("third party that room " + room + " may not use"));
  }
  const bool names_public = include.name.starts_with("photonrail/");
  if (is_tool) {
    const std::string_view study = study_of_command(path);
    const bool own = include.name.find('/') == std::string::npos || (!study.empty() && include.name.starts_with(study));
    const bool allowed = names_public || own || is_for_the_command(include.name);
    return allowed ? std::nullopt : std::optional(complaint("tools use public headers, and those made for them"));
  }
  if (is_public && !names_public) return complaint("a public header includes public headers only");
  const std::string to = room_of((names_public ? "include/" : "src/") + include.name);
  if (to == room) return std::nullopt;
  if (find_room(to) == nullptr) return complaint("that is in no known room");
  const bool allowed = std::find(from->may_include.begin(), from->may_include.end(), to) != from->may_include.end();
  return allowed ? std::nullopt : std::optional(complaint("room " + room + " may not include room " + to));
}

}  // namespace photonrail::test
