#include "collective/synthesis/synthesis.hpp"

#include "photonrail/testing/replay.hpp"
#include "support/errors.hpp"
#include "support/shared_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace photonrail::test {
namespace {

using synthesis::SwitchPolicy;
using synthesis::SynthesisLink;
using synthesis::SynthesisOptions;
using synthesis::SynthesisSketch;
using synthesis::SynthesisTopology;
using synthesis::SynthesizedCollective;
using synthesis::SynthesizedSend;
using ::testing::HasSubstr;

constexpr Duration kHalfMicrosecond{500'000};

void join(SynthesisTopology& t, Member a, Member b, double gib_per_s, Duration latency = kHalfMicrosecond) {
  const Bandwidth rate{gib_per_s * 1024 * 1024 * 1024};
  t.links.push_back({a, b, latency, rate});
  t.links.push_back({b, a, latency, rate});
}

/// A grid of any number of dimensions, innermost first; `rate` in GiB/s, by dimension. Wrapped: a torus, where a dimension
/// has more than two nodes.
SynthesisTopology grid(const std::vector<Member>& sizes, const std::vector<double>& rate, bool wrapped = false,
                       Duration latency = kHalfMicrosecond) {
  SynthesisTopology t;
  t.nodes = 1;
  for (const Member size : sizes) t.nodes *= size;
  Member stride = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    for (Member m = 0; m < t.nodes; ++m) {
      const Member at = m / stride % sizes[d];
      if (at + 1 < sizes[d]) join(t, m, m + stride, rate[d], latency);
      if (wrapped && at + 1 == sizes[d] && sizes[d] > 2) join(t, m, m - at * stride, rate[d], latency);
    }
    stride *= sizes[d];
  }
  return t;
}

SynthesisTopology full(Member nodes) {
  SynthesisTopology t;
  t.nodes = nodes;
  for (Member a = 0; a < nodes; ++a) {
    for (Member b = a + 1; b < nodes; ++b) join(t, a, b, 50);
  }
  return t;
}

SynthesisTopology one_way_ring(Member nodes) {
  SynthesisTopology t;
  t.nodes = nodes;
  for (Member a = 0; a < nodes; ++a)
    t.links.push_back({a, (a + 1) % nodes, kHalfMicrosecond, Bandwidth{50 * 1073741824.0}});
  return t;
}

double us(Duration d) { return to_seconds(d) * 1e6; }

CollectiveCall call_of(const SynthesisTopology& t, const SynthesisOptions& options) {
  return {.op = options.op, .members = t.nodes, .size = options.size};
}

void expect_correct(const SynthesisTopology& t, const SynthesisOptions& options, const SynthesizedCollective& made) {
  const CollectiveCall call = call_of(t, options);
  const auto algorithm = made.algorithm(t, "made");
  ASSERT_TRUE(algorithm->supports(options.op, t.nodes));
  const auto plan = algorithm->expand(call);
  using testing::ArrivalOrder;
  for (const ArrivalOrder order : {ArrivalOrder::kOldestFirst, ArrivalOrder::kNewestFirst, ArrivalOrder::kRandom}) {
    const auto report = testing::replay(call, *plan, {.order = order});
    EXPECT_TRUE(report.correct) << report.problem;
  }
}

/// No link carries two messages at a time, no node has more under way than it has ports, nothing leaves before it is there.
void expect_feasible(const SynthesisTopology& t, const SynthesizedCollective& made) {
  std::map<MemberPair, Time> free;
  std::map<MemberPair, bool> links;
  for (const SynthesisLink& link : t.links) links[{link.from, link.to}] = true;
  std::map<std::pair<Time, int>, std::vector<std::pair<MemberPair, int>>> changes;  // ends before starts
  for (const SynthesizedSend& send : made.sends) {
    const MemberPair pair{send.from, send.to};
    ASSERT_TRUE(links.contains(pair));
    EXPECT_GE(send.start, free[pair]);
    free[pair] = send.end;
    changes[{send.start, 1}].push_back({pair, 1});
    changes[{send.end, 0}].push_back({pair, -1});
    EXPECT_LE(send.end, Time{made.time});
  }
  std::map<Member, int> out, in;
  for (const auto& [when, list] : changes) {
    for (const auto& [pair, by] : list) {
      out[pair.first] += by;
      in[pair.second] += by;
      if (t.send_ports > 0) {
        EXPECT_LE(out[pair.first], static_cast<int>(t.send_ports));
      }
      if (t.receive_ports > 0) {
        EXPECT_LE(in[pair.second], static_cast<int>(t.receive_ports));
      }
    }
  }
}

struct Row {
  const char* name;
  SynthesisTopology topology;
  std::uint32_t chunks;
  std::int64_t output;  ///< bytes of the gathered whole
  double published_us;  ///< the best of 20
};

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

/// TACOS v1.3.0: the nine that were run for reference, and its own regression values and others.
std::vector<Row> rows() {
  return {{"mesh 4x3", grid({4, 3}, {50, 50}), 3, 12 * kMiB, 119.177},
          {"mesh 10x10", grid({10, 10}, {100, 100}, false, Duration{1'000'000}), 2, kGiB, 5049.0},
          {"uneven mesh 5x5", grid({5, 5}, {50, 75}), 1, kGiB, 8005.0},
          {"uneven mesh 7x10", grid({7, 10}, {16, 73}, false, Duration{1'500'000}), 3, 4 * kGiB, 44612.469},
          {"mesh 3x4x5", grid({3, 4, 5}, {50, 50, 50}), 2, 2 * kGiB, 13353.333},
          {"torus 3x3x3", grid({3, 3, 3}, {50, 50, 50}, true), 1, kGiB, 3706.204},
          {"torus 4x2x3", grid({4, 2, 3}, {50, 50, 50}, true), 3, 3 * kGiB, 11673.666},
          {"one-way ring of 8", one_way_ring(8), 1, kGiB, 17503.5},
          {"all of 8", full(8), 1, kGiB, 2500.5},
          {"mesh 5x5", grid({5, 5}, {50, 50}), 1, kGiB, 9606.0},
          {"mesh 7x12", grid({7, 12}, {100, 100}, false, Duration{1'000'000}), 3, 4 * kGiB, 19966.27},
          {"uneven mesh 8x5", grid({8, 5}, {80, 35}, false, Duration{1'000'000}), 2, kGiB, 8595.43},
          {"mesh 3x3x3", grid({3, 3, 3}, {50, 50, 50}), 1, kGiB, 6671.17},
          {"mesh 4x2x3", grid({4, 2, 3}, {50, 50, 50}), 3, 3 * kGiB, 19178.17},
          {"torus 3x4x5", grid({3, 4, 5}, {50, 50, 50}, true), 2, 2 * kGiB, 6676.67},
          {"torus 4x4", grid({4, 4}, {50, 50}, true), 1, kGiB, 5002.0},
          {"ring of 8", grid({8}, {50}, true), 1, kGiB, 10002.0},
          {"mesh 3x3", grid({3, 3}, {50, 50}), 1, 9 * kMiB, 80.125}};
}

TEST(Synthesis, AllGatherIsAsGoodAsThePublishedOne) {
  for (const Row& row : rows()) {
    SynthesisOptions options;
    options.size = Bytes{row.output / row.topology.nodes};
    options.chunks = row.chunks;
    const auto made = synthesize(row.topology, options);
    EXPECT_LE(us(made.time), row.published_us * 1.0001) << row.name;  // to the printed digits
    expect_feasible(row.topology, made);
    // Every node receives every other chunk once.
    const std::size_t others = std::size_t{row.topology.nodes} * (row.topology.nodes - 1);
    EXPECT_EQ(made.sends.size(), others * row.chunks) << row.name;
  }
}

TEST(Synthesis, PlansReplay) {
  for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter, CollectiveOp::kAllReduce}) {
    for (const std::uint32_t ports : {0u, 1u, 2u}) {
      SynthesisTopology t = grid({4, 3}, {50, 75});
      t.send_ports = t.receive_ports = ports;
      SynthesisOptions options{.op = op, .size = Bytes{1'000'003}, .chunks = 2, .tries = 2};
      const auto made = synthesize(t, options);
      expect_feasible(t, made);
      expect_correct(t, options, made);
    }
  }
}

// Both ways of the mesh are alike, so that a reduce-scatter needs what an all-gather of the same chunks does, and an
// all-reduce the two one after the other.
TEST(Synthesis, AReduceScatterIsAnAllGatherPlayedBackwards) {
  const SynthesisTopology t = grid({5, 5}, {50, 50});
  // 12 chunks through each of the two links of a corner: 12 x (0.5 us + 1 MiB / 50 GiB/s).
  constexpr double kLeast = 12 * 20.03125;
  const auto time = [&](CollectiveOp op, std::int64_t size) {
    return us(synthesize(t, {.op = op, .size = Bytes{size}}).time);
  };
  EXPECT_NEAR(time(CollectiveOp::kAllGather, kMiB), kLeast, kLeast * 0.02);
  EXPECT_NEAR(time(CollectiveOp::kReduceScatter, 25 * kMiB), kLeast, kLeast * 0.02);
  EXPECT_NEAR(time(CollectiveOp::kAllReduce, 25 * kMiB), 2 * kLeast, 2 * kLeast * 0.02);
}

// With one port each node receives n-1 shards one after another, whatever the links.
TEST(Synthesis, OnePortIsNeverBeaten) {
  const double step = 0.5 + 1e6 * kMiB / (50.0 * kGiB);
  for (const auto& [send, receive] : {std::pair{1u, 1u}, std::pair{0u, 1u}, std::pair{1u, 0u}}) {
    for (Member n = 2; n <= 12; ++n) {
      SynthesisTopology t = full(n);
      t.send_ports = send;
      t.receive_ports = receive;
      for (const std::uint32_t chunks : {1u, 3u}) {
        const auto made = synthesize(t, {.size = Bytes{chunks * kMiB}, .chunks = chunks});
        const double least = (n - 1) * chunks * step;
        EXPECT_GE(us(made.time), least * (1 - 1e-9)) << n;
        EXPECT_LE(us(made.time), least * 1.5) << n;
        expect_feasible(t, made);
      }
    }
  }
}

TEST(Synthesis, TwoPortsHalveTheTime) {
  SynthesisTopology t = full(9);
  t.send_ports = t.receive_ports = 2;
  const auto made = synthesize(t, {.size = Bytes{kMiB}});
  // 8 shards, two at a time: 4 x 20.03125 us.
  EXPECT_GE(us(made.time), 80.125 * (1 - 1e-9));
  EXPECT_LE(us(made.time), 80.125 * 1.5);
  expect_feasible(t, made);
}

TEST(Synthesis, TheSameSeedGivesTheSame) {
  const SynthesisTopology t = grid({4, 3}, {50, 75});
  const auto sends = [&](std::uint64_t seed) {
    std::vector<std::tuple<Member, Member, std::uint32_t, Time>> list;
    const auto made = synthesize(t, {.size = Bytes{kMiB}, .seed = seed});
    for (const SynthesizedSend& send : made.sends) list.emplace_back(send.from, send.to, send.chunk, send.start);
    return list;
  };
  EXPECT_EQ(sends(3), sends(3));
  EXPECT_NE(sends(3), sends(4));
  // More tries are never worse.
  SynthesisOptions options{.size = Bytes{kMiB}, .chunks = 3, .tries = 1};
  const Duration one = synthesize(t, options).time;
  options.tries = 30;
  EXPECT_LE(synthesize(t, options).time, one);
}

TEST(Sketch, LinksThatMayNotBeUsedAreNot) {
  const SynthesisTopology t = full(6);
  SynthesisSketch sketch;
  sketch.only.emplace();
  for (Member m = 0; m < 6; ++m) sketch.only->push_back({m, (m + 1) % 6});
  const auto ring = synthesize(t, {.size = Bytes{kMiB}}, sketch);
  for (const SynthesizedSend& send : ring.sends) EXPECT_EQ(send.to, (send.from + 1) % 6);
  EXPECT_NEAR(us(ring.time), 5 * 20.03125, 1e-3);  // a one-way ring: 5 steps

  SynthesisSketch without;
  without.without = {{0, 1}, {3, 2}};
  for (const SynthesizedSend& send : synthesize(t, {.size = Bytes{kMiB}}, without).sends) {
    EXPECT_NE((MemberPair{send.from, send.to}), (MemberPair{0, 1}));
    EXPECT_NE((MemberPair{send.from, send.to}), (MemberPair{3, 2}));
  }
}

TEST(Sketch, ASymmetryIsKept) {
  SynthesisTopology t = full(8);
  t.send_ports = t.receive_ports = 1;
  SynthesisSketch sketch;
  sketch.symmetries = {{.offset = 2, .group = 8}};
  const SynthesisOptions options{.op = CollectiveOp::kAllReduce, .size = Bytes{8 * kMiB}};
  const auto made = synthesize(t, options, sketch);
  std::set<std::tuple<Member, Member, std::uint32_t, bool, Time>> sends;
  for (const SynthesizedSend& s : made.sends) sends.emplace(s.from, s.to, s.chunk, s.reduce, s.start);
  for (const SynthesizedSend& s : made.sends) {  // with one chunk a node, chunk and owner have the same number
    EXPECT_TRUE(sends.contains({(s.from + 2) % 8, (s.to + 2) % 8, (s.chunk + 2) % 8, s.reduce, s.start}));
  }
  expect_feasible(t, made);
  expect_correct(t, options, made);
}

TEST(Sketch, ASwitchMaySpareConnections) {
  const SynthesisTopology t = full(6);
  const auto connections = [&](std::optional<SwitchPolicy> policy) {
    SynthesisSketch sketch;
    if (policy) sketch.switches = {{{0, 1, 2, 3, 4, 5}, *policy}};
    std::set<MemberPair> pairs;
    const auto made = synthesize(t, {.size = Bytes{kMiB}, .tries = 5}, sketch);
    for (const SynthesizedSend& send : made.sends) pairs.emplace(send.from, send.to);
    expect_feasible(t, made);
    return pairs.size();
  };
  // Each node needs a connection in; 6 x 5 are all.
  EXPECT_LE(connections(SwitchPolicy::kFewestConnections), 12u);
  EXPECT_EQ(connections(SwitchPolicy::kMaxConnections), 30u);
  EXPECT_EQ(connections(std::nullopt), 30u);
}

TEST(SynthesisErrors, SayWhere) {
  const SynthesisOptions options;
  SynthesisTopology t = full(4);
  t.links.push_back({0, 9, {}, Bandwidth{1}});
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options); }).what(), HasSubstr("links[12]: joins 0 to 9"));
  t.links.back() = {0, 1, {}, Bandwidth{1}};
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options); }).what(), HasSubstr("there is a link from 0 to 1 already"));
  t.links.back() = {2, 2, {}, Bandwidth{1}};
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options); }).what(), HasSubstr("joins node 2 to itself"));
  t = full(4);
  t.links[0].rate = {};
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options); }).what(), HasSubstr("links[0]: the rate must be positive"));
  t = full(4);
  std::erase_if(t.links, [](const SynthesisLink& link) { return link.to == 3; });
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options); }).what(), HasSubstr("some nodes cannot reach all others"));
  t = full(4);
  EXPECT_THAT(error_of([&] { (void)synthesize(t, {.op = CollectiveOp::kBroadcast}); }).what(),
              HasSubstr("cannot synthesize broadcast"));

  SynthesisSketch sketch;
  sketch.without = {{0, 7}};
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options, sketch); }).what(),
              HasSubstr("sketch.without[0]: the topology has no link"));
  sketch.without = {{0, 3}, {1, 3}, {2, 3}};
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options, sketch); }).what(),
              HasSubstr("do not let all nodes reach each other"));
  sketch = {};
  sketch.symmetries = {{.offset = 1, .group = 3}};
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options, sketch); }).what(),
              HasSubstr("sketch.symmetries[0].group: must divide the 4"));
  sketch.symmetries = {{.offset = 1, .group = 4}};
  t = one_way_ring(4);
  t.links[2].latency *= 2;
  EXPECT_THAT(error_of([&] { (void)synthesize(t, options, sketch); }).what(),
              HasSubstr("sketch.symmetries[0]: the link from"));
}

}  // namespace
}  // namespace photonrail::test
