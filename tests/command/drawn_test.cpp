// Drawn traces through the command: what it prints and writes is the sum that was drawn.
#include "command/command.hpp"
#include "formats/drawn/chains.hpp"

namespace photonrail::test {
namespace {

using DrawnCommand = Command;

constexpr std::uint64_t kChains = 3;  // of each kind: the library reads many more

TEST_F(DrawnCommand, TimesAChakraTraceAsItWasDrawn) {
  drawn::Cover cover;
  for (std::uint64_t seed = 1; seed <= kChains; ++seed) {
    const Folder folder;
    const drawn::ChakraChain chain = drawn::write_chakra_chain(seed, folder, cover);
    folder.write("job.json", chain.scenario);
    const Outcome outcome = run("run '" + (folder.path() / "job.json").string() + "' --quiet --out out");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_DOUBLE_EQ(result("out/result.json")["makespan_s"].get<double>(), static_cast<double>(chain.picoseconds) * 1e-12)
        << "seed " << seed;
  }
}

TEST_F(DrawnCommand, PrintsTheCyclesOfAstraSimsInputsAsDrawn) {
  drawn::Cover cover;
  for (std::uint64_t seed = 1; seed <= kChains; ++seed) {
    const Folder folder;
    AstraOptions options;
    const auto finish = drawn::write_astra_chain(seed, folder, options, cover);
    const Outcome outcome = run("run --astra '" + options.system.string() + "' --network '" + options.network.string() +
                                "' --workload '" + options.workload.string() + "'");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (std::size_t rank = 0; rank < finish.size(); ++rank) {
      EXPECT_THAT(outcome.out, ::testing::HasSubstr("sys[" + std::to_string(rank) + "] finished, " +
                                                    std::to_string(finish[rank]) + " cycles"));
    }
  }
}

}  // namespace
}  // namespace photonrail::test
