// The input sets of the reference data: files as ASTRA-sim's users have them, and the cycles that its binaries printed.
#include "photonrail/formats/astra.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace photonrail {
namespace {

namespace fs = std::filesystem;

AstraOptions options_of(const fs::path& folder) {
  AstraOptions options{folder / "system.json", folder / "network.yml", folder / "workload", {}, folder / "memory.json"};
  if (fs::exists(folder / "comm_group.json")) options.comm_groups = folder / "comm_group.json";
  return options;
}

TEST(AstraData, EveryInputSetTakesTheCyclesOfTheBinary) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  std::size_t sets = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(data / "astra")) {
    if (!entry.is_directory()) continue;
    ++sets;
    const auto expected = nlohmann::json::parse(std::ifstream(entry.path() / "expected.json"));
    const bool aware = expected["backend"] == "congestion_aware";
    const AnalyticalResult result =
        simulate_analytical(read_astra(options_of(entry.path())),
                            aware ? AnalyticalBackend::kCongestionAware : AnalyticalBackend::kCongestionUnaware);
    const auto cycles = expected["finish_cycles"].get<std::vector<std::uint64_t>>();
    EXPECT_EQ(result.finish_ns, cycles) << entry.path().filename();
  }
  EXPECT_GE(sets, 6U);
}

}  // namespace
}  // namespace photonrail
