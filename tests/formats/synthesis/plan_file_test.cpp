// TACCL's algorithms, collectives as Chakra traces, topologies and sketches; and all of them in scenarios.
#include "formats/chakra/chakra_support.hpp"
#include "formats/plan_file_support.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "support/shared_data.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

std::string taccl(const std::string& steps, const std::string& name = "Allreduce(n=2)") {
  return R"({"sccl_type": "algorithm", "input_map": {"0": [0, 1], "1": [0, 1]}, "collective": {"name": ")" + name +
         R"(", "nodes": 2}, "steps": )" + steps + "}";
}

TEST(Taccl, AnAllReduceWithReductions) {
  const Folder folder;
  // Each rank reduces a chunk of two and gives it back; the times within a step mean nothing.
  const std::string text = taccl(R"([{"rounds": 3, "sends": [[1, 0, 1, 7, 0, "rrc"], [0, 1, 0, 3, 0, "rrc"]]},
                                     {"sends": [[1, 1, 0, 9, 0, null], [0, 0, 1, 8, 0, null]]}])");
  const CollectiveFile read = read_taccl(folder.write("a.json", text));
  EXPECT_EQ(read.op, CollectiveOp::kAllReduce);
  const CollectiveCall call = call_of(read, 1000);
  const auto plan = read.algorithm->expand(call);
  expect_correct(call, *plan, "taccl");
  EXPECT_EQ(sent_by(*plan),
            (std::vector<Sent>{{0, 1, 0, 1, false}, {0, 1, 1, 1, true}, {1, 0, 0, 1, true}, {1, 0, 1, 1, false}}));
}

TEST(Taccl, TheExampleReplays) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const CollectiveFile read = read_taccl(data / "msccl" / "ring_allgather_4.sccl.json");
  const CollectiveCall call = call_of(read, 1000);
  const auto plan = read.algorithm->expand(call);
  expect_correct(call, *plan, "ring");
  // The XML that TACCL made of it sends the same.
  const CollectiveFile xml = read_msccl(data / "msccl" / "ring_allgather_4.sccl.xml");
  EXPECT_EQ(sent_by(*plan), sent_by(*xml.algorithm->expand(call)));
}

TEST(Taccl, Errors) {
  const Folder folder;
  const auto problem = [&](const std::string& text) {
    return message_of([&] { (void)read_taccl(folder.write("a.json", text)); });
  };
  EXPECT_THAT(problem(taccl("[]")),
              HasSubstr("a.json: in the end chunk 0 of the output of GPU 0 lacks the contribution of GPU 1"));
  EXPECT_THAT(problem(taccl(R"([{"sends": [[0, 0, 2]]}])")), HasSubstr("/steps/0/sends/0/2"));
  EXPECT_THAT(problem(taccl(R"([{"sends": [[0, 0, 0]]}])")), HasSubstr("goes from rank 0 to itself"));
  EXPECT_THAT(problem(taccl(R"([{"sends": [[5, 0, 1]]}])")), HasSubstr("no rank has address 5"));
  EXPECT_THAT(problem(taccl(R"([{"sends": [[0, 0, 1, 2]]}])")), HasSubstr("must be [address, from, to]"));
  EXPECT_THAT(problem(taccl(R"([{"sends": [[0, 0, 1, 0, 0, "max"]]}])")), HasSubstr("unknown reduction"));
  EXPECT_THAT(problem(taccl("[]", "Gossip")), HasSubstr("unknown collective \"gossip\""));
  EXPECT_THAT(problem(R"({"sccl_type": "topology"})"), HasSubstr("/sccl_type: is not \"algorithm\""));
  // Twice the same contribution.
  EXPECT_THAT(problem(taccl(R"([{"sends": [[0, 0, 1, 0, 0, "rrc"]]}, {"sends": [[0, 0, 1, 0, 0, "rrc"]]}])")),
              HasSubstr("counts a contribution twice"));
}

// 2 x 7 steps of 1 MiB / 8 each, the reductions left out.
TEST(ChakraCollective, TheRingOfSendsAndReceives) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto prefix = data / "chakra" / "custom-ring-allreduce-8" / "custom_allreduce";
  const CollectiveFile read = read_chakra_collective(prefix, CollectiveOp::kAllReduce, Bytes{1 << 20});
  EXPECT_EQ(read.members, 8u);
  const auto plan = read.algorithm->expand(call_of(read, 1 << 20));
  EXPECT_EQ(plan->send_count(), 8u * 14);
  EXPECT_EQ(plan->critical_sends(), 14u);
  EXPECT_EQ(plan->wire_bytes(), Bytes{8LL * 14 * (1 << 17)});
  EXPECT_EQ(read.algorithm->expand(call_of(read, 3 << 20))->wire_bytes(), Bytes{3LL * 8 * 14 * (1 << 17)});

  const std::string algorithm = R"({"chakra": ")" + prefix.string() + R"(", "bytes": 1048576})";
  const double file = simulated_us(parse_scenario(alpha_beta("all_reduce", 8, 1 << 20, algorithm), {}));
  const double ring = simulated_us(parse_scenario(alpha_beta("all_reduce", 8, 1 << 20, R"("ring")"), {}));
  EXPECT_NEAR(ring, 14 * (0.5 + 131072 / 53687.0912), 1e-4);
  EXPECT_NEAR(file, ring, 1e-4);
}

CollectiveFile chakra(const Folder& folder, const std::vector<std::string>& ranks, CollectiveOp op, std::int64_t size) {
  return read_chakra_collective(put(folder, ranks).prefix, op, Bytes{size});
}

TEST(ChakraCollective, Errors) {
  const Folder folder;
  const auto problem = [&](const std::vector<std::string>& ranks, CollectiveOp op = CollectiveOp::kAllGather) {
    return message_of([&] { (void)chakra(folder, ranks, op, 100); });
  };
  const std::string sends = trace({send(1, 1, 100, 0), receive(2, 1, 100, 0)});
  const std::string answers = trace({send(1, 0, 100, 0), receive(2, 0, 100, 0)});
  EXPECT_EQ(chakra(folder, {sends, answers}, CollectiveOp::kAllGather, 100).members, 2u);
  EXPECT_THAT(problem({sends, trace({send(1, 0, 100, 0)})}),
              HasSubstr("a send from rank 0 to rank 1 with tag 0 has no receive"));
  EXPECT_THAT(problem({sends, trace({receive(1, 0, 100, 0)})}),
              HasSubstr("a receive from rank 1 to rank 0 with tag 0 has no send"));
  // Each receives before it sends.
  EXPECT_THAT(problem({trace({receive(1, 1, 100, 0), send(2, 1, 100, 0).waits_for({1})}),
                       trace({receive(1, 0, 100, 0), send(2, 0, 100, 0).waits_for({1})})}),
              HasSubstr("circle"));
  EXPECT_THAT(problem({trace({send(1, 1, 100, 0)}), trace({receive(1, 0, 100, 0)})}),
              HasSubstr("nothing of rank 1 can reach rank 0"));
  EXPECT_THAT(problem({sends, answers}, CollectiveOp::kBarrier), HasSubstr("barrier cannot come from a trace"));
  const std::string small = trace({send(1, 1, 60, 0), receive(2, 1, 60, 0)});
  EXPECT_THAT(problem({small, trace({send(1, 0, 60, 0), receive(2, 0, 60, 0)})}),
              HasSubstr("rank 0 receives 60 bytes, but needs at least 100"));
  EXPECT_THAT(problem({trace({collective(1, 0, 100, "")}), trace({collective(1, 0, 100, "")})}),
              HasSubstr("calls all_reduce"));
}

TEST(AlgorithmFiles, ErrorsInScenariosSayWhere) {
  const Folder folder;
  const auto problem = [&](const std::string& algorithm, const std::string& op = "all_gather") {
    return message_of([&] { (void)parse_scenario(alpha_beta(op, 4, 1000, algorithm), folder.path()); });
  };
  EXPECT_THAT(problem("{}"), HasSubstr("/collectives/all_gather: needs exactly one of"));
  EXPECT_THAT(problem(R"({"msccl": "a.xml", "taccl": "b.json"})"), HasSubstr("needs exactly one of"));
  EXPECT_THAT(problem(R"({"msccl": "a.xml", "bytes": 7})"),
              HasSubstr("/collectives/all_gather/bytes: only a Chakra trace"));
  EXPECT_THAT(problem(R"({"chakra": "a"})"), HasSubstr("/collectives/all_gather/bytes: missing"));
  EXPECT_THAT(problem(R"({"mscl": "a.xml"})"), HasSubstr("/collectives/all_gather/mscl"));
  EXPECT_THAT(problem(R"({"msccl": "absent.xml"})"), HasSubstr("/collectives/all_gather: "));
  folder.write("broken.xml", "<algo>");
  EXPECT_THAT(problem(R"({"msccl": "broken.xml"})"), HasSubstr("broken.xml: line 1: not XML"));

  const CollectiveCall call{.op = CollectiveOp::kAllGather, .members = 8, .size = Bytes{800}};
  const auto plan = CollectiveRegistry::builtin().find("ring").expand(call);
  folder.write("eight.xml", msccl_xml(call, *plan, "ring"));
  EXPECT_THAT(problem(R"({"msccl": "eight.xml"})"), HasSubstr("cannot do all_gather among 4 members"));
  EXPECT_THAT(problem(R"({"msccl": "eight.xml"})", "all_reduce"),
              HasSubstr("/collectives/all_reduce: the file is an all_gather, not an all_reduce"));
}

TEST(AlgorithmFiles, AWorkloadMayNameOneToo) {
  const Folder folder;
  const CollectiveCall call{.op = CollectiveOp::kAllGather, .members = 4, .size = Bytes{4096}};
  folder.write("four.xml", msccl_xml(call, *CollectiveRegistry::builtin().find("ring").expand(call), "ring"));
  std::string text = alpha_beta("all_gather", 4, 4096, R"("ring")");
  const double ring = simulated_us(parse_scenario(text, folder.path()));
  text.insert(text.find("\"op\""), R"("algorithm": {"msccl": "four.xml"}, )");
  const Scenario scenario = parse_scenario(text, folder.path());
  EXPECT_THAT(scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllGather)], HasSubstr("four.xml"));
  EXPECT_NEAR(simulated_us(scenario), ring, 1e-4);
}

const char* const kTopology = R"({"schema": "photonrail.topology/1", "nodes": 3, "send_ports": 1, "links": [
  {"from": 0, "to": 1, "latency_ns": 500, "gb_per_s": 50, "both_ways": true},
  {"from": 1, "to": 2, "latency_us": 1, "gb_per_s": 25, "both_ways": true}]})";

TEST(TopologyFile, IsRead) {
  const Folder folder;
  const synthesis::SynthesisTopology t = formats::synthesis::read_synthesis_topology(folder.write("t.json", kTopology));
  EXPECT_EQ(t.nodes, 3u);
  EXPECT_EQ(t.send_ports, 1u);
  EXPECT_EQ(t.receive_ports, 0u);
  ASSERT_EQ(t.links.size(), 4u);
  EXPECT_EQ(t.links[1].from, 1u);
  EXPECT_EQ(t.links[1].to, 0u);
  EXPECT_EQ(t.links[3].latency, Duration{1'000'000});
  EXPECT_EQ(t.links[3].rate, Bandwidth{25e9});
}

TEST(TopologyFile, Errors) {
  const Folder folder;
  const auto problem = [&](const std::string& what, const std::string& into) {
    std::string text = kTopology;
    text.replace(text.find(what), what.size(), into);
    return message_of([&] { (void)formats::synthesis::read_synthesis_topology(folder.write("t.json", text)); });
  };
  EXPECT_THAT(problem("topology/1", "topology/2"), HasSubstr("t.json: /schema: unknown schema"));
  EXPECT_THAT(problem("\"nodes\": 3", "\"nodes\": 4"), HasSubstr("some nodes cannot reach all others"));
  EXPECT_THAT(problem("\"to\": 1", "\"to\": 9"), HasSubstr("/links/0"));
  EXPECT_THAT(problem("\"gb_per_s\": 50", "\"gb_per_s\": 0"), HasSubstr("/links/0/gb_per_s"));
  EXPECT_THAT(problem("both_ways", "bothways"), HasSubstr("/links/0/bothways"));
  EXPECT_THAT(problem("send_ports\": 1", "send_ports\": 0"), HasSubstr("/send_ports"));
}

TEST(SketchFile, IsReadAndRefused) {
  const Folder folder;
  const synthesis::SynthesisSketch sketch =
      formats::synthesis::read_synthesis_sketch(folder.write("s.json", R"({"schema": "photonrail.sketch/1",
    "links": {"only": [[0, 1], [1, 0]], "without": [[2, 3]]}, "switches": [{"nodes": [0, 1], "connections": "most"}],
    "symmetries": [{"offset": 1, "group": 2}]})"));
  EXPECT_EQ(sketch.only, (std::vector<MemberPair>{{0, 1}, {1, 0}}));
  EXPECT_EQ(sketch.without, (std::vector<MemberPair>{{2, 3}}));
  ASSERT_EQ(sketch.switches.size(), 1u);
  EXPECT_EQ(sketch.switches[0].policy, synthesis::SwitchPolicy::kMaxConnections);
  ASSERT_EQ(sketch.symmetries.size(), 1u);
  EXPECT_EQ(sketch.symmetries[0].group, 2u);
  const auto problem = [&](const std::string& body) {
    const std::string text = R"({"schema": "photonrail.sketch/1", )" + body + "}";
    return message_of([&] { (void)formats::synthesis::read_synthesis_sketch(folder.write("s.json", text)); });
  };
  EXPECT_THAT(problem(R"("links": {"only": [[0]]})"), HasSubstr("/links/only/0: must be a pair of nodes"));
  EXPECT_THAT(problem(R"("switches": [{"nodes": [0], "connections": "some"}])"),
              HasSubstr("/switches/0/connections: unknown value"));
  EXPECT_THAT(problem(R"("symmetry": [])"), HasSubstr("/symmetry"));
}

// A synthesized plan, written and read again, takes no less than one port allows, and about what was predicted.
TEST(Synthesized, APlanRunsAsPredicted) {
  synthesis::SynthesisTopology t;
  t.nodes = 6;
  t.send_ports = t.receive_ports = 1;
  const Bandwidth rate{53.6870912e9};
  for (Member a = 0; a < 6; ++a) {
    for (Member b = 0; b < 6; ++b) {
      if (a != b) t.links.push_back({a, b, Duration{500'000}, rate});
    }
  }
  const synthesis::SynthesisOptions options{.size = Bytes{1 << 20}};
  const auto made = synthesize(t, options);
  const CollectiveCall call{.op = options.op, .members = 6, .size = options.size};
  const std::string xml = msccl_xml(call, *made.algorithm(t, "made")->expand(call), "made");
  const Folder folder;
  folder.write("made.xml", xml);
  const double run =
      simulated_us(parse_scenario(alpha_beta("all_gather", 6, 1 << 20, R"({"msccl": "made.xml"})"), folder.path()));
  EXPECT_GE(run, 5 * 20.03125 - 1e-3);  // five shards through one port
  EXPECT_LE(run, to_seconds(made.time) * 1e6 * 1.25);
}

}  // namespace
}  // namespace photonrail::test
