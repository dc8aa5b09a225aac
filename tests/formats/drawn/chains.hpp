// Drawn jobs whose time is a sum.
#pragma once

#include "formats/drawn/astra_files.hpp"

namespace photonrail::test::drawn {

struct ChakraChain {
  std::string scenario;  ///< with paths relative to the folder
  std::uint64_t picoseconds = 0;
};

/// A chain of computations on each rank, then an all-reduce by a ring of n: it begins when the last chain ends, and takes
/// 2 (n - 1) steps of S / n bytes at 1 GB/s, 1,000 ps each, and 500 ns for a message.
inline ChakraChain write_chakra_chain(std::uint64_t seed, const Folder& folder, Cover& cover) {
  Draw draw(seed, "chakra/chain");
  Draw style(seed, "chakra/style");
  const auto ranks = draw.from_to(2, 6);
  const std::uint64_t share = draw.from_to(1, 1'000'000);
  const bool in_micros = draw.one_in(2);
  std::uint64_t longest = 0;
  for (std::uint64_t r = 0; r < ranks; ++r) {
    std::vector<ChakraNode> nodes;
    std::uint64_t whole = 0;
    for (std::uint64_t n = draw.from_to(1, 5); n > 0; --n) {
      ChakraNode node{.id = nodes.size() + 1};
      if (!nodes.empty()) node.data = {nodes.size()};
      const std::uint64_t time = draw.from_to(1, 5000);
      if (in_micros)
        node.micros = time;
      else
        node.numbers["photonrail_duration_ps"] = time;
      whole += in_micros ? time * 1'000'000 : time;
      nodes.push_back(node);
    }
    nodes.push_back({.id = nodes.size() + 1, .type = chakra_type::kCollective, .name = "sum"});
    nodes.back().data = {nodes.size() - 1};
    nodes.back().numbers = {{"comm_type", 0}, {"comm_size", share * ranks}};
    folder.write("t." + std::to_string(r) + ".et", ChakraFile(style, cover).of(nodes, true));
    longest = std::max(longest, whole);
  }
  return {
      R"({"schema": "photonrail.scenario/1", "cluster": {"servers": )" + std::to_string(ranks) +
          R"(, "gpus_per_server": 1, "nic": {"port_gb_per_s": 1, "message_overhead_ns": 500}, "rail": {"kind": "electrical"}},
              "run": {"fidelity": "exact"}, "collectives": {"all_reduce": "ring"},
              "workload": {"chakra": {"prefix": "t", "compute_time": "trace"}}})",
      longest + 2 * (ranks - 1) * (500'000 + share * 1000)};
}

/// Two ranks that only compute: each ends with the sum of what was recorded, or of FLOPs / min(peak, bandwidth x FLOPs /
/// bytes), cut to whole nanoseconds each (docs/models/astra-sim.md). Returns when, by rank.
inline std::vector<std::uint64_t> write_astra_chain(std::uint64_t seed, const Folder& folder, AstraOptions& options,
                                                    Cover& cover) {
  Draw draw(seed, "astra/chain");
  AstraTruth truth;
  truth.network = {{AnalyticalShape::kRing, 2, 1.0, 0.0}};
  truth.system.hierarchical_all_reduce = false;
  truth.system.roofline = draw.one_in(2);
  truth.system.memory_gb_per_s = static_cast<double>(draw.from_to(1, 8000)) / 4.0;
  truth.system.peak_tflops = static_cast<double>(draw.from_to(1, 8000)) / 4.0;
  truth.tasks.resize(2);
  truth.ids.resize(2);
  truth.names.resize(2);
  std::vector<std::uint64_t> sums(2, 0);
  for (std::uint32_t r = 0; r < 2; ++r) {
    for (std::uint64_t t = draw.from_to(1, 6); t > 0; --t) {
      AnalyticalTask task;
      task.kind = AstraKind::kCompute;
      task.recorded_ns = draw.from_to(1, 100'000) * 1000;
      task.flops = static_cast<double>(draw.from_to(1'000'000, 1'000'000'000'000));
      task.memory_bytes = static_cast<double>(draw.from_to(1'000'000, 1'000'000'000));
      const double by_memory = truth.system.memory_gb_per_s * 1e9 * (task.flops / task.memory_bytes);
      const double rate = std::min(truth.system.peak_tflops * 1e12, by_memory);
      sums[r] += truth.system.roofline ? static_cast<std::uint64_t>(task.flops / rate * 1e9) : task.recorded_ns;
      add_task(draw, truth, r, task, "c");
    }
  }
  write_astra(seed, truth, folder, options, cover);
  return sums;
}

}  // namespace photonrail::test::drawn
