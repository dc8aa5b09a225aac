// MSCCL XML written by others: read, proven, run.
#include "formats/msccl/xml_reader.hpp"
#include "formats/plan_file_support.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace photonrail::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct ProgramCounts {
  std::map<std::string, int> steps;
  std::vector<std::uint32_t> chunks_sent;  // by GPU
  std::set<MemberPair> pairs;
  std::set<std::size_t> blocks;
};

ProgramCounts count(const formats::msccl::Program& program) {
  ProgramCounts counts;
  counts.chunks_sent.resize(program.gpus.size());
  for (Member g = 0; g < program.gpus.size(); ++g) {
    counts.blocks.insert(program.gpus[g].blocks.size());
    for (const formats::msccl::Block& block : program.gpus[g].blocks) {
      for (const formats::msccl::Step& step : block.steps) {
        ++counts.steps[std::string(name(step.type))];
        if (!formats::msccl::sends(step.type)) continue;
        counts.chunks_sent[g] += step.count;
        counts.pairs.emplace(g, *block.send);
      }
    }
  }
  return counts;
}

TEST(MscclData, FilesHoldWhatTheOracleCounted) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json oracle = json::parse(text_of(data / "msccl" / "oracle.json"));
  ASSERT_EQ(oracle["files"].size(), 5u);
  for (const json& expected : oracle["files"]) {
    const std::string file = expected["file"];
    const formats::msccl::Program program = formats::msccl::parse_program(text_of(data / "msccl" / file));
    EXPECT_EQ(program.gpus.size(), expected["ngpus"]) << file;
    EXPECT_EQ(program.chunks, expected["nchunksperloop"]) << file;
    EXPECT_EQ(program.channels, expected["nchannels"]) << file;
    EXPECT_EQ(program.in_place, expected["inplace"]) << file;
    EXPECT_EQ(std::string(*formats::msccl::collective_name(program.op)), expected["coll"]) << file;
    const ProgramCounts counts = count(program);
    EXPECT_EQ(counts.steps, (expected["op_counts"].get<std::map<std::string, int>>())) << file;
    EXPECT_EQ(std::set<std::uint32_t>(counts.chunks_sent.begin(), counts.chunks_sent.end()),
              expected["chunks_sent_per_gpu"].get<std::set<std::uint32_t>>())
        << file;
    EXPECT_EQ(counts.pairs.size(), expected["directed_pairs"]) << file;
    EXPECT_EQ(counts.blocks, std::set<std::size_t>{expected["tbs_per_gpu"]}) << file;
  }
}

TEST(MscclData, FilesReplayToTheirCollective) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto files = files_in(data / "msccl");
  ASSERT_EQ(files.size(), 7u);
  for (const fs::path& file : files) {
    const CollectiveFile read = read_msccl(file);
    const CollectiveCall call = call_of(read, 1 << 20);
    ASSERT_TRUE(read.algorithm->supports(call.op, call.members)) << file;
    EXPECT_FALSE(read.algorithm->supports(call.op, call.members + 1)) << file;
    const auto plan = read.algorithm->expand(call);
    expect_correct(call, *plan, file.filename().string());
    // Every chunk that the steps send is in the plan.
    const ProgramCounts counts = count(formats::msccl::parse_program(text_of(file)));
    std::vector<std::uint32_t> chunks(call.members);
    for (SendIndex i = 0; i < plan->send_count(); ++i) chunks[plan->send(i).from] += plan->send(i).chunks;
    EXPECT_EQ(chunks, counts.chunks_sent) << file;
  }
}

TEST(MscclData, FilesSurviveARoundTrip) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  for (const fs::path& file : files_in(data / "msccl")) {
    const CollectiveFile read = read_msccl(file);
    const CollectiveCall call = call_of(read, 1 << 20);
    const auto plan = read.algorithm->expand(call);
    const std::string xml = msccl_xml(call, *plan, "copy");
    const CollectiveFile back = parse_msccl(xml, "copy.xml");
    EXPECT_EQ(back.op, read.op) << file;
    const auto again = back.algorithm->expand(call);
    EXPECT_EQ(sent_by(*again), sent_by(*plan)) << file;
    EXPECT_EQ(again->wire_bytes(), plan->wire_bytes()) << file;
    expect_correct(call, *again, file.filename().string());
    // And it takes as long: one port a GPU, 0.5 us a message.
    EXPECT_NEAR(alone_us(back, 1 << 20), alone_us(read, 1 << 20), 1e-3) << file;
  }
}

// 3 steps of 0.5 us + 1 MiB / 50 GiB/s = 20.03125 us.
TEST(MscclData, TheTimeOfTheRingExample) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json expected = json::parse(text_of(data / "msccl" / "xml_examples.json"))["ring_allgather_4.sccl.xml"];
  for (const char* form : {R"({"msccl": "ring_allgather_4.sccl.xml"})", R"({"taccl": "ring_allgather_4.sccl.json"})"}) {
    const Scenario scenario = parse_scenario(alpha_beta("all_gather", 4, 1 << 20, form), data / "msccl");
    EXPECT_NEAR(simulated_us(scenario), expected["makespan_us"], 1e-5) << form;
  }
}

// Each directed link of the 3 x 3 mesh is a circuit with ports of its own, as the tool's model has it. The busiest carries
// 5 chunks: 5 x 20.03125 us. The time that the tool claims is shorter.
TEST(MscclData, TheTimeOfTheMeshExample) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json expected = json::parse(text_of(data / "msccl" / "xml_examples.json"))["tacos_v1.2_mesh3x3_allgather.xml"];
  Scenario scenario = parse_scenario(
      alpha_beta("all_gather", 9, 1 << 20, R"({"msccl": "tacos_v1.2_mesh3x3_allgather.xml"})"), data / "msccl");
  scenario.cluster.nic.ports = 4;
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.controller.name = "static";
  const auto neighbour = [](std::uint32_t node, std::uint32_t port) -> std::optional<std::uint32_t> {
    const std::uint32_t row = node / 3, column = node % 3;
    if (port == 0) return column < 2 ? std::optional(node + 1) : std::nullopt;
    if (port == 1) return column > 0 ? std::optional(node - 1) : std::nullopt;
    if (port == 2) return row < 2 ? std::optional(node + 3) : std::nullopt;
    return row > 0 ? std::optional(node - 3) : std::nullopt;
  };
  for (std::uint32_t node = 0; node < 9; ++node) {
    for (std::uint32_t port = 0; port < 4; ++port) {
      const auto to = neighbour(node, port);
      if (to) scenario.controller.circuits.push_back({GpuId{node}, GpuId{*to}, port, port ^ 1U});
    }
  }
  const double simulated = simulated_us(scenario);
  EXPECT_NEAR(simulated, expected["makespan_us"], 1e-5);
  EXPECT_GT(simulated, expected["time_reported_by_tacos_v1.2_us"].get<double>() + 20);
}

// Two GPUs exchange their halves of an all-gather of two chunks.
std::string exchange(const std::string& first_step = {}, const std::string& second_step = {}) {
  const auto gpu = [](int id, const std::string& step) {
    const std::string self = std::to_string(id), other = std::to_string(1 - id);
    return " <gpu id=\"" + self + "\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n  <tb id=\"0\" send=\"" + other +
           "\" recv=\"" + other + "\" chan=\"0\">\n" +
           (step.empty() ? "   <step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"" + self + "\" dstbuf=\"o\" dstoff=\"" +
                               self + "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
                         : step) +
           "\n   <step s=\"1\" type=\"r\" srcbuf=\"o\" srcoff=\"" + other + "\" dstbuf=\"o\" dstoff=\"" + other +
           "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n  </tb>\n </gpu>\n";
  };
  return "<algo name=\"x\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allgather\" inplace=\"1\">\n" +
         gpu(0, first_step) + gpu(1, second_step) + "</algo>\n";
}

std::string changed(const std::string& what, const std::string& into) {
  std::string xml = exchange();
  const auto at = xml.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return xml.replace(at, what.size(), into);
}

TEST(MscclErrors, TheExampleIsSound) {
  EXPECT_EQ(problem_of(exchange()), "");
  EXPECT_THAT(problem_of("<other/>"), HasSubstr("x.xml: line 1: has no <algo>"));
}

TEST(MscclErrors, ABrokenFileGetsItsLineAndTheReason) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases{
      {"</algo>", "", "x.xml: line "},
      {"</algo>", "</other>", "x.xml: line 14: not XML"},
      {R"(coll="allgather")", R"(coll="gossip")", "x.xml: line 1: unknown coll \"gossip\""},
      {R"(coll="allgather")", R"(coll="custom")", "nothing says what a custom collective promises"},
      {R"(ngpus="2")", R"(ngpus="3")", "x.xml: line 1: ngpus is 3, but GPU 2 is missing"},
      {R"(nchunksperloop="2")", R"(nchunksperloop="3")", "not a multiple of the 2 GPUs"},
      {R"(nchunksperloop="2")", "", "line 1: <algo> has no nchunksperloop"},
      {R"(ngpus="2")", R"(ngpus="two")", "line 1: ngpus is \"two\" (a whole number from 2 to"},
      {R"(i_chunks="1")", R"(i_chunks="2")", "line 2: i_chunks is 2, but the collective needs 1"},
      {R"(gpu id="0")", R"(gpu id="1")", "line 8: GPU 1 is there twice"},
      {R"(send="1")", R"(send="2")", "line 3: send names GPU 2, but there are 2"},
      {R"(send="1")", R"(send="0")", "line 3: send names its own GPU"},
      {R"(send="1")", R"(send="-1")", "line 4: sends, but its thread block has no send peer"},
      {R"(recv="1")", R"(recv="-1")", "line 5: receives, but its thread block has no recv peer"},
      {R"(step s="1")", R"(step s="2")", "line 5: step 2 stands where step 1 should"},
      {R"(type="s")", R"(type="x")", "line 4: unknown step type \"x\""},
      {R"(type="s")", R"(type="nop")", "line 11: a receive from GPU 0 to GPU 1 on channel 0 has no send"},
      {R"(type="r")", R"(type="nop")", "line 10: a send from GPU 1 to GPU 0 on channel 0 has no receive"},
      {R"(srcbuf="o")", R"(srcbuf="q")", "line 4: srcbuf is \"q\""},
      {R"(srcoff="0")", R"(srcoff="2")", "line 4: chunk 2 of the output buffer, which has 2"},
      {R"(srcoff="0")", R"(srcoff="1")", "line 4: GPU 0 has nothing yet in chunk 1 that it reads"},
      {R"(srcoff="0")", R"(srcoff="-1")", "line 4: srcoff is \"-1\" (a whole number from 0 to"},
      {R"(cnt="1")", R"(cnt="0")", "line 4: cnt must be at least 1"},
      {R"(cnt="1")", R"(cnt="2")", "line 11: receives 1 chunks from GPU 0, which sends 2 (line 4)"},
      {R"(depid="-1")", R"(depid="7")", "line 4: depid without deps"},
      {R"(depid="-1" deps="-1")", R"(depid="7" deps="0")", "line 4: waits for thread block 7, which is not there"},
      {R"(depid="-1" deps="-1")", R"(depid="0" deps="5")", "line 4: waits for step 5 of thread block 0, which has 2"},
      {R"(depid="-1" deps="-1")", R"(depid="0" deps="1")",
       "line 4: steps wait for each other in a circle: line 4 (GPU 0, block 0); line 5 (GPU 0, block 0)"},
      {R"(dstoff="1")", R"(dstoff="0")",
       "line 2: in the end chunk 0 of the output of GPU 0 holds chunk 1 of the data in place of 0"},
      {R"(type="r")", R"(type="rrc")", "line 5: GPU 0 has nothing yet in chunk 1 that it reads"},
  };
  for (const auto& [what, into, told] : cases)
    EXPECT_THAT(problem_of(changed(what, into)), HasSubstr(told)) << what << into;
}

TEST(MscclErrors, ASendThatIsMissingLeavesTheOutputEmpty) {
  // Neither end of one direction is there: everything matches, but GPU 1 never gets chunk 0.
  std::string xml = changed(R"(type="s")", R"(type="nop")");
  xml.replace(xml.rfind(R"(type="r")"), 8, R"(type="nop")");
  EXPECT_THAT(problem_of(xml), HasSubstr("line 8: in the end chunk 0 of the output of GPU 1 is empty"));
}

// All-reduce of one chunk between two GPUs. GPU 0 sends and receives in blocks of their own, with no order between them.
std::string racy(const std::string& dependency) {
  return R"(<algo name="x" nchannels="1" nchunksperloop="1" ngpus="2" coll="allreduce" inplace="1">
 <gpu id="0"><tb id="0" send="1" recv="-1" chan="0">
  <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"/></tb>
 <tb id="1" send="-1" recv="1" chan="0">
  <step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" )" +
         dependency + R"(/></tb></gpu>
 <gpu id="1"><tb id="0" send="0" recv="-1" chan="0">
  <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"/></tb>
 <tb id="1" send="-1" recv="0" chan="0">
  <step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" )" +
         dependency + R"(/></tb></gpu>
</algo>)";
}

TEST(MscclErrors, ARaceIsFound) {
  EXPECT_EQ(problem_of(racy(R"(depid="0" deps="0")")), "");
  // Where the sum is stored before the send has read the chunk, the other end counts itself twice.
  EXPECT_THAT(problem_of(racy("")), HasSubstr("counts a contribution twice"));
}

TEST(MscclErrors, TwoBlocksOnOneChannel) {
  const std::string xml = changed("  </tb>", R"(  </tb><tb id="1" send="1" recv="-1" chan="0">
   <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/></tb>)");
  EXPECT_THAT(problem_of(xml), HasSubstr("two thread blocks of GPU 0 send to GPU 1 on channel 0"));
}

TEST(MscclErrors, AHugeClaimCostsNothing) {
  EXPECT_THAT(problem_of(changed(R"(s_chunks="0")", R"(s_chunks="16777216")")), "");
  EXPECT_THAT(problem_of(changed(R"(nchunksperloop="2")", R"(nchunksperloop="16777216")")),
              HasSubstr("but the collective needs"));
  EXPECT_THAT(problem_of(R"(<algo ngpus="65536" nchunksperloop="16777216" coll="allreduce"></algo>)"),
              HasSubstr("GPU 0 is missing"));
}

TEST(MscclDialects, OneBufferAStepAndAPassiveCopy) {
  // TACCL: <op step= buf= off=>, and a copy of the own shard before anything else, out of place.
  const std::string xml = R"(<!-- a comment --><algo name="x" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0">
<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0"><copy i_off="0" o_off="0"/>
 <tb id="0" send="1" recv="1" chan="0"><op step="0" type="s" buf="i" off="0" cnt="1"/><op step="1" type="r" buf="o" off="1" cnt="1"/></tb></gpu>
<gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0"><copy i_off="0" o_off="1"/>
 <tb id="0" send="0" recv="0" chan="0"><op step="0" type="s" buf="i" off="0" cnt="1"/><op step="1" type="r" buf="o" off="0" cnt="1"/></tb></gpu>
</algo>)";
  EXPECT_EQ(problem_of(xml), "");
  std::string without = xml;
  without.erase(without.find(R"(<copy i_off="0" o_off="1"/>)"), 27);
  EXPECT_THAT(problem_of(without), HasSubstr("in the end chunk 1 of the output of GPU 1 is empty"));
}

// Every op type of an all-reduce by scratch: GPU 0 gathers, adds locally, and sends the sum back.
TEST(MscclDialects, ScratchAndLocalReduction) {
  const std::string xml = R"(<algo name="x" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">
<gpu id="0" i_chunks="2" o_chunks="0" s_chunks="2"><tb id="0" send="1" recv="1" chan="0">
 <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2"/>
 <step s="1" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2"/>
 <step s="2" type="nop"/>
 <step s="3" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2"/></tb></gpu>
<gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
 <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2"/>
 <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2"/></tb></gpu></algo>)";
  const CollectiveFile read = parse_msccl(xml, "x.xml");
  const CollectiveCall call = call_of(read, 1001);
  const auto plan = read.algorithm->expand(call);
  EXPECT_EQ(sent_by(*plan), (std::vector<Sent>{{0, 1, 0, 2, false}, {1, 0, 0, 2, true}}));
  EXPECT_EQ(plan->wire_bytes(), Bytes{2 * 1001});
  expect_correct(call, *plan, "scratch");
}

}  // namespace
}  // namespace photonrail::test
