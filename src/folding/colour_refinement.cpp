#include "folding/colour_refinement.hpp"

#include "folding/id_table.hpp"

#include <algorithm>

namespace photonrail::folding {

namespace {

constexpr std::uint8_t kPointToPoint = 1;
constexpr std::uint8_t kCrosses = 2;
constexpr std::uint8_t kRotates = 4;

/// A rotation-invariant plan folds with any period.
bool can_fold(const SendPlan& plan) { return plan.folded(1) != nullptr; }

}  // namespace

ColourRefinement::ColourRefinement(const FoldingInput& job, const CallTable& calls, bool by_rail)
    : job_(job), calls_(calls), by_rail_(by_rail) {
  colour_programs();
  find_kinds();
  if (!problem_.empty()) return;
  groups_.resize(job_.graph.communicators().size());
  do {
    if (by_rail_) colour_rails();
    type_groups();
  } while (refine());
  if (classes_ == job_.graph.ranks()) problem_ = "no two ranks are alike";
}

void ColourRefinement::colour_programs() {
  IdTable colours;
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
    key_ = {calls_.program_of_rank()[r], job_.labels.empty() ? 0 : job_.labels[r],
            job_.whole_rails ? job_.gpu_of_rank[r].value / job_.cluster.gpus_per_server : 0};
    colours_.push_back(colours.number(key_));
  }
  classes_ = colours.size();
}

// Members of a group are all in one server, or all on one rail. In a group that is both, messages change rails inside a
// server: the ports of a third rank, which the colours know nothing of.
void ColourRefinement::find_kinds() {
  kinds_.resize(job_.graph.communicators().size());
  for (std::size_t c = 0; c < kinds_.size() && problem_.empty(); ++c) kinds_[c] = kind_of(CommunicatorId{c});
}

std::uint8_t ColourRefinement::kind_of(CommunicatorId c) {
  const std::uint32_t local = job_.cluster.gpus_per_server;
  const Communicator& group = job_.graph.communicators()[c.index()];
  const GpuId first = job_.gpu_of_rank[group.members.front().index()];
  bool one_server = true;
  bool one_rail = true;
  for (const RankId rank : group.members) {
    const GpuId gpu = job_.gpu_of_rank[rank.index()];
    one_server = one_server && gpu.value / local == first.value / local;
    one_rail = one_rail && gpu.value % local == first.value % local;
  }
  if (!one_server && !one_rail && !calls_.calls(c).empty()) {
    problem_ = "messages of group '" + group.name + "' change rails inside a server";
  }
  auto kind = static_cast<std::uint8_t>((group.point_to_point ? kPointToPoint : 0) | (one_server ? 0 : kCrosses));
  if (problem_.empty() && !group.point_to_point && rotates(c, one_server)) kind |= kRotates;
  return kind;
}

bool ColourRefinement::rotates(CommunicatorId c, bool one_server) {
  const Communicator& group = job_.graph.communicators()[c.index()];
  const auto members = static_cast<Member>(group.members.size());
  if (members == 1) return false;
  std::uint64_t checked = ~std::uint64_t{0};
  for (Member m = 0; m < members; ++m) {
    const std::uint32_t program = calls_.program_of_rank()[group.members[m].index()];
    const std::uint64_t use = (std::uint64_t{program} << 32) | calls_.slot(c, m);
    if (use != checked && !rotates(program, calls_.slot(c, m), members, one_server)) return false;
    checked = use;
  }
  return true;
}

bool ColourRefinement::rotates(std::uint32_t program, std::uint32_t slot, Member members, bool one_server) {
  const auto [known, fresh] = rotating_.try_emplace({program, slot, members, one_server}, true);
  if (!fresh) return known->second;
  for (const CollectiveCall& call : calls_.calls(program, slot, members)) {
    known->second = known->second && can_fold(*calls_.expand(call, one_server));
  }
  return known->second;
}

// A rail's controller ties together what happens on it: rails are alike when the same colours are on them.
void ColourRefinement::colour_rails() {
  const std::uint32_t rails = job_.cluster.gpus_per_server;
  std::vector<std::vector<std::uint32_t>> present(rails);
  std::vector<std::uint32_t> last_seen(std::size_t{rails} * classes_, 0);
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
    const std::uint32_t rail = job_.gpu_of_rank[r].value % rails;
    std::uint32_t& seen = last_seen[std::size_t{rail} * classes_ + colours_[r]];
    if (seen++ == 0) present[rail].push_back(colours_[r]);
  }
  IdTable sets;
  rail_colours_.clear();
  for (std::vector<std::uint32_t>& colours : present) {
    std::sort(colours.begin(), colours.end());
    rail_colours_.push_back(sets.number(colours));
  }
}

void ColourRefinement::type_groups() {
  IdTable types;
  for (std::size_t c = 0; c < groups_.size(); ++c) groups_[c] = type_group(CommunicatorId{c}, types);
  types_ = types.size();
}

GroupClass ColourRefinement::type_group(CommunicatorId c, IdTable& types) {
  const Communicator& communicator = job_.graph.communicators()[c.index()];
  const auto members = static_cast<Member>(communicator.members.size());
  elements_.clear();
  for (Member m = 0; m < members; ++m) {
    elements_.push_back((std::uint64_t{colours_[communicator.members[m].index()]} << 32) | calls_.slot(c, m));
  }
  GroupClass group{0, 0, members};
  if ((kinds_[c.index()] & kRotates) != 0) find_period(group);
  key_ = {kinds_[c.index()], static_cast<std::uint32_t>(communicator.dimension), members, group.period};
  for (Member m = 0; m < group.period; ++m) {
    const std::uint64_t element = elements_[(group.start + m) % members];
    key_.push_back(static_cast<std::uint32_t>(element >> 32));
    key_.push_back(static_cast<std::uint32_t>(element));
  }
  group.type = types.number(key_);
  return group;
}

// The least period of the cyclic sequence, and where its least rotation begins.
void ColourRefinement::find_period(GroupClass& group) const {
  const auto n = static_cast<Member>(elements_.size());
  for (Member period = 1; period < n; ++period) {
    if (n % period != 0) continue;
    if (!std::equal(elements_.begin() + period, elements_.end(), elements_.begin())) continue;
    group.period = period;
    break;
  }
  const auto rotation_is_less = [&](Member a, Member b) {
    for (Member i = 0; i < group.period; ++i) {
      const std::uint64_t x = elements_[(a + i) % n];
      const std::uint64_t y = elements_[(b + i) % n];
      if (x != y) return x < y;
    }
    return false;
  };
  for (Member start = 1; start < group.period; ++start) {
    if (rotation_is_less(start, group.start)) group.start = start;
  }
}

// One round: true when it told ranks apart that had one colour.
bool ColourRefinement::refine() {
  IdTable colours;
  const std::uint32_t rails = job_.cluster.gpus_per_server;
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
    key_ = {colours_[r], by_rail_ ? rail_colours_[job_.gpu_of_rank[r].value % rails] : 0};
    const std::span<const CommunicatorId> of = job_.graph.slots(RankId{r});
    for (std::uint32_t s = 0; s < of.size(); ++s) {
      const GroupClass& group = groups_[of[s].index()];
      const auto members = static_cast<Member>(job_.graph.communicators()[of[s].index()].members.size());
      key_.push_back(group.type);
      key_.push_back((calls_.place(RankId{r}, s) + members - group.start) % members % group.period);
    }
    colours_[r] = colours.number(key_);
  }
  const bool finer = colours.size() != classes_;
  classes_ = colours.size();
  return finer;
}

}  // namespace photonrail::folding
