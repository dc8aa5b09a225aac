#include "collective/synthesis/synthesis.hpp"

#include "collective/listed.hpp"
#include "collective/message_graph.hpp"
#include "collective/synthesis/search.hpp"
#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace photonrail::synthesis {

using collective::ListedPlan;
using collective::ListedSend;
using collective::make_listed;
using collective::MessageGraph;

namespace {

Time end_of(const std::vector<SynthesizedSend>& sends) {
  Time end{};
  for (const SynthesizedSend& send : sends) end = std::max(end, send.end);
  return end;
}

void sort_by_start(std::vector<SynthesizedSend>& sends) {
  std::stable_sort(sends.begin(), sends.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
}

std::vector<SynthesizedSend> best_all_gather(const PreparedTopology& ground, const std::vector<Bytes>& bytes,
                                             const SynthesisOptions& options, std::string_view stream) {
  std::vector<SynthesizedSend> best;
  for (std::uint32_t k = 0; k < options.tries; ++k) {
    RandomStream random(options.seed, std::string(stream) + "/" + std::to_string(k));
    std::vector<SynthesizedSend> found = synthesis::all_gather(ground, bytes, random);
    if (best.empty() || end_of(found) < end_of(best)) best = std::move(found);
  }
  return best;
}

// An all-gather over the links turned round, played backwards: what was handed out is added up.
std::vector<SynthesizedSend> best_reduce_scatter(const PreparedTopology& ground, const std::vector<Bytes>& bytes,
                                                 const SynthesisOptions& options) {
  std::vector<SynthesizedSend> sends =
      best_all_gather(synthesis::reversed(ground), bytes, options, "synthesis/reduce_scatter");
  const Time end = end_of(sends);
  for (SynthesizedSend& send : sends)
    send = {send.to, send.from, send.chunk, true, Time{end - send.end}, Time{end - send.start}};
  sort_by_start(sends);
  return sends;
}

void check(const SynthesisOptions& options) {
  const bool known = options.op == CollectiveOp::kAllGather || options.op == CollectiveOp::kReduceScatter ||
                     options.op == CollectiveOp::kAllReduce;
  if (!known) {
    throw ConfigError("", "cannot synthesize " + std::string(name(options.op)), "all_gather, reduce_scatter or all_reduce");
  }
  if (options.chunks == 0) throw ConfigError("", "needs at least one chunk a member");
  if (options.tries == 0) throw ConfigError("", "needs at least one try");
  if (options.size <= Bytes{}) throw ConfigError("", "the size must be positive");
}

/// The order of a synthesized collective, as far as members can keep it themselves.
class Ordering {
 public:
  Ordering(const SynthesizedCollective& made, std::uint32_t ports) : ports_(ports), busy_(made.members) {
    for (const SynthesizedSend& send : made.sends) add(send);
  }

  [[nodiscard]] std::vector<std::vector<MessageGraph::Message>> waits() const {
    std::vector<std::uint64_t> rank(graph_.nodes());
    std::iota(rank.begin(), rank.end(), 0);
    return graph_.waits(graph_.sequence(rank));
  }

 private:
  using Node = MessageGraph::Node;
  struct Slot {
    Time free{};
    Node last = 0;
  };

  void add(const SynthesizedSend& send) {
    const Node leaves = graph_.add_node();
    const Node arrives = graph_.add_node();
    const auto lane = static_cast<std::uint32_t>(lanes_.size());
    const auto [on, fresh] = lanes_.try_emplace({send.from, send.to}, Lane{lane, leaves});
    if (!fresh) graph_.order(std::exchange(on->second.last, leaves), leaves);
    for (const auto& [end, node] : brought_[{send.from, send.chunk}]) {
      if (end <= send.start) graph_.order(node, leaves);
    }
    if (ports_ > 0) take_port(send, leaves);
    graph_.connect(leaves, arrives, on->second.number);
    brought_[{send.to, send.chunk}].emplace_back(send.end, arrives);
  }

  // The port is free when its last message has arrived.
  void take_port(const SynthesizedSend& send, Node leaves) {
    std::vector<Slot>& slots = busy_[send.from];
    const auto free = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.free <= send.start; });
    if (free == slots.end()) {
      PHOTONRAIL_CHECK(slots.size() < ports_);
      slots.push_back({send.end, leaves});
      return;
    }
    graph_.order(free->last, leaves, MessageGraph::Until::kArrived);
    *free = {send.end, leaves};
  }

  struct Lane {
    std::uint32_t number;
    Node last;
  };
  std::uint32_t ports_;
  MessageGraph graph_;
  std::map<MemberPair, Lane> lanes_;
  std::map<std::pair<Member, std::uint32_t>, std::vector<std::pair<Time, Node>>> brought_;  ///< by member and chunk
  std::vector<std::vector<Slot>> busy_;                                                     ///< by member
};

}  // namespace

SynthesizedCollective synthesize(const SynthesisTopology& topology, const SynthesisOptions& options,
                                 const SynthesisSketch& sketch) {
  check(options);
  const PreparedTopology ground = synthesis::prepare(topology, sketch);
  SynthesizedCollective made;
  made.op = options.op;
  made.members = topology.nodes;
  made.chunk_count = topology.nodes * options.chunks;
  const CollectiveCall call{.op = options.op, .members = topology.nodes, .size = options.size};
  std::vector<Bytes> bytes;
  for (std::uint32_t c = 0; c < made.chunk_count; ++c) bytes.push_back(chunk_bytes(call, made.chunk_count, c));
  if (options.op != CollectiveOp::kAllGather) made.sends = best_reduce_scatter(ground, bytes, options);
  made.time = end_of(made.sends).since_start();
  if (options.op != CollectiveOp::kReduceScatter) {
    const Duration reduced = made.time;
    std::vector<SynthesizedSend> gathered = best_all_gather(ground, bytes, options, "synthesis/all_gather");
    sort_by_start(gathered);
    for (SynthesizedSend& send : gathered) {
      send.start += reduced;
      send.end += reduced;
      made.sends.push_back(send);
    }
    made.time = end_of(made.sends).since_start();
  }
  return made;
}

std::shared_ptr<const CollectiveAlgorithm> SynthesizedCollective::algorithm(const SynthesisTopology& topology,
                                                                            std::string name) const {
  const auto waits = Ordering(*this, topology.send_ports).waits();
  ListedPlan plan;
  plan.op = op;
  plan.members = members;
  plan.chunk_count = chunk_count;
  for (std::size_t i = 0; i < sends.size(); ++i) {  // message i is send i
    ListedSend listed{.from = sends[i].from, .to = sends[i].to};
    listed.first_chunk = sends[i].chunk;
    listed.reduce = sends[i].reduce;
    listed.after = waits[i];
    plan.sends.push_back(std::move(listed));
  }
  std::string summary = "synthesized " + std::string(photonrail::name(op)) + " of " + core::counted(members, "member");
  return make_listed(std::move(name), std::move(summary), std::move(plan));
}

}  // namespace photonrail::synthesis
