// StragglAR for any number of members: round t still completes chunk t between member t and the straggler, and the other
// members are matched by what they have for each other.
//
// The published synthesizer (arXiv 2505.23523) takes a matching of the largest weight among those of the largest size, a
// pair's weight being the directions (1 or 2) in which something useful can go. Here pairs of two directions are tried
// before pairs of one, and augmenting paths (Edmonds) then make the matching as large as it can be: the size is exact, the
// weight is not. Boost 1.74's maximum_weighted_matching does not end on some of these graphs.
// An odd number of members, which the published synthesizer refuses, leaves one member out in every round.
#include "collective/stragglar/schedule.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace photonrail::collective {

namespace {

/// Complete chunks of one member.
class ChunkSet {
 public:
  explicit ChunkSet(std::uint32_t chunks) : words_((chunks + 63) / 64) {}

  void insert(std::uint32_t chunk) {
    std::uint64_t& word = words_[chunk / 64];
    const std::uint64_t bit = std::uint64_t{1} << (chunk % 64);
    count_ += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

  [[nodiscard]] bool has_for(const ChunkSet& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if ((words_[w] & ~other.words_[w]) != 0) return true;
    }
    return false;
  }
  /// The lowest chunk that `other` lacks. REQUIRES: has_for(other).
  [[nodiscard]] std::uint32_t lowest_for(const ChunkSet& other) const {
    std::size_t w = 0;
    while ((words_[w] & ~other.words_[w]) == 0) ++w;
    return static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(words_[w] & ~other.words_[w]));
  }
  [[nodiscard]] std::uint32_t highest_for(const ChunkSet& other) const {
    std::size_t w = words_.size() - 1;
    while ((words_[w] & ~other.words_[w]) == 0) --w;
    return static_cast<std::uint32_t>(64 * w + 63) -
           static_cast<std::uint32_t>(std::countl_zero(words_[w] & ~other.words_[w]));
  }
  /// The highest chunk, or none.
  [[nodiscard]] std::optional<std::uint32_t> highest() const {
    if (count_ == 0) return std::nullopt;
    std::size_t w = words_.size() - 1;
    while (words_[w] == 0) --w;
    return static_cast<std::uint32_t>(64 * w + 63) - static_cast<std::uint32_t>(std::countl_zero(words_[w]));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::uint32_t count_ = 0;
};

struct Candidate {
  std::size_t a = 0;  ///< places in the list of free members
  std::size_t b = 0;
  int directions = 0;
};

/// Pairs of places, none twice: as many as possible. Earlier candidates are tried first.
std::vector<std::pair<std::size_t, std::size_t>> largest_matching(std::size_t places,
                                                                  const std::vector<Candidate>& candidates) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
  using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
  Graph graph(places);
  for (const Candidate& c : candidates) boost::add_edge(c.a, c.b, graph);
  std::vector<Vertex> mate(places);
  const auto index = boost::get(boost::vertex_index, graph);
  boost::matching<Graph, Vertex*, decltype(index), boost::edmonds_augmenting_path_finder, boost::greedy_matching,
                  boost::no_matching_verifier>(graph, mate.data(), index);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < places; ++i) {
    if (mate[i] != boost::graph_traits<Graph>::null_vertex() && mate[i] > i) pairs.emplace_back(i, mate[i]);
  }
  return pairs;
}

class Matching {
 public:
  Matching(Member members, RandomStream* random)
      : n_(members), l_(doublings(members)), random_(random), schedule_(members), has_(members, ChunkSet(members - 1)) {}

  [[nodiscard]] StragglarSchedule write() && {
    for (round_ = 0; !finished(); ++round_) {
      PHOTONRAIL_CHECK(round_ < 4 * n_);
      free_.clear();
      begin_round();
      shuffle(free_);
      hand_on();
      for (const auto& [member, chunk] : got_) has_[member].insert(chunk);
      got_.clear();
      schedule_.end_round();
    }
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] bool finished() const {
    return std::all_of(has_.begin(), has_.end(), [this](const ChunkSet& set) { return set.count() == n_ - 1; });
  }
  [[nodiscard]] bool exchanging() const { return round_ <= n_ - 2; }

  template <class T>
  void shuffle(std::vector<T>& list) {
    if (random_ == nullptr) return;
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_->below(i)]);
  }

  // The exchange with the straggler; while the first L chunks are under way, the newest goes to a member of its own choice.
  void begin_round() {
    std::vector<bool> used(n_);
    if (exchanging()) {
      schedule_.complete(round_);
      got_.emplace_back(round_, round_);
      got_.emplace_back(n_ - 1, round_);
      used[round_] = used[n_ - 1] = true;
    }
    if (round_ >= 1 && round_ < l_ && round_ - 1 + l_ <= n_ - 2) {
      move(round_ - 1, round_ - 1 + l_, round_ - 1);
      used[round_ - 1] = used[round_ - 1 + l_] = true;
    }
    for (Member m = 0; m < n_; ++m) {
      if (!used[m]) free_.push_back(m);
    }
  }

  void move(Member from, Member to, std::uint32_t chunk) {
    schedule_.copy(from, to, chunk);
    got_.emplace_back(to, chunk);
  }

  void hand_on() {
    std::vector<Candidate> candidates;
    for (std::size_t a = 0; a < free_.size(); ++a) {
      for (std::size_t b = a + 1; b < free_.size(); ++b) {
        const int directions = useful_directions(free_[a], free_[b]);
        if (directions > 0) candidates.push_back({a, b, directions});
      }
    }
    shuffle(candidates);
    std::stable_partition(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.directions == 2; });
    for (const auto& [a, b] : largest_matching(free_.size(), candidates)) {
      hand_on(free_[a], free_[b]);
      hand_on(free_[b], free_[a]);
    }
  }

  // While chunks are completed the old ones go first, so that they are everywhere when the last ones come.
  void hand_on(Member from, Member to) {
    if (!has_[from].has_for(has_[to])) return;
    move(from, to, exchanging() ? has_[from].lowest_for(has_[to]) : has_[from].highest_for(has_[to]));
  }

  [[nodiscard]] int useful_directions(Member a, Member b) const {
    if (round_ < l_) return is_fill(a, b) || is_fill(b, a) ? 1 : 0;
    if (exchanging() && (is_too_new(a, b) || is_too_new(b, a))) return 0;
    return (has_[a].has_for(has_[b]) ? 1 : 0) + (has_[b].has_for(has_[a]) ? 1 : 0);
  }
  [[nodiscard]] bool is_fill(Member from, Member to) const {
    return has_[from].count() > 0 && has_[to].count() == 0 && to > 2 * (l_ - 1);
  }
  // A member whose turn with the straggler comes in d < L rounds must not meet one that is ahead of it.
  [[nodiscard]] bool is_too_new(Member critical, Member other) const {
    if (critical <= round_ || critical >= round_ + l_) return false;
    const auto newest = has_[other].highest();
    return newest && *newest + l_ > critical;
  }

  Member n_;
  std::uint32_t l_;
  std::uint32_t round_ = 0;
  RandomStream* random_;  ///< none: in ascending order
  StragglarSchedule schedule_;
  std::vector<ChunkSet> has_;  ///< by member, at the start of the round
  std::vector<Member> free_;
  std::vector<std::pair<Member, std::uint32_t>> got_;
};

}  // namespace

StragglarSchedule stragglar_matching(Member members) {
  PHOTONRAIL_CHECK(members >= 3);
  const std::uint32_t tries = std::clamp(1024u / members, 4u, 64u);  // about 0.5 s at 126 members
  RandomStream random(members, "stragglar");
  StragglarSchedule best = Matching(members, nullptr).write();
  for (std::uint32_t i = 1; i < tries && best.rounds() > fewest_stragglar_rounds(members); ++i) {
    StragglarSchedule next = Matching(members, &random).write();
    if (next.rounds() < best.rounds()) best = std::move(next);
  }
  return best;
}

}  // namespace photonrail::collective
