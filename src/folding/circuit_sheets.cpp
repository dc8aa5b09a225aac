#include "folding/circuit_sheets.hpp"

#include "folding/id_table.hpp"
#include "photonrail/core/circuit.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

namespace photonrail::folding {

namespace {

/// A circuit that a rank needs for a use.
struct SheetPartner {
  RankId rank;
  std::uint32_t other_class = 0;
  std::uint32_t use = 0;
  RankId other;
  friend auto operator<=>(const SheetPartner&, const SheetPartner&) = default;
};

struct SheetOfUse {
  std::uint32_t other_class = 0;
  std::uint32_t use = 0;
  std::uint32_t sheet = 0;
  friend bool operator==(const SheetOfUse&, const SheetOfUse&) = default;
};

class SheetFinder {
 public:
  SheetFinder(const FoldingInput& job, CircuitPairs& pairs, const ColourRefinement& classes)
      : job_(job), pairs_(pairs), classes_(classes), of_class_(classes.classes()) {}

  SheetAttempt find() {
    list();
    std::sort(partners_.begin(), partners_.end());
    for (auto first = partners_.begin(); first != partners_.end();) {
      const RankId rank = first->rank;
      const auto last = std::find_if(first, partners_.end(), [rank](const SheetPartner& p) { return p.rank != rank; });
      if (!number({first, last})) return {std::nullopt, std::move(mixed_)};
      first = last;
    }
    return {table(), {}};
  }

 private:
  // Places are counted from where the classes of the group begin to repeat, and the sender's is in the first period.
  std::uint32_t use_of(CommunicatorId c, MemberPair pair) {
    const GroupClass& group = classes_.groups()[c.index()];
    const auto members = static_cast<Member>(job_.graph.communicators()[c.index()].members.size());
    const Member from = (pair.first + members - group.start) % members;
    const Member moved = from - from % group.period;
    const Member to = (pair.second + 2 * members - group.start - moved) % members;
    const std::array<std::uint32_t, 3> key{group.type, from - moved, to};
    const std::uint32_t use = uses_.number(key);
    if (use == type_of_use_.size()) type_of_use_.push_back(group.type);
    return use;
  }

  void list() {
    std::size_t count = 0;
    const std::size_t groups = job_.graph.communicators().size();
    for (std::size_t c = 0; c < groups; ++c) count += pairs_.count(CommunicatorId{c});
    partners_.reserve(count);
    for (std::size_t c = 0; c < groups; ++c) {
      pairs_.each(CommunicatorId{c}, [&](MemberPair pair, RankId from, RankId to) {
        partners_.push_back({from, classes_.class_of_rank()[to.index()], use_of(CommunicatorId{c}, pair), to});
      });
    }
  }

  // Numbers the partners of one rank, class by class in the order of the uses; false: they differ from those of its class.
  bool number(std::span<const SheetPartner> partners) {
    numbered_.clear();
    for (std::size_t i = 0; i < partners.size(); ++i) {
      const SheetPartner& p = partners[i];
      if (i == 0 || partners[i - 1].other_class != p.other_class) targets_.clear();
      if (!numbered_.empty() && numbered_.back().use == p.use) return false;  // it needs two circuits for one
      const auto known = std::find(targets_.begin(), targets_.end(), p.other);
      const auto sheet = static_cast<std::uint32_t>(known - targets_.begin());
      if (known == targets_.end()) targets_.push_back(p.other);
      if (sheet >= kMaxSheets) return false;
      numbered_.push_back({p.other_class, p.use, sheet});
    }
    std::vector<SheetOfUse>& same = of_class_[classes_.class_of_rank()[partners.front().rank.index()]];
    if (same.empty()) same = numbered_;
    if (same == numbered_) return true;
    note_mixed(same);
    return false;
  }

  // The first use that has another sheet here than for other ranks of the class, and those that it shares a sheet with.
  void note_mixed(const std::vector<SheetOfUse>& same) {
    const auto [other, here] = std::mismatch(same.begin(), same.end(), numbered_.begin(), numbered_.end());
    if (other == same.end() || here == numbered_.end() || other->use != here->use) return;
    for (const auto& [list, at] : {std::pair(&same, *other), std::pair(&std::as_const(numbered_), *here)}) {
      for (const SheetOfUse& use : *list) {
        if (use.other_class == at.other_class && use.sheet == at.sheet) mixed_.push_back(type_of_use_[use.use]);
      }
    }
  }

  fabric::Sheets table() {
    fabric::Sheets sheets;
    std::vector<bool> done(classes_.types(), false);
    for (std::size_t c = 0; c < job_.graph.communicators().size(); ++c) {
      const GroupClass& group = classes_.groups()[c];
      if (done[group.type]) continue;
      done[group.type] = true;
      pairs_.each(CommunicatorId{c}, [&](MemberPair pair, RankId from, RankId to) {
        const std::uint32_t sheet = sheet_of(from, to, use_of(CommunicatorId{c}, pair));
        if (sheet > 0) sheets.set(job_.gpu_of_rank[from.index()], job_.gpu_of_rank[to.index()], sheet);
      });
    }
    return sheets;
  }

  [[nodiscard]] std::uint32_t sheet_of(RankId from, RankId to, std::uint32_t use) const {
    const std::vector<SheetOfUse>& of = of_class_[classes_.class_of_rank()[from.index()]];
    const std::pair wanted{classes_.class_of_rank()[to.index()], use};
    return std::lower_bound(of.begin(), of.end(), wanted,
                            [](const SheetOfUse& s, const auto& w) {
                              return std::pair{s.other_class, s.use} < w;
                            })
        ->sheet;
  }

  const FoldingInput& job_;
  CircuitPairs& pairs_;
  const ColourRefinement& classes_;
  IdTable uses_;
  std::vector<SheetPartner> partners_;
  std::vector<std::vector<SheetOfUse>> of_class_;
  std::vector<SheetOfUse> numbered_;  // of the rank in hand
  std::vector<RankId> targets_;       // of the class in hand
  std::vector<std::uint32_t> type_of_use_;
  std::vector<std::uint32_t> mixed_;
};

}  // namespace

SheetAttempt circuit_sheets(const FoldingInput& job, CircuitPairs& pairs, const ColourRefinement& classes) {
  return SheetFinder(job, pairs, classes).find();
}

}  // namespace photonrail::folding
