// The files of ASTRA-sim's inputs that say what a truth says.
#pragma once

#include "formats/drawn/astra_truth.hpp"
#include "formats/drawn/chakra_file.hpp"
#include "formats/drawn/tree.hpp"
#include "photonrail/formats/astra.hpp"
#include "support/folder.hpp"

namespace photonrail::test::drawn {

inline std::string implementation_text(const AnalyticalImplementation& how) {
  std::string word = how.algorithm == AnalyticalAlgorithm::kRing              ? "ring"
                     : how.algorithm == AnalyticalAlgorithm::kHalvingDoubling ? "halvingDoubling"
                     : how.algorithm == AnalyticalAlgorithm::kDirect          ? "direct"
                                                                              : "doubleBinaryTree";
  if (how.window > 0) word += std::to_string(how.window);
  if (!how.whole_network) return word;
  word.front() = static_cast<char>(word.front() - 'a' + 'A');
  return "one" + word;
}

/// 0 and 1, or the words.
inline Tree flag_tree(Draw& style, bool value) {
  return plain(style.pick<std::string>(value ? std::vector<std::string>{"1", "true", "1.0"}
                                             : std::vector<std::string>{"0", "false"}));
}

inline Tree system_tree(Draw& style, const AstraTruth& truth, std::size_t& unknown) {
  const AnalyticalSystem& s = truth.system;
  Tree root = map();
  const auto put = [&](const std::string& key, Tree value) {
    if (!truth.absent.contains(key)) root.set(key, std::move(value));
  };
  put("scheduling-policy", text(std::vector<std::string>{"LIFO", "FIFO", "EXPLICIT"}[static_cast<std::size_t>(s.order)]));
  put("endpoint-delay", plain(number_text(style, static_cast<double>(s.endpoint_delay_ns))));
  put("active-chunks-per-dimension", plain(std::uint64_t{s.active_chunks}));
  put("preferred-dataset-splits", plain(number_text(style, s.chunks)));
  put("collective-optimization", text(s.hierarchical_all_reduce ? "localBWAware" : "baseline"));
  put("local-mem-bw", plain(number_text(style, s.memory_gb_per_s)));
  put("peak-perf", plain(number_text(style, s.peak_tflops)));
  put("roofline-enabled", flag_tree(style, s.roofline));
  put("replay-only", flag_tree(style, s.replay));
  if (style.one_in(3)) put("model-shared-bus", flag_tree(style, false));
  const auto implementations = [&](const std::string& key, const AnalyticalImplementations& list_of) {
    std::vector<Tree> words;
    for (const AnalyticalImplementation& how : list_of) words.push_back(text(implementation_text(how)));
    put(key, list(words));
  };
  implementations("all-reduce-implementation", s.all_reduce);
  implementations("all-gather-implementation", s.all_gather);
  implementations("reduce-scatter-implementation", s.reduce_scatter);
  implementations("all-to-all-implementation", s.all_to_all);
  if (style.one_in(2)) put("boost-mode", plain(0));  // changes nothing
  if (style.one_in(3)) {
    put("intra-dimension-scheduling", text("SCF"));
    ++unknown;
  }
  return root;
}

inline std::string network_text(Draw& style, const std::vector<AnalyticalDimension>& network, std::size_t& unknown,
                                Cover& cover) {
  std::vector<Tree> shapes, members, rates, latencies;
  for (const AnalyticalDimension& d : network) {
    shapes.push_back(text(std::vector<std::string>{"Ring", "FullyConnected", "Switch"}[static_cast<std::size_t>(d.shape)]));
    members.push_back(plain(std::uint64_t{d.members}));
    rates.push_back(plain(number_text(style, d.gib_per_s)));
    latencies.push_back(plain(number_text(style, d.latency_ns)));
  }
  const auto column = [&](std::vector<Tree> values) {
    return values.size() == 1 && style.one_in(2) ? values.front() : list(values);
  };
  Tree root = map({{"topology", column(shapes)},
                   {"npus_count", column(members)},
                   {"bandwidth", column(rates)},
                   {"latency", column(latencies)}});
  if (style.one_in(4)) {
    root.set("links_count", list({plain(2)}));
    ++unknown;
  }
  cover_keys(root, cover);
  return YamlText(style).of(root);
}

inline ChakraNode node_of_astra(Draw& style, const AstraTruth& truth, std::uint32_t rank, std::size_t t) {
  const AnalyticalTask& task = truth.tasks[rank][t];
  ChakraNode node{.id = truth.ids[rank][t]};
  node.name = truth.names[rank][t];
  if (task.recorded_ns > 0) node.micros = task.recorded_ns / 1000;
  for (const std::uint32_t before : task.after)
    (style.one_in(2) ? node.data : node.control).push_back(truth.ids[rank][before]);
  if (task.on_cpu || style.one_in(2)) node.numbers["is_cpu_op"] = task.on_cpu ? 1 : 0;
  switch (task.kind) {
    case AstraKind::kNothing:
      node.type = chakra_type::kMetadata;
      return node;
    case AstraKind::kCompute:
      if (task.flops > 0.0) node.operations = task.flops;
      if (task.memory_bytes > 0.0) node.numbers["tensor_size"] = static_cast<std::uint64_t>(task.memory_bytes);
      return node;
    case AstraKind::kSend:
    case AstraKind::kReceive: {
      const bool sends = task.kind == AstraKind::kSend;
      node.type = sends ? chakra_type::kSend : chakra_type::kReceive;
      node.numbers[sends ? "comm_dst" : "comm_src"] = task.peer;
      if (style.one_in(2)) node.numbers[sends ? "comm_src" : "comm_dst"] = rank;
      if (task.tag > 0 || style.one_in(2)) node.numbers["comm_tag"] = task.tag;
      node.numbers["comm_size"] = task.bytes;
      return node;
    }
    case AstraKind::kCollective:
      break;
  }
  node.type = chakra_type::kCollective;
  const std::map<CollectiveOp, std::uint64_t> types{{CollectiveOp::kAllReduce, 0},
                                                    {CollectiveOp::kAllGather, 2},
                                                    {CollectiveOp::kBroadcast, 5},
                                                    {CollectiveOp::kAllToAll, 6},
                                                    {CollectiveOp::kReduceScatter, 7 + style.below(2)}};
  node.numbers["comm_type"] = types.at(task.op);
  node.numbers["comm_size"] = task.bytes;
  if (task.priority > 0 || style.one_in(2)) node.numbers["comm_priority"] = static_cast<std::uint64_t>(task.priority);
  if (task.dimensions != ~0U || style.one_in(3)) {
    for (std::size_t d = 0; d < truth.network.size() + style.below(2); ++d)
      node.dimensions.push_back((task.dimensions >> d & 1U) != 0);
  }
  if (task.group > 0)
    node.texts["pg_name"] = truth.groups[task.group - 1].name;
  else if (style.one_in(2))
    node.texts["pg_name"] = style.pick<std::string>({"", "0"});
  return node;
}

/// Writes all files; returns how many keys are not known.
inline std::size_t write_astra(std::uint64_t seed, const AstraTruth& truth, const Folder& folder, AstraOptions& options,
                               Cover& cover) {
  Draw style(seed, "astra/style");
  std::size_t unknown = 0;
  const Tree system = system_tree(style, truth, unknown);
  cover_keys(system, cover);
  options.system = folder.write("system.json", maybe_gzip(style, JsonText(style).of(system)));
  options.network = folder.write("network.yml", network_text(style, truth.network, unknown, cover));
  if (style.one_in(2))
    options.remote_memory =
        folder.write("memory.json", JsonText(style).of(map({{"memory-type", text("NO_MEMORY_EXPANSION")}})));
  Tree in_file = map();
  std::vector<Tree> in_trace;
  for (const AstraGroup& group : truth.groups) {
    std::vector<Tree> ranks;
    for (const std::uint32_t member : group.members) ranks.push_back(plain(std::uint64_t{member}));
    if (group.in_file)
      in_file.set(group.name, list(ranks));
    else
      in_trace.push_back(map({{"pg_name", text(group.name)}, {"ranks", list(ranks)}}));
  }
  if (!in_file.members.empty())
    options.comm_groups = folder.write("groups.json", JsonText(style).of(in_file));
  else if (style.one_in(2))
    options.comm_groups = folder.path() / "empty.json";  // ASTRA-sim's word for none
  options.workload = folder.path() / "w";
  const auto ranks = static_cast<std::uint32_t>(truth.tasks.size());
  const std::uint64_t teller = style.below(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::vector<ChakraNode> nodes;
    for (std::size_t t = 0; t < truth.tasks[r].size(); ++t) nodes.push_back(node_of_astra(style, truth, r, t));
    if (r == teller && !in_trace.empty()) {
      nodes.push_back({.id = truth.ids[r].empty() ? 0 : truth.ids[r].back() + 1, .type = chakra_type::kMetadata});
      nodes.back().texts["pg_config"] = JsonText(style).of(list(in_trace));
    }
    folder.write("w." + std::to_string(r) + ".et", ChakraFile(style, cover).of(nodes, style.one_in(2)));
  }
  return unknown;
}

}  // namespace photonrail::test::drawn
