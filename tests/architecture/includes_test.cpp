// Reads every include line of the project and proves the dependency table; and proves the checker on planted lines.
#include "architecture/rooms.hpp"
#include "architecture/source_text.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

std::vector<std::string> violations(const SourceFile& file) {
  std::vector<std::string> found;
  for (const auto& include : includes_of(file.text)) {
    if (auto line = violation(file.path, include)) found.push_back(*std::move(line));
  }
  return found;
}

/// The planted line `include` in the file at `path`.
bool caught(const std::string& path, const std::string& include) {
  return !violations({path, "// A file.\n#pragma once\n\n#include " + include + "\n"}).empty();
}

std::vector<std::string> folders_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Includes, EveryLineObeysTheTable) {
  std::size_t lines = 0;
  for (const auto* folder : {"include", "src", "tools"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      lines += includes_of(file.text).size();
      for (const auto& line : violations(file)) ADD_FAILURE() << line;
    }
  }
  EXPECT_GT(lines, 100u) << "the checker found hardly any include: it does not read what it should";
}

TEST(Includes, TheTablePointsOneWay) {
  std::set<std::string> above;
  for (const auto& room : rooms()) {
    for (const auto& other : room.may_include) EXPECT_TRUE(above.contains(other)) << room.name << " -> " << other;
    above.insert(room.name);
  }
}

TEST(Includes, EveryPermissionOfTheTableIsUsed) {
  std::set<std::pair<std::string, std::string>> used;
  for (const auto* folder : {"include", "src"}) {
    for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, folder)) {
      for (const auto& include : includes_of(file.text)) {
        if (!include.quoted) continue;
        const bool is_public = include.name.starts_with("photonrail/");
        used.emplace(room_of(file.path), room_of((is_public ? "include/" : "src/") + include.name));
      }
    }
  }
  for (const auto& room : rooms()) {
    for (const auto& other : room.may_include) {
      EXPECT_TRUE(used.contains({room.name, other})) << "no file of " << room.name << " includes one of " << other;
    }
  }
}

TEST(Includes, EveryPublicHeaderHasARoom) {
  for (const auto& file : sources_below(PHOTONRAIL_SOURCE_DIR, "include")) EXPECT_NE(room_of(file.path), "") << file.path;
}

TEST(Includes, EveryFolderOfSrcIsARoomAndHasTests) {
  const std::filesystem::path root = PHOTONRAIL_SOURCE_DIR;
  for (const auto& name : folders_of(root / "src")) {
    EXPECT_NE(find_room(name), nullptr) << "src/" << name;
    if (name == "testing") continue;  // the kit is used by the tests of the other rooms
    if (sources_below(root, "src/" + name).empty()) continue;
    const auto folder = root / "tests" / name;
    ASSERT_TRUE(std::filesystem::is_directory(folder)) << "src/" << name << " has no tests/" << name;
    const auto tests = sources_below(root, "tests/" + name);
    EXPECT_TRUE(std::any_of(tests.begin(), tests.end(), [](const auto& f) { return f.path.ends_with("_test.cpp"); }))
        << folder;
  }
}

TEST(Includes, EveryFolderOfStudiesIsARoomAndHasTests) {
  const std::filesystem::path root = PHOTONRAIL_SOURCE_DIR;
  for (const auto& name : folders_of(root / "src/studies")) {
    EXPECT_NE(find_room("studies/" + name), nullptr) << "src/studies/" << name;
    EXPECT_TRUE(std::filesystem::is_directory(root / "tests/studies" / name)) << "src/studies/" << name << " has no tests";
  }
}

TEST(IncludeChecker, KeepsStudiesApart) {
  EXPECT_FALSE(caught("src/studies/goodput/run.cpp", "\"studies/record_log.hpp\""));
  EXPECT_FALSE(caught("src/studies/sweep/points.cpp", "\"studies/slices/report.hpp\""));
  EXPECT_FALSE(caught("src/studies/slices/command.cpp", "\"studies/slices/report.hpp\""));
  EXPECT_FALSE(caught("src/studies/slices/command.cpp", "\"work_limit.hpp\""));
  EXPECT_TRUE(caught("src/studies/slices/command.cpp", "\"studies/goodput/report.hpp\""));
  EXPECT_TRUE(caught("src/studies/slices/run.cpp", "\"studies/goodput/report.hpp\""));
  EXPECT_TRUE(caught("src/studies/goodput/run.cpp", "\"studies/sweep/points.hpp\""));
  EXPECT_TRUE(caught("src/studies/record_log.cpp", "\"studies/sweep/points.hpp\""));
  EXPECT_TRUE(caught("src/studies/slices/pods/pod.cpp", "\"studies/slices/report.hpp\""));
  EXPECT_TRUE(caught("src/studies/goodput/process/process.cpp", "\"json/json.hpp\""));
  EXPECT_TRUE(caught("src/studies/unknown/run.cpp", "\"studies/record_log.hpp\""));
  EXPECT_TRUE(caught("src/report/table.cpp", "\"studies/slices/report.hpp\""));
}

TEST(Includes, EveryFolderOfTestsIsARoomOrACrossCut) {
  const std::set<std::string> cross_cuts{"architecture", "bench",   "command", "determinism", "examples", "fuzz",
                                         "golden",       "install", "support", "validation",  "worlds"};
  for (const auto& name : folders_of(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "tests")) {
    EXPECT_TRUE(find_room(name) != nullptr || cross_cuts.contains(name)) << "tests/" << name;
  }
}

TEST(IncludeChecker, LetsAllowedLinesPass) {
  EXPECT_FALSE(caught("src/core/random.cpp", "<vector>"));
  EXPECT_FALSE(caught("src/core/random.cpp", "\"photonrail/core/random.hpp\""));
  EXPECT_FALSE(caught("src/network/network.hpp", "\"topology/plant.hpp\""));
  EXPECT_FALSE(caught("src/topology/export.cpp", "<boost/graph/adjacency_list.hpp>"));
  EXPECT_FALSE(caught("src/json/text.cpp", "<nlohmann/json.hpp>"));
  EXPECT_FALSE(caught("include/photonrail/controller.hpp", "\"photonrail/task_graph.hpp\""));
  EXPECT_FALSE(caught("tools/photonrail/main.cpp", "<CLI/CLI.hpp>"));
  EXPECT_FALSE(caught("tools/photonrail/main.cpp", "\"run.hpp\""));
  EXPECT_FALSE(caught("tools/photonrail/report.cpp", "\"report/page.hpp\""));
}

TEST(IncludeChecker, CatchesAnIncludeThatPointsBack) {
  EXPECT_TRUE(caught("src/core/random.cpp", "\"engine/engine.hpp\""));
  EXPECT_TRUE(caught("src/control/opus.cpp", "\"fabric/fabric.hpp\""));
  EXPECT_TRUE(caught("src/control/opus.cpp", "\"engine/engine.hpp\""));
  EXPECT_TRUE(caught("src/collective/ring.cpp", "\"photonrail/task_graph.hpp\""));
  EXPECT_TRUE(caught("include/photonrail/controller.hpp", "\"photonrail/scenario.hpp\""));
  EXPECT_TRUE(caught("include/photonrail/cluster.hpp", "\"photonrail/testing/replay.hpp\""));
}

TEST(IncludeChecker, CatchesThirdPartyInTheWrongPlace) {
  EXPECT_TRUE(caught("include/photonrail/config.hpp", "<nlohmann/json.hpp>"));
  EXPECT_TRUE(caught("include/photonrail/cluster/topology.hpp", "<boost/graph/adjacency_list.hpp>"));
  EXPECT_TRUE(caught("src/execution/executor.cpp", "<nlohmann/json.hpp>"));
  EXPECT_TRUE(caught("src/fabric/fabric.cpp", "<spdlog/spdlog.h>"));
  EXPECT_TRUE(caught("src/report/json.cpp", "<pugixml.hpp>"));
}

TEST(IncludeChecker, CatchesPrivateHeadersSeenFromOutsideAndUnknownPlaces) {
  EXPECT_TRUE(caught("tools/photonrail/main.cpp", "\"execution/executor.hpp\""));
  EXPECT_TRUE(caught("include/photonrail/simulate.hpp", "\"execution/executor.hpp\""));
  EXPECT_TRUE(caught("include/photonrail/simulate.hpp", "\"report/page.hpp\""));
  EXPECT_TRUE(caught("tools/photonrail/report.cpp", "\"report/page_sources.hpp\""));
  EXPECT_TRUE(caught("src/execution/executor.cpp", "\"executor.hpp\""));
  EXPECT_TRUE(caught("src/attic/old.cpp", "<vector>"));
  EXPECT_TRUE(caught("include/photonrail/unlisted.hpp", "<vector>"));
}

TEST(IncludeChecker, ReadsLinesAsThePreprocessorDoes) {
  const auto found = includes_of("#include <a/b.h>  // why\n  #  include \"c.hpp\"\n// #include <d>\nint x;\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a/b.h");
  EXPECT_FALSE(found[0].quoted);
  EXPECT_EQ(found[1].name, "c.hpp");
  EXPECT_TRUE(found[1].quoted);
}

}  // namespace
}  // namespace photonrail::test
