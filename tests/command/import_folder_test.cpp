// `photonrail import hf` and `import astra` with a folder: what is guessed is told, and the scenario runs.
#include "command/command.hpp"
#include "formats/chakra/chakra_support.hpp"
#include "support/source_dir.hpp"

#include <fstream>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class ImportFolder : public Command {
 protected:
  // A dense model of some 52 billion parameters.
  void write_model(const fs::path& folder) const {
    fs::create_directories(folder);
    std::ofstream(folder / "config.json")
        << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 60,
              "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 32000,
              "max_position_embeddings": 4096})";
  }
};

TEST_F(ImportFolder, AModelGetsTheFewestServersThatHoldIt) {
  write_model(folder_ / "model");
  const Outcome outcome = run("import hf model -o own.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  // Weights, gradients and optimizer take 16 bytes a parameter or more, some 830 GB in all: beyond the 640 GB of one
  // server.
  EXPECT_THAT(outcome.out, HasSubstr("the fewest on which it fits"));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("  1 server,")));
  EXPECT_EQ(run("run own.json --quiet").status, 0) << read(folder_ / ".err");
  const Outcome asked = run("import hf model/config.json --servers 8 -o more.json");
  EXPECT_THAT(asked.out, HasSubstr("64 ranks"));
  EXPECT_THAT(asked.out, ::testing::Not(HasSubstr("the fewest")));
  const Outcome missing = run("import hf nowhere -o none.json");
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere: is not there"));
}

// Llama 3 8B takes 16 bytes for each of 8.03 billion parameters, 128 GB, a part of which each GPU of one server has.
TEST_F(ImportFolder, AModelOnOneServerIsShardedAndTheDoorSaysHow) {
  fs::create_directories(folder_ / "small");
  std::ofstream(folder_ / "small/config.json")
      << R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})";
  const Outcome one = run("import hf small -o small.json");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("  1 server, the fewest"));
  EXPECT_THAT(one.out, HasSubstr("  tp 1, pp 1, dp 8, fsdp; 32 sequences of 8192 tokens a step (/workload/training)\n"));
  EXPECT_EQ(run("run small.json --quiet").status, 0) << read(folder_ / ".err");
  // A rail of 200 servers needs 400 fibres, and the switch has 384 ports.
  EXPECT_THAT(run("import hf small --servers 200 -o large.json").out, HasSubstr("in pods, as one is too small for a rail"));
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(run("import hf empty -o none.json").err, HasSubstr("empty: has no config.json ("));
  std::ofstream(folder_ / "other.json") << R"({"schema": "photonrail.model/1"})";
  EXPECT_THAT(run("import hf other.json -o none.json").err, HasSubstr("other.json: has no \"model_type\", as a model of"));
  EXPECT_FALSE(fs::exists(folder_ / "none.json"));
}

// Both ranks compute for 5 ms, of which their traces have the duration alone, and then reduce.
TEST_F(ImportFolder, ATraceWithoutWorkTakesItsRecordedTimes) {
  fs::create_directories(folder_ / "trace");
  for (int rank = 0; rank < 2; ++rank) {
    const std::string text =
        trace({Node(1, kCompute, "kernel").duration_micros(5000), collective(2, 0, 1000, "7").waits_for({1})});
    std::ofstream(folder_ / "trace" / ("job." + std::to_string(rank) + ".et"), std::ios::binary) << text;
  }
  std::ofstream(folder_ / "trace/comm_group.json") << R"({"7": [0, 1]})";
  const Outcome in = run("import chakra trace -o again.json");
  ASSERT_EQ(in.status, 0) << in.err;
  EXPECT_THAT(in.out, HasSubstr("2 ranks, 1 group of"));
  EXPECT_THAT(in.out, HasSubstr("its groups are those of comm_group.json"));
  EXPECT_THAT(in.out, HasSubstr("computations take their recorded times"));
  ASSERT_EQ(run("run again.json --quiet --out again").status, 0) << read(folder_ / ".err");
  EXPECT_GT(result("again/result.json")["makespan_s"].get<double>(), 0.005);
}

// Ranks of dp 2, tp 4 as generators number them, dp innermost: 0 and 1 have one all-reduce of gradients, 0, 2, 4 and 6 have
// nine of activations.
TEST_F(ImportFolder, RanksWithDpInnermostArePlacedWithTpInServers) {
  fs::create_directories(folder_ / "trace");
  for (int rank = 0; rank < 8; ++rank) {
    std::vector<Node> nodes{Node(1, kCompute, "kernel").duration_micros(5)};
    const std::string tp = rank % 2 == 0 ? "20" : "21";
    for (std::uint64_t n = 2; n <= 10; ++n) nodes.push_back(collective(n, 0, 1'000'000, tp).waits_for({n - 1}));
    nodes.push_back(collective(11, 0, 1'000'000, std::to_string(10 + rank / 2)).waits_for({10}));
    std::ofstream(folder_ / "trace" / ("job." + std::to_string(rank) + ".et"), std::ios::binary) << trace(nodes);
  }
  std::ofstream(folder_ / "trace/job.json")
      << R"({"10": [0, 1], "11": [2, 3], "12": [4, 5], "13": [6, 7], "20": [0, 2, 4, 6], "21": [1, 3, 5, 7]})";
  const Outcome in = run("import chakra trace -o own.json");
  ASSERT_EQ(in.status, 0) << in.err;
  EXPECT_THAT(in.out, HasSubstr("8 ranks, 2 groups of tp, 4 groups of dp"));
  EXPECT_THAT(in.out, HasSubstr("  4 GPUs a server (--gpus-per-server)\n"
                                "  ranks are numbered with dp innermost, and tp is put into servers (/placement)\n"));
  ASSERT_EQ(run("run own.json --quiet --out own").status, 0) << read(folder_ / ".err");
  // A ring all-reduce of 1 MB among two sends 1 MB from each of 8 ranks; among four, 1.5 MB from each, nine times.
  const auto bytes = result("own/result.json")["communication"];
  EXPECT_EQ(bytes["dp"]["bytes"].get<double>(), 8e6) << bytes;
  EXPECT_EQ(bytes["tp"]["bytes"].get<double>(), 108e6) << bytes;
}

// One command from a trace to its table and page.
TEST_F(ImportFolder, RunsWhatItWrote) {
  const std::string source = PHOTONRAIL_SOURCE_DIR;
  const Outcome in = run("import chakra " + source + "/traces/llama3-8b-tp4-pp2-dp2 -o trace.json --run out");
  ASSERT_EQ(in.status, 0) << in.err;
  EXPECT_THAT(in.out, HasSubstr("guessed:\n"));
  EXPECT_THAT(in.out, HasSubstr("step time"));
  EXPECT_THAT(in.out, HasSubstr("wrote out/result.json\nwrote out/trace.json\nwrote out/report.html\n"));
  EXPECT_THAT(in.out, ::testing::Not(HasSubstr("runs it")));
  EXPECT_THAT(read(folder_ / "out/report.html"), HasSubstr("</html>"));
  EXPECT_EQ(run("import chakra " + source + "/traces/llama3-8b-tp4-pp2-dp2 -o trace.json --run ''").status, 2);
  for (const char* door : {"kineto", "hf", "card", "astra", "infragraph"})
    EXPECT_THAT(run(std::string("import ") + door + " --help").out, HasSubstr("--run DIR"));
}

TEST_F(ImportFolder, AnInfrastructureAndACardSayWhatIsGuessed) {
  const std::string source = PHOTONRAIL_SOURCE_DIR;
  const Outcome infra = run("import infragraph " + source + "/configs/infragraph/optical-rails.yaml -o infra.json");
  ASSERT_EQ(infra.status, 0) << infra.err;
  EXPECT_THAT(infra.out, HasSubstr("an all-reduce of 1 GB among all GPUs, as an infrastructure has no job (/workload)"));
  EXPECT_THAT(infra.out, HasSubstr("controller opus (/controller)"));
  EXPECT_EQ(run("run infra.json --quiet").status, 0) << read(folder_ / ".err");
  ASSERT_EQ(run("card export " + source + "/configs/llama3-8b-16gpu.json -o card.yaml").status, 0)
      << read(folder_ / ".err");
  const Outcome card = run("import card card.yaml -o card.json");
  ASSERT_EQ(card.status, 0) << card.err;
  EXPECT_THAT(card.out, HasSubstr("GPUs that reach their peak (/cluster/gpu/compute_efficiency)"));
  EXPECT_EQ(run("run card.json --quiet").status, 0) << read(folder_ / ".err");
}

TEST_F(ImportFolder, FilesOfAstraSimAreFoundByTheirNames) {
  const fs::path source = PHOTONRAIL_SOURCE_DIR;
  const fs::path folder = folder_ / "astra";
  fs::create_directories(folder);
  for (const char* name : {"system.json", "network.yml"}) fs::copy_file(source / "configs/astra-sim" / name, folder / name);
  for (const auto& entry : fs::directory_iterator(source / "traces/llama3-8b-tp4-pp2-dp2")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".et")) fs::copy_file(entry.path(), folder / name);
    if (name == "job.json") fs::copy_file(entry.path(), folder / "comm_group.json");
  }
  const Outcome outcome = run("import astra astra -o scenario.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("system system.json, network network.yml, workload job"));
  EXPECT_THAT(outcome.out, HasSubstr("groups comm_group.json"));
  EXPECT_EQ(run("run scenario.json --quiet").status, 0) << read(folder_ / ".err");
  fs::remove(folder / "network.yml");
  const Outcome without = run("import astra astra -o scenario.json");
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("astra: has no *network*.yml (name it with --network)"));
  EXPECT_EQ(run("import astra -o scenario.json").status, 2);
}

}  // namespace
}  // namespace photonrail::test
