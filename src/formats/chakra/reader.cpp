// A Chakra trace as a task graph: what every kind of node means.
#include "core/counted.hpp"
#include "core/inside.hpp"
#include "formats/chakra/dependencies.hpp"
#include "formats/chakra/files.hpp"
#include "formats/chakra/groups.hpp"
#include "formats/chakra/rank_traces.hpp"
#include "formats/chakra/trace.hpp"
#include "formats/chakra/trace_diagnostics.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace photonrail {

namespace {

using formats::chakra::Dependencies;
using formats::chakra::Group;
using formats::chakra::Groups;
using formats::chakra::NodeType;
using formats::chakra::Number;
using formats::chakra::RankTrace;
using formats::chakra::Trace;
using formats::chakra::TraceDiagnostics;
using formats::chakra::TraceNode;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50;                              // 1 PiB
constexpr std::uint64_t kMaxPicoseconds = std::uint64_t{1'000'000} * 1'000'000'000'000;  // 11 days: times are added up
constexpr std::uint64_t kPicosecondsPerMicrosecond = 1'000'000;

// A mention is what a node says of groups and ranks, by places in the tables of its RankTrace. Nodes that say the same are
// one.
using Mention = std::tuple<NodeType, std::uint32_t, std::optional<std::uint64_t>, std::optional<std::uint64_t>,
                           std::optional<std::uint64_t>>;

// Holds what a mention comes to for a rank.
struct Meaning {
  CommunicatorId communicator = CommunicatorId::none();  // none: a group of one
  Member root = 0;
};

// The program of ranks with the same nodes, and what it asks of each of them.
struct SharedProgram {
  ProgramId program;
  std::vector<std::size_t> mentions;  // nodes: the first of each mention, in the order of the file
  std::vector<std::uint32_t> slots;   // by mention: the slot of its communicator, or kAlone
  std::vector<Member> roots;          // by mention
  bool clean = false;                 // nothing in it is to be counted for each rank
  static constexpr std::uint32_t kAlone = ~0U;
};

// Holds what the readers of all ranks share.
struct Reading {
  const ChakraOptions& options;
  std::size_t ranks;
  Groups& groups;
  TraceDiagnostics& doubts;
  TaskGraphBuilder& builder;
};

// Puts the nodes of one rank into its program. Task ids are positions in the ascending order of node ids.
class RankReader {
 public:
  RankReader(const Reading& reading, std::string file, RankId rank, const RankTrace& trace)
      : options_(reading.options),
        file_(std::move(file)),
        rank_(rank),
        of_rank_(trace),
        trace_(*trace.nodes),
        ranks_(reading.ranks),
        groups_(reading.groups),
        doubts_(reading.doubts),
        builder_(reading.builder) {}

  /// Reads every node.
  SharedProgram read() {
    const std::size_t doubts = doubts_.total();
    program_ = builder_.add_program();
    const Dependencies dependencies(trace_, file_, doubts_);
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
      after_ = dependencies.of(i);
      add(trace_.nodes[i]);
    }
    if (!trace_.has_version) doubts_.without_version.add([&] { return file_; });
    doubts_.add_absent(file_, dependencies.absent(), builder_);
    builder_.assign(rank_, program_);
    SharedProgram shared;
    shared.program = program_;
    shared.clean = doubts_.total() == doubts;
    if (shared.clean) mention(shared);
    return shared;
  }

  /// Gives the rank the program of an earlier one with the same nodes. False: groups that differ there are one here, or the
  /// other way round.
  bool take(const SharedProgram& shared) {
    std::vector<CommunicatorId> slots;
    for (std::size_t m = 0; m < shared.mentions.size(); ++m) {
      const Meaning meaning = meaning_of(trace_.nodes[shared.mentions[m]]);
      if (meaning.root != shared.roots[m] || slot_in(slots, meaning.communicator) != shared.slots[m]) return false;
    }
    builder_.assign(rank_, shared.program, std::move(slots));
    return true;
  }

 private:
  // The slot of a communicator, which are numbered in the order of their first mention, as the builder does.
  static std::uint32_t slot_in(std::vector<CommunicatorId>& slots, CommunicatorId communicator) {
    if (communicator.is_none()) return SharedProgram::kAlone;
    const auto slot = static_cast<std::size_t>(std::find(slots.begin(), slots.end(), communicator) - slots.begin());
    if (slot == slots.size()) slots.push_back(communicator);
    return static_cast<std::uint32_t>(slot);
  }

  void mention(SharedProgram& shared) {
    std::set<Mention> known;
    std::vector<CommunicatorId> slots;
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
      const TraceNode& n = trace_.nodes[i];
      const bool message = n.type == NodeType::kSend || n.type == NodeType::kReceive;
      if (!message && n.type != NodeType::kCollective) continue;
      const Mention said{n.type, n.group.count == 0 ? 0 : n.group.first + 1, n.number(Number::kCommSource),
                         n.number(Number::kCommDestination), n.number(Number::kRootRank)};
      if (!known.insert(said).second) continue;
      const Meaning meaning = meaning_of(n);
      shared.mentions.push_back(i);
      shared.slots.push_back(slot_in(slots, meaning.communicator));
      shared.roots.push_back(meaning.root);
    }
  }

  [[nodiscard]] Meaning meaning_of(const TraceNode& n) {
    if (n.type != NodeType::kCollective) return {link_of(n), 0};
    const Group& group = group_of(n);
    const Member root = root_of(n, group);
    return {group.communicator.value_or(CommunicatorId::none()), root};
  }

  [[noreturn]] void fail(const TraceNode& n, const std::string& what, const std::string& hint = {}) const {
    throw ConfigError(describe(n), what, hint);
  }

  [[nodiscard]] std::string describe(const TraceNode& n) const { return file_ + ": " + trace_.describe(n); }

  void add(const TraceNode& n) {
    switch (n.type) {
      case NodeType::kMetadata:
        builder_.add_delay(program_, Duration{0}, trace_.name(n), after_, Stream::kHost);
        break;
      case NodeType::kMemoryLoad:
      case NodeType::kMemoryStore:
        add_compute(n, 0.0);
        break;
      case NodeType::kCompute:
        add_compute(n, n.operations);
        break;
      case NodeType::kSend:
      case NodeType::kReceive:
        add_message(n);
        break;
      case NodeType::kCollective:
        add_collective(n);
        break;
      case NodeType::kInvalid:
        fail(n, "has no type");
    }
  }

  void add_compute(const TraceNode& n, double flops) {
    const Stream stream = n.on_cpu ? Stream::kHost : Stream::kGpu;
    if (const auto time = recorded_time(n)) {
      builder_.add_delay(program_, *time, trace_.name(n), after_, stream);
      return;
    }
    if (!n.has_operations && !n.number(Number::kTensorSize)) {
      doubts_.without_work.add([&] { return describe(n); });
      if (n.number(Number::kDurationMicros)) doubts_.unused_duration.add([&] { return describe(n); });
      builder_.add_delay(program_, Duration{0}, trace_.name(n), after_, stream);
      return;
    }
    if (options_.compute_time == ComputeTime::kTrace) doubts_.without_duration.add([&] { return describe(n); });
    const Bytes memory =
        n.number(Number::kTensorSize) ? size(n, Number::kTensorSize, formats::chakra::key::kTensorSize) : Bytes{};
    builder_.add_compute(program_, flops, memory, trace_.name(n), after_, stream);
  }

  [[nodiscard]] std::optional<Duration> recorded_time(const TraceNode& n) const {
    const auto exact = n.number(Number::kExactDuration);
    const auto micros = n.number(Number::kDurationMicros);
    const bool use_micros = options_.compute_time == ComputeTime::kTrace && micros.has_value();
    if (!exact && !use_micros) return std::nullopt;
    const std::uint64_t limit = exact ? kMaxPicoseconds : kMaxPicoseconds / kPicosecondsPerMicrosecond;
    if (exact.value_or(*micros) > limit) fail(n, "takes more than 1000000 s");
    return Duration{static_cast<std::int64_t>(exact ? *exact : *micros * kPicosecondsPerMicrosecond)};
  }

  [[nodiscard]] Bytes size(const TraceNode& n, Number which, std::string_view attribute) const {
    const auto written = n.number(which);
    if (!written) fail(n, "has no " + std::string(attribute));
    const std::uint64_t unit = options_.size_unit == SizeUnit::kElements ? options_.element_bytes : 1;
    if (unit != 0 && *written > kMaxBytes / unit) {
      fail(n, std::string(attribute) + " is " + std::to_string(*written) + (unit == 1 ? "" : " elements") +
                  ": more than 1 PiB");
    }
    return {static_cast<std::int64_t>(*written * unit)};
  }

  [[nodiscard]] RankId rank(const TraceNode& n, std::uint64_t value, std::string_view attribute) const {
    if (value < ranks_) return RankId{value};
    fail(n, std::string(attribute) + " is " + std::to_string(value) + ", which is not a rank",
         "the trace has " + core::counted(ranks_, "rank"));
  }

  // The link of a send or receive.
  [[nodiscard]] CommunicatorId link_of(const TraceNode& n) {
    using namespace formats::chakra;
    const bool sends = n.type == NodeType::kSend;
    const auto own = of_rank_.rank(n, sends ? Number::kCommSource : Number::kCommDestination);
    const auto peer = of_rank_.rank(n, sends ? Number::kCommDestination : Number::kCommSource);
    const std::string_view own_name = sends ? key::kCommSource : key::kCommDestination;
    const std::string_view peer_name = sends ? key::kCommDestination : key::kCommSource;
    if (!peer) fail(n, "has no " + std::string(peer_name), "whom it communicates with");
    const RankId other = rank(n, *peer, peer_name);
    if (own && *own != rank_.index()) {
      fail(n, std::string(own_name) + " is " + std::to_string(*own) + ", but this is the file of rank " +
                  std::to_string(rank_.value));
    }
    if (other == rank_) fail(n, "communicates with its own rank");
    return sends ? builder_.link(rank_, other, groups_.link_dimension())
                 : builder_.link(other, rank_, groups_.link_dimension());
  }

  void add_message(const TraceNode& n) {
    using namespace formats::chakra;
    const bool sends = n.type == NodeType::kSend;
    const CommunicatorId link = link_of(n);
    const std::uint64_t tag = n.number(Number::kCommTag).value_or(0);
    if (tag > std::numeric_limits<std::uint32_t>::max()) fail(n, "comm_tag does not fit 32 bits");
    const Bytes bytes = size(n, Number::kCommSize, key::kCommSize);
    const auto add = sends ? &TaskGraphBuilder::add_send : &TaskGraphBuilder::add_receive;
    (builder_.*add)(program_, link, bytes, static_cast<std::uint32_t>(tag), trace_.name(n), after_);
  }

  void add_collective(const TraceNode& n) {
    const auto type = n.number(Number::kCommType);
    if (!type && n.on_cpu) {
      doubts_.untyped_on_cpu.add([&] { return describe(n); });
      builder_.add_delay(program_, Duration{0}, trace_.name(n), after_, Stream::kHost);
      return;
    }
    if (!type) fail(n, "is a collective without comm_type", "only those on the CPU (is_cpu_op) may have none");
    if (*type >= formats::chakra::kCollectiveTypes.size())
      fail(n, "has the unknown comm_type " + std::to_string(*type), "0 to 9");
    const CollectiveOp op = formats::chakra::kCollectiveTypes[*type];
    const Group& group = group_of(n);
    const bool sized = op != CollectiveOp::kBarrier || n.number(Number::kCommSize).has_value();
    const Bytes bytes = sized ? size(n, Number::kCommSize, formats::chakra::key::kCommSize) : Bytes{};
    const Member root = root_of(n, group);
    if (!group.communicator) {
      builder_.add_delay(program_, Duration{0}, trace_.name(n), after_, Stream::kHost);  // alone: nothing to exchange
      return;
    }
    builder_.add_collective(program_, *group.communicator, op, bytes, trace_.name(n), after_, root);
  }

  [[nodiscard]] const Group& group_of(const TraceNode& n) {
    const std::string name(of_rank_.group(n));
    const Group* group = groups_.find(name);
    if (group == nullptr) fail(n, "names the unknown group \"" + name + "\"", groups_.known());
    if (!std::binary_search(group->members.begin(), group->members.end(), rank_)) {
      fail(n, "calls on group \"" + name + "\", but rank " + std::to_string(rank_.value) + " is not in it");
    }
    return *group;
  }

  [[nodiscard]] Member root_of(const TraceNode& n, const Group& group) const {
    const auto value = of_rank_.rank(n, Number::kRootRank);
    if (!value) return 0;
    const RankId root = rank(n, *value, formats::chakra::key::kRootRank);
    const auto at = std::lower_bound(group.members.begin(), group.members.end(), root);
    if (at == group.members.end() || *at != root)
      fail(n, "has rank " + std::to_string(*value) + " as its root, which is not in its group");
    return static_cast<Member>(at - group.members.begin());
  }

  const ChakraOptions& options_;
  std::string file_;
  RankId rank_;
  const RankTrace& of_rank_;
  const Trace& trace_;  // its nodes
  std::size_t ranks_;
  Groups& groups_;
  TraceDiagnostics& doubts_;
  TaskGraphBuilder& builder_;
  ProgramId program_{};
  std::span<const TaskId> after_;  // what the node at hand waits for
};

}  // namespace

TaskGraph read_chakra(const ChakraOptions& options) {
  if (options.size_unit == SizeUnit::kElements && options.element_bytes == 0) {
    throw ConfigError("element_bytes", "must not be 0");
  }
  const auto files = formats::chakra::find_traces(options.prefix);
  auto traces = formats::chakra::read_rank_traces(files);
  TaskGraphBuilder builder(traces.size());
  Groups groups(options, files, traces, builder);
  TraceDiagnostics doubts;
  const Reading reading{options, traces.size(), groups, doubts, builder};
  std::map<const Trace*, SharedProgram> programs;  // of nodes that a later rank has too; looked up only
  for (std::size_t r = 0; r < traces.size(); ++r) {
    const Trace* const nodes = traces[r].nodes.get();
    RankReader rank(reading, files[r].string(), RankId{r}, traces[r]);
    const auto known = programs.find(nodes);
    const bool taken = known != programs.end() && known->second.clean && rank.take(known->second);
    if (!taken) programs.insert_or_assign(nodes, rank.read());
    if (traces[r].nodes.use_count() == 1) programs.erase(nodes);
    traces[r] = {};  // a large job may have gigabytes of them
  }
  doubts.tell(builder);
  return core::inside(options.prefix.string(), [&] { return std::move(builder).build(); });
}

}  // namespace photonrail
