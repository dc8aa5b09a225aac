#include "collective/scale_up.hpp"

#include "photonrail/error.hpp"
#include "support/shared_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using collective::graph_all_reduce;
using collective::scale_up_fabric;
using collective::ScaleUpFabric;
using collective::ScaleUpProtocol;
ScaleUpFabric simple_fabric() {
  ScaleUpFabric fabric;
  fabric.name = "x";
  fabric.ll = {2.0, 1.0, 10.0};
  fabric.simple = {10.0, 3.0, 2.0};
  fabric.copy_us_per_megabyte = 1.0;
  fabric.pairwise_simple = {20.0, 0.0, 2.0};
  return fabric;
}

double in_us(Duration d) { return static_cast<double>(d.count()) / 1e6; }

TEST(ScaleUpTimes, AreStepsAndBytes) {
  const ScaleUpFabric fabric = simple_fabric();
  // 4 members, 8 MB: 3 steps and 6 MB through each link, 2 MB copied: 10 + 9 + 12 + 2 us; in LL 2 + 3 + 60 + 2.
  EXPECT_DOUBLE_EQ(in_us(scale_up_time(fabric, CollectiveOp::kAllGather, 4, {8'000'000}, ScaleUpProtocol::kSimple)), 33.0);
  EXPECT_DOUBLE_EQ(in_us(scale_up_time(fabric, CollectiveOp::kReduceScatter, 4, {8'000'000}, ScaleUpProtocol::kLl)), 67.0);
  // An all-reduce has twice the steps and bytes, and reduces in place of copying: 10 + 18 + 24.
  EXPECT_DOUBLE_EQ(in_us(scale_up_time(fabric, CollectiveOp::kAllReduce, 4, {8'000'000}).time), 52.0);
  EXPECT_DOUBLE_EQ(in_us(scale_up_time(fabric, CollectiveOp::kAllToAll, 4, {8'000'000}).time), 20.0 + 12.0 + 2.0);
}

TEST(ScaleUpTimes, TakeTheFastestProtocol) {
  ScaleUpFabric fabric = simple_fabric();
  EXPECT_EQ(scale_up_time(fabric, CollectiveOp::kAllReduce, 8, {1000}).protocol, ScaleUpProtocol::kLl);
  EXPECT_EQ(scale_up_time(fabric, CollectiveOp::kAllReduce, 8, {100'000'000}).protocol, ScaleUpProtocol::kSimple);
  fabric.nvls = {30.0, 0.0, 2.0};  // 9/8 of the bytes in place of 14/8
  EXPECT_EQ(scale_up_time(fabric, CollectiveOp::kAllReduce, 8, {100'000'000}).protocol, ScaleUpProtocol::kNvls);
  EXPECT_EQ(scale_up_time(fabric, CollectiveOp::kAllGather, 8, {100'000'000}).protocol, ScaleUpProtocol::kSimple);
  EXPECT_FALSE(scale_up_time(fabric, CollectiveOp::kAllReduce, 8, {1000}).extrapolated);
  EXPECT_TRUE(scale_up_time(fabric, CollectiveOp::kAllReduce, 72, {1000}).extrapolated);
  EXPECT_TRUE(scale_up_time(fabric, CollectiveOp::kAllReduce, 8, {std::int64_t{1} << 30}).extrapolated);
}

TEST(ScaleUpTimes, SayWhatIsWrong) {
  const ScaleUpFabric& fabric = scale_up_fabric("h100");
  EXPECT_THROW(static_cast<void>(scale_up_time(fabric, CollectiveOp::kBroadcast, 8, {1})), ConfigError);
  EXPECT_THROW(static_cast<void>(scale_up_time(fabric, CollectiveOp::kAllReduce, 1, {1})), ConfigError);
  EXPECT_THROW(static_cast<void>(scale_up_time(fabric, CollectiveOp::kAllReduce, 2, {-1})), ConfigError);
  EXPECT_THROW(
      static_cast<void>(scale_up_time(scale_up_fabric("a100"), CollectiveOp::kAllReduce, 2, {1}, ScaleUpProtocol::kNvls)),
      ConfigError);
  EXPECT_THROW(static_cast<void>(scale_up_fabric("h1000")), ConfigError);
}

std::vector<std::vector<std::string>> csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    std::istringstream cells(line);
    for (rows.emplace_back(); std::getline(cells, line, ',');) rows.back().push_back(line);
  }
  rows.erase(rows.begin());
  return rows;
}

/// Geometric mean of max(predicted / measured, measured / predicted), less 1.
struct Error {
  double sum = 0.0;
  int count = 0;

  void add(double predicted, double measured) {
    sum += std::abs(std::log(predicted / measured));
    ++count;
  }
  [[nodiscard]] double mean() const { return std::exp(sum / count) - 1.0; }
};

CollectiveOp op_of(const std::string& name) {
  if (name == "all_reduce") return CollectiveOp::kAllReduce;
  if (name == "all_gather") return CollectiveOp::kAllGather;
  return name == "all_to_all" ? CollectiveOp::kAllToAll : CollectiveOp::kReduceScatter;
}

// 64 KiB and more: within 10 % in the geometric mean for each GPU, over all of its curves, also on the sizes that nothing
// was fitted to. The library's own constants for comparison.
TEST(ScaleUpTimesData, AreThoseOfNccl) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  std::map<std::string, Error> all;
  std::map<std::string, Error> held_out;
  std::map<std::string, Error> curves;
  for (const auto& row : csv(data / "operators/nccl.csv")) {
    const Bytes bytes{std::stoll(row[4])};
    if (bytes.count < 65536) continue;
    const auto ranks = static_cast<std::uint32_t>(std::stoul(row[3]));
    const double measured = std::stod(row[5]);
    const auto predict = [&](const std::string& fabric) {
      return in_us(scale_up_time(scale_up_fabric(fabric), op_of(row[1]), ranks, bytes).time);
    };
    all[row[0]].add(predict(row[0]), measured);
    curves[row[0] + " " + row[1] + " " + row[3]].add(predict(row[0]), measured);
    if (std::countr_zero(static_cast<std::uint64_t>(bytes.count)) % 2 == 0) held_out[row[0]].add(predict(row[0]), measured);
    if (row[0] == "h100" || row[0] == "a100") all["nccl_tuner_" + row[0]].add(predict("nccl_tuner_" + row[0]), measured);
  }
  for (const auto& [name, error] : curves) {
    std::printf("%-30s %3d points %5.1f %%\n", name.c_str(), error.count, 100.0 * error.mean());
    EXPECT_LT(error.mean(), 0.16) << name;
  }
  for (const auto& [name, error] : all) {
    std::printf("%-30s %3d points %5.1f %%\n", name.c_str(), error.count, 100.0 * error.mean());
    if (!name.starts_with("nccl_tuner")) {
      EXPECT_LT(error.mean(), 0.10) << name;
    }
  }
  for (const auto& [name, error] : held_out) {
    std::printf("%-30s %3d points %5.1f %%, held out\n", name.c_str(), error.count, 100.0 * error.mean());
    EXPECT_LT(error.mean(), 0.10) << name;
  }
}

TEST(GraphAllReduce, IsOfTheNextLargerNumberAtEqualBytesOfALink) {
  const auto eight = graph_all_reduce("h100", 8);
  ASSERT_EQ(eight.size(), 23U);
  EXPECT_EQ(eight[6], (std::pair<double, double>{16384.0, 3.559}));
  // Each of two GPUs sends the whole tensor, each of four 1.5 of it; beyond eight 16 send 1.875, eight 1.75.
  EXPECT_EQ(graph_all_reduce("h100", 2)[6].second, graph_all_reduce("h100", 4)[6].second);
  EXPECT_DOUBLE_EQ(graph_all_reduce("h100", 2)[6].first, 16384.0 * 1.5);
  EXPECT_DOUBLE_EQ(graph_all_reduce("h100", 16)[6].first, 16384.0 * 1.75 / 1.875);
  EXPECT_EQ(graph_all_reduce("h100", 5)[6].second, eight[6].second);
  EXPECT_EQ(graph_all_reduce("gb200", 8)[0].second, 4.64);
  EXPECT_TRUE(graph_all_reduce("h100", 1).empty());
  EXPECT_TRUE(graph_all_reduce("rtx4090", 8).empty());
}

// Its points are those of the source, rounded to four digits.
TEST(ScaleUpTimesData, AreThoseOfAllReducesInGraphs) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  std::size_t compared = 0;
  for (const auto& row : csv(data / "operators/custom_allreduce.csv")) {
    for (const auto& [bytes, us] : graph_all_reduce(row[0], static_cast<std::uint32_t>(std::stoul(row[2])))) {
      if (bytes != std::stod(row[3])) continue;
      EXPECT_NEAR(us / std::stod(row[4]), 1.0, 6e-4) << row[0] << ' ' << row[2] << ' ' << row[3];
      ++compared;
    }
  }
  EXPECT_EQ(compared, 207U);
}

}  // namespace
}  // namespace photonrail::test
