// The traffic of mixture-of-experts layers.
#include "photonrail/workload/moe.hpp"

#include "support/errors.hpp"
#include "support/shared_data.hpp"
#include "workload/moe/router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <ostream>
#include <vector>

namespace photonrail {

using workload::apportion;
using workload::log_popularity;

namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::uint64_t sum(std::span<const std::uint64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

std::vector<std::uint64_t> row(const Routing& routing, Member m) {
  const auto first = routing.chosen.begin() + static_cast<std::ptrdiff_t>(routing.cell(m, 0));
  return {first, first + routing.experts};
}

/// 4 members, 8 experts, 2 of them a token, 100 tokens of 10 elements: 200 choices a member.
MoeSpec small() {
  MoeSpec spec;
  spec.members = 4;
  spec.experts = 8;
  spec.top_k = 2;
  spec.tokens = 100;
  spec.hidden = 10;
  spec.layers = 3;
  spec.micro_batches = 2;
  return spec;
}

MoeSpec small(RouterKind kind) {
  MoeSpec spec = small();
  spec.router.kind = kind;
  return spec;
}

// ---- whole tokens

TEST(Apportion, FollowsTheWeightsByLargestRemainder) {
  // 2 x 10 choices by 5 : 2 : 2 : 1 are 10, 4, 4, 2.
  EXPECT_THAT(apportion(std::vector{std::log(5.0), std::log(2.0), std::log(2.0), 0.0}, 10, 2), ElementsAre(10, 4, 4, 2));
  // 7 among 3 alike: 2.33 each, and the one that is left to the lowest.
  EXPECT_THAT(apportion(std::vector{0.0, 0.0, 0.0}, 7, 1), ElementsAre(3, 2, 2));
  // 10 by 1 : 2 : 3, that is 1.67, 3.33, 5: the first has the largest remainder.
  EXPECT_THAT(apportion(std::vector{0.0, std::log(2.0), std::log(3.0)}, 10, 1), ElementsAre(2, 3, 5));
}

TEST(Apportion, NoTokenChoosesAnExpertTwice) {
  // By 8 : 1 : 1, 20 choices of 10 tokens would be 16, 2, 2: the first gets all 10, the others share the rest.
  EXPECT_THAT(apportion(std::vector{std::log(8.0), 0.0, 0.0}, 10, 2), ElementsAre(10, 5, 5));
  // 100 : 10 : 1 : 1, three of four: 30 choices. 10; then of 20 by 10 : 1 : 1 10 again; then 5 and 5.
  EXPECT_THAT(apportion(std::vector{std::log(100.0), std::log(10.0), 0.0, 0.0}, 10, 3), ElementsAre(10, 10, 5, 5));
  EXPECT_THAT(apportion(std::vector{3.0, 0.0, -900.0}, 10, 3), ElementsAre(10, 10, 10));
  EXPECT_THAT(apportion(std::vector{0.0, -900.0, -900.0}, 8192, 2), ElementsAre(8192, 4096, 4096));
}

TEST(Apportion, NobodyChoosesWhatHasNoWeight) {
  const double never = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(apportion(std::vector{never, 0.0, 0.0, never}, 7, 1), ElementsAre(0, 4, 3, 0));
  EXPECT_THAT(apportion(std::vector{never, 0.0, 0.0, never}, 7, 2), ElementsAre(0, 7, 7, 0));
}

// ---- popularity

TEST(Router, ZipfSharesOfTheTopTen) {
  // 128 experts, exponent 1.5: the first 10 of sum r^-1.5 (reference: 81.9 %).
  const RouterSpec router{.kind = RouterKind::kZipf, .exponent = 1.5};
  const std::vector<double> logs = log_popularity(router, 128, {}, 0);
  double top = 0.0;
  double all = 0.0;
  for (std::size_t e = 0; e < 128; ++e) {
    EXPECT_NEAR(logs[e], -1.5 * std::log(static_cast<double>(e + 1)), 1e-12);
    (e < 10 ? top : all) += std::exp(logs[e]);
  }
  EXPECT_NEAR(top / (top + all), 0.8191227347, 1e-9);
}

TEST(Router, FreshLayersHaveTheSameZipfInAnotherOrder) {
  RouterSpec router{.kind = RouterKind::kZipf, .fresh_layers = true};
  auto first = log_popularity(router, 64, {.layer = 0}, 0);
  auto second = log_popularity(router, 64, {.layer = 1}, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(log_popularity(router, 64, {.layer = 1}, 0), second);
  EXPECT_NE(log_popularity(router, 64, {.layer = 1, .seed = 2}, 0), second);
  std::sort(first.begin(), first.end(), std::greater<>());
  std::sort(second.begin(), second.end(), std::greater<>());
  EXPECT_EQ(first, second);
  router.fresh_layers = false;
  EXPECT_EQ(log_popularity(router, 64, {.layer = 0}, 0), log_popularity(router, 64, {.layer = 1}, 0));
}

TEST(Router, DirichletSharesHaveTheirVariance) {
  // Symmetric, a = 0.5, n = 8 experts: mean 1/8, variance (n-1) / (n^2 (n a + 1)) = 7 / (64 x 5).
  constexpr std::uint32_t kExperts = 8;
  constexpr int kLayers = 20000;
  const RouterSpec router{.kind = RouterKind::kDirichlet, .concentration = 0.5, .fresh_layers = true};
  double mean = 0.0;
  double square = 0.0;
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    double all = 0.0;
    const std::vector<double> logs = log_popularity(router, kExperts, {.layer = layer}, 0);
    for (const double x : logs) all += std::exp(x);
    mean += std::exp(logs[3]) / all / kLayers;
    square += std::exp(2 * logs[3]) / (all * all) / kLayers;
  }
  // A share is in [0, 1]: its square varies by less than 0.1; five deviations of the mean of 20,000.
  EXPECT_NEAR(mean, 1.0 / 8, 5 * std::sqrt(7.0 / 320 / kLayers));
  EXPECT_NEAR(square - mean * mean, 7.0 / 320, 5 * 0.1 / std::sqrt(kLayers));
}

/// The deviation of the change of the log-popularities between two calls, over 4096 experts.
double change(const RouterSpec& router, const MoeCall& a, const MoeCall& b) {
  const auto from = log_popularity(router, 4096, a, 0);
  const auto to = log_popularity(router, 4096, b, 0);
  double square = 0.0;
  for (std::size_t e = 0; e < from.size(); ++e) square += (to[e] - from[e]) * (to[e] - from[e]) / 4096;
  return std::sqrt(square);
}

// A walk of k steps of deviation s has deviation s sqrt(k). 4096 experts: 1.1 % of deviation, allow 5.
TEST(Router, PopularityWalksFromLayerToLayerAndIterationToIteration) {
  const RouterSpec layers{.kind = RouterKind::kZipf, .layer_drift = 0.3};
  EXPECT_NEAR(change(layers, {.layer = 0}, {.layer = 1}), 0.3, 0.3 * 0.055);
  EXPECT_NEAR(change(layers, {.layer = 5}, {.layer = 9}), 0.6, 0.6 * 0.055);
  EXPECT_EQ(change(layers, {.iteration = 0}, {.iteration = 7}), 0.0);
  const RouterSpec iterations{.kind = RouterKind::kZipf, .iteration_drift = 0.1};
  EXPECT_NEAR(change(iterations, {.iteration = 0}, {.iteration = 1}), 0.1, 0.1 * 0.055);
  EXPECT_NEAR(change(iterations, {.iteration = 3}, {.iteration = 12}), 0.3, 0.3 * 0.055);
  EXPECT_EQ(change(iterations, {.layer = 0}, {.layer = 4}), 0.0);
  // Layers walk apart: the difference of two walks of one step has deviation s sqrt(2).
  EXPECT_NEAR(change(iterations, {.layer = 0, .iteration = 1}, {.layer = 4, .iteration = 1}), 0.1414, 0.1414 * 0.055);
}

// ---- traffic

TEST(MoeTraffic, UniformDispatchAndCombine) {
  MoeSpec spec = small();
  spec.dispatch_bytes = 1;
  spec.combine_bytes = 2;
  const MoeTraffic traffic(spec);
  // 200 choices over 8 experts: 25 each, 2 experts a member, 10 elements: 500 bytes a pair, and 1000 back.
  const TrafficMatrix dispatch = traffic.matrix({.number = traffic.number(0, 0, MoeExchange::kDispatch)});
  const TrafficMatrix combine = traffic.matrix({.number = traffic.number(2, 1, MoeExchange::kCombine)});
  for (Member a = 0; a < 4; ++a) {
    for (Member b = 0; b < 4; ++b) {
      EXPECT_EQ(dispatch.at(a, b), Bytes{500});
      EXPECT_EQ(combine.at(a, b), Bytes{1000});
    }
  }
  EXPECT_EQ(traffic.typical_input(MoeExchange::kDispatch), Bytes{2000});
  EXPECT_EQ(traffic.typical_input(MoeExchange::kCombine), Bytes{4000});
  EXPECT_FALSE(traffic.drifts());
}

TEST(MoeTraffic, CombineIsTheTransposeOfDispatchInItsOwnElements) {
  for (const RouterKind kind : {RouterKind::kUniform, RouterKind::kZipf, RouterKind::kDirichlet}) {
    MoeSpec spec = small(kind);
    spec.router.source_spread = 0.5;
    spec.dispatch_bytes = 1;
    spec.combine_bytes = 4;
    const MoeTraffic traffic(spec);
    const DemandQuery query{CommunicatorId{3}, traffic.number(1, 1, MoeExchange::kDispatch), 5, 9};
    DemandQuery back = query;
    back.number = traffic.number(1, 1, MoeExchange::kCombine);
    const TrafficMatrix dispatch = traffic.matrix(query);
    const TrafficMatrix combine = traffic.matrix(back);
    for (Member a = 0; a < 4; ++a) {
      std::int64_t out = 0;
      for (Member b = 0; b < 4; ++b) {
        EXPECT_EQ(combine.at(b, a).count, 4 * dispatch.at(a, b).count);
        out += dispatch.at(a, b).count;
      }
      EXPECT_EQ(out, 100 * 2 * 10);  // every choice is sent once
    }
  }
}

TEST(MoeTraffic, EveryQueryIsPureAndEachPartOfItCounts) {
  MoeSpec spec = small(RouterKind::kDirichlet);
  spec.router.source_spread = 0.5;
  spec.router.fresh_layers = true;
  const MoeTraffic traffic(spec);
  const auto ask = [&](std::size_t group, std::uint32_t layer, std::uint32_t micro_batch, std::uint32_t iteration,
                       std::uint64_t seed) {
    return traffic.matrix(
        {CommunicatorId{group}, traffic.number(layer, micro_batch, MoeExchange::kDispatch), iteration, seed});
  };
  const TrafficMatrix first = ask(0, 0, 0, 0, 1);
  EXPECT_NE(ask(1, 0, 0, 0, 1), first);
  EXPECT_NE(ask(0, 1, 0, 0, 1), first);
  EXPECT_NE(ask(0, 0, 1, 0, 1), first);
  EXPECT_NE(ask(0, 0, 0, 1, 1), first);
  EXPECT_NE(ask(0, 0, 0, 0, 2), first);
  EXPECT_EQ(ask(0, 0, 0, 0, 1), first);
  EXPECT_TRUE(traffic.drifts());
}

TEST(MoeTraffic, WithoutSpreadAllMembersAndGroupsAreAlike) {
  const MoeTraffic traffic(small(RouterKind::kDirichlet));
  const Routing routing = traffic.routing({});
  for (Member m = 1; m < 4; ++m) EXPECT_EQ(row(routing, m), row(routing, 0));
  EXPECT_EQ(traffic.routing({.communicator = CommunicatorId{5}, .micro_batch = 1, .iteration = 4}).chosen, routing.chosen);
}

TEST(MoeTraffic, WeightsByLayerAndByMember) {
  MoeSpec spec = small(RouterKind::kWeights);
  spec.router.weights = {{1, 1, 1, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 2, 2, 2, 2}};
  {
    const MoeTraffic by_layer(spec);
    EXPECT_THAT(row(by_layer.routing({.layer = 0}), 1), ElementsAre(50, 50, 50, 50, 0, 0, 0, 0));
    EXPECT_THAT(row(by_layer.routing({.layer = 1}), 1), ElementsAre(0, 0, 0, 0, 50, 50, 50, 50));
    EXPECT_THAT(row(by_layer.routing({.layer = 2}), 1), ElementsAre(50, 50, 50, 50, 0, 0, 0, 0));
  }
  spec.router.weight_rows = WeightRows::kMembers;
  const MoeTraffic by_member(spec);
  EXPECT_THAT(row(by_member.routing({.layer = 1}), 0), ElementsAre(50, 50, 50, 50, 0, 0, 0, 0));
  EXPECT_THAT(row(by_member.routing({.layer = 1}), 3), ElementsAre(0, 0, 0, 0, 50, 50, 50, 50));
  EXPECT_EQ(by_member.matrix({.number = 1}).at(0, 2), Bytes{0});
}

TEST(MoeTraffic, CapacityDropsAndPadding) {
  MoeSpec spec = small(RouterKind::kWeights);
  spec.router.weights = {{13, 1, 1, 1, 1, 1, 1, 1}};
  // 200 choices by 13 : 1 : ...: the first would get 130 and gets all 100; 100 / 7 = 14.3 for the others.
  EXPECT_THAT(row(MoeTraffic(spec).routing({}), 0), ElementsAre(100, 15, 15, 14, 14, 14, 14, 14));
  spec.capacity_factor = 1.2;  // ceil(1.2 x 2 x 100 / 8) = 30
  EXPECT_EQ(spec.capacity(), 30u);
  const Routing routing = MoeTraffic(spec).routing({});
  EXPECT_EQ(routing.sent[0], 30u);
  EXPECT_EQ(routing.sent[1], 15u);
  EXPECT_EQ(sum(routing.chosen) - sum(routing.sent), 4u * 70);
  spec.padded = true;
  // 30 slots for each of the 2 experts of a member, 10 elements of 2 bytes, whatever the choice.
  EXPECT_EQ(MoeTraffic(spec).matrix({.number = 1}).at(2, 3), Bytes{30 * 2 * 10 * 2});
  EXPECT_EQ(MoeTraffic(spec).matrix({.number = 1}).at(3, 0), Bytes{30 * 2 * 10 * 2});
  EXPECT_EQ(MoeTraffic(spec).typical_input(MoeExchange::kDispatch), Bytes{8 * 30 * 10 * 2});
}

TEST(MoeTraffic, CapacityOfAnExactProductIsThatProduct) {
  MoeSpec spec = small();
  spec.tokens = 40;
  spec.capacity_factor = 1.1;  // 1.1 x 10 is 11.000000000000002 in floating point
  EXPECT_EQ(spec.capacity(), 11u);
}

TEST(MoeTraffic, NumbersAreDenseFromOne) {
  const MoeTraffic traffic(small());  // 3 layers, 2 micro-batches: 12
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t micro_batch : {0u, 1u}) {
    for (const std::uint32_t layer : {0u, 1u, 2u}) {
      for (const MoeExchange x : {MoeExchange::kDispatch, MoeExchange::kCombine})
        numbers.push_back(traffic.number(layer, micro_batch, x));
    }
  }
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_EQ(traffic.members(0), std::nullopt);
  EXPECT_EQ(traffic.members(12), 4u);
  EXPECT_EQ(traffic.members(13), std::nullopt);
}

// ---- errors

struct BadSpec {
  const char* name;
  std::function<void(MoeSpec&)> change;
  const char* where;
  const char* what;
};
std::ostream& operator<<(std::ostream& out, const BadSpec& bad) { return out << bad.name; }

class BadMoe : public ::testing::TestWithParam<BadSpec> {};

TEST_P(BadMoe, IsRefused) {
  MoeSpec spec = small();
  GetParam().change(spec);
  const ConfigError error = error_of([&] { spec.validate(); });
  EXPECT_EQ(error.where(), GetParam().where);
  EXPECT_THAT(error.what(), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    Specs, BadMoe,
    ::testing::ValuesIn(std::vector<BadSpec>{
        BadSpec{"experts", [](MoeSpec& s) { s.experts = 9; }, "experts", "9 experts do not divide among 4 ranks"},
        BadSpec{"top_k", [](MoeSpec& s) { s.top_k = 9; }, "top_k", "from 1 to the number of experts"},
        BadSpec{"tokens", [](MoeSpec& s) { s.tokens = std::uint64_t{1} << 40; }, "tokens", "2^32"},
        BadSpec{"bytes", [](MoeSpec& s) { s.tokens = 1ULL << 32, s.hidden = 1U << 31; }, "tokens", "2^60 bytes"},
        BadSpec{"padded", [](MoeSpec& s) { s.padded = true; }, "padded", "dropless"},
        BadSpec{"capacity", [](MoeSpec& s) { s.capacity_factor = -1; }, "capacity_factor", "from 0"},
        BadSpec{"exponent", [](MoeSpec& s) { s.router.exponent = NAN; }, "router.exponent", "from 0"},
        BadSpec{"concentration", [](MoeSpec& s) { s.router.concentration = 0; }, "router.concentration", "from 1e-6"},
        BadSpec{"drift", [](MoeSpec& s) { s.router.layer_drift = -0.1; }, "router.layer_drift", "from 0"},
        BadSpec{"no_rows", [](MoeSpec& s) { s.router.kind = RouterKind::kWeights; }, "router.weights", "no rows"},
        BadSpec{"short_row",
                [](MoeSpec& s) {
                  s.router.kind = RouterKind::kWeights;
                  s.router.weights = {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2}};
                },
                "router.weights[1]", "has 2 numbers, but there are 8 experts"},
        BadSpec{"too_few_choices",
                [](MoeSpec& s) {
                  s.router.kind = RouterKind::kWeights;
                  s.router.weights = {{1, 0, 0, 0, 0, 0, 0, 0}};
                },
                "router.weights[0]", "choose from 1 experts, but it chooses 2"},
        BadSpec{"negative_weight",
                [](MoeSpec& s) {
                  s.router.kind = RouterKind::kWeights;
                  s.router.weights = {{1, 1, 1, -1, 0, 0, 0, 0}};
                },
                "router.weights[0]", "negative"}}),
    [](const auto& test) { return std::string(test.param.name); });

// ---- published vectors

MoeSpec spec_of(const nlohmann::json& vector, bool drops, bool padded) {
  MoeSpec spec;
  spec.router.kind = RouterKind::kZipf;
  spec.router.exponent = vector["zipf_s"];
  spec.members = vector["P"];
  spec.experts = vector["E"];
  spec.top_k = vector["topk"];
  spec.tokens = vector["tokens_per_gpu"];
  spec.hidden = vector["H"];
  spec.dispatch_bytes = spec.combine_bytes = vector["bytes_per_elem"];
  spec.capacity_factor = drops || padded ? vector["capacity_factor"].get<double>() : 0.0;
  spec.padded = padded;
  return spec;
}

// To the byte. The port time is (P-1) x the largest entry / rate: every source sends the same, the hot receiver is busiest.
TEST(MoeTraffic, VectorsOfTheReference) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto file = nlohmann::json::parse(std::ifstream(data / "oracles" / "moe_traffic_vectors.json"));
  ASSERT_GE(file["vectors"].size(), 3u);
  for (const auto& vector : file["vectors"]) {
    SCOPED_TRACE(vector["name"].get<std::string>());
    const auto expect_rows = [&](const TrafficMatrix& demand, const std::vector<std::int64_t>& bytes,
                                 const char* port_time) {
      for (Member from = 0; from < demand.members(); ++from) {
        for (Member to = 0; to < demand.members(); ++to) EXPECT_EQ(demand.at(from, to).count, bytes.at(to));
      }
      EXPECT_NEAR(static_cast<double>(demand.busiest_port().count) / vector["port_Bps"].get<double>(),
                  vector[port_time].get<double>(), 1e-12);
    };
    const MoeTraffic dropless(spec_of(vector, false, false));
    const MoeTraffic drops(spec_of(vector, true, false));
    const MoeTraffic padded(spec_of(vector, true, true));
    expect_rows(dropless.matrix({.number = 1}), vector["bytes_to_gpu_payload_nodrop"], "max_port_time_s_payload_nodrop");
    expect_rows(drops.matrix({.number = 1}), vector["bytes_to_gpu_payload_drop"], "max_port_time_s_payload_drop");
    expect_rows(padded.matrix({.number = 1}),
                std::vector<std::int64_t>(vector["P"].get<std::size_t>(), vector["bytes_to_gpu_padded"]),
                "max_port_time_s_padded");
    EXPECT_EQ(drops.spec().capacity(), vector["EC"].get<std::uint64_t>());

    const Routing routing = drops.routing({});
    const std::vector<std::uint64_t> first = vector["tokens_per_expert_from_one_gpu_first8"];
    for (std::size_t e = 0; e < first.size(); ++e) EXPECT_EQ(routing.chosen[e], first[e]);
    const std::uint64_t dropped = (sum(routing.chosen) - sum(routing.sent)) / routing.members;
    EXPECT_EQ(dropped, vector["dropped_tokens_per_gpu"].get<std::uint64_t>());
    EXPECT_NEAR(static_cast<double>(sum(routing.sent)) / static_cast<double>(sum(padded.routing({}).sent)),
                vector["payload_efficiency_drop"].get<double>(), 1e-12);
  }
}

}  // namespace
}  // namespace photonrail
