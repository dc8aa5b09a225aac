// The quickstart: Llama-3-8B, TP4 PP2 DP2 with FSDP, sequence 8192, 2 micro-batches of 4 sequences, full recomputation, on
// 16 GPUs in 4 servers with one port of 25 GB/s each; electrical, Opus on demand, Opus provisioned.
#include "golden/golden.hpp"

namespace photonrail::test {
namespace {

const std::string kElectrical = "quickstart-electrical.json";
const std::string kOnDemand = "quickstart-on-demand.json";
const std::string kProvisioned = "quickstart.json";

RunResult run_at(const std::string& file, double delay_ms) {
  const RunResult result = run(file, {"/cluster/rail/switch/reconfiguration_ms=" + std::to_string(delay_ms)});
  expect_balanced(result);
  return result;
}

// What one rank of tp 4 passes on of a micro-batch's activations, bf16: 4 x 8192 tokens x 4096 x 2 B / 4.
constexpr std::int64_t kShard = 4LL * 8192 * 4096 * 2 / 4;
constexpr std::int64_t kMicroBatches = 2;

TEST(Quickstart, BytesOnTheWireFollowFromTheModel) {
  const RunResult result = run(kElectrical);
  // Sequence parallelism: in each layer an all-gather and a reduce-scatter around attention and around the FFN, in the
  // forward pass, in its recomputation and in the backward pass: 12. One more forward and one backward for the embedding
  // (stage 0) or the output (stage 1). A ring of 4 moves 4 x 3 shards in either operation.
  constexpr std::int64_t kTpGroups = 4;  // dp 2 x pp 2
  constexpr std::int64_t kTpCalls = kTpGroups * kMicroBatches * (16 * 12 + 2);
  EXPECT_EQ(traffic(result, Dimension::kTp).operations, static_cast<std::uint64_t>(kTpCalls));
  EXPECT_EQ(traffic(result, Dimension::kTp).bytes.count, kTpCalls * 12 * kShard);
  // FSDP: a micro-batch gathers the bf16 parameters of a stage twice and scatters its fp32 gradients once. A ring of 2
  // moves 2 x the shard = the whole for a gather, and the input for a scatter: 2 + 2 + 4 bytes a parameter. The parameters
  // over all 8 groups are the model's, with the norms (2 a layer and the last, 4096 each) on each of the 4 tensor-parallel
  // ranks.
  constexpr std::int64_t kHidden = 4096;
  constexpr std::int64_t kLayer = 2 * kHidden * kHidden + 2 * kHidden * kHidden / 4 + 3 * kHidden * 14336;
  constexpr std::int64_t kNorms = (2 * 32 + 1) * kHidden;
  constexpr std::int64_t kParameters = 32 * kLayer + 2 * 128256 * kHidden + 4 * kNorms;
  EXPECT_EQ(traffic(result, Dimension::kDp).bytes.count, kMicroBatches * 8 * kParameters);
  // 8 groups, 16 layers and the embedding or output, three times.
  EXPECT_EQ(traffic(result, Dimension::kDp).operations, static_cast<std::uint64_t>(8 * kMicroBatches * 17 * 3));
  // One boundary between stages, 8 pairs of ranks, forward and backward.
  EXPECT_EQ(traffic(result, Dimension::kPp).operations, static_cast<std::uint64_t>(8 * kMicroBatches * 2));
  EXPECT_EQ(traffic(result, Dimension::kPp).bytes.count, 8 * kMicroBatches * 2 * kShard);
}

TEST(Quickstart, TheTraceIsTheJobThatItWasMadeFrom) {
  const RunResult trace = run(kElectrical);
  const RunResult job = run("llama3-8b-16gpu.json");
  EXPECT_EQ(trace.makespan, job.makespan);
  for (std::size_t r = 0; r < 16; ++r) EXPECT_EQ(trace.ranks[r].compute, job.ranks[r].compute);
}

// FLOPs of a rank at half of 312 TFLOP/s. A stage computes, for each token: 3 forward passes' worth (forward and twice that
// backward) and one more for recomputation, of 16 layers: 2 x the weights of a layer, and attention over the sequence,
// 4 x 8192 x 4096 a token, or half of it where the mask is used. Stage 1 has the output projection on top, 3 x 2 x
// 128256 x 4096 a token, without recomputation. All over 4 tensor-parallel ranks. The rest, norms and embeddings, is bound
// by memory and small.
TEST(Quickstart, ComputeIsThatOfTheModelAtHalfOfThePeak) {
  const RunResult result = run(kElectrical);
  const double tokens = 2.0 * 4 * 8192;
  const double weights = 2.5 * 4096 * 4096 + 3.0 * 4096 * 14336;
  const double attention[2] = {2.0 * 8192 * 4096, 4.0 * 8192 * 4096};  // masked, whole
  const double output[2] = {0.0, 3 * 2.0 * 128256 * 4096};
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const auto seconds = [&](double a) {
      return tokens * (4 * 16 * (2 * weights + a) + output[stage]) / 4 / (0.5 * 312e12);
    };
    EXPECT_GT(to_seconds(result.ranks[8 * stage].compute), seconds(attention[0]));
    EXPECT_LT(to_seconds(result.ranks[8 * stage].compute), 1.02 * seconds(attention[1]));
  }
}

// Fidelity stream. A change of these is a change of results: say so in docs/changes.md.
TEST(Quickstart, StepTimes) {
  EXPECT_EQ(run(kElectrical).makespan, Duration{6530809109953});
  EXPECT_EQ(run(kOnDemand).makespan, Duration{6604133033713});
  EXPECT_EQ(run(kProvisioned).makespan, Duration{6589133033713});
}

// Where delays stand one after another, from the timeline of the run on demand:
//   1  the first gathers find dark ports;
//   2  the first forward hop, which finds the ports in rings; announced ahead it hides under compute;
//   3  the hops between the micro-batches (forward and backward at once), which wait for a reduce-scatter to leave the
//   port; 4  back to the rings of stage 1, whose gathers its next forward pass needs; 5  the last backward hop, as 3.
// So 5 on demand and 4 provisioned, exactly, for delays that the compute after a switch back to the rings hides.
TEST(Quickstart, OnDemandCostsFiveDelaysAndProvisionedFour) {
  const Duration free_on_demand = run_at(kOnDemand, 0).makespan;
  const Duration free_provisioned = run_at(kProvisioned, 0).makespan;
  for (const double delay : {1.0, 5.0, 10.0, 15.0, 25.0}) {
    const RunResult on_demand = run_at(kOnDemand, delay);
    EXPECT_EQ(on_demand.makespan - free_on_demand, 5 * ms(delay)) << delay << " ms";
    EXPECT_EQ(on_demand.reconfigurations.critical_path, 5u) << delay << " ms";
    const RunResult provisioned = run_at(kProvisioned, delay);
    EXPECT_EQ(provisioned.makespan - free_provisioned, 4 * ms(delay)) << delay << " ms";
    EXPECT_EQ(provisioned.reconfigurations.critical_path, 4u) << delay << " ms";
  }
}

// A switch of no delay beats the electrical rail, by 1.68 ms. On the electrical rail a hop and a data-parallel operation at
// the same port share it, and the hop, for which all ranks wait, takes twice its 2.68 ms; on circuits they take turns.
// That saves one 2.68 ms on the first forward hop; later hops lose more, waiting for the operation in front, than they
// gain.
TEST(Quickstart, AFreeSwitchIsFasterThanSharingPorts) {
  const Duration hop = transfer_time(Bytes{kShard}, Bandwidth::from_gb_per_s(25));
  EXPECT_EQ(hop, Duration{2684354560});
  const Duration electrical = run(kElectrical).makespan;
  for (const std::string& file : {kOnDemand, kProvisioned}) {
    const Duration free_switch = run_at(file, 0).makespan;
    EXPECT_EQ(electrical - free_switch, Duration{1676076240}) << file;
    EXPECT_LT(electrical - free_switch, hop) << file;
  }
}

}  // namespace
}  // namespace photonrail::test
