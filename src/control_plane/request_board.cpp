#include "control_plane/request_board.hpp"

#include "control_plane/request_order.hpp"
#include "core/grown.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace photonrail::control_plane {

using execution::Operation;
using execution::OpId;
using fabric::RailCrossing;

namespace {

void report_tie(folding::OrderAmbiguity& ambiguity) {
  ambiguity.report("two operations want one port at one instant, and the programs do not order them");
}

// ---- RequestList::waiting() of a policy that serves pairs

void count_pairs(RequestList& list, Request& request, bool counted) {
  if (request.pairs.counted() == counted) return;
  request.pairs.set_counted(counted);
  request.pairs.each([&](ServerPair pair, Bytes bytes) {
    if (counted) {
      list.waiting().add(request.view.id, pair, bytes, request.view.complete);
    } else {
      list.waiting().remove(request.view.id, pair, bytes, true);
    }
  });
}

void add_pair(RequestList& list, Request& request, ServerPair pair, Bytes bytes, Time now) {
  request.pairs.add(pair, bytes, now);
  if (request.pairs.counted()) list.waiting().add(request.view.id, pair, bytes, request.view.complete);
}

// Returns whether it was the last of the pair's sends.
bool remove_pair(RequestList& list, Request& request, ServerPair pair, std::uint32_t sends, Bytes bytes) {
  const bool last = request.pairs.remove(pair, sends, bytes);
  if (request.pairs.counted()) list.waiting().remove(request.view.id, pair, bytes, last);
  return last;
}

// ---- RequestList::by_port() of a policy that looks at what changed

void erase_by_port(RequestList& list, const Request& request) {
  if (list.by_port() != nullptr) list.by_port()->erase(request.view);
}

// Re-inserts a request that stays in the list while its pairs change.
void reinsert_by_port(RequestList& list, const Request& request) {
  if (list.by_port() != nullptr && request.view.all_asked()) list.by_port()->insert(request.view);
}

void show_next_rounds(const ControlContext& run, Request& request) {
  const Operation& op = run.operations[request.op];
  for (std::uint32_t round = request.round + 1; round < op.plan().rounds(); ++round) {
    std::map<RailId, RailCircuits> circuits = rail_circuits(run.fabric, op.gpus, *op.runnable, round);
    const RailCircuits& of = request.later.emplace_back(std::move(circuits[request.rail]));
    request.next.push_back({of.pairs, of.bytes});
  }
}

}  // namespace

RequestBoard::RequestBoard(const ControlContext& run, const PolicyNeeds& needs, RequestChannel& channel,
                           RequestBoardListener& listener, folding::OrderAmbiguity* ambiguity)
    : run_(run),
      needs_(needs),
      channel_(channel),
      listener_(listener),
      ambiguity_(ambiguity),
      round_circuits_(run.fabric),
      rails_(run.fabric.optical() ? run.fabric.rails() : 0) {
  channel.attach(*this);
  const bool one_port = run.plant().nic_ports == 1 && run.fabric.spec().rail.planes == 1;
  if (!needs.has(ViewPart::kByPort) || !one_port) return;
  for (RailRequests& rail : rails_) {
    rail.complete.index_ports([this](const CircuitRequest& a, const CircuitRequest& b) {
      return has_turn_before(run_.operations, one_order_, requests_[a.id.value], requests_[b.id.value]);
    });
    rail.complete.drop_order();
    rail.partial.drop_order();
  }
}

// The request of a round opens with its first member and is complete with its last. A rank asks once for each rail, also
// when it announced the operation before it reached it.
void RequestBoard::ask(OpId id, std::uint32_t round, Member member, TaskId task) {
  const auto of_round = [&](const OpenRequest& open) { return open.round == round && !requests_[open.slot].missed; };
  if (std::ranges::none_of(core::grown(open_, id), of_round)) open_requests(id, round);
  const Operation& op = run_.operations[id];
  for (const OpenRequest& open : core::grown(open_, id)) {
    if (!of_round(open)) continue;
    Request& request = requests_[open.slot];
    request.tasks.add(task);
    request.view.expected = op.arrival.expected();
    request.view.due = op.arrival.due();
    if (request.asked[member]) continue;
    request.asked[member] = true;
    if (listener_.hears(request.rail)) channel_.request(request.rail, op.rank(member), open.slot, request.serial);
  }
}

// One request for each rail that the round crosses.
void RequestBoard::open_requests(OpId id, std::uint32_t round) {
  const auto open = [&](RailId rail, std::uint32_t participants, RailCircuits circuits) {
    Request& request = take(id, round, rail, participants);
    request.pairs.assign(std::move(circuits.pairs), std::move(circuits.bytes));
    if (needs_.has(ViewPart::kRounds)) show_next_rounds(run_, request);
    refresh(request);
  };
  if (const RoundLinks* const kept = round_links(id, round)) {
    for (const auto& [rail, circuits] : kept->rails) open(rail, kept->participants, circuits);
    return;
  }
  const Operation& op = run_.operations[id];
  std::uint32_t participants = 0;
  for (Member m = 0; m < op.members(); ++m) participants += op.takes_part(m, round) ? 1 : 0;
  for (auto& [rail, circuits] : rail_circuits(run_.fabric, op.gpus, *op.runnable, round)) {
    open(rail, participants, std::move(circuits));
  }
}

// Slots are used again. `serial` tells a request from earlier ones of its slot, for messages that are still on their way.
Request& RequestBoard::take(OpId id, std::uint32_t round, RailId rail, std::uint32_t members) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(requests_.size()));
    requests_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  const Operation& op = run_.operations[id];
  Request& request = requests_[slot];
  request.pairs.clear();
  request.next.clear();
  request.later.clear();
  request.requesters.clear();
  request.asked.assign(op.members(), false);
  request.tasks = {};
  request.rail = rail;
  request.op = id;
  request.round = round;
  request.serial = next_serial_++;
  request.open = true;
  request.missed = false;
  request.pairs.set_counted(false);
  request.view = {};
  request.view.id = RequestId{slot};
  request.view.communicator = op.key.communicator;
  request.view.dimension = op.dimension();
  request.view.op = op.op;
  request.view.round = round;
  request.view.iteration = op.key.iteration;
  request.view.members = members;
  core::grown(open_, id).push_back({round, slot});
  return request;
}

// Shows what the request has become.
void RequestBoard::refresh(Request& request) {
  CircuitRequest& view = request.view;
  request.pairs.list();
  view.pairs = request.pairs.pairs();
  view.bytes = needs_.weighs() ? ViewList<Bytes>(request.pairs.bytes()) : ViewList<Bytes>::unasked(ViewPart::kBytes);
  view.next =
      needs_.has(ViewPart::kRounds) ? ViewList<RoundView>(request.next) : ViewList<RoundView>::unasked(ViewPart::kRounds);
  view.requesters = request.requesters;
  RailRequests& rail = rails_[request.rail.index()];
  view.all_asked() ? rail.complete.update(view) : rail.partial.update(view);
}

// Pairs that wait one by one are listed once for all changes of an instant, and not at all for a policy that reads
// FabricView::waiting.
void RequestBoard::list_pairs(RailId rail, bool read) {
  for (const std::uint32_t slot : std::exchange(rails_[rail.index()].stale, {})) {
    if (read && requests_[slot].open && !requests_[slot].pairs.listed()) refresh(requests_[slot]);
  }
}

// The request may have been served before its message arrived, and its slot serve another.
void RequestBoard::request_served(std::uint32_t slot, std::uint32_t serial, RankId from, bool by_root) {
  Request& request = requests_[slot];
  if (!request.open || request.serial != serial) return;
  // With a hierarchical control plane the last member's request goes through the root of its group.
  if (channel_.hierarchical() && !by_root && request.view.asked + 1 == request.view.members) {
    channel_.ask_root(request.rail, from, slot, serial);
  } else {
    count_request(request, from);
  }
}

// A request is in one of two lists: with the partial ones until every member has asked, then with the complete ones, whose
// order is the order of service.
void RequestBoard::count_request(Request& request, RankId from) {
  CircuitRequest& view = request.view;
  RailRequests& rail = rails_[request.rail.index()];
  if (view.asked == 0) view.since = run_.engine.now();
  ++view.asked;
  request.requesters.push_back({from, run_.engine.now()});
  view.requesters = request.requesters;
  if (view.all_asked()) {
    view.complete = run_.engine.now();
    // The request changes lists at the instant at which its last member asks.
    rail.partial.erase(view.id.value);
    enlist(request);
    count_pairs(rail.complete, request, needs_.by_pair() && view.blocking);
  } else if (view.asked == 1) {
    request.listed = ++listings_;
    rail.partial.push_back(view);
  } else {
    rail.partial.update(view);
  }
  if (rail.counted_at != run_.engine.now()) rail.counted.clear();
  rail.counted_at = run_.engine.now();
  rail.counted.emplace_back(view.id.value, request.serial);
  listener_.requests_changed(request.rail, {run_.engine.now(), 0});  // cause_of_counted() has the rest
}

// In a folded run an order that the programs do not determine is reported, because ranks might differ in it.
void RequestBoard::enlist(Request& request) {
  RequestList& list = rails_[request.rail.index()].complete;
  request.listed = ++listings_;
  if (list.by_port() != nullptr) {
    if (ambiguity_ != nullptr && is_tied(request, *list.by_port(), *this, run_.operations, one_order_))
      report_tie(*ambiguity_);
    list.insert(0, request.view);
    list.by_port()->insert(request.view);
    return;
  }
  const std::vector<std::uint32_t>& slots = list.slots();
  const auto place =
      std::upper_bound(slots.begin(), slots.end(), request.view.id.value, [this](std::uint32_t a, std::uint32_t b) {
        return has_turn_before(run_.operations, one_order_, requests_[a], requests_[b]);
      });
  if (ambiguity_ != nullptr && is_tied(request, slots, *this, run_.operations, one_order_)) report_tie(*ambiguity_);
  list.insert(static_cast<std::size_t>(place - slots.begin()), request.view);
}

// Rails order requests by arrival, and two operations on two rails may each be first on one of them and wait for the other:
// a deadlock. From this call on all rails have the one order of the programs, in which the first operation is first
// everywhere.
bool RequestBoard::use_one_order() {
  if (one_order_) return false;
  std::vector<std::vector<std::uint32_t>> slots(rails_.size());
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    for (const CircuitRequest* view : in_order(*this, RailId{r})) {
      if (view->all_asked()) slots[r].push_back(view->id.value);
    }
  }
  one_order_ = true;
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    rails_[r].complete.clear();
    for (const std::uint32_t slot : slots[r]) enlist(requests_[slot]);
  }
  return true;
}

// Every list and counter that names the request lets go of it before its slot is free for another.
void RequestBoard::drop(Request& request) {
  RailRequests& rail = rails_[request.rail.index()];
  count_pairs(rail.complete, request, false);
  const std::uint32_t slot = request.view.id.value;
  erase_by_port(rail.complete, request);
  rail.complete.erase(slot);
  rail.partial.erase(slot);
  std::erase_if(rail.blocked, [slot](const BlockedRequest& blocked) { return blocked.slot == slot; });
  run_.engine.cancel(request.alarm);
  request.alarm = {};
  request.open = false;
  std::erase_if(core::grown(open_, request.op), [slot](const OpenRequest& open) { return open.slot == slot; });
  free_.push_back(slot);
}

void RequestBoard::show_as_blocked(Request& request) {
  request.view.blocking = true;
  refresh(request);
  RailRequests& rail = rails_[request.rail.index()];
  count_pairs(rail.complete, request, needs_.by_pair() && request.view.all_asked());
  if (rail.complete.by_port() != nullptr && request.view.all_asked()) rail.complete.by_port()->change(request.view);
  rail.blocked.push_back({request.view.id.value, request.pairs.empty() ? ServerPair{} : request.pairs.oldest().pair});
  arm(request, run_.engine.now());
}

// A rank may ask ahead of its arrival, and what its operation waited for last is known when the instant is over.
execution::CriticalPathTag RequestBoard::cause_of_counted(RailId id) const {
  const RailRequests& rail = rails_[id.index()];
  execution::CriticalPathTag cause{run_.engine.now(), 0};
  if (rail.counted_at != cause.at) return cause;
  for (const auto& [slot, serial] : rail.counted) {
    const Request& request = requests_[slot];
    if (!request.open || request.serial != serial) continue;  // its round has opened and has said what it waited for
    cause.reconfigurations = std::max(cause.reconfigurations, run_.operations[request.op].cause.reconfigurations());
  }
  return cause;
}

void RequestBoard::block(OpId id, std::uint32_t round) {
  for (const OpenRequest& open : core::grown(open_, id)) {
    if (open.round != round || requests_[open.slot].missed) continue;
    show_as_blocked(requests_[open.slot]);
    listener_.requests_changed(requests_[open.slot].rail, run_.operations[id].cause.latest());
  }
}

// `visit` may open requests, which moves the list of open ones: it is copied first.
void RequestBoard::serve(OpId id, std::uint32_t round, const std::function<void(const Request&)>& visit) {
  std::vector<std::uint32_t> served;
  for (const OpenRequest& open : core::grown(open_, id)) {
    if (open.round == round && !requests_[open.slot].missed) served.push_back(open.slot);
  }
  for (const std::uint32_t slot : served) {
    visit(requests_[slot]);
    drop(requests_[slot]);
  }
}

// ---- pair by pair

Request* RequestBoard::find(OpId op, std::uint32_t round, RailId rail, bool missed) {
  for (const OpenRequest& open : core::grown(open_, op)) {
    Request& request = requests_[open.slot];
    if (open.round == round && request.rail == rail && request.missed == missed) return &request;
  }
  return nullptr;
}

// The request for a round becomes one for single pairs: it is empty at first, and each send that waits adds its pair.
void RequestBoard::split_by_pair(OpId id, std::uint32_t round) {
  for (const OpenRequest& open : core::grown(open_, id)) {
    Request& request = requests_[open.slot];
    if (open.round != round || request.missed) continue;
    count_pairs(rails_[request.rail.index()].complete, request, false);
    request.pairs.clear();
    count_pairs(rails_[request.rail.index()].complete, request,
                needs_.by_pair() && request.view.blocking && request.view.all_asked());
    refresh(request);
  }
}

// No member has to ask again for what the operation asked for already.
void RequestBoard::pair_waits(OpId id, std::uint32_t round, const RailCrossing& crossing, Bytes bytes, Member first) {
  const Operation& op = run_.operations[id];
  Request* request = find(id, round, crossing.rail);
  if (request == nullptr) {
    request = &take(id, round, crossing.rail, 1);
    for (const TaskId task : op.arrival.tasks()) {
      if (task.is_none()) continue;
      request->tasks.add(task);
    }
    count_request(*request, op.rank(first));
  }
  add_pair(rails_[crossing.rail.index()].complete, *request, {crossing.from, crossing.to}, bytes, run_.engine.now());
  if (request->view.blocking) {
    rails_[crossing.rail.index()].stale.push_back(request->view.id.value);
  } else {
    show_as_blocked(*request);
  }
  listener_.requests_changed(crossing.rail, op.cause.latest());
}

// Members on other rails may use the same circuits; what they have for them waits on its own.
void RequestBoard::pair_served(OpId id, std::uint32_t round, const RailCrossing& crossing, std::uint32_t sends,
                               Bytes bytes) {
  Request* request = find(id, round, crossing.rail);
  const ServerPair pair{crossing.from, crossing.to};
  PHOTONRAIL_CHECK(request != nullptr && request->pairs.sends(pair) >= sends);
  remove_pair(rails_[crossing.rail.index()].complete, *request, pair, sends, bytes);
  if (request->pairs.empty()) return drop(*request);
  rails_[crossing.rail.index()].stale.push_back(request->view.id.value);
}

// ---- circuits that were taken away

// The operation had its circuits already; it wants them back, and no member has to agree again. All that it lacks on a rail
// is one request, so that no pair is given the ports that another needs.
void RequestBoard::circuit_missed(RailId rail, OpId op, ServerPair pair) {
  Request* request = find(op, 0, rail, true);
  const bool fresh = request == nullptr;
  if (fresh) {
    request = &take(op, 0, rail, 1);
    request->missed = true;
    request->view.blocking = true;
  }
  const bool another_holder = request->pairs.has(pair);
  const Bytes bytes = another_holder || !needs_.weighs() ? Bytes{} : run_.fabric.rail(rail).bytes_left(pair.from, pair.to);
  RequestList& list = rails_[rail.index()].complete;
  if (!another_holder) erase_by_port(list, *request);
  add_pair(list, *request, pair, bytes, run_.engine.now());
  if (another_holder) return;
  refresh(*request);
  const std::uint32_t reconfigurations = run_.operations[op].cause.reconfigurations();
  if (!fresh) {
    reinsert_by_port(list, *request);
    return listener_.requests_changed(rail, {run_.engine.now(), reconfigurations});
  }
  count_request(*request, run_.operations[op].rank(0));
  arm(*request, run_.engine.now());
}

// The index by port refers to the pairs of a request: it comes out before they change, and goes back in afterwards.
void RequestBoard::circuit_back(RailId rail, OpId op, ServerPair pair) {
  Request* request = find(op, 0, rail, true);
  if (request == nullptr || !request->pairs.has(pair)) return;
  RequestList& list = rails_[rail.index()].complete;
  erase_by_port(list, *request);
  (void)remove_pair(list, *request, pair, 1, {});
  refresh(*request);
  if (request->pairs.empty()) return drop(*request);
  reinsert_by_port(list, *request);
}

// ---- repetition, progress, starvation

// In the order in which they were first asked for.
void RequestBoard::repeat(RailId rail) {
  rails_[rail.index()].complete.clear();
  rails_[rail.index()].partial.clear();
  std::vector<std::uint32_t> open;
  for (std::uint32_t slot = 0; slot < requests_.size(); ++slot) {
    if (requests_[slot].open && requests_[slot].rail == rail) open.push_back(slot);
  }
  std::sort(open.begin(), open.end(),
            [this](std::uint32_t a, std::uint32_t b) { return requests_[a].serial < requests_[b].serial; });
  for (const std::uint32_t slot : open) {
    Request& request = requests_[slot];
    count_pairs(rails_[rail.index()].complete, request, false);
    request.view.asked = 0;
    request.requesters.clear();
    const Operation& op = run_.operations[request.op];
    const bool by_members = std::find(request.asked.begin(), request.asked.end(), true) != request.asked.end();
    if (!by_members) count_request(request, op.rank(0));  // no member had to ask for it: the rail did
    for (Member m = 0; m < request.asked.size(); ++m) {
      if (request.asked[m]) channel_.request(rail, op.rank(m), slot, request.serial);
    }
  }
}

void RequestBoard::mark_progress(RailId rail, const std::vector<Time>& last_event, bool all) {
  for (const CircuitRequest* view : in_order(*this, rail)) {
    if (!view->all_asked()) continue;
    Request& request = requests_[view->id.value];
    const auto has_progressed = [&](const Requester& r) {
      return r.rank.index() < last_event.size() && last_event[r.rank.index()] == run_.engine.now();
    };
    const bool progressed = all || std::any_of(request.requesters.begin(), request.requesters.end(), has_progressed);
    if (progressed == request.view.requester_progressed) continue;
    request.view.requester_progressed = progressed;
    refresh(request);
  }
}

void RequestBoard::arm(Request& request, Time since) {
  if (run_.spec.starvation == Duration{0}) return;
  run_.engine.cancel(request.alarm);
  request.alarm = run_.engine.schedule(since + run_.spec.starvation, engine::Phase::kSettle,
                                       engine::Action::to<&RequestBoard::starved>(*this, request.view.id.value));
}

void RequestBoard::starved(std::uint64_t slot) {
  Request& request = requests_[slot];
  request.alarm = {};
  if (request.pairs.one_by_one()) {
    const Time oldest = request.pairs.oldest().since;
    if (oldest + run_.spec.starvation > run_.engine.now()) return arm(request, oldest);
  }
  throw ControllerError("controller '" + run_.spec.name + "' on rail " + std::to_string(request.rail.value) + " at " +
                        std::to_string(to_seconds(run_.engine.now())) + " s: " +
                        describe(request, run_.operations[request.op]) + " has waited for its circuits longer than the " +
                        std::to_string(to_seconds(run_.spec.starvation)) + " s that the controller allows (starvation)");
}

std::string describe(const Request& request, const Operation& op) {
  const std::string text = std::string(name(op.op)) + " of group '" + op.communicator->name + "'";
  if (request.pairs.empty()) return text;
  const ServerPair pair = request.pairs.oldest().pair;
  const std::size_t more = request.pairs.size() - 1;
  return text + " (server " + std::to_string(pair.from) + " to " + std::to_string(pair.to) +
         (more > 0 ? " and " + std::to_string(more) + " more)" : ")");
}

}  // namespace photonrail::control_plane
