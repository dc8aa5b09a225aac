// The part of Network that keeps the flows of a capacity, and knows when the next of them ends.
#include "network/indexed_heap.hpp"
#include "network/network.hpp"

#include <algorithm>

namespace photonrail::network {

namespace {

constexpr double kMaxServed = 1e9;  // bytes; beyond, counting starts again, so that sums keep 1e-7 of a byte

}  // namespace

// The flow takes part in the solver's game from now on.
void Network::share(FlowId id) {
  Flow& flow = flows_[id];
  flow.state = State::kShared;
  flow.bottleneck = kNone;
  for (Slot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    add_other(slot, kNone);
    ++shares_[hops_[slot].capacity].open;
    touch(hops_[slot].capacity);
  }
  if (flow.channel != kNone) channels_[flow.channel].current = id;
}

void Network::unshare(FlowId id) {
  const Flow& flow = flows_[id];
  const double rate = shares_[hops_[flow.bottleneck].capacity].level;
  unbind(flow.bottleneck);
  for (Slot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    const CapacityId capacity = hops_[slot].capacity;
    if (slot != flow.bottleneck) {
      drop_other(slot);
      shares_[capacity].left += rate;
    }
    if (shares_[capacity].level != kUnlimited) touch(capacity);
  }
}

// Counts what the capacity has served to its flows until now. Its level was the same since it last did.
void Network::advance(CapacityId id) {
  Capacity& capacity = capacities_[id];
  if (capacity.since == engine_.now()) return;
  if (capacity.bound.empty()) {
    capacity.served = 0.0;
  } else {
    capacity.served += shares_[id].level * static_cast<double>((engine_.now() - capacity.since).count());
  }
  capacity.since = engine_.now();
  if (capacity.served < kMaxServed) return;
  for (Bound& flow : capacity.bound) flow.finish -= capacity.served;
  capacity.served = 0.0;
}

// The hop becomes the bottleneck of its flow.
void Network::bind(Slot slot, double remaining) {
  const CapacityId id = hops_[slot].capacity;
  Flow& flow = flows_[hops_[slot].flow];
  Capacity& capacity = capacities_[id];
  advance(id);
  stir(id);
  flow.bottleneck = slot;
  const CapacityId other = flow.hops == 2 ? hops_[2 * flow.first_hop + 1 - slot].capacity : kNone;
  heap_insert(capacity.bound, Bound{capacity.served + remaining, slot, other},
              [this](const Bound& b, std::uint32_t position) { hops_[b.slot].position = position; });
}

void Network::unbind(Slot slot) {
  const CapacityId id = hops_[slot].capacity;
  stir(id);
  heap_remove(capacities_[id].bound, hops_[slot].position,
              [this](const Bound& b, std::uint32_t position) { hops_[b.slot].position = position; });
}

// The bytes that a bound flow has left.
double Network::remaining(Slot slot) {
  const CapacityId id = hops_[slot].capacity;
  advance(id);
  return std::max(0.0, capacities_[id].bound[hops_[slot].position].finish - capacities_[id].served);
}

void Network::add_other(Slot slot, CapacityId bottleneck) {
  std::vector<Other>& others = capacities_[hops_[slot].capacity].others;
  hops_[slot].position = static_cast<std::uint32_t>(others.size());
  others.push_back({slot, bottleneck});
}

void Network::drop_other(Slot slot) {
  std::vector<Other>& others = capacities_[hops_[slot].capacity].others;
  const std::uint32_t position = hops_[slot].position;
  others[position] = others.back();
  hops_[others[position].slot].position = position;
  others.pop_back();
}

// The hop becomes the bottleneck of its flow in the place of another, or of none.
void Network::rebind(Slot to) {
  Flow& flow = flows_[hops_[to].flow];
  const Slot from = flow.bottleneck;
  const CapacityId target = hops_[to].capacity;
  const double before = from == kNone ? 0.0 : shares_[hops_[from].capacity].level;
  const double after = shares_[target].level;
  drop_other(to);
  if (from != kNone) {
    flow.remaining = remaining(from);
    unbind(from);
  }
  for (Slot slot = flow.first_hop; slot < flow.first_hop + flow.hops; ++slot) {
    const CapacityId id = hops_[slot].capacity;
    Share& share = shares_[id];
    if (from == kNone) --share.open;
    if (slot == to) {
      share.left += before;
      continue;
    }
    if (slot == from) {
      add_other(slot, target);
      share.left -= after;
    } else {
      capacities_[id].others[hops_[slot].position].bottleneck = target;
      share.left += before - after;
    }
    share.fastest = std::max(share.fastest, after);
    if (share.upset()) enqueue_candidate(id);
  }
  bind(to, flow.remaining);
}

// When the first of the bound flows ends at the capacity's present level. REQUIRES: there is one.
Time Network::first_end(CapacityId id) const {
  const Capacity& capacity = capacities_[id];
  const double bytes = capacity.bound.front().finish - capacity.served;
  if (bytes <= 0.0) return capacity.since;
  if (shares_[id].level <= 0.0) return Time::never();  // stopped: a later change will wake it
  return capacity.since + round_up_picoseconds(bytes / shares_[id].level);
}

void Network::stir(CapacityId id) {
  if (shares_[id].stirred) return;
  shares_[id].stirred = true;
  stirred_.push_back(id);
}

void Network::remove_from_agenda(CapacityId id) {
  if (capacities_[id].agenda == kNone) return;
  heap_remove(agenda_, capacities_[id].agenda,
              [this](const Due& d, std::uint32_t at) { capacities_[d.capacity].agenda = at; });
  capacities_[id].agenda = kNone;
}

void Network::update_agenda() {
  const auto placed = [this](const Due& d, std::uint32_t at) { capacities_[d.capacity].agenda = at; };
  for (const CapacityId id : stirred_) {
    Capacity& capacity = capacities_[id];
    shares_[id].stirred = false;
    const Time end = capacity.bound.empty() ? Time::never() : first_end(id);
    if (end == Time::never()) {
      remove_from_agenda(id);
    } else if (capacity.agenda == kNone) {
      heap_insert(agenda_, Due{end, id}, placed);
    } else {
      agenda_[capacity.agenda].at = end;
      heap_restore(agenda_, capacity.agenda, placed);
    }
  }
  stirred_.clear();
  const Time next = agenda_.empty() ? Time::never() : std::max(agenda_.front().at, engine_.now());
  if (departure_ && next == departure_at_) return;
  engine_.cancel(departure_);
  departure_ = {};
  departure_at_ = next;
  if (next != Time::never())
    departure_ = engine_.schedule(next, engine::Phase::kFinish, engine::Action::to<&Network::depart>(*this));
}

// Takes the flows that end now from their capacities.
void Network::take_leaving() {
  leaving_.clear();
  while (!agenda_.empty() && agenda_.front().at <= engine_.now()) {
    const CapacityId id = agenda_.front().capacity;
    const std::vector<Bound>& bound = capacities_[id].bound;
    do {
      leaving_.push_back(hops_[bound.front().slot].flow);
      unshare(leaving_.back());
    } while (!bound.empty() && first_end(id) <= engine_.now());
    remove_from_agenda(id);
  }
}

}  // namespace photonrail::network
