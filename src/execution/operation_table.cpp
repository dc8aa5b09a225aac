#include "execution/operation_table.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace photonrail::execution {

using fabric::Fabric;

namespace {

MemberBox box_of(const Fabric& fabric, std::span<const GpuId> gpus) {
  std::optional<topology::GridBox> found = fabric.box_of(gpus);
  if (!found) return {};
  MemberBox box;
  for (std::size_t d = 0; d < found->cells.size(); ++d) box.sides.push_back({found->cells[d], found->closing[d]});
  box.members = std::move(found->members);
  return box;
}

}  // namespace

OperationTable::OperationTable(const TaskGraph& graph, const folding::MemberPlacement& placement, const Fabric& fabric,
                               PlanCache& plans, folding::OrderAmbiguity* ambiguity, LaunchTable* launches)
    : graph_(graph),
      placement_(placement),
      fabric_(fabric),
      plans_(plans),
      ambiguity_(ambiguity),
      launches_(launches),
      arrivals_(plans.spec().straggler == StragglerChoice::kPredicted) {
  groups_.reserve(graph.communicators().size());
  for (std::size_t c = 0; c < graph.communicators().size(); ++c) {
    groups_.push_back(group_of(graph.communicators()[c], placement.group(CommunicatorId{c})));
  }
}

OperationTable::Group OperationTable::group_of(const Communicator& communicator, std::span<const GpuId> gpus) const {
  Group group;
  group.gpus = gpus;
  group.members = communicator.members.data();
  group.ranks = static_cast<Member>(communicator.members.size());
  group.point_to_point = communicator.point_to_point;
  group.crosses =
      std::any_of(gpus.begin(), gpus.end(), [&](GpuId gpu) { return fabric_.crossing(gpus.front(), gpu).has_value(); });
  group.layout = plans_.layout(gpus, fabric_.spec().gpus_per_server, box_of(fabric_, gpus));
  return group;
}

void OperationTable::add_group(CommunicatorId id) {
  PHOTONRAIL_CHECK(launches_ != nullptr && id.index() == groups_.size());
  groups_.push_back(group_of(launches_->groups()[id], launches_->groups().gpus(id)));
  if (!more_open_.empty()) more_open_.resize(groups_.size());
}

Seat OperationTable::seat(RankId rank, const Task& task, std::uint32_t iteration) {
  const CommunicatorId communicator = communicator_of(rank, task, iteration);
  return {find_or_make({communicator, task.tag, task.match, iteration}, task), member_of(communicator, rank, task)};
}

// A sender is member 0 of its pair and a receiver member 1. In a folded run the place of a class is given by the folding.
Member OperationTable::member_of(CommunicatorId communicator, RankId rank, const Task& task) const {
  const Group& group = groups_[communicator.index()];
  if (group.point_to_point) return task.kind == TaskKind::kSend ? 0 : 1;
  if (!placement_.places.empty()) return placement_.places[rank.index()][task.slot];
  // Ranks in a row, as inside a server, need no search.
  const std::uint32_t ahead = rank.value - group.members[0].value;
  if (ahead < group.ranks && group.members[ahead] == rank) return ahead;
  const RankId* const end = group.members + group.ranks;
  const RankId* const found = std::lower_bound(group.members, end, rank);
  PHOTONRAIL_CHECK(found != end && *found == rank);
  return static_cast<Member>(found - group.members);
}

double OperationTable::flops(RankId rank, const Task& task, std::uint32_t iteration) const {
  const CommunicatorId communicator = graph_.communicator(rank, task.slot);
  return plans_.flops({communicator, task.demand(), iteration}, member_of(communicator, rank, task));
}

// Identifies an operation that was another one before.
void OperationTable::identify(OperationIdentity& op, const OperationKey& key, const Task& task) {
  op.key = key;
  op.op = task.kind == TaskKind::kCollective ? task.op : CollectiveOp::kSend;
  op.communicator = &communicator(key.communicator);
  const Group& group = groups_[key.communicator.index()];
  op.gpus = group.gpus;
  op.ranks = group.ranks;
  op.copies = placement_.copies.empty() ? 1 : placement_.copies[key.communicator.index()];
  op.demand = task.demand();
  op.call.op = op.op;  // no other field of a call is ever set
  op.call.members = static_cast<Member>(op.gpus.size());
  op.call.size = task.size();
  op.call.root = task.root();
  op.runnable = plan_for(op);
  op.crosses = group.crosses;
  op.optical = op.crosses && fabric_.optical();
}

// A communicator has one open operation nearly always: it lies in its group, and only further ones cost a look at a list.
// An index over all open operations cost more than the rest of a look-up.
OpId OperationTable::find(const OperationKey& key) const {
  const Group& group = groups_[key.communicator.index()];
  if (group.open.id != kNoOp && group.open.key == key) return group.open.id;
  if (!group.more_open) return kNoOp;
  for (const OpenOperation& other : more_open_[key.communicator.index()]) {
    if (other.key == key) return other.id;
  }
  return kNoOp;
}

void OperationTable::open(const OperationKey& key, OpId id) {
  Group& group = groups_[key.communicator.index()];
  if (group.open.id == kNoOp) {
    group.open = {key, id};
    return;
  }
  if (more_open_.empty()) more_open_.resize(groups_.size());
  more_open_[key.communicator.index()].push_back({key, id});
  group.more_open = true;
}

// A communicator inside a server gets its last operation back, whose vectors have the right sizes already. Such spares are
// not given to others, which is why live() and the count of free ones know them.
OpId OperationTable::take(Group& group) {
  if (group.spare != kNoOp) {
    --spares_;
    return std::exchange(group.spare, kNoOp);
  }
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Operation>());
    return static_cast<OpId>(pool_.size() - 1);
  }
  const OpId id = free_.back();
  free_.pop_back();
  return id;
}

// The first member, or the first announcement, opens the operation. Its plan is chosen here, so that circuits can be asked
// for before the other members come.
OpId OperationTable::find_or_make(const OperationKey& key, const Task& task) {
  if (const OpId found = find(key); found != kNoOp) return found;
  const OpId id = take(groups_[key.communicator.index()]);
  open(key, id);
  Operation& op = *pool_[id];
  identify(op, key, task);
  op.sequence = next_sequence_++;
  op.live = true;
  op.transfer.started = op.yielded = false;
  arrivals_.begin(op);
  return id;
}

// Null: the plan depends on which member comes last, and that is known when one is missing (settle_straggler).
const RunnablePlan* OperationTable::plan_for(const OperationIdentity& op) {
  const LayoutId layout = groups_[op.key.communicator.index()].layout;
  if (op.demand != 0) {
    servers_.clear();
    for (const GpuId gpu : op.gpus) servers_.push_back(fabric_.plant().server_of(gpu));
    return &plans_.take(op.call, op.demand_query(), servers_, layout);
  }
  const RunnablePlan* plan = nullptr;
  if (plans_.expects_straggler(op.op)) {
    CollectiveCall call = op.call;
    call.straggler = expected_straggler(op.key.communicator);
    if (!call.straggler) return nullptr;
    plan = &plans_.get(call, layout, op.members());
  } else {
    plan = &plans_.get(op.call, layout, op.members());
  }
  if (plan->late > 0 && ambiguity_ != nullptr)
    ambiguity_->report("an operation starts before all of its members are there");
  return plan;
}

const RunnablePlan* OperationTable::plan_of(RankId rank, const Task& task) {
  OperationIdentity op;
  identify(op, {graph_.communicator(rank, task.slot), task.tag, task.match, 0}, task);
  if (op.demand != 0) plans_.give_back(op.demand_query());
  return op.runnable;
}

// Predicted: the member that came last to the communicator's last operation, none before the first. Eager: never known
// ahead.
std::optional<Member> OperationTable::expected_straggler(CommunicatorId communicator) const {
  const CollectiveSpec& spec = plans_.spec();
  if (spec.straggler == StragglerChoice::kPredicted) return arrivals_.last(communicator);
  if (spec.straggler == StragglerChoice::kEager) return std::nullopt;
  const std::vector<RankId>& members = this->communicator(communicator).members;
  const auto found = std::lower_bound(members.begin(), members.end(), spec.straggler_rank);
  if (found == members.end() || *found != spec.straggler_rank) return std::nullopt;
  return static_cast<Member>(found - members.begin());
}

void OperationTable::settle_straggler(OpId id) {
  Operation& op = *pool_[id];
  PHOTONRAIL_CHECK(op.runnable == nullptr && op.arrival.arrived() + 1 == op.members());
  CollectiveCall call = op.call;
  call.straggler = op.arrival.first_missing();
  op.runnable = &plans_.get(call, groups_[op.key.communicator.index()].layout, op.members());
}

void OperationTable::close(CommunicatorId communicator, OpId id) {
  Group& group = groups_[communicator.index()];
  const bool first = group.open.id == id;
  if (first) group.open.id = kNoOp;
  if (first || !group.more_open) return;
  std::vector<OpenOperation>& more = more_open_[communicator.index()];
  std::erase_if(more, [id](const OpenOperation& open) { return open.id == id; });
  group.more_open = !more.empty();
}

// The memory of an operation is used again as it is: links and rounds are cleared because an open operation must begin
// without them, all else is written when it is identified anew.
void OperationTable::retire(OpId id) {
  Operation& op = *pool_[id];
  close(op.key.communicator, id);
  op.live = false;
  // Plans of traffic that changes are counted, so that no more than the plans in use and a few idle ones stay in memory.
  if (op.demand != 0) plans_.give_back(op.demand_query());
  op.transfer.links.clear();
  op.transfer.rounds.clear();
  Group& group = groups_[op.key.communicator.index()];
  if (group.crosses || group.point_to_point || group.spare != kNoOp) return free_.push_back(id);
  group.spare = id;
  ++spares_;
}

std::vector<OpId> OperationTable::live() const {
  std::vector<OpId> ids;
  for (OpId id = 0; id < pool_.size(); ++id) {
    if (pool_[id]->live) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [this](OpId a, OpId b) { return pool_[a]->sequence < pool_[b]->sequence; });
  return ids;
}

}  // namespace photonrail::execution
