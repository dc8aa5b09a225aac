// A collective written as the sends and receives of a Chakra trace.
#include "collective/listed.hpp"
#include "collective/message_graph.hpp"
#include "core/counted.hpp"
#include "core/inside.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/trace.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace photonrail {

using collective::ListedPlan;
using collective::ListedSend;
using collective::make_listed;
using collective::MessageGraph;

namespace {

using Node = MessageGraph::Node;

class Converter {
 public:
  Converter(const TaskGraph& trace, CollectiveOp op, Bytes size) : trace_(trace), size_(size) {
    plan_.op = op;
    plan_.members = static_cast<Member>(trace.ranks());
    plan_.whole = size.count;
    plan_.chunk_count = op == CollectiveOp::kAllToAll ? plan_.members * plan_.members : plan_.members;
  }

  ListedPlan run() {
    for (std::size_t r = 0; r < trace_.ranks(); ++r) add_rank(RankId{r});
    connect();
    if (const auto circle = graph_.circle(); !circle.empty()) {
      fail("rank " + std::to_string(rank_of_[circle.front()]) + " is in a circle of " + std::to_string(circle.size()) +
           " tasks that wait for each other");
    }
    std::vector<std::uint64_t> rank(graph_.nodes());
    std::iota(rank.begin(), rank.end(), 0);
    const std::vector<Node> sequence = graph_.sequence(rank);
    check_reach(sequence);
    check_bytes();
    list(sequence);
    return std::move(plan_);
  }

 private:
  using Key = std::tuple<CommunicatorId, std::uint32_t, std::uint32_t>;  // sender to receiver, tag, index
  struct Ends {
    Node send = MessageGraph::kNone;
    Node receive = MessageGraph::kNone;
    std::int64_t bytes = 0;
  };

  [[noreturn]] static void fail(const std::string& what, const std::string& hint = {}) {
    throw ConfigError("", what, hint);
  }

  void add_rank(RankId rank) {
    const Program& program = trace_.program(rank);
    const auto first = static_cast<Node>(graph_.nodes());
    for (const Task& task : program.tasks()) {
      const Node node = graph_.add_node();
      rank_of_.push_back(static_cast<Member>(rank.index()));
      if (task.kind == TaskKind::kCompute) continue;
      if (task.kind == TaskKind::kCollective)
        fail("rank " + std::to_string(rank.value) + " calls " + std::string(name(task.op)),
             "only sends, receives and computation");
      Ends& ends = messages_[{trace_.communicator(rank, task.slot), task.tag, task.match}];
      (task.kind == TaskKind::kSend ? ends.send : ends.receive) = node;
      ends.bytes = task.size().count;
    }
    for (std::size_t t = 0; t < program.tasks().size(); ++t) {
      for (const TaskId next : program.successors(TaskId{t})) {
        edges_.emplace_back(first + static_cast<Node>(t), first + static_cast<Node>(next.index()));
        graph_.order(edges_.back().first, edges_.back().second);
      }
    }
  }

  void connect() {
    for (const auto& [key, ends] : messages_) {
      const Communicator& link = trace_.communicators()[std::get<0>(key).index()];
      const std::string way = "from rank " + std::to_string(link.members[0].value) + " to rank " +
                              std::to_string(link.members[1].value) + " with tag " + std::to_string(std::get<1>(key));
      if (ends.receive == MessageGraph::kNone) fail("a send " + way + " has no receive");
      if (ends.send == MessageGraph::kNone) fail("a receive " + way + " has no send");
      // Nothing orders the messages of a pair: each has a lane of its own.
      graph_.connect(ends.send, ends.receive, static_cast<std::uint32_t>(bytes_.size()));
      bytes_.push_back(ends.bytes);
      to_.push_back(rank_of_[ends.receive]);
    }
  }

  // The ranks with data that a rank can hold by now: its own, and those of what it received.
  void check_reach(const std::vector<Node>& sequence) const {
    const std::size_t words = (plan_.members + 63) / 64;
    std::vector<std::uint64_t> known(graph_.nodes() * words);
    std::vector<std::vector<Node>> next(graph_.nodes());
    for (const auto& [before, after] : edges_) next[before].push_back(after);
    std::vector<std::uint64_t> carried(bytes_.size() * words);
    std::vector<std::uint64_t> in_the_end(plan_.members * words);
    const auto unite = [words](std::uint64_t* into, const std::uint64_t* from) {
      for (std::size_t w = 0; w < words; ++w) into[w] |= from[w];
    };
    for (const Node n : sequence) {
      std::uint64_t* mine = &known[n * words];
      const Member rank = rank_of_[n];
      mine[rank / 64] |= std::uint64_t{1} << (rank % 64);
      if (const auto in = graph_.received_by(n); in != MessageGraph::kNone) unite(mine, &carried[in * words]);
      if (const auto out = graph_.sent_by(n); out != MessageGraph::kNone) unite(&carried[out * words], mine);
      for (const Node after : next[n]) unite(&known[after * words], mine);
      unite(&in_the_end[rank * words], mine);
    }
    for (Member to = 0; to < plan_.members; ++to) {
      for (Member from = 0; from < plan_.members; ++from) {
        const bool needed = from != to && (plan_.op == CollectiveOp::kReduce      ? to == plan_.root
                                           : plan_.op == CollectiveOp::kBroadcast ? from == plan_.root
                                                                                  : true);
        if (!needed || (in_the_end[to * words + from / 64] >> (from % 64) & 1) != 0) continue;
        fail("nothing of rank " + std::to_string(from) + " can reach rank " + std::to_string(to),
             "an " + std::string(name(plan_.op)) + " needs it");
      }
    }
  }

  // Returns what no member can do without receiving: each part of its result comes at least once, summed up or not.
  [[nodiscard]] std::int64_t least(Member member) const {
    const std::int64_t n = plan_.members;
    switch (plan_.op) {
      case CollectiveOp::kAllGather:
        return size_.count * (n - 1);
      case CollectiveOp::kAllToAll:
        return size_.count / n * (n - 1);
      case CollectiveOp::kReduceScatter:
        return size_.count / n;
      case CollectiveOp::kReduce:
        return member == plan_.root ? size_.count : 0;
      case CollectiveOp::kBroadcast:
        return member == plan_.root ? 0 : size_.count;
      default:
        return size_.count;
    }
  }

  void check_bytes() const {
    std::vector<std::int64_t> received(plan_.members);
    for (std::size_t m = 0; m < bytes_.size(); ++m) received[to_[m]] += bytes_[m];
    for (Member m = 0; m < plan_.members; ++m) {
      if (received[m] >= least(m)) continue;
      fail("rank " + std::to_string(m) + " receives " + core::counted(received[m], "byte") + ", but needs at least " +
               std::to_string(least(m)),
           "is \"bytes\" the size that the trace was written for?");
    }
  }

  void list(const std::vector<Node>& sequence) {
    const auto waits = graph_.waits(sequence);
    std::vector<SendIndex> place(bytes_.size());
    for (const Node n : sequence) {
      const auto message = graph_.sent_by(n);
      if (message == MessageGraph::kNone) continue;
      place[message] = static_cast<SendIndex>(plan_.sends.size());
      ListedSend send{.from = rank_of_[n], .to = to_[message]};
      send.parts = bytes_[message];
      for (const auto before : waits[message]) send.after.push_back(place[before]);
      plan_.sends.push_back(std::move(send));
    }
  }

  const TaskGraph& trace_;
  Bytes size_;
  ListedPlan plan_;
  MessageGraph graph_;
  std::vector<Member> rank_of_;  ///< by node
  std::vector<std::pair<Node, Node>> edges_;
  std::map<Key, Ends> messages_;
  std::vector<std::int64_t> bytes_;  ///< by message
  std::vector<Member> to_;           ///< by message
};

}  // namespace

CollectiveFile read_chakra_collective(const std::filesystem::path& prefix, CollectiveOp op, Bytes size) {
  ChakraOptions options;
  options.prefix = prefix;
  options.compute_time = ComputeTime::kTrace;
  const TaskGraph trace = read_chakra(options);
  const bool known = op != CollectiveOp::kGather && op != CollectiveOp::kScatter && op != CollectiveOp::kBarrier &&
                     op != CollectiveOp::kSend;
  if (!known) throw ConfigError(prefix.string(), std::string(name(op)) + " cannot come from a trace");
  if (size <= Bytes{}) throw ConfigError(prefix.string(), "the size must be positive");
  if (trace.ranks() < 2) throw ConfigError(prefix.string(), "a collective needs two ranks");
  return core::inside(prefix.string(), [&]() -> CollectiveFile {
    ListedPlan plan = Converter(trace, op, size).run();
    std::string summary = std::string(name(op)) + " of " + std::to_string(trace.ranks()) + " members from a trace";
    // One trace may serve several operations.
    std::string called = prefix.string() + " as " + std::string(name(op));
    return {make_listed(std::move(called), std::move(summary), std::move(plan)), op, static_cast<Member>(trace.ranks()), 0};
  });
}

}  // namespace photonrail
