// Coalesce, a policy of our own: groups operations that need the same circuits, and goes over to others when the time that
// these would wait is worth the switch.
//
// Every demand has a due time (ViewPart::kDueTimes): the latest end that keeps the step as short as on electrical rails.
// A demand without circuits takes those of others only if that makes the worst lateness of all that is known smaller than
// serving some of the others first: batch sequencing with set-up times for the least maximum lateness (Monma and Potts,
// Operations Research 37, 1989), of which a few sequences are tried: first some of those that have their circuits, then
// some or all of the batch that has not, then the rest. Requests that some members have yet to ask for are foreseen: the
// last member is as late as it was last time; the switch begins one delay before that.
//
// Lanes take what is due first, and an operation that waits for circuits leaves its lanes to others (LaneRule).
// Before the run the job is rehearsed in several ways, those of Opus among them, and the best is taken.
//
// Leaves out: circuits without a request, other rails, and any repair of the plan when ranks are later than foreseen.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/outlook.hpp"
#include "control/phase_width.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::control {

namespace {

constexpr Duration kMinGrace{1'000'000};  // 1 us: also without a delay time has to pass

/// The same order on every rail.
bool before(const CircuitRequest& a, const CircuitRequest& b) {
  const auto key = [](const CircuitRequest& d) {
    return std::tuple(d.due, d.iteration, d.communicator, d.expected, d.round, d.complete, d.id);
  };
  return key(a) < key(b);
}

/// Switches since a request came, went or got one of its circuits. Rails decide apart: two requests may each have their
/// circuits on one rail and take those of the other there, again and again. After so many switches in vain only a rail that
/// stands still switches, in the one order that all rails have.
class Progress {
 public:
  void watch(const FabricView& view) {
    std::vector<std::tuple<RequestId, std::uint32_t, std::size_t>> waiting;
    for (const CircuitRequest& demand : view.requests) waiting.emplace_back(demand.id, demand.round, demand.pairs.size());
    if (waiting == waiting_) return;
    waiting_ = std::move(waiting);
    switches_ = 0;
  }
  void count_switch() { ++switches_; }
  [[nodiscard]] bool is_in_vain() const { return switches_ >= kMaxSwitchesInVain; }

 private:
  static constexpr std::uint32_t kMaxSwitchesInVain = 64;

  std::vector<std::tuple<RequestId, std::uint32_t, std::size_t>> waiting_;  // with round and number of pairs
  std::uint32_t switches_ = 0;
};

/// How late the last member of a communicator asked, after the time at which the profile expects it.
class Lags {
 public:
  void learn(const FabricView& view) {
    bool fell = false;
    for (const CircuitRequest& demand : view.requests) {
      if (demand.since == demand.complete) continue;
      Duration& lag = of_[demand.communicator];
      const Duration last = std::exchange(lag, demand.complete - demand.expected);
      fell = fell || (last == greatest_ && lag < last);
      greatest_ = std::max(greatest_, lag);
    }
    if (!fell) return;
    greatest_ = Duration{};
    for (const auto& [communicator, lag] : of_) greatest_ = std::max(greatest_, lag);
  }
  /// The greatest of all where nothing is known of the communicator.
  [[nodiscard]] Duration of(CommunicatorId communicator) const {
    const auto own = of_.find(communicator);
    return own != of_.end() ? own->second : greatest_;
  }

 private:
  std::map<CommunicatorId, Duration> of_;
  Duration greatest_{};  // 0 at the least
};

class Coalesce : public Controller {
 public:
  explicit Coalesce(const ControllerSpec& spec)
      : foresees_(spec.parameters.flag("foresee")), patience_(spec.parameters.number("patience")) {}

  Decision decide(const FabricView& view) override {
    view_ = &view;
    again_.reset();
    plan_ = {};
    sequences_.begin(view);
    ports_.begin(view);
    width_.learn(view);
    lags_.learn(view);
    watch_idleness();
    progress_.watch(view);
    ExpectedRequests lit;
    ExpectedRequests unlit;
    find_known();
    for (const ExpectedRequest& demand : known_) (is_made(*demand.request) ? lit : unlit).push_back(&demand);
    ExpectedRequests considered;  // the most urgent of those that want the same circuits
    for (const ExpectedRequest* demand : unlit) {
      const std::span<const ServerPair> pairs = demand->request->pairs;
      const bool again = std::any_of(considered.begin(), considered.end(), [pairs](const ExpectedRequest* other) {
        return std::equal(pairs.begin(), pairs.end(), other->request->pairs.begin(), other->request->pairs.end());
      });
      if (again) continue;
      considered.push_back(demand);
      std::optional<Attempt> tried = attempt(*demand->request);
      if (tried && is_worth_it(*demand, lit, unlit)) take(std::move(*tried));
    }
    note_made();
    Decision decision;
    if (!plan_.connect.empty()) {
      decision = plan_;
      progress_.count_switch();
    }
    decision.ask_again = again_;
    return decision;
  }

 private:
  // ---- what is known

  // An idle rail waits either because no request can be served or for an operation that the profile predicts.
  void watch_idleness() {
    const bool active = std::any_of(view_->transmit.begin(), view_->transmit.end(), [](const PortView& fibre) {
      return fibre.in_use || (!fibre.peer.is_none() && !fibre.lit);
    });
    if (active || was_active_ || !idle_since_) idle_since_ = view_->now;
    was_active_ = active;
    const Time end = *idle_since_ + grace();
    overdue_ = !active && view_->now > end;
    const bool blocked = std::any_of(view_->requests.begin(), view_->requests.end(),
                                     [](const CircuitRequest& demand) { return demand.blocking; });
    if (!active && blocked) ask_again(end + Duration{1});
  }

  [[nodiscard]] Duration grace() const {
    const auto delay = static_cast<double>(view_->reconfiguration.total().count());
    return std::max(kMinGrace, Duration{static_cast<std::int64_t>(delay * patience_)});
  }

  [[nodiscard]] Time ready_at(const CircuitRequest& demand) const {
    return demand.all_asked() ? view_->now : demand.expected + lags_.of(demand.communicator);
  }

  // Requests that wait and, for a while before and after they are foreseen, those that will; due first.
  void find_known() {
    known_.clear();
    for (const CircuitRequest& demand : view_->requests) add_known(demand, ready_at(demand));
    const Duration change = view_->reconfiguration.total();
    for (const CircuitRequest& demand : view_->partial_requests) {
      if (!foresees_) break;
      const Time ready = ready_at(demand);
      if (view_->now > ready + grace()) continue;  // foreseen wrongly
      if (comes_later(demand)) continue;
      ask_again(ready + grace() + Duration{1});
      ask_again(ready - change);
      if (is_made(demand) || view_->now >= ready - change) add_known(demand, ready);
    }
    std::sort(known_.begin(), known_.end(),
              [](const ExpectedRequest& a, const ExpectedRequest& b) { return before(*a.request, *b.request); });
  }
  void add_known(const CircuitRequest& demand, Time ready) {
    known_.push_back({&demand, ready, service_time(*view_, demand)});
  }

  // Returns true when something that one of its GPUs waits for came before it in the profiling run, and is due before it:
  // the last member may well wait for that.
  [[nodiscard]] bool comes_later(const CircuitRequest& demand) const {
    return std::any_of(view_->requests.begin(), view_->requests.end(), [&](const CircuitRequest& other) {
      if (other.expected >= demand.expected || other.due >= demand.due) return false;
      return std::any_of(other.pairs.begin(), other.pairs.end(), [&](ServerPair x) {
        return std::any_of(demand.pairs.begin(), demand.pairs.end(), [x](ServerPair y) {
          return x.from == y.from || x.from == y.to || x.to == y.from || x.to == y.to;
        });
      });
    });
  }

  void ask_again(Time at) {
    if (at > view_->now && (!again_ || at < *again_)) again_ = at;
  }

  // ---- circuits

  [[nodiscard]] bool is_made(const CircuitRequest& demand) const {
    return std::all_of(demand.pairs.begin(), demand.pairs.end(), [this](ServerPair pair) { return joined(*view_, pair); });
  }

  /// The ports and circuits of the plan once the demand is in it.
  struct Attempt {
    FreePorts ports;
    std::vector<Circuit> connect;
  };

  [[nodiscard]] std::optional<Attempt> attempt(const CircuitRequest& demand) {
    Attempt tried{ports_, plan_.connect};
    if (!tried.ports.serve_all(demand.pairs, width_.of(*view_, demand), tried.connect)) return std::nullopt;
    if (std::any_of(tried.connect.begin(), tried.connect.end(), [this](Circuit circuit) { return undoes(circuit); })) {
      ask_again(view_->now + Duration{1});  // nothing else may happen
      return std::nullopt;
    }
    return tried;
  }

  // Where circuits are there at once, two demands could take them from each other again and again while no time passes:
  // what was made at this instant stays for as long.
  [[nodiscard]] bool undoes(Circuit circuit) const {
    const PortId source = view_->receive[circuit.to.index()];
    return was_made_now(circuit.from) || (!source.is_none() && was_made_now(source));
  }
  [[nodiscard]] bool was_made_now(PortId from) const {
    return from.index() < made_.size() && made_[from.index()] == view_->now &&
           !view_->transmit[from.index()].peer.is_none();
  }
  void note_made() {
    made_.resize(view_->transmit.size(), Time{-1});
    for (const Circuit circuit : plan_.connect) made_[circuit.from.index()] = view_->now;
  }

  void take(Attempt tried) {
    ports_ = std::move(tried.ports);
    plan_.connect = std::move(tried.connect);
  }

  // ---- whether a switch is worth it

  // Nothing moves, although a demand is there whose members wait. Those that have its circuits may wait for a lane that it
  // holds, or for circuits of another rail that are kept for it: on every rail the one that is under way already, or due
  // first, goes on. One at a time, so that it has time to.
  bool is_stuck(const CircuitRequest& demand, const ExpectedRequests& rivals) {
    if (!overdue_ || !demand.blocking) return false;
    const bool first = std::all_of(rivals.begin(), rivals.end(), [&demand](const ExpectedRequest* rival) {
      const CircuitRequest& other = *rival->request;
      if (!other.all_asked() || !other.blocking) return other.all_asked();
      return (demand.round > 0) != (other.round > 0) ? demand.round > 0 : before(demand, other);
    });
    if (!first) return false;
    overdue_ = false;
    idle_since_ = view_->now;
    return true;
  }

  [[nodiscard]] bool is_worth_it(const ExpectedRequest& demand, const ExpectedRequests& lit,
                                 const ExpectedRequests& unlit) {
    const ExpectedRequests rivals = sequences_.rivals_of(demand, lit);
    if (rivals.empty() || is_stuck(*demand.request, rivals)) return true;
    return !progress_.is_in_vain() && sequences_.is_best_first(demand, rivals, unlit);
  }

  const bool foresees_;
  const double patience_;
  const FabricView* view_ = nullptr;
  CircuitPlan plan_;
  std::optional<Time> again_;
  std::optional<Time> idle_since_;  // none before the first decision: the job may start at any time
  bool was_active_ = false;
  bool overdue_ = false;
  Progress progress_;
  Lags lags_;
  std::vector<Time> made_;  // by transmit port: when its circuit was asked for last
  FreePorts ports_;
  PhaseWidth width_;
  std::vector<ExpectedRequest> known_;  // that wait or are foreseen, due first
  ServiceSequences sequences_;
};

std::unique_ptr<Controller> make_coalesce(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Coalesce>(spec);
}

PolicyNeeds coalesce_needs(const ControllerSpec& spec) {
  PolicyNeeds needs;
  needs.view = {ViewPart::kBytes, ViewPart::kDueTimes, ViewPart::kScheduleWithPorts};
  needs.ranks.lanes = spec.parameters.flag("lanes_by_due") ? LaneRule::kYieldEarliestFirst : LaneRule::kYield;
  return needs;
}

std::vector<ControllerSpec> coalesce_rehearsals(const ControllerSpec& spec) {
  if (!spec.parameters.flag("rehearse")) return {};
  std::vector<ControllerSpec> list;
  for (const double by_due : {1.0, 0.0}) {
    for (const double foresee : {1.0, 0.0}) {
      for (const double patience : {1.0, 4.0}) {
        if (foresee == 0.0 && patience > 1.0) continue;
        ControllerSpec way = spec;
        way.parameters.set("rehearse", 0.0).set("lanes_by_due", by_due).set("foresee", foresee).set("patience", patience);
        list.push_back(way);
      }
    }
  }
  for (const char* mode : {"provisioned", "on_demand"}) {
    for (const char* order : {"scheduled", "free"}) {
      ControllerSpec way = spec;
      way.name = "opus";
      way.parameters = ParameterValues().set("mode", mode).set("order", order);
      list.push_back(way);
    }
  }
  return list;
}

}  // namespace

ControllerFactory coalesce_factory() {
  ControllerFactory factory;
  factory.name = "coalesce";
  factory.summary = "groups operations that need the same circuits, and weighs who would wait against a switch (ours)";
  factory.make = make_coalesce;
  factory.rail_symmetric = true;
  factory.needs = coalesce_needs;
  factory.rehearse = coalesce_rehearsals;
  factory.rehearse_first = 1;  // with patience
  using P = ControllerParameter;
  factory.parameters = {
      P::flag("rehearse", true, "try several ways on the job, those of Opus among them, and take the best"),
      P::flag("foresee", true, "switch one delay before the last member is expected to ask"),
      P::number("patience", 1.0, 0.0, 1000.0, "how many delays circuits are kept for somebody who is later than expected"),
      P::flag("lanes_by_due", true, "communication lanes take the operation that is due first")};
  return factory;
}

}  // namespace photonrail::control
