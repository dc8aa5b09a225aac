// `photonrail import hf` and `import astra` with a folder: what is guessed is told, and the scenario runs.
#include "command/command.hpp"
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
