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

class Search {
 public:
  Search(const PreparedTopology& ground, const std::vector<Bytes>& bytes, RandomStream& random)
      : ground_(ground),
        nodes_(ground.topology.nodes),
        bytes_(bytes),
        per_node_(static_cast<std::uint32_t>(bytes.size()) / nodes_),
        words_((bytes.size() + 63) / 64),
        random_(random),
        has_(std::size_t{nodes_} * words_),
        wants_(has_.size()),
        holders_(bytes.size(), 1),
        busy_(ground.topology.links.size()),
        free_(busy_.size()),
        wanting_(nodes_, bytes.size() - per_node_),
        used_(busy_.size()),
        switch_of_(busy_.size(), kNoSwitch),
        sending_(nodes_),
        receiving_(nodes_),
        stirred_(nodes_, true),
        into_(nodes_),
        out_of_(nodes_),
        turn_(nodes_),
        unmet_(bytes.size() * (nodes_ - 1)) {
    const auto& links = ground.topology.links;
    for (LinkIndex l = 0; l < links.size(); ++l) {
      into_[links[l].to].push_back(l);
      out_of_[links[l].from].push_back(l);
      find_switch(l);
      if (ground.images.size() > 1) index_[{links[l].from, links[l].to}] = l;
    }
    for (Member m = 0; m < nodes_; ++m) {
      for (std::uint32_t c = 0; c < bytes.size(); ++c) set(c / per_node_ == m ? has_ : wants_, m, c, true);
    }
    connections_.resize(ground.switches.size() * nodes_ * 2);
    std::iota(turn_.begin(), turn_.end(), 0);
  }

  std::vector<SynthesizedSend> run() && {
    assign();
    while (unmet_ > 0) {
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
  static constexpr std::uint32_t kNoSwitch = std::numeric_limits<std::uint32_t>::max();

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

  void set(std::vector<std::uint64_t>& sets, Member m, std::uint32_t chunk, bool value) const {
    std::uint64_t& word = sets[m * words_ + chunk / 64];
    const std::uint64_t bit = std::uint64_t{1} << (chunk % 64);
    word = value ? word | bit : word & ~bit;
  }
  [[nodiscard]] bool test(const std::vector<std::uint64_t>& sets, Member m, std::uint32_t chunk) const {
    return (sets[m * words_ + chunk / 64] >> (chunk % 64) & 1) != 0;
  }

  void find_switch(LinkIndex l) {
    for (std::uint32_t s = 0; s < ground_.switches.size(); ++s) {
      const std::vector<Member>& nodes = ground_.switches[s].nodes;
      const auto behind = [&](Member m) { return std::find(nodes.begin(), nodes.end(), m) != nodes.end(); };
      if (behind(link(l).from) && behind(link(l).to)) switch_of_[l] = s;
    }
  }

  // Of a node at a switch: how many peers it sends to, or receives from.
  std::uint32_t& connections(LinkIndex l, bool out) {
    const Member m = out ? link(l).from : link(l).to;
    return connections_[(std::size_t{switch_of_[l]} * nodes_ + m) * 2 + (out ? 1 : 0)];
  }

  [[nodiscard]] bool sparing(LinkIndex l) const {
    return switch_of_[l] != kNoSwitch && ground_.switches[switch_of_[l]].policy == SwitchPolicy::kFewestConnections;
  }

  // Whether the link could start now, with so many more under way from its sender and to its receiver.
  [[nodiscard]] bool idle(LinkIndex l, std::uint32_t more_out = 0, std::uint32_t more_in = 0) {
    const SynthesisTopology& t = ground_.topology;
    if (busy_[l]) return false;
    if (t.send_ports != 0 && sending_[link(l).from] + more_out >= t.send_ports) return false;
    if (t.receive_ports != 0 && receiving_[link(l).to] + more_in >= t.receive_ports) return false;
    if (used_[l] || !sparing(l)) return true;
    return connections(l, true) + more_out < most_connections_ && connections(l, false) + more_in < most_connections_;
  }

  // Nothing moves any more: the switches that are to have few connections get more of them.
  void open_connections() {
    if (most_connections_ >= nodes_) {
      throw core::FieldError(core::field("sketch.symmetries"),
                             "no chunk can move: the images of a send would need a port twice at a time",
                             "leave out a symmetry, or allow more ports");
    }
    ++most_connections_;
    std::fill(stirred_.begin(), stirred_.end(), true);
    assign();
  }

  void assign() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t i = turn_.size(); i > 1; --i) std::swap(turn_[i - 1], turn_[random_.below(i)]);
      for (const Member m : turn_) {
        if (!stirred_[m]) continue;
        if (take(m)) {
          moved = true;
        } else {
          stirred_[m] = false;
        }
      }
    }
  }

  // One more chunk for the node, over the best link that brings one.
  bool take(Member m) {
    std::vector<std::tuple<Duration, int, std::uint64_t, LinkIndex>> choice;
    for (const LinkIndex l : into_[m]) {
      if (!idle(l) || better_wait(l)) continue;
      const bool prefers_new =
          switch_of_[l] != kNoSwitch && ground_.switches[switch_of_[l]].policy == SwitchPolicy::kMaxConnections;
      choice.emplace_back(time_of(l, 0), prefers_new == used_[l] ? 1 : 0, random_.next(), l);
    }
    std::sort(choice.begin(), choice.end());
    for (const auto& candidate : choice) {
      if (take_over(std::get<LinkIndex>(candidate), m)) return true;
    }
    return false;
  }

  // Whether the links that are bringing something now could bring all the rest before this one brought a chunk: at the end
  // a slow link would only hold up its node.
  [[nodiscard]] bool better_wait(LinkIndex l) const {
    const Member m = link(l).to;
    const Time end = now_ + time_of(l, 0);
    std::uint64_t others = 0;
    for (const LinkIndex other : into_[m]) {
      if (busy_[other] && free_[other] < end)
        others += static_cast<std::uint64_t>((end - free_[other]) / std::max(Duration{1}, time_of(other, 0)));
    }
    return others >= wanting_[m];
  }

  [[nodiscard]] Duration time_of(LinkIndex l, std::uint32_t chunk) const {
    return link(l).latency + transfer_time(bytes_[chunk], link(l).rate);
  }

  bool take_over(LinkIndex l, Member m) {
    const Member from = link(l).from;
    std::vector<std::pair<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>> chunks;
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t bits = has_[from * words_ + w] & wants_[m * words_ + w]; bits != 0; bits &= bits - 1) {
        const auto c = static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        chunks.push_back({{holders_[c], random_.next()}, c});
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
      const bool possible = test(has_, link(l).from, other.chunk) && test(wants_, link(l).to, other.chunk) &&
                            idle(l, more_out[link(l).from]++, more_in[link(l).to]++);
      if (!possible || std::any_of(moves.begin(), moves.end(), clashes)) return false;
      moves.push_back(other);
    }
    for (const Move& m : moves) start(m);
    return true;
  }

  void start(const Move& move) {
    const SynthesisLink& on = link(move.link);
    busy_[move.link] = true;
    ++sending_[on.from];
    ++receiving_[on.to];
    set(wants_, on.to, move.chunk, false);
    ++holders_[move.chunk];
    if (!used_[move.link] && sparing(move.link)) {
      ++connections(move.link, true);
      ++connections(move.link, false);
    }
    used_[move.link] = true;
    const Time end = now_ + time_of(move.link, move.chunk);
    free_[move.link] = end;
    --wanting_[on.to];
    sends_.push_back({on.from, on.to, move.chunk, false, now_, end});
    arrivals_.push({end, move.link, move.chunk});
  }

  void arrive() {
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    const SynthesisLink& on = link(arrival.link);
    busy_[arrival.link] = false;
    --sending_[on.from];
    --receiving_[on.to];
    set(has_, on.to, arrival.chunk, true);
    --unmet_;
    stirred_[on.to] = true;
    for (const LinkIndex l : out_of_[on.to]) stirred_[link(l).to] = true;
    if (ground_.topology.send_ports == 0) return;
    for (const LinkIndex l : out_of_[on.from]) stirred_[link(l).to] = true;
  }

  const PreparedTopology& ground_;
  Member nodes_;
  const std::vector<Bytes>& bytes_;
  std::uint32_t per_node_;  ///< chunks that a node has in the beginning
  std::size_t words_;       ///< of a set of chunks
  RandomStream& random_;
  std::vector<std::uint64_t> has_;      ///< by node: chunks that are there
  std::vector<std::uint64_t> wants_;    ///< by node: chunks that are neither there nor on their way
  std::vector<std::uint32_t> holders_;  ///< by chunk: nodes that have it or will
  std::vector<bool> busy_;              ///< by link
  std::vector<Time> free_;              ///< by link: when it was or will be
  std::vector<std::uint64_t> wanting_;  ///< by node: how many chunks it wants
  std::vector<bool> used_;              ///< by link: ever
  std::vector<std::uint32_t> switch_of_;
  std::vector<std::uint32_t> sending_;
  std::vector<std::uint32_t> receiving_;
  std::vector<bool> stirred_;  ///< by node: something that it may use became free since it found nothing
  std::vector<std::vector<LinkIndex>> into_;
  std::vector<std::vector<LinkIndex>> out_of_;
  std::vector<Member> turn_;
  std::size_t unmet_;
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
