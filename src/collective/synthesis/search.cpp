#include "collective/synthesis/search.hpp"

#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

namespace photonrail::synthesis {

namespace {

using LinkIndex = std::uint32_t;

constexpr std::uint32_t kNoSwitch = std::numeric_limits<std::uint32_t>::max();

/// Which node has which chunks, and which it wants: neither there nor on their way.
struct ChunkSets {
  using Sets = std::vector<std::uint64_t>;  ///< by node: a bit for each chunk, in `words` words

  ChunkSets(std::size_t nodes, std::size_t chunks)
      : words((chunks + 63) / 64), has(nodes * words), wants(has.size()), holders(chunks, 1), unmet(chunks * (nodes - 1)) {
    for (Member m = 0; m < nodes; ++m) {
      for (std::uint32_t c = 0; c < chunks; ++c) set(c / (chunks / nodes) == m ? has : wants, m, c, true);
    }
  }

  void set(Sets& sets, Member m, std::uint32_t chunk, bool value) const {
    std::uint64_t& word = sets[m * words + chunk / 64];
    const std::uint64_t bit = std::uint64_t{1} << (chunk % 64);
    word = value ? word | bit : word & ~bit;
  }
  [[nodiscard]] bool test(const Sets& sets, Member m, std::uint32_t chunk) const {
    return (sets[m * words + chunk / 64] >> (chunk % 64) & 1) != 0;
  }

  std::size_t words;
  Sets has;
  Sets wants;
  std::vector<std::uint32_t> holders;  ///< by chunk: nodes that have it or will
  std::size_t unmet;                   ///< wants of all nodes, with what is on its way
};

struct LinkState {
  bool busy = false;
  bool used = false;  ///< ever
  Time free{};        ///< when it was or will be
  std::uint32_t at_switch = kNoSwitch;
};

struct NodeState {
  std::uint64_t wanting = 0;  ///< how many chunks it wants
  std::uint32_t sending = 0;
  std::uint32_t receiving = 0;
  bool stirred = true;  ///< something that it may use became free since it found nothing
  std::vector<LinkIndex> into{};
  std::vector<LinkIndex> out_of{};
};

class Search {
 public:
  Search(const PreparedTopology& ground, const std::vector<Bytes>& bytes, RandomStream& random)
      : ground_(ground),
        bytes_(bytes),
        per_node_(static_cast<std::uint32_t>(bytes.size()) / ground.topology.nodes),
        random_(random),
        chunks_(ground.topology.nodes, bytes.size()),
        links_(ground.topology.links.size()),
        nodes_(ground.topology.nodes, NodeState{.wanting = bytes.size() - per_node_}),
        turn_(ground.topology.nodes),
        connections_(ground.switches.size() * ground.topology.nodes * 2) {
    for (LinkIndex l = 0; l < links_.size(); ++l) {
      nodes_[link(l).to].into.push_back(l);
      nodes_[link(l).from].out_of.push_back(l);
      find_switch(l);
      if (ground.images.size() > 1) index_[{link(l).from, link(l).to}] = l;
    }
    std::iota(turn_.begin(), turn_.end(), 0);
  }

  std::vector<SynthesizedSend> run() && {
    assign();
    while (chunks_.unmet > 0) {
      if (arrivals_.empty()) {
        open_connections();
        continue;
      }
      now_ = arrivals_.top().end;
      while (!arrivals_.empty() && arrivals_.top().end == now_) arrive();
      assign();
    }
    return std::move(sends_);
  }

 private:
  struct Arrival {
    Time end;
    LinkIndex link;
    std::uint32_t chunk;
    friend bool operator>(const Arrival& a, const Arrival& b) { return std::tie(a.end, a.link) > std::tie(b.end, b.link); }
  };
  struct Move {
    LinkIndex link;
    std::uint32_t chunk;
    friend bool operator==(const Move&, const Move&) = default;
  };

  [[nodiscard]] const SynthesisLink& link(LinkIndex l) const { return ground_.topology.links[l]; }

  void find_switch(LinkIndex l) {
    for (std::uint32_t s = 0; s < ground_.switches.size(); ++s) {
      const std::vector<Member>& nodes = ground_.switches[s].nodes;
      const auto behind = [&](Member m) { return std::find(nodes.begin(), nodes.end(), m) != nodes.end(); };
      if (behind(link(l).from) && behind(link(l).to)) links_[l].at_switch = s;
    }
  }

  // Counts, of a node at a switch, how many peers it sends to, or receives from.
  std::uint32_t& connections(LinkIndex l, bool out) {
    const Member m = out ? link(l).from : link(l).to;
    return connections_[(std::size_t{links_[l].at_switch} * nodes_.size() + m) * 2 + (out ? 1 : 0)];
  }

  [[nodiscard]] bool sparing(LinkIndex l) const {
    return links_[l].at_switch != kNoSwitch &&
           ground_.switches[links_[l].at_switch].policy == SwitchPolicy::kFewestConnections;
  }

  // Returns true when the link could start now, with so many more under way from its sender and to its receiver.
  [[nodiscard]] bool idle(LinkIndex l, std::uint32_t more_out = 0, std::uint32_t more_in = 0) {
    const SynthesisTopology& t = ground_.topology;
    if (links_[l].busy) return false;
    if (t.send_ports != 0 && nodes_[link(l).from].sending + more_out >= t.send_ports) return false;
    if (t.receive_ports != 0 && nodes_[link(l).to].receiving + more_in >= t.receive_ports) return false;
    if (links_[l].used || !sparing(l)) return true;
    return connections(l, true) + more_out < most_connections_ && connections(l, false) + more_in < most_connections_;
  }

  // Nothing moves any more: the switches that are to have few connections get more of them.
  void open_connections() {
    if (most_connections_ >= nodes_.size()) {
      throw core::FieldError(core::field("sketch.symmetries"),
                             "no chunk can move: the images of a send would need a port twice at a time",
                             "leave out a symmetry, or allow more ports");
    }
    ++most_connections_;
    for (NodeState& node : nodes_) node.stirred = true;
    assign();
  }

  void assign() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t i = turn_.size(); i > 1; --i) std::swap(turn_[i - 1], turn_[random_.below(i)]);
      for (const Member m : turn_) {
        if (!nodes_[m].stirred) continue;
        if (take(m)) {
          moved = true;
        } else {
          nodes_[m].stirred = false;
        }
      }
    }
  }

  // One more chunk for the node, over the best link that brings one.
  bool take(Member m) {
    std::vector<std::tuple<Duration, int, std::uint64_t, LinkIndex>> choice;
    for (const LinkIndex l : nodes_[m].into) {
      if (!idle(l) || better_wait(l)) continue;
      const bool prefers_new =
          links_[l].at_switch != kNoSwitch && ground_.switches[links_[l].at_switch].policy == SwitchPolicy::kMaxConnections;
      choice.emplace_back(time_of(l, 0), prefers_new == links_[l].used ? 1 : 0, random_.next(), l);
    }
    std::sort(choice.begin(), choice.end());
    for (const auto& candidate : choice) {
      if (take_over(std::get<LinkIndex>(candidate), m)) return true;
    }
    return false;
  }

  // Returns true when the links that are bringing something now could bring all the rest before this one brought a chunk:
  // at the end a slow link would only hold up its node.
  [[nodiscard]] bool better_wait(LinkIndex l) const {
    const Member m = link(l).to;
    const Time end = now_ + time_of(l, 0);
    std::uint64_t others = 0;
    for (const LinkIndex other : nodes_[m].into) {
      if (links_[other].busy && links_[other].free < end)
        others += static_cast<std::uint64_t>((end - links_[other].free) / std::max(Duration{1}, time_of(other, 0)));
    }
    return others >= nodes_[m].wanting;
  }

  [[nodiscard]] Duration time_of(LinkIndex l, std::uint32_t chunk) const {
    return link(l).latency + transfer_time(bytes_[chunk], link(l).rate);
  }

  bool take_over(LinkIndex l, Member m) {
    const Member from = link(l).from;
    std::vector<std::pair<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>> chunks;
    for (std::size_t w = 0; w < chunks_.words; ++w) {
      for (std::uint64_t bits = chunks_.has[from * chunks_.words + w] & chunks_.wants[m * chunks_.words + w]; bits != 0;
           bits &= bits - 1) {
        const auto c = static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        chunks.push_back({{chunks_.holders[c], random_.next()}, c});
      }
    }
    if (ground_.images.size() == 1) {
      if (chunks.empty()) return false;
      start({l, std::min_element(chunks.begin(), chunks.end())->second});
      return true;
    }
    std::sort(chunks.begin(), chunks.end());
    return std::any_of(chunks.begin(), chunks.end(), [&](const auto& c) { return start_images({l, c.second}); });
  }

  // The move and its images, all at once or none.
  bool start_images(const Move& move) {
    std::vector<Move> moves;
    std::map<Member, std::uint32_t> more_out;
    std::map<Member, std::uint32_t> more_in;
    for (const std::vector<Member>& image : ground_.images) {
      const LinkIndex l = index_.at({image[link(move.link).from], image[link(move.link).to]});
      const Move other{l, image[move.chunk / per_node_] * per_node_ + move.chunk % per_node_};
      if (std::find(moves.begin(), moves.end(), other) != moves.end()) continue;
      const auto clashes = [&](const Move& m) {
        return m.link == other.link || (m.chunk == other.chunk && link(m.link).to == link(l).to);
      };
      const bool possible = chunks_.test(chunks_.has, link(l).from, other.chunk) &&
                            chunks_.test(chunks_.wants, link(l).to, other.chunk) &&
                            idle(l, more_out[link(l).from]++, more_in[link(l).to]++);
      if (!possible || std::any_of(moves.begin(), moves.end(), clashes)) return false;
      moves.push_back(other);
    }
    for (const Move& m : moves) start(m);
    return true;
  }

  void start(const Move& move) {
    const SynthesisLink& on = link(move.link);
    links_[move.link].busy = true;
    ++nodes_[on.from].sending;
    ++nodes_[on.to].receiving;
    chunks_.set(chunks_.wants, on.to, move.chunk, false);
    ++chunks_.holders[move.chunk];
    if (!links_[move.link].used && sparing(move.link)) {
      ++connections(move.link, true);
      ++connections(move.link, false);
    }
    links_[move.link].used = true;
    const Time end = now_ + time_of(move.link, move.chunk);
    links_[move.link].free = end;
    --nodes_[on.to].wanting;
    sends_.push_back({on.from, on.to, move.chunk, false, now_, end});
    arrivals_.push({end, move.link, move.chunk});
  }

  void arrive() {
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    const SynthesisLink& on = link(arrival.link);
    links_[arrival.link].busy = false;
    --nodes_[on.from].sending;
    --nodes_[on.to].receiving;
    chunks_.set(chunks_.has, on.to, arrival.chunk, true);
    --chunks_.unmet;
    nodes_[on.to].stirred = true;
    for (const LinkIndex l : nodes_[on.to].out_of) nodes_[link(l).to].stirred = true;
    if (ground_.topology.send_ports == 0) return;
    for (const LinkIndex l : nodes_[on.from].out_of) nodes_[link(l).to].stirred = true;
  }

  const PreparedTopology& ground_;
  const std::vector<Bytes>& bytes_;
  std::uint32_t per_node_;  ///< chunks that a node has in the beginning
  RandomStream& random_;
  ChunkSets chunks_;
  std::vector<LinkState> links_;
  std::vector<NodeState> nodes_;
  std::vector<Member> turn_;
  std::map<MemberPair, LinkIndex> index_;   ///< with symmetries only
  std::vector<std::uint32_t> connections_;  ///< by switch, node, direction
  std::uint32_t most_connections_ = 1;      ///< of a node at a sparing switch
  Time now_{};
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::vector<SynthesizedSend> sends_;
};

}  // namespace

std::vector<SynthesizedSend> all_gather(const PreparedTopology& ground, const std::vector<Bytes>& bytes,
                                        RandomStream& random) {
  return Search(ground, bytes, random).run();
}

}  // namespace photonrail::synthesis
