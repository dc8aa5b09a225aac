#include "folding/folding.hpp"

#include "folding/call_table.hpp"
#include "folding/circuit_pairs.hpp"
#include "folding/circuit_sheets.hpp"
#include "folding/colour_refinement.hpp"
#include "folding/group_layouts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace photonrail::folding {

using fabric::FoldedPlant;

namespace {

/// A GPU sends to one GPU of a class at the most, and receives from one: what makes a circuit between classes one of each.
class CircuitPartners {
 public:
  CircuitPartners(const FoldingInput& job, CircuitPairs& pairs, const ColourRefinement& classes)
      : job_(job), pairs_(pairs), classes_(classes) {
    for (const bool sending : {true, false}) {
      list_partners(sending);
      if (!indistinct_) find_indistinct(sending);
    }
  }

  /// Returns true when a rank has circuits to several ranks that nothing tells apart.
  [[nodiscard]] bool indistinct() const { return indistinct_.has_value(); }

  /// Of the groups with these circuits, or of those of the types `among`, the one that has the fewest classes when more of
  /// its members are told apart. None: no group can tell them apart. REQUIRES: indistinct().
  [[nodiscard]] CommunicatorId group_to_separate(std::span<const std::uint32_t> among) {
    CommunicatorId best = CommunicatorId::none();
    std::pair<Member, Member> least{};  // by how much the period grows, and to what
    for (std::size_t c = 0; c < job_.graph.communicators().size(); ++c) {
      const CommunicatorId group{c};
      const Member next = classes_.next_period(group);
      if (next == 0) continue;
      const bool meant = among.empty() ? has_indistinct(group)
                                       : std::find(among.begin(), among.end(), classes_.groups()[c].type) != among.end();
      if (!meant) continue;
      const std::pair growth{next / classes_.groups()[c].period, next};
      if (best.is_none() || growth < least) std::tie(best, least) = std::pair(group, growth);
    }
    return best;
  }

 private:
  struct Partner {
    RankId rank;
    std::uint32_t other_class;
    RankId other;
    friend auto operator<=>(const Partner&, const Partner&) = default;
  };
  /// A rank, and two others of one class that it sends to or receives from.
  struct Indistinct {
    bool sending;
    RankId rank;
    RankId one;
    RankId other;
  };

  // Lists for all GPUs those that they send to, or receive from: one of the two at a time, because there are many.
  void list_partners(bool sending) {
    const auto classes = classes_.class_of_rank();
    const std::size_t groups = job_.graph.communicators().size();
    partners_.clear();
    if (partners_.capacity() == 0) partners_.reserve(count_partners());
    for (std::size_t c = 0; c < groups && pairs_.problem().empty(); ++c) {
      pairs_.each(CommunicatorId{c}, [&](MemberPair, RankId from, RankId to) {
        const RankId other = sending ? to : from;
        partners_.push_back({sending ? from : to, classes[other.index()], other});
      });
    }
  }

  // There are at most as many that a GPU sends to as it receives from.
  std::size_t count_partners() {
    std::size_t count = 0;
    for (std::size_t c = 0; c < job_.graph.communicators().size() && pairs_.problem().empty(); ++c) {
      count += pairs_.count(CommunicatorId{c});
    }
    return count;
  }

  [[nodiscard]] bool has_indistinct(CommunicatorId c) {
    bool has = false;
    pairs_.each(c, [&](MemberPair, RankId from, RankId to) {
      const RankId rank = indistinct_->sending ? from : to;
      const RankId other = indistinct_->sending ? to : from;
      has = has || (rank == indistinct_->rank && (other == indistinct_->one || other == indistinct_->other));
    });
    return has;
  }

  void find_indistinct(bool sending) {
    std::sort(partners_.begin(), partners_.end());
    for (std::size_t i = 1; i < partners_.size() && !indistinct_; ++i) {
      const Partner& a = partners_[i - 1];
      const Partner& b = partners_[i];
      if (a.rank != b.rank || a.other_class != b.other_class || a.other == b.other) continue;
      indistinct_ = Indistinct{sending, a.rank, a.other, b.other};
    }
  }

  const FoldingInput& job_;
  CircuitPairs& pairs_;
  const ColourRefinement& classes_;
  std::optional<Indistinct> indistinct_;
  std::vector<Partner> partners_;
};

// Finds sheets for the circuits between two classes, or tells members of groups apart until a circuit between two classes
// is one of each of their GPUs; what is in the way, or "". With fewer than two ranks a class a folded run is hardly faster
// than the run of every rank that may have to follow it.
std::string separate_partners(const FoldingInput& job, const CallTable& calls, const GroupLayouts& layouts,
                              ColourRefinement& classes, fabric::Sheets& sheets) {
  while (true) {
    CircuitPairs pairs(job, calls, layouts, classes);
    CircuitPartners partners(job, pairs, classes);
    if (!pairs.problem().empty()) return pairs.problem();
    if (!partners.indistinct()) return "";
    const SheetAttempt attempt = job.sheets ? circuit_sheets(job, pairs, classes) : SheetAttempt{};
    if (attempt.sheets) {
      sheets = *attempt.sheets;
      return "";
    }
    const CommunicatorId group = partners.group_to_separate(attempt.mixed);
    if (!group.is_none()) classes.separate(group);
    if (group.is_none() || 2 * classes.classes() > job.graph.ranks()) {
      return "a rank has circuits to several ranks that nothing tells apart";
    }
  }
}

/// Puts the smaller job together.
class Folder {
 public:
  Folder(const FoldingInput& job, const CallTable& calls, const ColourRefinement& refinement)
      : job_(job), calls_(calls), refinement_(refinement) {
    lowest_.resize(refinement.classes(), RankId::none());
    for (std::size_t r = job.graph.ranks(); r-- > 0;) lowest_[refinement.class_of_rank()[r]] = RankId{r};
  }

  FoldingAttempt fold() {
    Folding folding;
    folding.class_of_rank.assign(refinement_.class_of_rank().begin(), refinement_.class_of_rank().end());
    std::vector<Communicator> communicators = fold_groups(folding.placement);
    if (!distinct_) return {std::nullopt, "a rank is in two groups that nothing tells apart"};
    folding.graph = job_.graph.part(lowest_, std::move(communicators), fold_slots(folding.placement));
    fold_plant(folding);
    return {std::move(folding), ""};
  }

 private:
  std::vector<Communicator> fold_groups(MemberPlacement& placement) {
    const std::vector<Communicator>& whole = job_.graph.communicators();
    first_of_type_.assign(refinement_.types(), CommunicatorId::none());
    placement.copies.assign(refinement_.types(), 0);
    for (std::size_t c = whole.size(); c-- > 0;) {
      const std::uint32_t type = refinement_.groups()[c].type;
      first_of_type_[type] = CommunicatorId{c};
      ++placement.copies[type];
    }
    std::vector<Communicator> folded;
    for (const CommunicatorId c : first_of_type_) {
      const Communicator& communicator = whole[c.index()];
      const GroupClass group = refinement_.groups()[c.index()];
      const std::size_t members = communicator.members.size();
      Communicator& part =
          folded.emplace_back(Communicator{communicator.name, {}, communicator.dimension, communicator.point_to_point});
      for (std::size_t m = 0; m < members; ++m) {
        const RankId rank = communicator.members[(group.start + m) % members];
        placement.gpus.push_back(job_.gpu_of_rank[rank.index()]);
        if (m < group.period) part.members.push_back(RankId{refinement_.class_of_rank()[rank.index()]});
      }
      placement.offsets.push_back(placement.gpus.size());
      if (!part.point_to_point) check_distinct(part.members);
    }
    return folded;
  }

  // Two operations of a rank that nothing tells apart would be one that it takes part in twice.
  void check_distinct(std::vector<RankId> members) {
    std::sort(members.begin(), members.end());
    distinct_ = distinct_ && std::adjacent_find(members.begin(), members.end()) == members.end();
  }

  std::vector<std::vector<CommunicatorId>> fold_slots(MemberPlacement& placement) {
    std::vector<std::vector<CommunicatorId>> slots(lowest_.size());
    placement.places.resize(lowest_.size());
    for (std::size_t k = 0; k < lowest_.size(); ++k) {
      const std::span<const CommunicatorId> of = job_.graph.slots(lowest_[k]);
      for (std::uint32_t s = 0; s < of.size(); ++s) {
        const GroupClass& group = refinement_.groups()[of[s].index()];
        const auto members = static_cast<Member>(job_.graph.communicators()[of[s].index()].members.size());
        slots[k].push_back(CommunicatorId{group.type});
        placement.places[k].push_back((calls_.place(lowest_[k], s) + members - group.start) % members % group.period);
      }
    }
    return slots;
  }

  // Each class is a server of its rail. Electrical rails have nothing that ties their GPUs together: one rail will do.
  void fold_plant(Folding& folding) const {
    const bool optical = job_.optical();
    FoldedPlant& plant = folding.plant;
    const std::uint32_t rails = job_.cluster.gpus_per_server;
    std::map<std::uint32_t, std::uint32_t> number;              // colour of a rail -> rail of the plant
    std::vector<std::uint32_t> servers;                         // by rail of the plant
    std::vector<std::pair<std::uint32_t, std::uint32_t>> seat;  // by class: server and rail of the plant
    for (const RankId rank : lowest_) {
      const std::uint32_t rail = job_.gpu_of_rank[rank.index()].value % rails;
      const auto [entry, fresh] = number.try_emplace(optical ? refinement_.rail_colours()[rail] : 0, servers.size());
      if (fresh) servers.push_back(0);
      seat.emplace_back(servers[entry->second]++, entry->second);
    }
    plant.gpus_per_server = static_cast<std::uint32_t>(servers.size());
    plant.servers = *std::max_element(servers.begin(), servers.end());
    plant.stands_for.assign(std::size_t{plant.servers} * plant.gpus_per_server, 0);
    plant.images.assign(job_.cluster.gpus(), GpuId::none());
    for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
      const auto [server, rail] = seat[refinement_.class_of_rank()[r]];
      const GpuId image{std::size_t{server} * plant.gpus_per_server + rail};
      plant.images[job_.gpu_of_rank[r].index()] = image;
      ++plant.stands_for[image.index()];
    }
    for (std::uint32_t rail = 0; optical && rail < rails; ++rail) {
      const auto found = number.find(refinement_.rail_colours()[rail]);
      folding.rail_image.push_back(found == number.end() ? RailId::none() : RailId{found->second});
    }
  }

  const FoldingInput& job_;
  const CallTable& calls_;
  const ColourRefinement& refinement_;
  std::vector<RankId> lowest_;  // by class: its lowest rank
  std::vector<CommunicatorId> first_of_type_;
  bool distinct_ = true;
};

// Returns true when what stands for a rail has its GPUs and its groups in the order that they have there: what a controller
// sees of it is then the same but for names.
bool keeps_order(const FoldingInput& job, const ColourRefinement& classes, const FoldedPlant& plant) {
  const std::uint32_t rails = job.cluster.gpus_per_server;
  const auto ascends = [](std::vector<std::int64_t>& last, std::size_t rail, std::int64_t next) {
    return std::exchange(last[rail], next) < next;
  };
  std::vector<std::int64_t> position(rails, -1);
  for (std::size_t gpu = 0; gpu < plant.images.size(); ++gpu) {
    if (plant.images[gpu].is_none()) continue;
    if (!ascends(position, gpu % rails, plant.images[gpu].value / plant.gpus_per_server)) return false;
  }
  std::vector<std::int64_t> group(rails, -1);
  for (std::size_t c = 0; c < classes.groups().size(); ++c) {
    const std::vector<RankId>& members = job.graph.communicators()[c].members;
    const std::uint32_t first = job.gpu_of_rank[members.front().index()].value;
    if (first / rails == job.gpu_of_rank[members.back().index()].value / rails) continue;  // in one server
    if (!ascends(group, first % rails, classes.groups()[c].type)) return false;
  }
  return true;
}

}  // namespace

FoldingAttempt fold(const FoldingInput& job) {
  const CallTable calls(job.graph, job.algorithms);
  if (!calls.problem().empty()) return {std::nullopt, calls.problem()};
  const GroupLayouts layouts(job, calls);
  if (!layouts.problem().empty()) return {std::nullopt, layouts.problem()};
  ColourRefinement refinement(job, calls, layouts, job.optical());
  if (!refinement.problem().empty()) return {std::nullopt, refinement.problem()};
  fabric::Sheets sheets;
  if (job.optical()) {
    if (std::string why = separate_partners(job, calls, layouts, refinement, sheets); !why.empty())
      return {std::nullopt, why};
  }
  FoldingAttempt attempt = Folder(job, calls, refinement).fold();
  if (attempt.folding) attempt.folding->plant.sheets = std::move(sheets);
  if (attempt.folding && job.whole_rails && !keeps_order(job, refinement, attempt.folding->plant)) {
    return {std::nullopt, "the GPUs of equal rails, or their groups, are numbered in another order"};
  }
  return attempt;
}

}  // namespace photonrail::folding
