// Kineto traces, one a rank, as a task graph.
#include "core/counted.hpp"
#include "core/inside.hpp"
#include "formats/input_file.hpp"
#include "formats/kineto/calls.hpp"
#include "formats/kineto/files.hpp"
#include "formats/kineto/timeline.hpp"
#include "formats/kineto/trace.hpp"
#include "formats/parallel.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/trace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace photonrail {

namespace {

using namespace formats::kineto;
namespace fs = std::filesystem;

using Members = std::vector<std::uint32_t>;

[[noreturn]] void fail(const Call& call, const std::string& what, const std::string& hint = {}) {
  throw ConfigError("a " + call.collective + " of group \"" + call.group + "\"", what, hint);
}

/// Which ranks are in the group of a call, and its communicator.
class Groups {
 public:
  Groups(const std::vector<Trace>& traces, TaskGraphBuilder& builder) : ranks_(traces.size()), builder_(builder) {
    for (std::size_t r = 0; r < traces.size(); ++r) {
      for (const Call& call : traces[r].calls) {
        if (is_open(call)) users_[key(call)].insert(static_cast<std::uint32_t>(r));
      }
    }
  }

  /// Ascending.
  [[nodiscard]] Members members(const Call& call, std::uint32_t rank) const {
    Members members = call.ranks;
    if (is_open(call)) members = call.group_size == ranks_ ? everybody() : Members(users(call).begin(), users(call).end());
    std::sort(members.begin(), members.end());
    if (std::adjacent_find(members.begin(), members.end()) != members.end()) fail(call, "names a rank twice");
    if (call.group_size && *call.group_size != members.size()) {
      fail(call,
           "has Group size " + std::to_string(*call.group_size) + ", but " + std::to_string(members.size()) +
               (is_open(call) ? " ranks use the group" : " ranks in Process Group Ranks"),
           is_open(call) ? "the trace does not list the ranks in full, so that those that use the group must be all" : "");
    }
    if (!members.empty() && members.back() >= ranks_) {
      fail(call, "names rank " + std::to_string(members.back()) + ", but the trace has " + core::counted(ranks_, "file"),
           "one file for every rank of the job");
    }
    if (!std::binary_search(members.begin(), members.end(), rank)) {
      fail(call, "is called by rank " + std::to_string(rank) + ", which is not in it");
    }
    return members;
  }

  [[nodiscard]] CommunicatorId communicator(const Call& call, const Members& members) {
    const auto [known, is_new] = communicators_.try_emplace({call.group, members});
    if (is_new) {
      const std::vector<RankId> ranks(members.begin(), members.end());
      known->second = builder_.add_communicator(call.group, ranks, dimension_of(call.description));
    }
    return known->second;
  }

 private:
  using Key = std::pair<std::string, Members>;

  static bool is_open(const Call& call) { return call.ranks.empty() || call.ranks_cut; }
  static Key key(const Call& call) { return {call.group, call.ranks}; }
  [[nodiscard]] const std::set<std::uint32_t>& users(const Call& call) const { return users_.at(key(call)); }
  [[nodiscard]] Members everybody() const {
    Members all;
    for (std::size_t r = 0; r < ranks_; ++r) all.push_back(static_cast<std::uint32_t>(r));
    return all;
  }

  std::size_t ranks_;
  TaskGraphBuilder& builder_;
  std::map<Key, std::set<std::uint32_t>> users_;  // of groups whose ranks are not listed in full
  std::map<Key, CommunicatorId> communicators_;
};

/// Writes the program of one rank.
class RankWriter {
 public:
  RankWriter(RankId rank, const Trace& trace, std::size_t ranks, Groups& groups, TaskGraphBuilder& builder)
      : rank_(rank), trace_(trace), ranks_(ranks), groups_(groups), builder_(builder), program_(builder.add_program()) {}

  void write() {
    std::vector<Kernel> kernels = trace_.kernels;
    std::vector<Members> members;
    for (const Call& call : trace_.calls) members.push_back(groups_.members(call, rank_.value));
    for (Kernel& kernel : kernels) {
      if (kernel.call && members[*kernel.call].size() < 2) kernel.call.reset();  // alone: a kernel as others
    }
    for (const Item& item : make_timeline(kernels)) {
      const std::vector<TaskId> after(item.after.begin(), item.after.end());  // items are tasks, one for one
      const Duration time{item.time * 1000};                                  // ns
      if (item.kind == Item::Kind::kCompute) {
        builder_.add_delay(program_, time, core::counted(item.kernels, "kernel"), after);
      } else if (item.kind == Item::Kind::kLaunch) {
        builder_.add_delay(program_, time, "launch", after, Stream::kHost);
      } else {
        communicate(trace_.calls[item.call], members[item.call], after);
      }
    }
    builder_.assign(rank_, program_);
  }

 private:
  void communicate(const Call& call, const Members& members, const std::vector<TaskId>& after) {
    Meaning meaning;
    try {
      meaning = meaning_of(call, members.size());
    } catch (const ConfigError& e) {
      fail(call, e.problem(), e.hint());
    }
    if (meaning.way == Way::kCollective) {
      const CommunicatorId group = groups_.communicator(call, members);
      builder_.add_collective(program_, group, meaning.op, meaning.size, call.collective, after);
      return;
    }
    const bool sends = meaning.way == Way::kSend;
    const RankId peer = peer_of(call, members, sends ? call.destination : call.source);
    const Dimension named = dimension_of(call.description);
    const Dimension dimension = named == Dimension::kOther ? Dimension::kPp : named;
    const auto link = sends ? builder_.link(rank_, peer, dimension) : builder_.link(peer, rank_, dimension);
    const auto add = sends ? &TaskGraphBuilder::add_send : &TaskGraphBuilder::add_receive;
    (builder_.*add)(program_, link, meaning.size, 0, call.collective, after);
  }

  [[nodiscard]] RankId peer_of(const Call& call, const Members& members, std::optional<std::uint64_t> named) const {
    if (!named && members.size() == 2) named = members[0] == rank_.value ? members[1] : members[0];
    if (!named)
      fail(call, "does not say with whom (\"Src Rank\", \"Dst Rank\")", "record the trace with PyTorch 2.6 or later");
    if (*named >= ranks_) fail(call, "is with rank " + std::to_string(*named) + ", which has no file");
    if (*named == rank_.value) fail(call, "is with its own rank");
    return RankId{static_cast<std::size_t>(*named)};
  }

  RankId rank_;
  const Trace& trace_;
  std::size_t ranks_;
  Groups& groups_;
  TaskGraphBuilder& builder_;
  ProgramId program_;
};

// Keeps the kernels that begin in one step of the profiler, as the GPU saw it where the trace says so.
void keep_step(Trace& trace, std::uint64_t step) {
  const auto& steps = trace.gpu_steps.contains(step) ? trace.gpu_steps : trace.host_steps;
  const auto found = steps.find(step);
  if (found == steps.end()) {
    std::string known;
    for (const auto& [number, span] : trace.host_steps) known += (known.empty() ? "" : ", ") + std::to_string(number);
    throw ConfigError("", "has no ProfilerStep#" + std::to_string(step),
                      known.empty() ? "it has none at all" : "it has " + known);
  }
  const Span span = found->second;
  std::erase_if(trace.kernels, [&](const Kernel& k) { return k.start < span.start || k.start >= span.end; });
  std::vector<Call> calls;
  for (Kernel& kernel : trace.kernels) {
    if (!kernel.call) continue;
    calls.push_back(std::move(trace.calls[*kernel.call]));
    kernel.call = static_cast<std::uint32_t>(calls.size() - 1);
  }
  trace.calls = std::move(calls);
}

// `rank`: what the name of the file says; none: the trace must say it.
Trace read_rank(const fs::path& file, std::optional<std::size_t> rank, std::size_t ranks, const KinetoOptions& options) {
  try {
    Trace trace = parse_trace(formats::read_file(file));
    if (!rank && !trace.rank) {
      throw ConfigError("distributedInfo", "does not say the rank, nor does the name of the file",
                        "name the files rank0_trace.json, rank1_trace.json ...");
    }
    if (rank && trace.rank && *trace.rank != *rank) {
      throw ConfigError("distributedInfo", "is of rank " + std::to_string(*trace.rank) + ", not " + std::to_string(*rank));
    }
    if (trace.world_size && *trace.world_size != ranks) {
      throw ConfigError("distributedInfo",
                        "the job has " + core::counted(*trace.world_size, "rank") + ", but there " +
                            (ranks == 1 ? "is " : "are ") + core::counted(ranks, "file"),
                        "one file for every rank");
    }
    if (options.iteration) keep_step(trace, *options.iteration);
    if (trace.kernels.empty()) throw ConfigError("", "has no GPU kernel", "was the GPU profiled (ProfilerActivity.CUDA)?");
    return trace;
  } catch (const ConfigError& e) {
    throw e.where().starts_with(file.string()) ? e : e.inside(file.string());
  }
}

// Traces whose files do not say their ranks, and the files with them.
void order_by_rank(std::vector<fs::path>& files, std::vector<Trace>& traces) {
  std::vector<std::size_t> of_rank(files.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::uint64_t rank = *traces[i].rank;
    if (rank >= files.size()) {
      throw ConfigError(files[i].string(),
                        "is of rank " + std::to_string(rank) + ", but there " + (files.size() == 1 ? "is " : "are ") +
                            core::counted(files.size(), "file"),
                        "one file for every rank");
    }
    if (of_rank[rank] != files.size()) {
      throw ConfigError(files[i].string(), "is of rank " + std::to_string(rank) + ", as " + files[of_rank[rank]].string(),
                        "one file for every rank: the traces of one step of the profiler's schedule");
    }
    of_rank[rank] = i;
  }
  std::vector<fs::path> ordered_files;
  std::vector<Trace> ordered;
  for (const std::size_t i : of_rank) {
    ordered_files.push_back(std::move(files[i]));
    ordered.push_back(std::move(traces[i]));
  }
  files = std::move(ordered_files);
  traces = std::move(ordered);
}

}  // namespace

TaskGraph read_kineto(const KinetoOptions& options) {
  std::vector<fs::path> files = find_unnumbered(options.files);
  const bool numbered = files.empty();
  if (numbered) files = find_files(options.files);
  std::vector<Trace> traces(files.size());
  formats::for_each_index(files.size(), [&](std::size_t i) {
    traces[i] = read_rank(files[i], numbered ? std::optional(i) : std::nullopt, files.size(), options);
  });
  if (!numbered) order_by_rank(files, traces);
  TaskGraphBuilder builder(traces.size());
  Groups groups(traces, builder);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    core::inside(files[r].string(), [&] { RankWriter(RankId{r}, traces[r], traces.size(), groups, builder).write(); });
  }
  return core::inside(options.files.string(), [&] { return std::move(builder).build(); });
}

}  // namespace photonrail
