// The task graph that a drawn Chakra trace means by docs/formats/chakra.md.
#pragma once

#include "formats/drawn/chakra_truth.hpp"

namespace photonrail::test::drawn {

inline const ChakraGroup* find_group(const ChakraTruth& truth, std::string_view name) {
  for (const ChakraGroup& group : truth.groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

/// The group of all ranks, under the name that the trace has for it.
inline ExpectedGroup world_of(const ChakraTruth& truth) {
  ExpectedGroup world{"world", {}, Dimension::kOther, false};
  for (std::uint32_t r = 0; r < truth.ranks.size(); ++r) world.members.push_back(r);
  const ChakraGroup* const zero = find_group(truth, "0");
  const bool is_zero = zero != nullptr && zero->members.size() == truth.ranks.size();
  if (is_zero && find_group(truth, "world") == nullptr) world.name = "0";
  if (truth.dimensions.contains(world.name)) world.dimension = truth.dimensions.at(world.name);
  return world;
}

inline ExpectedGroup group_of(const ChakraTruth& truth, const ChakraTask& task) {
  if (!task.group) return world_of(truth);
  const ChakraGroup& group = truth.groups[*task.group];
  const auto dimension = truth.dimensions.find(group.name);
  return {group.name, group.members, dimension == truth.dimensions.end() ? Dimension::kOther : dimension->second, false};
}

/// Control dependencies on a later node that close a cycle are dropped, as are those on itself and on absent nodes.
struct ChakraDependencies {
  std::vector<std::set<std::size_t>> kept;
  std::size_t on_itself = 0, absent = 0, in_cycles = 0;

  explicit ChakraDependencies(const std::vector<ChakraTask>& tasks) : kept(tasks.size()) {
    const std::size_t count = tasks.size();
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));  // [a][b]: b waits for a
    const auto each = [&](std::size_t t, bool control, auto&& use) {
      for (const std::uint64_t id : control ? tasks[t].control : tasks[t].data) {
        const auto at = std::find_if(tasks.begin(), tasks.end(), [&](const ChakraTask& other) { return other.id == id; });
        use(static_cast<std::size_t>(at - tasks.begin()));
      }
    };
    for (std::size_t t = 0; t < count; ++t) {
      for (const bool control : {false, true}) {
        each(t, control, [&](std::size_t before) {
          if (before == t)
            ++on_itself;
          else if (before == count)
            ++absent;
          else
            reaches[before][t] = true;
        });
      }
    }
    for (std::size_t via = 0; via < count; ++via) {
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) reaches[a][b] = reaches[a][b] || (reaches[a][via] && reaches[via][b]);
      }
    }
    for (std::size_t t = 0; t < count; ++t) {
      for (const bool control : {false, true}) {
        each(t, control, [&](std::size_t before) {
          if (before == t || before == count) return;
          if (control && before > t && reaches[t][before])
            ++in_cycles;
          else
            kept[t].insert(before);
        });
      }
    }
  }
};

inline ExpectedTask expected_computation(const ChakraTruth& truth, const ChakraTask& task) {
  const Stream stream = task.on_cpu ? Stream::kHost : Stream::kGpu;
  if (task.exact) return expected_delay(task.name, static_cast<std::int64_t>(*task.exact), stream);
  if (truth.trace_time && task.micros)
    return expected_delay(task.name, static_cast<std::int64_t>(*task.micros) * 1'000'000, stream);
  if (!task.operations && !task.tensor) return expected_delay(task.name, 0, stream);
  ExpectedTask expected;
  expected.name = task.name;
  expected.stream = stream;
  expected.flops = task.type == chakra_type::kCompute ? task.operations.value_or(0.0) : 0.0;
  expected.memory = static_cast<std::int64_t>(task.tensor.value_or(0) * std::max(truth.element_bytes, 1U));
  return expected;
}

inline ExpectedTask expected_of(const ChakraTruth& truth, const ChakraTask& task) {
  ExpectedTask expected;
  expected.name = task.name;
  expected.bytes = static_cast<std::int64_t>(task.size.value_or(0) * std::max(truth.element_bytes, 1U));
  switch (task.type) {
    case chakra_type::kMetadata:
      return expected_delay(task.name, 0, Stream::kHost);
    case chakra_type::kSend:
    case chakra_type::kReceive: {
      expected.kind = task.type == chakra_type::kSend ? TaskKind::kSend : TaskKind::kReceive;
      expected.tag = task.tag;
      const auto dimension = truth.dimensions.find("p2p");
      expected.group = {
          "", {task.from, task.to}, dimension == truth.dimensions.end() ? Dimension::kOther : dimension->second, true};
      return expected;
    }
    case chakra_type::kCollective: {
      static const std::vector<CollectiveOp> ops{
          CollectiveOp::kAllReduce,     CollectiveOp::kReduce,    CollectiveOp::kAllGather, CollectiveOp::kGather,
          CollectiveOp::kScatter,       CollectiveOp::kBroadcast, CollectiveOp::kAllToAll,  CollectiveOp::kReduceScatter,
          CollectiveOp::kReduceScatter, CollectiveOp::kBarrier};
      expected.group = group_of(truth, task);
      if (!task.comm_type || expected.group.members.size() < 2) return expected_delay(task.name, 0, Stream::kHost);
      expected.kind = TaskKind::kCollective;
      expected.op = ops[*task.comm_type];
      const auto& members = expected.group.members;
      const bool rooted = task.root && expected.op != CollectiveOp::kAllToAll;
      if (rooted)
        expected.root = static_cast<std::uint32_t>(std::find(members.begin(), members.end(), *task.root) - members.begin());
      return expected;
    }
    default:
      return expected_computation(truth, task);
  }
}

inline std::vector<std::vector<ExpectedTask>> expected_chakra(const ChakraTruth& truth) {
  std::vector<std::vector<ExpectedTask>> ranks;
  for (std::uint32_t r = 0; r < truth.ranks.size(); ++r) {
    std::vector<ExpectedTask>& tasks = ranks.emplace_back();
    const ChakraDependencies dependencies(truth.ranks[r]);
    for (const ChakraTask& task : truth.ranks[r]) {
      tasks.push_back(expected_of(truth, task));
      tasks.back().after = dependencies.kept[tasks.size() - 1];
    }
    const auto here = [&](const ChakraGroup& g) {
      return std::find(g.in_trace_of.begin(), g.in_trace_of.end(), r) != g.in_trace_of.end();
    };
    if (std::any_of(truth.groups.begin(), truth.groups.end(), here)) tasks.push_back(expected_delay("", 0, Stream::kHost));
  }
  return ranks;
}

/// All groups of two and more that are defined, and those that calls use.
inline std::set<ExpectedGroup> expected_communicators(const ChakraTruth& truth) {
  std::set<ExpectedGroup> groups;
  for (std::size_t g = 0; g < truth.groups.size(); ++g) {
    ChakraTask task;
    task.group = g;
    if (truth.groups[g].members.size() > 1) groups.insert(group_of(truth, task));
  }
  for (const std::vector<ExpectedTask>& tasks : expected_chakra(truth)) {
    for (const ExpectedTask& task : tasks) {
      if (task.kind != TaskKind::kCompute) groups.insert(task.group);
    }
  }
  return groups;
}

/// What is accepted with a doubt: the words of the warning and the number of cases in all files.
inline std::map<std::string, std::size_t> expected_doubts(const ChakraTruth& truth) {
  std::size_t on_itself = 0, in_cycles = 0, untyped = 0, without_work = 0, unused = 0, without_duration = 0;
  for (const std::vector<ChakraTask>& tasks : truth.ranks) {
    const ChakraDependencies dependencies(tasks);
    on_itself += dependencies.on_itself;
    in_cycles += dependencies.in_cycles;
    for (const ChakraTask& task : tasks) {
      const bool computes = task.type >= chakra_type::kMemoryLoad && task.type <= chakra_type::kCompute;
      const bool timed = task.exact || (truth.trace_time && task.micros);
      const bool work = task.operations || task.tensor;
      untyped += task.type == chakra_type::kCollective && !task.comm_type ? 1 : 0;
      without_work += computes && !timed && !work ? 1 : 0;
      unused += computes && !timed && !work && task.micros ? 1 : 0;
      without_duration += computes && !timed && work && truth.trace_time ? 1 : 0;
    }
  }
  return {{"files that do not name their Chakra version",
           static_cast<std::size_t>(std::count(truth.versions.begin(), truth.versions.end(), false))},
          {"nodes that depend on themselves, dropped", on_itself},
          {"control dependencies on a later node that close a cycle, dropped", in_cycles},
          {"collectives on the CPU without comm_type, taken as host tasks without work", untyped},
          {"compute nodes without num_ops and tensor_size, which take no time", without_work},
          {"some of them have a recorded duration, which \"compute_time\": \"trace\" would use", unused},
          {"compute nodes without a recorded duration, whose time follows from their work", without_duration}};
}

/// Changes one value of a task; false: no task has it.
inline bool plant(const std::string& name, ChakraTruth& truth, std::vector<ChakraTask>& tasks, Draw& draw) {
  if (name == "unit") {
    const bool sized = std::any_of(truth.ranks.begin(), truth.ranks.end(), [](const auto& of_rank) {
      return std::any_of(of_rank.begin(), of_rank.end(),
                         [](const ChakraTask& t) { return t.type == chakra_type::kSend && t.size.value_or(0) > 0; });
    });
    truth.element_bytes = truth.element_bytes > 1 ? 0 : 3;
    return sized;
  }
  draw.shuffle(tasks);
  bool done = false;
  for (ChakraTask& task : tasks) {
    if (done) break;
    done = true;
    if (name == "exact time" && task.exact && task.type <= chakra_type::kCompute)
      ++*task.exact;
    else if (name == "size" && task.size && task.type != chakra_type::kCollective)
      ++*task.size;
    else if (name == "type" && task.type == chakra_type::kMemoryLoad && task.operations.value_or(0.0) > 0.0 &&
             !task.exact && !(truth.trace_time && task.micros))
      task.type = chakra_type::kCompute;
    else if (name == "tag" && task.type == chakra_type::kSend)
      task.tag ^= 1U;
    else if (name == "dependency" && !task.data.empty() && task.data.size() + task.control.size() == 1 &&
             task.data.front() < task.id)
      task.data.clear();
    else if (name == "name")
      task.name += "x";
    else if (name == "operations" && task.type == chakra_type::kCompute && task.operations && !task.exact &&
             !truth.trace_time)
      *task.operations += 1.0;
    else
      done = false;
  }
  std::sort(tasks.begin(), tasks.end(), [](const ChakraTask& a, const ChakraTask& b) { return a.id < b.id; });
  return done;
}

}  // namespace photonrail::test::drawn
