#include "fabric/mesh_admission.hpp"
#include "core/counted.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace photonrail::fabric {

namespace {

bool share_waveguide(const MeshWay& a, const std::set<std::uint32_t>& waveguides) {
  return std::any_of(a.route.waveguides.begin(), a.route.waveguides.end(),
                     [&](std::uint32_t w) { return waveguides.contains(w); });
}

template <class List>
std::vector<MeshWay> joined(const List& a, const List& b) {
  std::vector<MeshWay> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

MeshAdmission::MeshAdmission(MeshRoutes& routes, const Parts& parts)
    : routes_(routes), parts_(parts), job_(routes.add(*this)) {}

void MeshAdmission::set_claims(std::vector<std::vector<Hop>> claims) {
  claims_ = std::move(claims);
  ranks_.clear();
  for (Rank rank = 0; rank < claims_.size(); ++rank) {
    for (const Hop hop : claims_[rank]) ranks_.try_emplace(hop, rank);
  }
}

MeshAdmission::Rank MeshAdmission::rank_of(Circuit circuit) const {
  const auto found = ranks_.find(parts_.circuits.hop(circuit));
  return found == ranks_.end() ? kUnclaimed : found->second;
}

// Lit or switching: the crossbar shows the circuit from the command on.
bool MeshAdmission::is_up(Circuit circuit) const {
  return parts_.circuits.crossbar().transmit()[circuit.from.index()].peer == circuit.to;
}

// Circuits that went dark since: taken by plans or by faults.
void MeshAdmission::purge() {
  std::erase_if(routes_.ways(), [this](const auto& entry) {
    const MeshWay& way = entry.second;
    return !routes_.jobs()[way.job]->is_up(way.circuit);
  });
}

// Groups are admitted one after another, the oldest claim first, each as a whole. `change` grows with every group that
// found room, and so do the circuits that leave, whose place a later group may take. Circuits that the same plan admitted
// before do not give way: they are not up yet (is_idle).
void MeshAdmission::admit(const CircuitPlan& plan, CircuitPlan& change, bool again) {
  purge();
  const std::vector<Waiting> before = waiting_;
  for (const Circuit circuit : plan.connect) drop(circuit);
  for (const PortId from : plan.disconnect) {
    std::erase_if(waiting_, [from](const Waiting& w) { return w.circuit.from == from; });
  }
  const std::vector<Circuit> wanted = std::exchange(change.connect, {});
  for (const Group& group : groups(wanted, change.disconnect)) {
    const std::vector<Circuit> leaving = parts_.circuits.crossbar().darkened_by(change);
    std::optional<Room> room = find_room(group, leaving, !again || group.rank != kUnclaimed);
    room ? take(group, std::move(*room), change) : wait(group, before);
  }
  // In the order of the plan, as on a crossbar.
  const auto place = [&wanted](Circuit circuit) { return std::find(wanted.begin(), wanted.end(), circuit); };
  std::stable_sort(change.connect.begin(), change.connect.end(),
                   [&place](Circuit a, Circuit b) { return place(a) < place(b); });
}

// The pairs that have a circuit, lit or switching, which the change leaves alone.
std::set<Hop> MeshAdmission::joined_beside(const std::vector<Circuit>& wanted,
                                           const std::vector<PortId>& disconnect) const {
  std::set<Hop> hops;
  for (const auto& [from, way] : routes_.ways()) {
    const Circuit circuit = way.circuit;
    if (way.job != job_ || !is_up(circuit)) continue;
    const auto takes_its_fibre = [circuit](Circuit other) { return share_fibre(other, circuit); };
    const bool leaves = std::find(disconnect.begin(), disconnect.end(), circuit.from) != disconnect.end() ||
                        std::any_of(wanted.begin(), wanted.end(), takes_its_fibre);
    if (!leaves) hops.insert(parts_.circuits.hop(circuit));
  }
  return hops;
}

// Each pair of a claim that lacks a circuit once; circuits beside those, and circuits of no claim, alone.
std::vector<MeshAdmission::Group> MeshAdmission::groups(const std::vector<Circuit>& wanted,
                                                        const std::vector<PortId>& disconnect) const {
  std::vector<Group> claimed(claims_.size());
  std::vector<Group> alone;
  std::set<Hop> seen = joined_beside(wanted, disconnect);
  for (const Circuit circuit : wanted) {
    const Rank rank = rank_of(circuit);
    if (rank != kUnclaimed && seen.insert(parts_.circuits.hop(circuit)).second) {
      claimed[rank].circuits.push_back(circuit);
      claimed[rank].rank = rank;
      claimed[rank].whole = true;
    } else {
      alone.push_back({{circuit}, kUnclaimed, false});
    }
  }
  std::erase_if(claimed, [](const Group& group) { return group.circuits.empty(); });
  claimed.insert(claimed.end(), std::make_move_iterator(alone.begin()), std::make_move_iterator(alone.end()));
  return claimed;
}

// Claims form a strict order over all jobs, and an idle circuit gives way only to a claim before its own. So displacement
// cannot go round in circles, and the first claim always gets its room, if the mesh has any for it.
bool MeshAdmission::gives_way(const MeshWay& way, const Group& group) const {
  const MeshAdmission& of = *routes_.jobs()[way.job];
  if (!of.is_idle(way.circuit)) return false;
  const Rank rank = of.rank_of(way.circuit);
  if (group.rank == kUnclaimed) {
    const bool used = parts_.circuits.crossbar().transmit()[way.circuit.from.index()].used;
    return way.job == job_ && used && rank == kUnclaimed;
  }
  return way.job == job_ ? rank > group.rank : way.job > job_ || rank == kUnclaimed;
}

// One that is yet to begin was admitted with the same plan.
bool MeshAdmission::is_idle(Circuit circuit) const {
  const device::OpticalSwitch::Fibre& fibre = parts_.circuits.crossbar().transmit()[circuit.from.index()];
  return is_up(circuit) && fibre.in_use == 0 && !parts_.faults.is_fixed(circuit.from);
}

std::optional<MeshAdmission::Room> MeshAdmission::find_room(const Group& group, const std::vector<Circuit>& leaving,
                                                            bool displace) const {
  Room room;
  for (std::uint32_t plane = 0; plane < routes_.planes(); ++plane) {
    const Situation situation = situation_on(plane, group, leaving, displace, room);
    if (!situation.wanted.empty() && !find_room(situation, room)) return std::nullopt;
  }
  return room;
}

// Sorts the ways of a plane into those that stay, those that may go, and idle ones of the same claim, which may be routed
// anew.
MeshAdmission::Situation MeshAdmission::situation_on(std::uint32_t plane, const Group& group,
                                                     const std::vector<Circuit>& leaving, bool displace,
                                                     const Room& so_far) const {
  Situation situation;
  for (const Circuit circuit : group.circuits) {
    if (routes_.plane(circuit) == plane) situation.wanted.push_back(circuit);
  }
  // One circuit for each pair is what a claim needs: further ones of a pair, on this plane or another one, make room for
  // any claim.
  std::set<Hop> joined_hops;
  const auto is_own = [this](const MeshWay& way) { return way.job == job_ && is_up(way.circuit); };
  const auto leaves = [&](const MeshWay& way) {
    const auto takes_its_fibre = [&way](Circuit c) { return share_fibre(c, way.circuit); };
    return std::find(leaving.begin(), leaving.end(), way.circuit) != leaving.end() ||
           std::any_of(group.circuits.begin(), group.circuits.end(), takes_its_fibre);
  };
  const auto displaced = [&so_far](const MeshWay& way) {
    return std::any_of(so_far.displaced.begin(), so_far.displaced.end(),
                       [&way](const MeshWay& gone) { return gone.circuit == way.circuit; });
  };
  for (const auto& [from, way] : routes_.ways()) {
    if (!is_own(way)) continue;
    const bool of_claim = group.whole && rank_of(way.circuit) == group.rank;
    const bool elsewhere = of_claim && routes_.plane(way.circuit) != plane && !leaves(way) && !displaced(way);
    if (elsewhere || !is_idle(way.circuit)) joined_hops.insert(parts_.circuits.hop(way.circuit));
  }
  for (const auto& [from, way] : routes_.ways()) {
    if (routes_.plane(way.circuit) != plane || (is_own(way) && leaves(way))) continue;
    const bool idle = is_own(way) && is_idle(way.circuit);
    const bool further = idle && !joined_hops.insert(parts_.circuits.hop(way.circuit)).second;
    if (displace && ((further && group.whole) || gives_way(way, group))) {
      situation.may_go.push_back(way);
    } else if (group.whole && idle && rank_of(way.circuit) == group.rank) {
      situation.own.push_back(way);
    } else {
      situation.stay.push_back(way);
    }
  }
  return situation;
}

// Beside all that is up; in the place of what may go; with the rest of the claim routed anew.
bool MeshAdmission::find_room(const Situation& situation, Room& room) const {
  const std::vector<MeshWay> firm = joined(situation.stay, situation.own);
  const std::vector<MeshWay> all = joined(firm, situation.may_go);
  if (const auto found = routes_.find(situation.wanted, all); found && routes_.bright(joined(*found, all))) {
    room.ways = joined(room.ways, *found);
    return true;
  }
  if (find_room_beside(situation.wanted, firm, situation.may_go, room)) return true;
  if (situation.own.empty()) return false;
  std::vector<Circuit> claim = situation.wanted;
  for (const MeshWay& way : situation.own) claim.push_back(way.circuit);
  if (!find_room_beside(claim, situation.stay, situation.may_go, room)) return false;
  for (const MeshWay& way : situation.own) room.anew.push_back(way.circuit);
  return true;
}

// Circuits that may go stay where they are not in the way.
bool MeshAdmission::find_room_beside(const std::vector<Circuit>& circuits, const std::vector<MeshWay>& stay,
                                     const std::vector<MeshWay>& may_go, Room& room) const {
  const auto found = routes_.find(circuits, stay);
  if (!found) return false;
  std::set<std::uint32_t> used;
  for (const MeshWay& way : *found) used.insert(way.route.waveguides.begin(), way.route.waveguides.end());
  std::vector<MeshWay> kept;
  std::vector<MeshWay> displaced;
  for (const MeshWay& way : may_go) (share_waveguide(way, used) ? displaced : kept).push_back(way);
  if (!routes_.bright(joined(*found, joined(stay, kept)))) {
    if (kept.empty() || !routes_.bright(joined(*found, stay))) return false;
    displaced = may_go;
  }
  room.ways = joined(room.ways, *found);
  room.displaced = joined(room.displaced, displaced);
  return true;
}

// Books the ways before the command begins, so that the next group of the same plan finds them taken.
void MeshAdmission::take(const Group& group, Room room, CircuitPlan& change) {
  for (const MeshWay& way : room.displaced) displace(way, change);
  for (MeshWay& way : room.ways) {
    way.job = job_;
    if (const std::uint32_t cells = MeshRoutes::cells(way); cells > summary_.cells) {
      summary_.cells = cells;
      summary_.loss_db = routes_.loss_db(cells);
    }
    // A circuit to another fibre begins here, or one from another leads there, until the command begins.
    std::erase_if(routes_.ways(), [&way](const auto& entry) { return share_fibre(entry.second.circuit, way.circuit); });
    routes_.ways().emplace(way.circuit.from, way);
  }
  for (const Circuit circuit : group.circuits) {
    refused_.erase(parts_.circuits.hop(circuit));
    // A circuit that an earlier group has on another way gives its fibre up after all.
    std::erase_if(change.connect, [circuit](Circuit anew) { return share_fibre(anew, circuit); });
  }
  change.connect.insert(change.connect.end(), group.circuits.begin(), group.circuits.end());
  change.connect.insert(change.connect.end(), room.anew.begin(), room.anew.end());
  summary_.displaced += room.anew.size();
}

// A circuit of this job goes dark with the command itself, one of another job at once, through that job's own transitions.
void MeshAdmission::displace(const MeshWay& way, CircuitPlan& change) {
  const Circuit circuit = way.circuit;
  routes_.ways().erase(circuit.from);
  MeshAdmission& of = *routes_.jobs()[way.job];
  of.drop(circuit);
  of.waiting_.push_back({circuit, true});
  ++of.summary_.displaced;
  if (way.job == job_) {
    change.disconnect.push_back(circuit.from);
  } else {
    static_cast<void>(of.parts_.transitions.darken({{}, {circuit.from}}, false));
  }
}

void MeshAdmission::drop(Circuit circuit) {
  std::erase_if(waiting_, [circuit](const Waiting& w) { return share_fibre(w.circuit, circuit); });
}

// A circuit that waited before for the same is not counted again.
void MeshAdmission::wait(const Group& group, const std::vector<Waiting>& before) {
  std::vector<Circuit> together = group.circuits;
  std::set<Hop> hops;
  for (const Circuit circuit : together) hops.insert(parts_.circuits.hop(circuit));
  for (const auto& [from, way] : routes_.ways()) {
    if (!group.whole || way.job != job_) continue;
    const Hop hop = parts_.circuits.hop(way.circuit);
    const std::vector<Hop>& claim = claims_[group.rank];
    if (std::find(claim.begin(), claim.end(), hop) != claim.end() && hops.insert(hop).second) {
      together.push_back(way.circuit);
    }
  }
  for (const Circuit circuit : group.circuits) {
    const auto known =
        std::find_if(before.begin(), before.end(), [circuit](const Waiting& w) { return w.circuit == circuit; });
    if (known == before.end()) ++summary_.waited;
    drop(circuit);
    waiting_.push_back({circuit, known != before.end() && known->displaced});
    std::vector<Circuit>& refused = refused_[parts_.circuits.hop(circuit)];
    if (group.whole || refused.empty()) refused = together;  // what a claim lacks says more than what was to come beside it
  }
}

bool MeshAdmission::is_behind() const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [this](const Waiting& waiting) { return rank_of(waiting.circuit) != kUnclaimed; });
}

// Displaced circuits that no operation wants are not made again: they would only displace others.
CircuitPlan MeshAdmission::retry() const {
  CircuitPlan plan;
  const device::OpticalSwitch& crossbar = parts_.circuits.crossbar();
  const auto is_used = [&](PortId from) { return !from.is_none() && crossbar.transmit()[from.index()].in_use > 0; };
  for (const Waiting& waiting : waiting_) {
    const Circuit circuit = waiting.circuit;
    if (waiting.displaced && rank_of(circuit) == kUnclaimed) continue;
    if (parts_.faults.is_refused(circuit) || is_used(circuit.from)) continue;
    if (is_used(crossbar.receive()[circuit.to.index()].peer)) continue;
    plan.connect.push_back(circuit);
  }
  // A part of what an operation wants is of no use to it.
  const auto joins = [&](Hop hop) {
    const auto& ports = crossbar.transmit();
    for (std::uint32_t p = parts_.circuits.first_port(hop.from); p < parts_.circuits.first_port(hop.from + 1); ++p) {
      if (!ports[p].peer.is_none() && parts_.circuits.server(ports[p].peer) == hop.to) return true;
    }
    return std::any_of(plan.connect.begin(), plan.connect.end(),
                       [&](Circuit circuit) { return parts_.circuits.hop(circuit) == hop; });
  };
  std::vector<Circuit> kept;
  for (const Circuit circuit : plan.connect) {
    const Rank rank = rank_of(circuit);
    if (rank == kUnclaimed || std::all_of(claims_[rank].begin(), claims_[rank].end(), joins)) kept.push_back(circuit);
  }
  plan.connect = std::move(kept);
  return plan;
}

void MeshAdmission::notify_others() const {
  for (const MeshAdmission* job : routes_.jobs()) {
    if (job != this && !job->waiting_.empty()) job->parts_.notifier.light_back();
  }
}

MeshAdmission::WaitReason MeshAdmission::why_waiting(Hop hop) const {
  const auto found = refused_.find(hop);
  const std::string mesh = ": the " + routes_.describe() + " of rail " + std::to_string(parts_.id.value);
  if (found == refused_.end()) {
    if (waiting_.empty()) return {};
    const bool planned = std::any_of(waiting_.begin(), waiting_.end(),
                                     [&](const Waiting& w) { return parts_.circuits.hop(w.circuit) == hop; });
    return {mesh + " has no room for " + core::counted(waiting_.size(), "more planned circuit") +
            (planned ? "" : ", and this is none of them")};
  }
  const auto routed = [this](const std::vector<Circuit>& circuits) {
    for (std::uint32_t plane = 0; plane < routes_.planes(); ++plane) {
      std::vector<Circuit> here = circuits;
      std::erase_if(here, [&](Circuit c) { return routes_.plane(c) != plane; });
      const auto ways = routes_.find(here, {});
      if (!ways || !routes_.bright(*ways)) return false;
    }
    return true;
  };
  const std::vector<Circuit>& together = found->second;
  const auto own = std::find_if(together.begin(), together.end(), [&](Circuit c) { return parts_.circuits.hop(c) == hop; });
  if (!routed({*own})) return {mesh + " has no way for it, or none with light enough, even without other circuits", true};
  if (!routed(together)) {
    return {mesh + " has no ways for the " + core::counted(together.size(), "circuit") +
                " that are wanted at once, or none with light enough: more hexagons, or a controller that serves "
                "pairs one by one",
            true};
  }
  return {mesh + " has no room for it beside the circuits that are up"};
}

}  // namespace photonrail::fabric
