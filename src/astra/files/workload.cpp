// Chakra traces as tasks: the attributes that ASTRA-sim's workload layer reads.
#include "astra/files/files.hpp"
#include "core/counted.hpp"
#include "core/inside.hpp"
#include "formats/chakra/dependencies.hpp"
#include "formats/chakra/files.hpp"
#include "formats/chakra/trace.hpp"
#include "formats/input_file.hpp"
#include "json/in_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace photonrail::astra {

namespace {

namespace chakra = formats::chakra;

using chakra::NodeType;
using chakra::Number;
using chakra::Tally;
using chakra::Trace;
using chakra::TraceNode;
using json::Json;
using json::JsonReader;
using Kind = AnalyticalTask::Kind;

constexpr std::uint64_t kMostMicros = 1'000'000'000'000;

/// Holds what is accepted with a doubt, in all files.
struct WorkloadDoubts {
  Tally absent;
  Tally untyped_on_cpu;
  Tally without_memory;
  Tally alone;
};

/// The tasks of one rank.
class TraceTasks {
 public:
  TraceTasks(const Trace& trace, std::string file, std::size_t rank, const GroupTable& groups, WorkloadDoubts& doubts)
      : trace_(trace), file_(std::move(file)), rank_(rank), groups_(groups), doubts_(doubts) {}

  std::vector<AnalyticalTask> read(bool roofline) {
    roofline_ = roofline;
    chakra::TraceDiagnostics ignored;
    const chakra::Dependencies dependencies(trace_, file_, ignored);
    if (dependencies.absent().count > 0) doubts_.absent.add([&] { return file_ + ": " + dependencies.absent().example; });
    std::vector<AnalyticalTask> tasks;
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
      AnalyticalTask task = task_of(trace_.nodes[i]);
      for (const TaskId before : dependencies.of(i)) task.after.push_back(before.value);
      std::sort(task.after.begin(), task.after.end());
      task.after.erase(std::unique(task.after.begin(), task.after.end()), task.after.end());
      tasks.push_back(std::move(task));
    }
    return tasks;
  }

 private:
  [[noreturn]] void fail(const TraceNode& n, const std::string& what, const std::string& hint = {}) const {
    throw ConfigError(file_ + ": " + trace_.describe(n), what, hint);
  }

  AnalyticalTask task_of(const TraceNode& n) {
    AnalyticalTask task;
    task.name = trace_.describe(n);
    task.on_cpu = n.on_cpu;
    const std::uint64_t micros = n.number(Number::kDurationMicros).value_or(0);
    if (micros > kMostMicros) fail(n, "takes more than 1000000 s");
    task.recorded_ns = micros * 1000;
    switch (n.type) {
      case NodeType::kMetadata:
        break;
      case NodeType::kMemoryLoad:
      case NodeType::kMemoryStore:
        fail(n, "remote memory is not modelled",
             "a trace without memory nodes; photonrail's own simulation reads them: photonrail import astra");
      case NodeType::kCompute:
        add_compute(n, task);
        break;
      case NodeType::kSend:
      case NodeType::kReceive:
        add_message(n, task);
        break;
      case NodeType::kCollective:
        add_collective(n, task);
        break;
      case NodeType::kInvalid:
        fail(n, "has no type");
    }
    return task;
  }

  void add_compute(const TraceNode& n, AnalyticalTask& task) {
    task.kind = Kind::kCompute;
    task.flops = n.operations;
    task.memory_bytes = static_cast<double>(n.number(Number::kTensorSize).value_or(0));
    if (roofline_ && !n.on_cpu && task.memory_bytes == 0.0)
      doubts_.without_memory.add([&] { return file_ + ": " + task.name; });
  }

  [[nodiscard]] std::uint64_t bytes_of(const TraceNode& n) const {
    const auto bytes = n.number(Number::kCommSize);
    if (!bytes) fail(n, "has no comm_size");
    return *bytes;
  }

  void add_message(const TraceNode& n, AnalyticalTask& task) {
    const bool sends = n.type == NodeType::kSend;
    const auto own = n.number(sends ? Number::kCommSource : Number::kCommDestination);
    const auto peer = n.number(sends ? Number::kCommDestination : Number::kCommSource);
    if (!peer) fail(n, sends ? "has no comm_dst" : "has no comm_src");
    if (own && *own != rank_)
      fail(n, "is of rank " + std::to_string(*own) + ", but this is the file of rank " + std::to_string(rank_));
    if (*peer > std::numeric_limits<std::uint32_t>::max()) fail(n, "rank " + std::to_string(*peer) + " does not exist");
    task.kind = sends ? Kind::kSend : Kind::kReceive;
    task.peer = static_cast<std::uint32_t>(*peer);
    task.tag = n.number(Number::kCommTag).value_or(0);
    task.bytes = bytes_of(n);
  }

  void add_collective(const TraceNode& n, AnalyticalTask& task) {
    const auto type = n.number(Number::kCommType);
    if (!type && n.on_cpu) return doubts_.untyped_on_cpu.add([&] { return file_ + ": " + task.name; });
    if (!type) fail(n, "is a collective without comm_type");
    if (*type >= chakra::kCollectiveTypes.size()) fail(n, "has the unknown comm_type " + std::to_string(*type), "0 to 9");
    task.kind = Kind::kCollective;
    task.op = chakra::kCollectiveTypes[*type];
    task.bytes = task.op == CollectiveOp::kBroadcast ? n.number(Number::kCommSize).value_or(0) : bytes_of(n);
    task.dimensions = n.dimensions;
    task.priority =
        static_cast<std::int64_t>(std::min<std::uint64_t>(n.number(Number::kCommPriority).value_or(0), UINT32_MAX));
    try {
      task.group = groups_.find(std::string(trace_.group(n)));
    } catch (const ConfigError& e) {
      fail(n, e.problem(), e.hint());
    }
    if (task.group != 0 && groups_.groups()[task.group - 1].size() == 1)
      doubts_.alone.add([&] { return file_ + ": " + task.name; });
  }

  const Trace& trace_;
  std::string file_;
  std::size_t rank_;
  const GroupTable& groups_;
  WorkloadDoubts& doubts_;
  bool roofline_ = false;
};

void tell(const WorkloadDoubts& doubts, std::vector<std::string>& warnings) {
  const auto add = [&](const Tally& tally, const std::string& what) {
    if (tally.count > 0) warnings.push_back(std::to_string(tally.count) + " " + what + ", first " + tally.example);
  };
  add(doubts.absent,
      "files have dependencies on nodes that they do not have; these are dropped (ASTRA-sim waits for ever)");
  add(doubts.untyped_on_cpu, "collectives on the CPU without comm_type take no time");
  add(doubts.without_memory, "computations without tensor_size take no time under the roofline, as in ASTRA-sim");
  add(doubts.alone, "collectives in groups of one take no time (ASTRA-sim waits for ever)");
}

bool has_groups(const std::filesystem::path& file) {
  return !file.empty() && file.string().find("empty") == std::string::npos;
}

}  // namespace

void GroupTable::define(const std::string& name, std::vector<std::uint32_t> ranks) {
  const auto [at, is_new] = by_name_.try_emplace(name, static_cast<std::uint32_t>(groups_.size() + 1));
  if (is_new) groups_.push_back(std::move(ranks));
}

namespace {

std::vector<std::uint32_t> ranks_in(const JsonReader& list, std::size_t ranks) {
  std::vector<std::uint32_t> members;
  for (const JsonReader& element : list.elements()) {
    const auto rank = static_cast<std::uint32_t>(element.integer(0, ranks - 1));
    if (std::find(members.begin(), members.end(), rank) != members.end())
      element.fail("rank " + std::to_string(rank) + " is in the group twice");
    members.push_back(rank);
  }
  return members;
}

}  // namespace

void GroupTable::read_file(const std::filesystem::path& file) {
  json::in_file(formats::read_file(file), file.string(), [&](const Json& root) {
    for (const auto& [name, list] : JsonReader(root).members()) {
      std::vector<std::uint32_t> ranks = ranks_in(list, ranks_);
      if (ranks.empty()) list.fail("a group needs a member");
      define(name, std::move(ranks));
    }
  });
}

void GroupTable::read_text(const std::string& text, const std::string& where) {
  const Json root = json::parse_json(text, where);
  for (JsonReader entry : JsonReader(root).elements()) {
    std::vector<std::uint32_t> ranks = ranks_in(entry.child("ranks"), ranks_);
    for (std::uint32_t r = 0; ranks.size() < ranks_ && entry.child("ranks").elements().empty(); ++r) ranks.push_back(r);
    define(entry.child("pg_name").string(), std::move(ranks));
  }
}

std::uint32_t GroupTable::find(const std::string& name) const {
  if (name.empty() || name == "0") return 0;
  const auto at = by_name_.find(name);
  if (at != by_name_.end()) return at->second;
  std::vector<std::string> known;
  for (const auto& entry : by_name_) known.push_back(entry.first);
  throw ConfigError("", "names the unknown group \"" + name + "\"",
                    known.empty() ? "give the groups: --comm-group" : suggest(name, known));
}

void read_workload(const AstraOptions& options, AnalyticalJob& job) {
  const std::size_t ranks = job.rank_count();
  auto files = chakra::find_traces(options.workload);
  if (files.size() < ranks)
    throw ConfigError(chakra::trace_file(options.workload, files.size()).string(),
                      "no such file, but the network has " + std::to_string(ranks) + " NPUs", "one file for each NPU");
  if (files.size() > ranks) {
    job.warnings.push_back(options.workload.string() + ": " + core::counted(files.size(), "file") +
                           ", of which the network's " + std::to_string(ranks) + " NPUs use the first");
    files.resize(ranks);
  }
  const auto traces = chakra::read_traces(files);
  GroupTable groups(ranks);
  if (has_groups(options.comm_groups)) groups.read_file(options.comm_groups);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    for (const chakra::GroupText& text : traces[r].groups)
      groups.read_text(text.json, files[r].string() + ": " + text.where);
  }
  WorkloadDoubts doubts;
  for (std::size_t r = 0; r < traces.size(); ++r) {
    job.ranks.push_back(TraceTasks(traces[r], files[r].string(), r, groups, doubts).read(job.system.roofline));
  }
  job.groups = groups.groups();
  tell(doubts, job.warnings);
}

}  // namespace photonrail::astra

namespace photonrail {

AnalyticalJob read_astra(const AstraOptions& options) {
  AnalyticalJob job;
  job.system = astra::read_system(options.system, job.warnings);
  job.network = astra::read_network(options.network, job.warnings);
  std::uint64_t ranks = 1;
  for (const AnalyticalDimension& d : job.network) {
    ranks *= d.members;
    if (ranks > 1U << 17U) throw ConfigError(options.network.string() + ": /npus_count", "more than 131072 NPUs");
  }
  if (!options.remote_memory.empty()) astra::check_remote_memory(options.remote_memory);
  astra::read_workload(options, job);
  core::inside(options.system.string() + " with " + options.network.string() + " and " + options.workload.string(),
               [&] { job.validate(); });
  return job;
}

std::string astra_log(const AnalyticalResult& result) {
  std::string log;
  for (std::size_t r = 0; r < result.finish_ns.size(); ++r) {
    log += "[workload] [info] sys[" + std::to_string(r) + "] finished, " + std::to_string(result.finish_ns[r]) +
           " cycles, exposed communication " + std::to_string(result.exposed_ns[r]) + " cycles.\n";
  }
  return log;
}

}  // namespace photonrail
