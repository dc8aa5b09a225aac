#include "folding/colour_refinement.hpp"

#include "folding/folding.hpp"
#include "folding/id_table.hpp"
#include "workload/program_hash.hpp"

#include <algorithm>
#include <set>

namespace photonrail {

namespace {

constexpr std::uint8_t kPointToPoint = 1;
constexpr std::uint8_t kCrosses = 2;
constexpr std::uint8_t kRotates = 4;

/// A plan that depends on the ops and the sizes of its members, and on whether they share a server or a rail: groups of one
/// type do. Others are refused with their group (find_kinds).
void require_plain(const CollectiveAlgorithm& algorithm) {
  const std::string name(algorithm.name());
  if (algorithm.expects_straggler()) throw FoldingFailed{"'" + name + "' treats the member that comes last differently"};
}

/// Of a rotation-invariant plan any period will do.
bool can_fold(const SendPlan& plan) { return plan.folded(1) != nullptr; }

}  // namespace

ColourRefinement::ColourRefinement(const Scenario& scenario, PlanCache& plans, bool by_rail)
    : scenario_(scenario), graph_(scenario.graph), plans_(plans), by_rail_(by_rail) {
  number_programs();
  if (classes_ == graph_.ranks()) throw FoldingFailed{"every rank has tasks of its own"};
  list_calls();
  find_slots();
  find_kinds();
  groups_.resize(graph_.communicators().size());
  do {
    if (by_rail_) colour_rails();
    type_groups();
  } while (refine());
  if (classes_ == graph_.ranks()) throw FoldingFailed{"no two ranks are alike"};
}

// Programs are told apart by their tasks only; recorded traces have one for each rank.
void ColourRefinement::number_programs() {
  const std::vector<Program>& programs = graph_.programs();
  std::vector<std::uint32_t> number(programs.size());
  std::multimap<std::uint64_t, std::uint32_t> by_hash;
  for (std::uint32_t p = 0; p < programs.size(); ++p) {
    const std::uint64_t hash = hash_tasks(programs[p]);
    const auto [first, last] = by_hash.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& e) { return programs[e.second].same_tasks(programs[p]); });
    number[p] = same == last ? p : same->second;
    if (same == last) by_hash.emplace(hash, p);
  }
  IdTable seen;
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    const std::uint32_t one = number[graph_.program_of(RankId{r}).index()];
    program_class_.push_back(seen.number({&one, 1}));
  }
  classes_ = seen.size();
  colours_ = program_class_;
}

void ColourRefinement::list_calls() {
  calls_.resize(classes_);
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    std::vector<Calls>& slots = calls_[program_class_[r]];
    slots.resize(std::max(slots.size(), graph_.slots(RankId{r}).size()));
  }
  std::vector<bool> done(classes_, false);
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    const std::uint32_t c = program_class_[r];
    if (done[c]) continue;
    done[c] = true;
    std::set<std::tuple<std::uint32_t, CollectiveOp, std::int64_t, Member>> distinct;
    for (const Task& task : graph_.program(RankId{r}).tasks()) {
      if (task.kind == TaskKind::kCompute) continue;
      const CollectiveOp op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
      if (task.demand() != 0) throw FoldingFailed{"pairs of ranks have uneven demands"};
      distinct.emplace(task.slot, op, task.amount, task.root);
    }
    for (const auto& [slot, op, amount, root] : distinct) {
      if (plans_.chooses(op)) throw FoldingFailed{"\"auto\" chooses by where members sit"};
      require_plain(plans_.algorithm(op));
      calls_[c][slot].push_back({.op = op, .size = Bytes{amount}, .root = root});
    }
  }
}

// Ranks come in ascending order, as the members of a group do.
void ColourRefinement::find_slots() {
  const std::vector<Communicator>& communicators = graph_.communicators();
  first_member_.assign(communicators.size() + 1, 0);
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    first_member_[c + 1] = first_member_[c] + communicators[c].members.size();
  }
  slots_.resize(first_member_.back());
  first_slot_.push_back(0);
  std::vector<Member> next(communicators.size(), 0);
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    const std::span<const CommunicatorId> of = graph_.slots(RankId{r});
    for (std::uint32_t s = 0; s < of.size(); ++s) {
      const Communicator& c = communicators[of[s].index()];
      const Member place = next[of[s].index()]++;
      const Member member = c.point_to_point && c.members[0] != RankId{r} ? 1 : c.point_to_point ? 0 : place;
      if (c.members[member] != RankId{r}) throw FoldingFailed{"a rank has no slot for a group that it is a member of"};
      slots_[first_member_[of[s].index()] + member] = s;
      places_.push_back(member);
    }
    first_slot_.push_back(places_.size());
  }
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    if (next[c] != communicators[c].members.size()) {
      throw FoldingFailed{"a rank has no slot for a group that it is a member of"};
    }
  }
}

// Members of a group are all in one server, or all on one rail. In a group that is both, messages change rails inside a
// server: the ports of a third rank, which the colours know nothing of.
void ColourRefinement::find_kinds() {
  const std::uint32_t local = scenario_.cluster.gpus_per_server;
  kinds_.resize(graph_.communicators().size());
  for (std::size_t c = 0; c < kinds_.size(); ++c) {
    const Communicator& group = graph_.communicators()[c];
    const GpuId first = scenario_.gpu_of_rank[group.members.front().index()];
    bool one_server = true;
    bool one_rail = true;
    for (const RankId rank : group.members) {
      const GpuId gpu = scenario_.gpu_of_rank[rank.index()];
      one_server = one_server && gpu.value / local == first.value / local;
      one_rail = one_rail && gpu.value % local == first.value % local;
    }
    const bool called = !calls_[program_class_[group.members.front().index()]][slot(CommunicatorId{c}, 0)].empty();
    if (!one_server && !one_rail && called) {
      throw FoldingFailed{"messages of group '" + group.name + "' change rails inside a server"};
    }
    kinds_[c] = static_cast<std::uint8_t>((group.point_to_point ? kPointToPoint : 0) | (one_server ? 0 : kCrosses));
    if (!group.point_to_point && rotates(CommunicatorId{c})) kinds_[c] |= kRotates;
  }
}

bool ColourRefinement::rotates(CommunicatorId c) {
  const Communicator& group = graph_.communicators()[c.index()];
  const auto members = static_cast<Member>(group.members.size());
  if (members == 1) return false;
  std::vector<GpuId> gpus;
  for (const RankId rank : group.members) gpus.push_back(scenario_.gpu_of_rank[rank.index()]);
  const LayoutId layout = plans_.layout(gpus, scenario_.cluster.gpus_per_server);
  std::uint64_t checked = ~std::uint64_t{0};
  for (Member m = 0; m < members; ++m) {
    const std::uint32_t program = program_class_[group.members[m].index()];
    const std::uint64_t use = (std::uint64_t{program} << 32) | slot(c, m);
    if (use != checked && !rotates(program, slot(c, m), members, layout)) return false;
    checked = use;
  }
  return true;
}

bool ColourRefinement::rotates(std::uint32_t program, std::uint32_t slot, Member members, LayoutId layout) {
  const auto [known, fresh] = known_.try_emplace({program, slot, members, layout}, true);
  if (!fresh) return known->second;
  for (CollectiveCall call : calls_[program][slot]) {
    call.members = members;
    known->second = known->second && can_fold(*plans_.expand(call, layout));
  }
  return known->second;
}

std::vector<CollectiveCall> ColourRefinement::calls(CommunicatorId c) const {
  const Communicator& group = graph_.communicators()[c.index()];
  Calls calls = calls_[program_class_[group.members.front().index()]][slot(c, 0)];
  for (CollectiveCall& call : calls) call.members = static_cast<Member>(group.members.size());
  return calls;
}

// A rail's controller ties together what happens on it: rails are alike when the same colours are on them.
void ColourRefinement::colour_rails() {
  const std::uint32_t rails = scenario_.cluster.gpus_per_server;
  std::vector<std::vector<std::uint32_t>> present(rails);
  std::vector<std::uint32_t> last_seen(std::size_t{rails} * classes_, 0);
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    const std::uint32_t rail = scenario_.gpu_of_rank[r].value % rails;
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
  const Communicator& communicator = graph_.communicators()[c.index()];
  const auto members = static_cast<Member>(communicator.members.size());
  elements_.clear();
  for (Member m = 0; m < members; ++m) {
    elements_.push_back((std::uint64_t{colours_[communicator.members[m].index()]} << 32) | slot(c, m));
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
  const std::uint32_t rails = scenario_.cluster.gpus_per_server;
  for (std::size_t r = 0; r < graph_.ranks(); ++r) {
    key_ = {colours_[r], by_rail_ ? rail_colours_[scenario_.gpu_of_rank[r].value % rails] : 0};
    const std::span<const CommunicatorId> of = graph_.slots(RankId{r});
    for (std::uint32_t s = 0; s < of.size(); ++s) {
      const GroupClass& group = groups_[of[s].index()];
      const auto members = static_cast<Member>(graph_.communicators()[of[s].index()].members.size());
      key_.push_back(group.type);
      key_.push_back((place(RankId{r}, s) + members - group.start) % members % group.period);
    }
    colours_[r] = colours.number(key_);
  }
  const bool finer = colours.size() != classes_;
  classes_ = colours.size();
  return finer;
}

}  // namespace photonrail
