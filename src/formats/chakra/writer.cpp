// A task graph as a Chakra trace: what chakra_reader.cpp reads back as the same graph.
#include "formats/chakra/files.hpp"
#include "formats/chakra/format.hpp"
#include "json/json.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/trace.hpp"

#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <system_error>

namespace photonrail {

namespace {

namespace fs = std::filesystem;
using namespace formats::chakra;
using protozero::pbf_writer;

constexpr std::string_view kFormatVersion = "0.0.4";
constexpr std::int64_t kPsPerUs = 1'000'000;

// Files under a temporary name; those that are not put in place are removed.
class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(temporary(file), ignored);
  }

  void write(const fs::path& file, std::string_view content) {
    files_.push_back(file);
    std::ofstream out(temporary(file), std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) throw ConfigError(file.string(), "cannot be written", "is there a folder, room and permission?");
  }

  [[nodiscard]] std::vector<fs::path> put_in_place() {
    for (const fs::path& file : files_) {
      std::error_code problem;
      fs::rename(temporary(file), file, problem);
      if (problem) throw ConfigError(file.string(), "cannot be replaced: " + problem.message());
    }
    return std::move(files_);
  }

 private:
  static fs::path temporary(fs::path file) { return file += ".part"; }

  std::vector<fs::path> files_;
};

// The names of the groups in the file, by communicator; sends have none. Each is given as it is unless it is not unique, or
// means something else to a reader.
std::vector<std::string> group_names(const TaskGraph& graph) {
  std::set<std::string> taken{"", "p2p"};
  std::vector<std::string> names;
  for (const Communicator& c : graph.communicators()) {
    std::string& name = names.emplace_back(c.name);
    if (c.point_to_point) continue;
    const bool is_misleading = name == "world" && c.members.size() != graph.ranks();
    const std::string number = "group." + std::to_string(names.size() - 1);
    if (is_misleading || taken.contains(name)) name = number;
    while (!taken.insert(name).second) name += "'";
  }
  return names;
}

std::string groups_json(const TaskGraph& graph, const std::vector<std::string>& names) {
  json::Json groups = json::Json::object();
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (graph.communicators()[c].point_to_point) continue;
    json::Json& list = groups[names[c]] = json::Json::array();
    for (const RankId rank : graph.communicators()[c].members) list.push_back(rank.value);
  }
  return groups.dump() + "\n";
}

// Chakra knows a message by its two ends and its tag alone.
void check_links(const TaskGraph& graph) {
  std::set<std::vector<RankId>> seen;
  for (const Communicator& c : graph.communicators()) {
    if (!c.point_to_point || seen.insert(c.members).second) continue;
    throw ConfigError("communicator " + c.name, "is the second one for sends between its two ranks",
                      "a Chakra trace can only have one");
  }
}

// A rank that is there already and not overwritten would become part of the trace.
void check_leftovers(const fs::path& prefix, std::size_t ranks) {
  const auto traces = traces_in(prefix.has_parent_path() ? prefix.parent_path() : ".");
  const auto found = traces.find(prefix.filename().string());
  if (found == traces.end() || *found->second.rbegin() < ranks) return;
  throw ConfigError(trace_file(prefix, *found->second.rbegin()).string(),
                    "is of a trace with more ranks than the " + std::to_string(ranks) + " to be written",
                    "remove it, or choose another prefix");
}

// Writes one node with its attributes.
class NodeWriter {
 public:
  NodeWriter(std::string& buffer, std::uint64_t id, std::string_view name, NodeType type,
             const std::vector<std::uint64_t>& waits_for)
      : node_(buffer) {
    node_.add_uint64(field::kNodeId, id);
    if (!name.empty()) node_.add_string(field::kNodeName, name.data(), name.size());
    node_.add_enum(field::kNodeKind, static_cast<std::int32_t>(type));
    if (!waits_for.empty()) node_.add_packed_uint64(field::kDataDependencies, waits_for.begin(), waits_for.end());
  }

  void duration_micros(std::uint64_t micros) { node_.add_uint64(field::kDurationMicros, micros); }

  void text(std::string_view name, std::string_view value) {
    attribute(name, [&](pbf_writer& a) { a.add_string(field::kString, value.data(), value.size()); });
  }
  void flag(std::string_view name, bool value) {
    attribute(name, [&](pbf_writer& a) { a.add_bool(field::kBool, value); });
  }
  void integer(std::string_view name, std::int64_t value) {
    attribute(name, [&](pbf_writer& a) { a.add_int64(field::kInt64, value); });
  }
  void natural(std::string_view name, std::uint64_t value) {
    attribute(name, [&](pbf_writer& a) { a.add_uint64(field::kUint64, value); });
  }
  // Ranks and tags are int32 in Chakra; what does not fit is uint32.
  void small(std::string_view name, std::uint32_t value) {
    attribute(name, [&](pbf_writer& a) {
      if (value <= static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
        a.add_int32(field::kInt32, static_cast<std::int32_t>(value));
      } else {
        a.add_uint32(field::kUint32, value);
      }
    });
  }
  void operations(double value) {
    constexpr double kEnd = 9223372036854775808.0;  // 2^63
    if (value == std::floor(value) && value < kEnd) return integer(key::kOperations, static_cast<std::int64_t>(value));
    attribute(key::kOperations, [&](pbf_writer& a) { a.add_double(field::kDouble, value); });
  }

 private:
  template <class Add>
  void attribute(std::string_view name, Add&& add) {
    pbf_writer a(node_, field::kNodeAttribute);
    a.add_string(field::kAttributeName, name.data(), name.size());
    add(a);
  }

  pbf_writer node_;
};

NodeType type_of(const Task& task) {
  switch (task.kind) {
    case TaskKind::kSend:
      return NodeType::kSend;
    case TaskKind::kReceive:
      return NodeType::kReceive;
    case TaskKind::kCollective:
      return NodeType::kCollective;
    default:
      return NodeType::kCompute;
  }
}

void write_compute(NodeWriter& node, const Task& task) {
  node.flag(key::kOnCpu, task.stream == Stream::kHost);
  if (const auto time = task.time()) {
    node.integer(key::kExactDuration, time->count());
  } else {
    node.operations(task.flops);
    node.natural(key::kTensorSize, static_cast<std::uint64_t>(task.memory().count));
  }
}

void write_message(NodeWriter& node, const Task& task, const Communicator& link) {
  node.integer(key::kCommSize, task.size().count);
  node.small(key::kCommSource, link.members[0].value);
  node.small(key::kCommDestination, link.members[1].value);
  node.small(key::kCommTag, task.tag);
}

void write_collective(NodeWriter& node, const Task& task, const Communicator& group, const std::string& name) {
  if (task.demand() != 0) {
    throw ConfigError("communicator " + group.name, "has an all-to-all with uneven demand",
                      "a Chakra trace has one size for a collective: there is no way to write it");
  }
  const auto type = std::find(kCollectiveTypes.begin(), kCollectiveTypes.end(), task.op) - kCollectiveTypes.begin();
  node.flag(key::kOnCpu, false);
  node.integer(key::kCommType, type);
  node.integer(key::kCommSize, task.size().count);
  node.text(key::kGroupName, name);
  if (task.root() != 0) node.small(key::kRootRank, group.members.at(task.root()).value);
}

void append_message(std::string& out, const std::string& message) {
  protozero::write_varint(std::back_inserter(out), message.size());
  out += message;
}

std::vector<std::vector<std::uint64_t>> predecessors(const Program& program) {
  std::vector<std::vector<std::uint64_t>> of(program.tasks().size());
  for (std::size_t t = 0; t < of.size(); ++t) {
    for (const TaskId next : program.successors(TaskId{t})) of[next.index()].push_back(t);
  }
  return of;
}

std::string rank_trace(const TaskGraph& graph, RankId rank, const std::vector<std::string>& names) {
  const Program& program = graph.program(rank);
  const auto waits_for = predecessors(program);
  std::string out;
  std::string message;
  pbf_writer(message).add_string(field::kVersion, kFormatVersion.data(), kFormatVersion.size());
  append_message(out, message);
  for (std::size_t t = 0; t < waits_for.size(); ++t) {
    const Task& task = program.task(TaskId{t});
    message.clear();
    NodeWriter node(message, t, program.name(TaskId{t}), type_of(task), waits_for[t]);
    if (const auto time = task.time()) {
      node.duration_micros(static_cast<std::uint64_t>((time->count() + kPsPerUs - 1) / kPsPerUs));
    }
    if (task.kind == TaskKind::kCompute) {
      write_compute(node, task);
    } else {
      const CommunicatorId id = graph.communicator(rank, task.slot);
      const Communicator& communicator = graph.communicators()[id.index()];
      if (communicator.point_to_point) {
        write_message(node, task, communicator);
      } else {
        write_collective(node, task, communicator, names[id.index()]);
      }
    }
    append_message(out, message);
  }
  return out;
}

}  // namespace

std::vector<fs::path> write_chakra(const TaskGraph& graph, const fs::path& prefix) {
  if (graph.ranks() == 0) throw ConfigError(prefix.string(), "a graph without ranks has no trace");
  check_links(graph);
  check_leftovers(prefix, graph.ranks());
  const auto names = group_names(graph);
  NewFiles files;
  for (std::size_t r = 0; r < graph.ranks(); ++r) files.write(trace_file(prefix, r), rank_trace(graph, RankId{r}, names));
  files.write(fs::path(prefix) += ".json", groups_json(graph, names));
  return files.put_in_place();
}

}  // namespace photonrail
