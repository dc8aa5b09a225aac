// StragglAR for a power of two, members = 2^L. In round t the straggler completes chunk t together with member t, and the
// others hand on what is complete: a new chunk's holders double from round to round, so that L rounds later all have it.
#include "collective/stragglar/schedule.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace photonrail::collective {

namespace {

class Doubling {
 public:
  explicit Doubling(Member members)
      : n_(members), l_(doublings(members)), schedule_(members), newest_(members, kNothing), used_(members) {}

  [[nodiscard]] StragglarSchedule write() && {
    for (round_ = 0; round_ < fewest_stragglar_rounds(n_); ++round_) {
      std::fill(used_.begin(), used_.end(), false);
      if (round_ <= n_ - 2) begin_exchange();
      if (round_ < l_) {
        fill();
      } else {
        double_holders();
      }
      if (round_ <= n_ - 2) newest_[round_] = round_;
      schedule_.end_round();
    }
    return std::move(schedule_);
  }

 private:
  static constexpr std::uint32_t kNothing = ~0u;

  void begin_exchange() {
    schedule_.complete(round_);
    used_[round_] = used_[n_ - 1] = true;
  }

  // Gives the sender's newest chunk to a member that has none. The receiver has it from the next round on.
  void give(Member from, Member to) {
    schedule_.copy(from, to, newest_[from]);
    used_[from] = used_[to] = true;
    given_.emplace_back(to, newest_[from]);
  }

  // Until L chunks are under way, complete chunks go to members that have none: round t-1's to member t-1+L, so that it is
  // not overtaken when its own turn with the straggler comes, the others in ascending order.
  void fill() {
    if (round_ >= 1) give(round_ - 1, round_ - 1 + l_);
    std::vector<Member> holders;
    std::vector<Member> empty;
    for (Member m = 0; m + 1 < n_; ++m) {
      if (used_[m]) continue;
      if (newest_[m] != kNothing) {
        holders.push_back(m);
      } else if (m + 1 >= 2 * l_) {
        empty.push_back(m);
      }
    }
    for (std::size_t i = 0; i < std::min(holders.size(), empty.size()); ++i) give(holders[i], empty[i]);
    for (const auto& [member, chunk] : given_) newest_[member] = chunk;
    given_.clear();
  }

  // The newest chunk of each member is one of the L chunks from the oldest, round-L, on; half of the members have the
  // oldest. Pairs each of these with one of the others: afterwards the oldest is complete everywhere, and the others have
  // twice as many holders.
  void double_holders() {
    by_chunk_.assign(l_, {});
    for (Member m = 0; m + 1 < n_; ++m) {
      if (!used_[m] && !is_critical(m)) by_chunk_[age(m)].push_back(m);
    }
    const bool draining = round_ > n_ - 2;
    if (draining) by_chunk_[n_ - 2 - oldest()].push_back(n_ - 1);
    if (!draining) pair_critical();
    std::vector<Member> others;
    for (std::uint32_t i = 1; i < l_; ++i) others.insert(others.end(), by_chunk_[i].begin(), by_chunk_[i].end());
    PHOTONRAIL_CHECK(others.size() == by_chunk_[0].size());
    for (std::size_t i = 0; i < others.size(); ++i) swap(by_chunk_[0][i], others[i]);
  }

  [[nodiscard]] std::uint32_t oldest() const { return round_ - l_; }
  [[nodiscard]] std::uint32_t age(Member m) const { return newest_[m] - oldest(); }
  /// Its turn with the straggler is so near that it must not get too new a chunk: in round t+j it has chunk t+j-L.
  [[nodiscard]] bool is_critical(Member m) const {
    return round_ <= n_ - 2 && m > round_ && m <= std::min(round_ + l_ - 1, n_ - 2);
  }

  void pair_critical() {
    std::vector<std::size_t> taken(l_);
    for (Member m = round_ + 1; is_critical(m); ++m) {
      const std::uint32_t list = age(m) != 0 ? 0 : 1;
      swap(m, by_chunk_[list][taken[list]++]);
    }
    for (const std::uint32_t list : {0u, 1u}) {
      if (list < l_) by_chunk_[list].erase(by_chunk_[list].begin(), by_chunk_[list].begin() + std::ptrdiff_t(taken[list]));
    }
  }

  // The straggler has nothing to get any more.
  void swap(Member a, Member b) {
    if (b == n_ - 1) {
      schedule_.copy(b, a, n_ - 2);
      newest_[a] = n_ - 2;
      return;
    }
    schedule_.copy(a, b, newest_[a]);
    schedule_.copy(b, a, newest_[b]);
    newest_[a] = newest_[b] = std::max(newest_[a], newest_[b]);
  }

  Member n_;
  std::uint32_t l_;
  std::uint32_t round_ = 0;
  StragglarSchedule schedule_;
  std::vector<std::uint32_t> newest_;  ///< by member: the highest complete chunk that it has
  std::vector<bool> used_;             ///< in this round
  std::vector<std::pair<Member, std::uint32_t>> given_;
  std::vector<std::vector<Member>> by_chunk_;  ///< members by the age of their newest chunk, 0: the oldest
};

}  // namespace

std::uint32_t doublings(Member members) { return static_cast<std::uint32_t>(std::bit_width(members - 1)); }

StragglarSchedule stragglar_doubling(Member members) {
  PHOTONRAIL_CHECK(members >= 2 && std::has_single_bit(members));
  return Doubling(members).write();
}

}  // namespace photonrail::collective
