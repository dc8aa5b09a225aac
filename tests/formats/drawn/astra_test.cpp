// Drawn inputs of ASTRA-sim: a system, a network, groups and traces in files of their own, read back value by value, as a
// scenario too, and timed where the time is a sum.
#include "formats/drawn/chains.hpp"

#include <nlohmann/json.hpp>

namespace photonrail::test::drawn {
namespace {

// ---- comparing

void compare_system(const AnalyticalSystem& truth, const AnalyticalSystem& read, Differences& found) {
  found.compare("scheduling-policy", static_cast<int>(truth.order), static_cast<int>(read.order));
  found.compare("endpoint-delay", truth.endpoint_delay_ns, read.endpoint_delay_ns);
  found.compare("active-chunks-per-dimension", truth.active_chunks, read.active_chunks);
  found.compare("preferred-dataset-splits", truth.chunks, read.chunks);
  found.compare("collective-optimization", truth.hierarchical_all_reduce, read.hierarchical_all_reduce);
  found.compare("local-mem-bw", truth.memory_gb_per_s, read.memory_gb_per_s);
  found.compare("peak-perf", truth.peak_tflops, read.peak_tflops);
  found.compare("roofline-enabled", truth.roofline, read.roofline);
  found.compare("replay-only", truth.replay, read.replay);
  const auto implementations = [&](const char* what, const AnalyticalImplementations& a,
                                   const AnalyticalImplementations& b) {
    found.compare(what, a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      found.compare(what, implementation_text(a[i]), implementation_text(b[i]));
  };
  implementations("all-reduce", truth.all_reduce, read.all_reduce);
  implementations("all-gather", truth.all_gather, read.all_gather);
  implementations("reduce-scatter", truth.reduce_scatter, read.reduce_scatter);
  implementations("all-to-all", truth.all_to_all, read.all_to_all);
}

void compare_astra_task(const std::string& what, const AstraTruth& truth, const AnalyticalTask& task,
                        const AnalyticalJob& job, const AnalyticalTask& read, Differences& found) {
  found.compare(what + " name", task.name, read.name);
  found.compare(what + " kind", static_cast<int>(task.kind), static_cast<int>(read.kind));
  found.compare(what + " is_cpu_op", task.on_cpu, read.on_cpu);
  found.compare(what + " waits for", task.after, read.after);
  found.compare(what + " recorded ns", task.recorded_ns, read.recorded_ns);
  found.compare(what + " bytes", task.bytes, read.bytes);
  found.compare(what + " peer", task.peer, read.peer);
  found.compare(what + " tag", task.tag, read.tag);
  found.compare(what + " FLOPs", task.flops, read.flops);
  found.compare(what + " memory", task.memory_bytes, read.memory_bytes);
  if (task.kind != AstraKind::kCollective || read.kind != task.kind) return;
  found.compare(what + " operation", static_cast<int>(task.op), static_cast<int>(read.op));
  found.compare(what + " dimensions", task.dimensions, read.dimensions);
  found.compare(what + " priority", task.priority, read.priority);
  const auto members = [](const auto& groups, std::uint32_t group) {
    return group == 0 ? std::vector<std::uint32_t>{} : groups.at(group - 1);
  };
  std::vector<std::vector<std::uint32_t>> groups;
  for (const AstraGroup& group : truth.groups) groups.push_back(group.members);
  found.compare(what + " group", members(groups, task.group), members(job.groups, read.group));
}

// docs/formats/astra-sim.md: the innermost of several dimensions is the scale-up domain, the others are rails.
void compare_scenario(const AstraTruth& truth, const std::string& scenario, Differences& found) {
  using Json = nlohmann::json;
  const auto rate = [](const AnalyticalDimension& d) {
    return d.gib_per_s * 1.073741824 * (d.shape == AnalyticalShape::kFullyConnected ? d.members - 1.0 : 1.0);
  };
  const auto latency = [](const AnalyticalDimension& d) {
    return d.latency_ns * (d.shape == AnalyticalShape::kSwitch ? 2.0 : 1.0);
  };
  const Json read = Json::parse(scenario);
  const Json& cluster = read.at("cluster");
  const bool servers = truth.network.size() > 1;
  const std::uint32_t inner = servers ? truth.network.front().members : 1;
  double slowest = rate(truth.network.back()), longest = 0.0;
  for (std::size_t d = servers ? 1 : 0; d < truth.network.size(); ++d) {
    slowest = std::min(slowest, rate(truth.network[d]));
    longest = std::max(longest, latency(truth.network[d]));
  }
  found.compare("servers", truth.tasks.size() / inner, cluster.at("servers").get<std::size_t>());
  found.compare("gpus_per_server", inner, cluster.at("gpus_per_server").get<std::uint32_t>());
  found.compare("scale-up", servers, cluster.contains("scale_up"));
  if (servers && cluster.contains("scale_up")) {
    found.near("scale-up rate", rate(truth.network.front()), cluster["scale_up"].at("gb_per_s"), 1e-12);
    found.near("scale-up latency", latency(truth.network.front()), cluster["scale_up"].at("latency_ns"), 1e-12);
  }
  found.near("NIC rate", slowest, cluster.at("nic").at("port_gb_per_s"), 1e-12);
  found.near("NIC latency", longest, cluster["nic"].at("latency_ns"), 1e-12);
  found.compare("overhead", truth.system.endpoint_delay_ns, cluster["nic"].at("message_overhead_ns").get<std::uint64_t>());
  found.compare("peak", truth.system.peak_tflops, cluster.at("gpu").at("peak_tflops").get<double>());
  found.compare("memory", truth.system.memory_gb_per_s, cluster["gpu"].at("memory_gb_per_s").get<double>());
  found.compare("chunks", truth.system.chunks, read.at("collectives").at("chunks").get<std::uint32_t>());
  const std::string from = truth.system.roofline ? "roofline" : "trace";
  found.compare("compute time", from, read.at("workload").at("chakra").at("compute_time").get<std::string>());
}

Differences read_drawn_astra(std::uint64_t seed, const AstraTruth& written, const AstraTruth& truth, Cover& cover) {
  const Folder folder;
  AstraOptions options;
  const std::size_t unknown = write_astra(seed, written, folder, options, cover);
  const AnalyticalJob job = read_astra(options);
  Differences found;
  compare_system(truth.system, job.system, found);
  found.compare("dimensions", truth.network.size(), job.network.size());
  for (std::size_t d = 0; d < std::min(truth.network.size(), job.network.size()); ++d) {
    const std::string what = "dimension " + std::to_string(d);
    found.compare(what + " shape", static_cast<int>(truth.network[d].shape), static_cast<int>(job.network[d].shape));
    found.compare(what + " members", truth.network[d].members, job.network[d].members);
    found.compare(what + " bandwidth", truth.network[d].gib_per_s, job.network[d].gib_per_s);
    found.compare(what + " latency", truth.network[d].latency_ns, job.network[d].latency_ns);
  }
  found.compare("groups", truth.groups.size(), job.groups.size());
  found.compare("ranks", truth.tasks.size(), job.ranks.size());
  for (std::uint32_t r = 0; r < std::min(truth.tasks.size(), job.ranks.size()); ++r) {
    const std::string of_rank = "rank " + std::to_string(r);
    // One more may stand behind them: the node with the groups.
    found.compare(of_rank + " has its tasks", true, truth.tasks[r].size() <= job.ranks[r].size());
    for (std::size_t t = 0; t < std::min(truth.tasks[r].size(), job.ranks[r].size()); ++t)
      compare_astra_task(of_rank + " task " + std::to_string(t), truth, truth.tasks[r][t], job, job.ranks[r][t], found);
  }
  const auto not_read = std::count_if(job.warnings.begin(), job.warnings.end(),
                                      [](const std::string& w) { return w.ends_with("not modelled, and not read"); });
  found.compare("keys that are not read", unknown, static_cast<std::size_t>(not_read));
  compare_scenario(truth, scenario_from_astra(options, folder.path()), found);
  return found;
}

TEST(DrawnAstra, InputsAreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(200, [&](std::uint64_t seed) {
    const AstraTruth truth = draw_astra(seed);
    return read_drawn_astra(seed, truth, truth, cover);
  });
  std::set<std::string> known =
      words_in({"src/astra/files/system.cpp"}, {R"rx(value\("([a-z-]+)"\))rx", R"rx(\{"([a-z-]+-implementation)")rx"});
  known.merge(words_in({"src/astra/files/network.cpp"}, {R"rx(, "([a-z_]+)", (?:d|index))rx"}));
  known.merge(
      words_in({"src/astra/files/network.cpp", "src/astra/files/system.cpp"},
               {R"rx(word == "(\w+)")rx", R"rx(\{"(\w+)", AnalyticalOrder)rx", R"rx(\{"(\w+)", (?:true|false))rx"}));
  for (const char* attribute : {"comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "tensor_size", "num_ops",
                                "pg_name", "is_cpu_op", "involved_dim", "comm_priority", "kBoolList"})
    known.insert(attribute);
  cover.expect_all(known, {});
}

TEST(DrawnAstra, AnotherValueIsNoticed) {
  Cover cover;
  const std::set<std::string> names{"rate", "latency",         "shape",    "delay",      "chunks",
                                    "peak", "order of a ring", "priority", "dimensions", "time"};
  expect_changes_noticed(250, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "astra/planted");
    const AstraTruth truth = draw_astra(seed);
    AstraTruth other = truth;
    other.absent.clear();
    const auto choice = draw.pick(std::vector<std::string>(names.begin(), names.end()));
    AnalyticalDimension& dimension = other.network[draw.below(other.network.size())];
    std::vector<AnalyticalTask*> calls, computing;
    for (auto& tasks : other.tasks) {
      for (AnalyticalTask& task : tasks) {
        if (task.kind == AstraKind::kCollective) calls.push_back(&task);
        if (task.kind == AstraKind::kCompute) computing.push_back(&task);
      }
    }
    if (choice == "rate") dimension.gib_per_s += 0.125;
    if (choice == "latency") dimension.latency_ns += 0.5;
    if (choice == "shape")
      dimension.shape = dimension.shape == AnalyticalShape::kRing ? AnalyticalShape::kSwitch : AnalyticalShape::kRing;
    if (choice == "delay") other.system.endpoint_delay_ns += other.system.endpoint_delay_ns < 1000 ? 1 : -1;
    if (choice == "chunks") other.system.chunks += 1;
    if (choice == "peak") std::swap(other.system.peak_tflops, other.system.memory_gb_per_s);
    if (choice == "order of a ring") {
      if (calls.empty() || calls.front()->group == 0 || truth.groups[calls.front()->group - 1].members.size() < 2)
        return true;
      auto& members = other.groups[calls.front()->group - 1].members;
      std::swap(members.front(), members.back());
    }
    if ((choice == "priority" || choice == "dimensions") && calls.empty()) return true;
    if (choice == "priority") calls.front()->priority ^= 1;
    if (choice == "dimensions") calls.front()->dimensions ^= 1U;
    if (choice == "time" && computing.empty()) return true;
    if (choice == "time") computing.front()->recorded_ns += 1000;
    name = choice;
    return !read_drawn_astra(seed, other, truth, cover).none();
  });
}

TEST(DrawnAstra, AChainOfComputationsTakesItsSum) {
  Cover cover;
  expect_read_as_written(60, [&](std::uint64_t seed) {
    const Folder folder;
    AstraOptions options;
    const std::vector<std::uint64_t> finish_ns = write_astra_chain(seed, folder, options, cover);
    Differences found;
    const AnalyticalResult result = simulate_analytical(read_astra(options), AnalyticalBackend::kCongestionUnaware);
    found.compare("finish in ns", finish_ns, result.finish_ns);
    return found;
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
