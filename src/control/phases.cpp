// A policy composed of others, for jobs whose phases take turns on the rails (OrchestrRL, arXiv 2601.01209, re-points the
// fabric as a reinforcement learning step goes from generation to training): requests are told apart by what they carry,
// the circuits of each phase are decided by a policy of its own, and boundaries are those that the workload announces.
//
// "refit": the circuits of new weights are set as soon as they are announced, with "provisioned", else when they are
// needed. "generation": when a refit ends, the circuits that generation will want are lit before it asks: those of the
// pairs that sent most so far, over all ports ("static_split"), or of transfers of KV alone ("kv_only"); other pairs get
// theirs on demand. "training": Opus, or a cache of circuits. Of phases that want one GPU at once, the one whose blocked
// request is the oldest goes first, then the one that announced first, and others leave its ports and its circuits: two
// phases would else take an idle circuit from each other for ever.
//
// Leaves out: phases that share a dimension. Tensor parallelism over rails counts as generation, in training too.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/one_shot.hpp"
#include "control/outlook.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace photonrail::control {

namespace {

enum Phase : std::size_t { kTraining, kGeneration, kRefitting, kPhases };

Phase phase_of(Dimension dimension) {
  if (dimension == Dimension::kRefit) return kRefitting;
  return dimension == Dimension::kKv || dimension == Dimension::kTp ? kGeneration : kTraining;
}

/// GPUs that send and that receive, by the phases that want them.
class Sides {
 public:
  static constexpr std::uint8_t kAny = 0xff;
  static std::uint8_t of(std::size_t phase) { return static_cast<std::uint8_t>(1u << phase); }

  explicit Sides(const FabricView& view) : send_(view.positions), receive_(view.positions) {}

  void add(std::span<const ServerPair> pairs, std::uint8_t phase = kAny) {
    for (const ServerPair pair : pairs) {
      send_[pair.from] |= phase;
      receive_[pair.to] |= phase;
    }
  }
  /// Returns true when one of the pairs has a side in common with what one of the phases wants.
  [[nodiscard]] bool meet(std::span<const ServerPair> pairs, std::uint8_t phases = kAny) const {
    return std::any_of(pairs.begin(), pairs.end(),
                       [&](ServerPair pair) { return ((send_[pair.from] | receive_[pair.to]) & phases) != 0; });
  }

 private:
  std::vector<std::uint8_t> send_;  // by position
  std::vector<std::uint8_t> receive_;
};

/// The rail as it will be when the plans of this instant are under way: a copy once there are some.
class Overlay {
 public:
  /// `view` must outlive it.
  explicit Overlay(const FabricView& view) : view_(&view) {}

  void add(const CircuitPlan& plan) {
    if (plan.connect.empty()) return;
    copy();
    for (const Circuit circuit : plan.connect) {
      const PortId before = transmit_[circuit.from.index()].peer;
      if (!before.is_none()) receive_[before.index()] = PortId::none();
      const PortId source = receive_[circuit.to.index()];
      if (!source.is_none()) transmit_[source.index()] = dark(transmit_[source.index()]);
      transmit_[circuit.from.index()] = dark(transmit_[circuit.from.index()]);
      transmit_[circuit.from.index()].peer = circuit.to;
      receive_[circuit.to.index()] = circuit.from;
    }
  }
  /// The circuits of the pair stay, as those that are being switched do.
  void hold(ServerPair pair) {
    copy();
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      PortView& port = transmit_[view_->port(pair.from, p).index()];
      if (!port.peer.is_none() && view_->position(port.peer) == pair.to) port.lit = false;
    }
  }
  void show(FabricView& view) const {
    if (transmit_.empty()) return;
    view.transmit = transmit_;
    view.receive = receive_;
  }

 private:
  static PortView dark(const PortView& port) {
    PortView dark;
    dark.faulty = port.faulty;
    return dark;
  }
  void copy() {
    if (!transmit_.empty()) return;
    transmit_.assign(view_->transmit.begin(), view_->transmit.end());
    receive_.assign(view_->receive.begin(), view_->receive.end());
  }

  const FabricView* view_;
  std::vector<PortView> transmit_;
  std::vector<PortId> receive_;
};

class Phases : public Controller {
 public:
  Phases(const ControllerSpec& spec, std::array<std::unique_ptr<Controller>, kPhases> of)
      : of_(std::move(of)),
        provisioned_(spec.parameters.flag("provisioned")),
        split_(spec.parameters.word("generation") == "static_split"),
        kv_(spec.parameters.word("generation") != "on_demand") {}

  Decision decide(const FabricView& view) override {
    sort(view);
    CircuitPlan all;
    Overlay rail(view);
    Sides kept(view);  // for requests of phases that go first and are not served yet
    Sides blocked(view);
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      for (const CircuitRequest& request : requests_[phase]) {
        if (request.blocking) blocked.add(request.pairs, Sides::of(phase));
      }
    }
    const std::vector<std::size_t> phases = in_turn();
    for (const bool behind : {false, true}) {
      for (const std::size_t phase : phases) {
        const std::vector<CircuitRequest> requests = of_turn(phase, behind, blocked);
        if (!requests.empty()) serve(phase, requests, view, {rail, kept, all});
      }
    }
    light_ahead(view, rail, all);
    if (all.connect.empty()) return std::nullopt;
    return all;
  }

 private:
  static void add(const CircuitPlan& plan, Overlay& rail, CircuitPlan& all) {
    rail.add(plan);
    all.connect.insert(all.connect.end(), plan.connect.begin(), plan.connect.end());
  }

  // What is announced comes behind what other phases are blocked for at its GPUs.
  [[nodiscard]] std::vector<CircuitRequest> of_turn(std::size_t phase, bool behind, const Sides& blocked) const {
    const auto others = static_cast<std::uint8_t>(~Sides::of(phase));
    std::vector<CircuitRequest> requests;
    for (const CircuitRequest& request : requests_[phase]) {
      const bool waits = !request.blocking && blocked.meet(request.pairs, others);
      if (waits == behind) requests.push_back(request);
    }
    return requests;
  }

  /// What the phases of one decision come to.
  struct Outcome {
    Overlay& rail;
    Sides& kept;
    CircuitPlan& all;
  };

  void serve(std::size_t phase, const std::vector<CircuitRequest>& requests, const FabricView& view, Outcome outcome) {
    FabricView shown = view;
    outcome.rail.show(shown);
    std::vector<CircuitRequest> free;
    for (const CircuitRequest& request : requests) {
      if (!outcome.kept.meet(request.pairs)) free.push_back(request);
    }
    shown.requests = free;
    shown.partial_requests = {};
    shown.by_port = nullptr;
    const Decision decision = of_[phase]->decide(shown);
    if (!decision.keeps()) add(decision.plan(), outcome.rail, outcome.all);
    outcome.rail.show(shown);
    for (const CircuitRequest& request : requests) {
      const auto lacks = [&](ServerPair pair) { return !joined(shown, pair); };
      if (std::none_of(request.pairs.begin(), request.pairs.end(), lacks)) {
        for (const ServerPair pair : request.pairs) outcome.rail.hold(pair);
      } else if (request.blocking) {
        outcome.kept.add(request.pairs);
      }
    }
  }

  // By phase; what generation sends is learnt, and whether a refit has ended.
  void sort(const FabricView& view) {
    for (auto& requests : requests_) requests.clear();
    first_.fill(2 * view.requests.size());
    const auto refits = [](const CircuitRequest& request) { return phase_of(request.dimension) == kRefitting; };
    const bool refit = std::any_of(view.requests.begin(), view.requests.end(), refits) ||
                       std::any_of(view.partial_requests.begin(), view.partial_requests.end(), refits);
    for (std::size_t r = 0; r < view.requests.size(); ++r) {
      const CircuitRequest& request = view.requests[r];
      const Phase phase = phase_of(request.dimension);
      if (phase == kGeneration) learn(request);
      const std::size_t turn = request.blocking ? r : view.requests.size() + r;
      first_[phase] = std::min(first_[phase], turn);
      if (request.blocking || provisioned_) requests_[phase].push_back(request);
    }
    if (refitting_ && !refit) begin_generation(view);
    refitting_ = refit;
  }

  void learn(const CircuitRequest& request) {
    if (!kv_ || (!split_ && request.dimension != Dimension::kKv)) return;
    for (std::size_t p = 0; p < request.pairs.size(); ++p) {
      std::int64_t& most = bytes_[request.pairs[p]];
      most = std::max(most, p < request.bytes.size() ? request.bytes[p].count : std::int64_t{1});
    }
  }

  // The phases that have requests: the first that blocks goes first, then the first that announced.
  [[nodiscard]] std::vector<std::size_t> in_turn() const {
    std::vector<std::size_t> phases;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      if (!requests_[phase].empty()) phases.push_back(phase);
    }
    std::stable_sort(phases.begin(), phases.end(), [this](std::size_t a, std::size_t b) { return first_[a] < first_[b]; });
    return phases;
  }

  // The refit has its circuits, and releases them pair by pair: what is to be lit waits for them.
  void begin_generation(const FabricView& view) {
    std::vector<std::pair<std::int64_t, ServerPair>> heaviest;
    for (const auto& [pair, bytes] : bytes_) heaviest.emplace_back(-bytes, pair);
    std::sort(heaviest.begin(), heaviest.end());
    OneShot circuits(view.positions, view.ports_per_gpu, view.planes);
    ahead_.clear();
    for (const auto& [bytes, pair] : heaviest) {
      if (circuits.join(pair)) ahead_.push_back(pair);
    }
  }

  // A pair is done with when it is lit, or when another phase wants one of its sides.
  void light_ahead(const FabricView& view, Overlay& rail, CircuitPlan& all) {
    if (ahead_.empty()) return;
    Sides training(view);
    for (const CircuitRequest& request : requests_[kTraining]) training.add(request.pairs);
    std::erase_if(ahead_, [&](ServerPair pair) { return training.meet(std::span<const ServerPair>(&pair, 1)); });
    FabricView shown = view;
    rail.show(shown);
    FreePorts ports;
    ports.begin(shown);
    CircuitPlan plan;
    std::erase_if(ahead_, [&](ServerPair pair) {
      if (ports.keep(pair, 1) > 0) return true;
      return ports.join(pair, plan.connect);
    });
    add(plan, rail, all);
  }

  std::array<std::unique_ptr<Controller>, kPhases> of_;
  const bool provisioned_;
  const bool split_;  ///< generation: circuits of all its pairs are lit ahead
  const bool kv_;     ///< ... of those that send KV
  std::array<std::vector<CircuitRequest>, kPhases> requests_;
  std::array<std::size_t, kPhases> first_{};  ///< in the view: the first request that blocks, or else the first
  std::map<ServerPair, std::int64_t> bytes_;  ///< of generation: the greatest request of each pair
  std::vector<ServerPair> ahead_;             ///< to be lit
  bool refitting_ = false;
};

bool trains_by_opus(const ControllerSpec& spec) { return spec.parameters.word("training") == "opus"; }

std::unique_ptr<Controller> make_phases(const ControllerSpec& spec, RailId rail, std::uint32_t gpus_per_server,
                                        std::uint32_t ports_per_gpu) {
  std::array<std::unique_ptr<Controller>, kPhases> of;
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    const ControllerFactory factory = phase == kTraining && trains_by_opus(spec) ? opus_factory() : lru_factory();
    ControllerSpec own;
    own.name = factory.name;
    of[phase] = factory.make(factory.complete(own), rail, gpus_per_server, ports_per_gpu);
  }
  return std::make_unique<Phases>(spec, std::move(of));
}

PolicyNeeds phases_needs(const ControllerSpec& spec) {
  PolicyNeeds needs{.view = {ViewPart::kBytes}, .while_switching = WhileSwitching::kWait};
  if (trains_by_opus(spec)) needs.view.add(ViewPart::kScheduleWithPorts);
  if (spec.parameters.flag("provisioned")) needs.ranks.announce = Announcement::kAhead;
  return needs;
}

}  // namespace

ControllerFactory phases_factory() {
  using P = ControllerParameter;
  return {
      .name = "phases",
      .summary = "a policy for each phase of reinforcement learning, switched where the workload announces it (ours)",
      .make = make_phases,
      .rail_symmetric = true,
      .needs = phases_needs,
      .parameters = {P::word("generation", {"static_split", "kv_only", "on_demand"},
                             "circuits that are lit when a refit has ended: of all pairs by their bytes, of KV, or none"),
                     P::word("training", {"opus", "lru"}, "who decides the circuits of training"),
                     P::flag("provisioned", true, "circuits of what is announced are set before it begins")}};
}

}  // namespace photonrail::control
