// Birkhoff (1946), von Neumann (1953): a matrix whose rows and columns all have one sum is a sum of permutations. A demand
// gets there by padding, which takes time on a port but is never sent. The permutations with large entries come first
// (thresholds that halve, as in Solstice, Liu et al., CoNEXT 2015), which keeps them few.
// The greedy version follows Eclipse (Venkatakrishnan et al., SIGMETRICS 2016): most bytes for the time. It leaves out
// Eclipse's maximum weighted matching: the matching of a threshold is one of the largest size.
#include "collective/decomposition.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace photonrail::collective {

namespace {

/// Bytes by sender and receiver, diagonal included. Once indexed it knows for each power of two which cells have as much,
/// as bits, so that a search looks at those that it may take and at no others.
class ByteGrid {
 public:
  explicit ByteGrid(Member n) : n_(n), words_((n + 63) / 64), cells_(std::size_t{n} * n) {}
  [[nodiscard]] std::int64_t& at(Member from, Member to) { return cells_[std::size_t{from} * n_ + to]; }
  [[nodiscard]] std::int64_t at(Member from, Member to) const { return cells_[std::size_t{from} * n_ + to]; }
  [[nodiscard]] Member size() const { return n_; }
  [[nodiscard]] std::int64_t largest() const { return *std::max_element(cells_.begin(), cells_.end()); }

  /// From now on cells change by take() alone.
  void index() {
    bits_.assign(static_cast<std::size_t>(width(largest())) * n_ * words_, 0);
    for (Member from = 0; from < n_; ++from) {
      for (Member to = 0; to < n_; ++to) flip(from, to, 0, width(at(from, to)));
    }
  }
  void take(Member from, Member to, std::int64_t bytes) {
    std::int64_t& cell = at(from, to);
    const int before = width(cell);
    cell -= bytes;
    if (!bits_.empty()) flip(from, to, width(cell), before);
  }
  /// The receivers, by words of 64, for whom the sender has `power` bytes or more. REQUIRES: index(), and a power of two
  /// that is no more than the largest cell was then.
  [[nodiscard]] const std::uint64_t* with(Member from, std::int64_t power) const {
    return bits_.data() + (static_cast<std::size_t>(width(power) - 1) * n_ + from) * words_;
  }
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  /// Returns how many powers of two are no more than it.
  [[nodiscard]] static int width(std::int64_t bytes) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
  }
  void flip(Member from, Member to, int first, int end) {
    for (int level = first; level < end; ++level) {
      bits_[(static_cast<std::size_t>(level) * n_ + from) * words_ + to / 64] ^= std::uint64_t{1} << (to % 64);
    }
  }

  Member n_;
  std::size_t words_;
  std::vector<std::int64_t> cells_;
  std::vector<std::uint64_t> bits_;  // by power of two and sender
};

ByteGrid grid_of(const TrafficMatrix& demand) {
  ByteGrid grid(demand.members());
  for (Member from = 0; from < grid.size(); ++from) {
    for (Member to = 0; to < grid.size(); ++to) {
      if (from != to) grid.at(from, to) = demand.at(from, to).count;
    }
  }
  return grid;
}

/// A largest matching of the cells that have at least a threshold (augmenting paths, Kuhn 1955), kept while the threshold
/// and the cells change. A search looks for a receiver without a sender before it goes deeper (Duff's MC21, 1981): without
/// that it goes through most of the matching for nearly each pair.
class Matcher {
 public:
  static constexpr Member kNobody = std::numeric_limits<Member>::max();

  explicit Matcher(const ByteGrid& grid)
      : grid_(grid), to_(grid.size(), kNobody), from_(grid.size(), kNobody), unseen_(grid.words()) {}

  /// The number of pairs. REQUIRES: the grid is indexed, and the threshold is a power of two.
  std::size_t match(std::int64_t threshold) {
    threshold_ = threshold;
    for (Member from = 0; from < grid_.size(); ++from) {
      const Member to = to_[from];
      if (to != kNobody && grid_.at(from, to) < threshold) to_[from] = from_[to] = kNobody;
    }
    free_.assign(grid_.words(), 0);
    for (Member to = 0; to < grid_.size(); ++to) {
      if (from_[to] == kNobody) free_[to / 64] |= std::uint64_t{1} << (to % 64);
    }
    std::size_t pairs = 0;
    for (Member from = 0; from < grid_.size(); ++from) {
      if (to_[from] == kNobody) {
        std::fill(unseen_.begin(), unseen_.end(), ~std::uint64_t{0});
        if (!augment(from)) continue;
      }
      ++pairs;
    }
    return pairs;
  }
  [[nodiscard]] const std::vector<Member>& receivers() const { return to_; }

 private:
  // Receivers are tried in ascending order, each once in a search.
  bool augment(Member from) {
    const std::uint64_t* const enough = grid_.with(from, threshold_);
    for (std::size_t w = 0; w < free_.size(); ++w) {
      if (const std::uint64_t open = enough[w] & free_[w]) return join(from, take_first(free_, w, open));
    }
    for (std::size_t w = 0; w < unseen_.size(); ++w) {
      while (const std::uint64_t open = enough[w] & unseen_[w]) {
        const Member to = take_first(unseen_, w, open);
        if (augment(from_[to])) return join(from, to);
      }
    }
    return false;
  }
  // Removes the first of the bits `open` of word w.
  static Member take_first(std::vector<std::uint64_t>& bits, std::size_t w, std::uint64_t open) {
    bits[w] &= ~(open & -open);
    return static_cast<Member>(64 * w + static_cast<std::size_t>(std::countr_zero(open)));
  }
  bool join(Member from, Member to) {
    to_[from] = to;
    from_[to] = from;
    return true;
  }

  const ByteGrid& grid_;
  std::int64_t threshold_ = 1;
  std::vector<Member> to_;             ///< by sender
  std::vector<Member> from_;           ///< by receiver
  std::vector<std::uint64_t> free_;    ///< bits: receivers without a sender
  std::vector<std::uint64_t> unseen_;  ///< bits: receivers that the present search has not tried
};

std::int64_t highest_power(std::int64_t value) {
  return value <= 0 ? 0 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}

/// Adds to the cells until every row and column has the largest sum. Returns it.
std::int64_t pad(ByteGrid& grid) {
  const Member n = grid.size();
  std::vector<std::int64_t> out(n), in(n);
  for (Member from = 0; from < n; ++from) {
    for (Member to = 0; to < n; ++to) {
      out[from] += grid.at(from, to);
      in[to] += grid.at(from, to);
    }
  }
  const std::int64_t most = std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
  Member to = 0;
  for (Member from = 0; from < n; ++from) {
    while (out[from] < most) {
      while (in[to] == most) ++to;
      const std::int64_t more = std::min(most - out[from], most - in[to]);
      grid.at(from, to) += more;
      out[from] += more;
      in[to] += more;
    }
  }
  return most;
}

/// Sends up to `bytes` from each sender to its receiver, and takes that away from what is left.
DemandRound send(ByteGrid& left, const std::vector<Member>& receivers, std::int64_t bytes) {
  DemandRound round;
  for (Member from = 0; from < left.size(); ++from) {
    if (receivers[from] == Matcher::kNobody) continue;
    const std::int64_t sent = std::min(left.at(from, receivers[from]), bytes);
    if (sent > 0) round.push_back({from, receivers[from], Bytes{sent}});
    left.take(from, receivers[from], sent);
  }
  return round;
}

struct Choice {
  std::vector<Member> receivers;
  std::int64_t bytes = 0;  ///< of the pair that lasts longest
  double rate = 0.0;       ///< bytes sent for each byte of a port's time
};

Choice weigh(const ByteGrid& left, const std::vector<Member>& receivers, std::int64_t bytes, Bytes reconfiguration) {
  double sum = 0.0;
  for (Member from = 0; from < left.size(); ++from) {
    if (receivers[from] != Matcher::kNobody) sum += static_cast<double>(std::min(left.at(from, receivers[from]), bytes));
  }
  return {receivers, bytes, sum / (static_cast<double>(bytes) + static_cast<double>(reconfiguration.count))};
}

}  // namespace

std::vector<DemandRound> birkhoff_rounds(const TrafficMatrix& demand) {
  ByteGrid left = grid_of(demand);
  ByteGrid padded = left;
  std::int64_t time = pad(padded);
  padded.index();
  Matcher matcher(padded);
  std::vector<DemandRound> rounds;
  std::int64_t threshold = highest_power(padded.largest());
  while (time > 0) {
    while (matcher.match(threshold) < left.size()) threshold /= 2;
    PHOTONRAIL_CHECK(threshold > 0);
    std::int64_t least = time;
    for (Member from = 0; from < left.size(); ++from) least = std::min(least, padded.at(from, matcher.receivers()[from]));
    for (Member from = 0; from < left.size(); ++from) padded.take(from, matcher.receivers()[from], least);
    time -= least;
    rounds.push_back(send(left, matcher.receivers(), least));
  }
  return rounds;
}

std::vector<DemandRound> greedy_rounds(const TrafficMatrix& demand, Bytes reconfiguration) {
  ByteGrid left = grid_of(demand);
  left.index();
  std::vector<DemandRound> rounds;
  while (const std::int64_t largest = left.largest()) {
    Choice best;
    Matcher matcher(left);
    for (std::int64_t threshold = highest_power(largest); threshold > 0; threshold /= 2) {
      if (matcher.match(threshold) == 0) continue;
      std::int64_t longest = 0;
      std::int64_t shortest = largest;
      for (Member from = 0; from < left.size(); ++from) {
        if (matcher.receivers()[from] == Matcher::kNobody) continue;
        longest = std::max(longest, left.at(from, matcher.receivers()[from]));
        shortest = std::min(shortest, left.at(from, matcher.receivers()[from]));
      }
      for (const std::int64_t bytes : {longest, shortest}) {
        Choice choice = weigh(left, matcher.receivers(), bytes, reconfiguration);
        if (choice.rate > best.rate) best = std::move(choice);
      }
    }
    rounds.push_back(send(left, best.receivers, best.bytes));
  }
  return rounds;
}

}  // namespace photonrail::collective
