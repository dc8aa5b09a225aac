#include "pip/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace photonrail::pip {

namespace {

constexpr std::uint64_t kRoutingSteps = 20'000;    // for one matching
constexpr std::uint64_t kCoverSteps = 20'000'000;  // for one number of matchings

using Pairs = std::uint32_t;  // a bit for every two of at most 8 ports

/// Matchings of ports as sets of pairs.
class Matchings {
 public:
  explicit Matchings(const PipMesh& mesh) : mesh_(mesh) {
    for (std::uint32_t a = 0; a < mesh.ports(); ++a) {
      for (std::uint32_t b = a + 1; b < mesh.ports(); ++b) pairs_.push_back({a, b});
    }
    add_maximal(0, 0, 0);
    // Tries, of a matching that cannot be routed, those with one pair less.
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Pairs set = open_[i];
      PipSearch search = search_routes(mesh_, list(set), kRoutingSteps);
      if (search.routable != Routable::kNo) possible_.push_back(set);
      if (search.routable == Routable::kYes) {
        certain_.push_back(set);
        routes_.push_back(std::move(search.routes));
        continue;
      }
      for (Pairs rest = set; rest != 0; rest &= rest - 1) {
        const Pairs smaller = set & ~(rest & -rest);
        if (smaller != 0 && std::find(open_.begin(), open_.end(), smaller) == open_.end()) open_.push_back(smaller);
      }
    }
  }

  [[nodiscard]] Pairs all() const { return static_cast<Pairs>((std::uint64_t{1} << pairs_.size()) - 1); }
  [[nodiscard]] const std::vector<Pairs>& certain() const { return certain_; }    ///< routes were found
  [[nodiscard]] const std::vector<Pairs>& possible() const { return possible_; }  ///< routes are not ruled out

  [[nodiscard]] const std::vector<PipRoute>& routes(Pairs set) const {
    return routes_[static_cast<std::size_t>(std::find(certain_.begin(), certain_.end(), set) - certain_.begin())];
  }

 private:
  [[nodiscard]] std::vector<PortPair> list(Pairs set) const {
    std::vector<PortPair> pairs;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if ((set >> i & 1) != 0) pairs.push_back(pairs_[i]);
    }
    return pairs;
  }

  // With an odd number of ports one of them sits out.
  void add_maximal(Pairs set, std::uint32_t used, std::uint32_t sitting_out) {
    const auto port = static_cast<std::uint32_t>(std::countr_one(used));
    if (port >= mesh_.ports()) {
      open_.push_back(set);
      return;
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto [a, b] = pairs_[i];
      if (a == port && (used >> b & 1) == 0) add_maximal(set | Pairs{1} << i, used | 1u << a | 1u << b, sitting_out);
    }
    if (sitting_out < mesh_.ports() % 2) add_maximal(set, used | 1u << port, sitting_out + 1);
  }

  const PipMesh& mesh_;
  std::vector<PortPair> pairs_;
  std::vector<Pairs> open_;
  std::vector<Pairs> certain_;
  std::vector<Pairs> possible_;
  std::vector<std::vector<PipRoute>> routes_;  // of those that are certain
};

/// Depth first: of the pairs that are not joined yet, the one that the fewest matchings join.
class Cover {
 public:
  enum class Answer : std::uint8_t { kFound, kNone, kBrokenOff };

  Cover(const std::vector<Pairs>& sets, Pairs all) : sets_(sets), all_(all) {
    for (const Pairs set : sets) {
      largest_ = std::max(largest_, std::popcount(set));
      for (Pairs rest = set; rest != 0; rest &= rest - 1) ++joining_[std::countr_zero(rest)];
    }
  }

  [[nodiscard]] Answer run(std::uint32_t size) {
    steps_ = kCoverSteps;
    chosen_.clear();
    if (extend(all_, size)) return Answer::kFound;
    return steps_ == 0 ? Answer::kBrokenOff : Answer::kNone;
  }
  [[nodiscard]] const std::vector<Pairs>& chosen() const { return chosen_; }

 private:
  [[nodiscard]] bool extend(Pairs left, std::uint32_t size) {
    if (left == 0) return true;
    if (steps_ == 0 || std::popcount(left) > largest_ * static_cast<int>(size)) return false;
    --steps_;
    const Pairs pair = rarest(left);
    for (const Pairs set : sets_) {
      if ((set & pair) == 0) continue;
      chosen_.push_back(set);
      if (extend(left & ~set, size - 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  [[nodiscard]] Pairs rarest(Pairs left) const {
    Pairs best = left & -left;
    for (Pairs rest = left; rest != 0; rest &= rest - 1) {
      const Pairs pair = rest & -rest;
      if (joining_[std::countr_zero(pair)] < joining_[std::countr_zero(best)]) best = pair;
    }
    return best;
  }

  const std::vector<Pairs>& sets_;
  Pairs all_;
  int largest_ = 0;
  std::array<std::uint32_t, 32> joining_{};  // by pair: the matchings that have it
  std::uint64_t steps_ = 0;
  std::vector<Pairs> chosen_;
};

}  // namespace

void improve(const PipMesh& mesh, PipCover& cover) {
  const Matchings matchings(mesh);
  Cover possible(matchings.possible(), matchings.all());
  while (cover.lower_bound < cover.matchings.size() && possible.run(cover.lower_bound) == Cover::Answer::kNone) {
    ++cover.lower_bound;
  }
  Cover certain(matchings.certain(), matchings.all());
  for (std::uint32_t size = cover.lower_bound; size < cover.matchings.size(); ++size) {
    if (certain.run(size) != Cover::Answer::kFound) continue;
    cover.matchings.clear();
    for (const Pairs set : certain.chosen()) cover.matchings.push_back(matchings.routes(set));
    return;
  }
}

}  // namespace photonrail::pip
