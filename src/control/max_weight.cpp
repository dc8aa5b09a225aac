// Circuits as a maximum weighted matching of what waits (McKeown, Mekkittikul, Anantharam and Walrand, "Achieving 100%
// throughput in an input-queued switch", 1999), with hysteresis because a change of circuits costs time (Wang and Javidi,
// "Adaptive policies for scheduling with reconfiguration delay", 2017): a pair that is lit weighs more than it has.
// A pair weighs the bytes that wait for it and those that a port could have sent while they waited, so that none starves.
// Several ports are as many matchings, one after the other: with a "width", a pair with k circuits weighs 1/(k+1) in them;
// without, a pair is in one, and ports that are left over are shared out by weight.
// Circuits in use or on their way are not touched: the matching is made of what they leave.
//
// Serves pairs one by one: a demand with more pairs than ports gets those that the matching has.
//
// Leaves out: the bytes that are to come in the present collective; the state-dependent threshold of the paper.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/waiting.hpp"
#include "control/waiting_reader.hpp"
#include "control/weighted_matching.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::control {

namespace {

constexpr double kMaxWeight = 1e15;  // so that sums are far from the end of the range

class MaxWeight : public WaitingReader {
 public:
  explicit MaxWeight(const ControllerSpec& spec)
      : hysteresis_(spec.parameters.number("hysteresis")),
        age_(spec.parameters.number("age")),
        width_(spec.parameters.count("width")) {}

  Decision decide(const FabricView& view) override {
    if (view.requests.empty()) return std::nullopt;
    places_.learn(view);
    waiting_.learn(view, places_);
    ports_.begin(view);
    count_free(view);
    std::vector<Weighed> waiting;
    for (const WaitingPair& w : waiting_.servable()) waiting.push_back(weigh(view, w));
    CircuitPlan plan;
    for (std::uint32_t layer = 0; layer < view.ports_per_gpu; ++layer) match(waiting);
    // Those that are there are kept before others look for fibres.
    for (const Weighed& w : waiting) (void)ports_.keep(w.pair, w.fixed + w.chosen);
    for (const Weighed& w : waiting) {
      for (std::uint32_t k = w.idle; k < w.chosen; ++k) (void)ports_.join(w.pair, plan.connect);
    }
    if (width_ == 0 && view.ports_per_gpu > 1) widen(waiting, plan);
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 private:
  struct Weighed {
    ServerPair pair;
    Bytes bytes{};
    double weight = 0.0;
    std::uint32_t fixed = 0;   // circuits in use, or on their way
    std::uint32_t idle = 0;    // lit, and free
    std::uint32_t chosen = 0;  // of idle ones and new ones
  };

  // Fibres that may be re-pointed.
  void count_free(const FabricView& view) {
    sends_.assign(view.positions, view.ports_per_gpu);
    receives_.assign(view.positions, view.ports_per_gpu);
    for (std::size_t p = 0; p < view.transmit.size(); ++p) {
      const PortView& fibre = view.transmit[p];
      const bool faulty_receiver = fibre.faulty && view.receive[p].is_none();
      if (faulty_receiver) --receives_[view.position(PortId{p})];
      if (!is_fixed(view, fibre)) continue;
      --sends_[view.position(PortId{p})];
      if (!fibre.peer.is_none()) --receives_[view.position(fibre.peer)];
    }
  }

  [[nodiscard]] Weighed weigh(const FabricView& view, const WaitingPair& w) const {
    const double lost = view.port_rate.bytes_per_second * to_seconds(view.now - w.since);
    Weighed waiting{w.pair, w.bytes, std::min(1.0 + static_cast<double>(w.bytes.count) + age_ * lost, kMaxWeight)};
    for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
      const PortView& fibre = view.transmit[view.port(w.pair.from, p).index()];
      if (fibre.peer.is_none() || view.position(fibre.peer) != w.pair.to) continue;
      ++(is_fixed(view, fibre) ? waiting.fixed : waiting.idle);
    }
    return waiting;
  }

  // One more circuit for each of a set of pairs that do not meet.
  void match(std::vector<Weighed>& waiting) {
    std::vector<WeightedPair> pairs;
    std::vector<Weighed*> of;
    for (Weighed& w : waiting) {
      const std::uint32_t have = w.fixed + w.chosen;
      if (have >= std::max(1u, width_) || sends_[w.pair.from] == 0 || receives_[w.pair.to] == 0) continue;
      const double bonus = w.chosen < w.idle ? 1.0 + hysteresis_ : 1.0;
      pairs.push_back({w.pair, static_cast<std::int64_t>(std::clamp(w.weight * bonus / (have + 1), 1.0, kMaxWeight))});
      of.push_back(&w);
    }
    if (pairs.empty()) return;
    for (const std::size_t i : heaviest_matching(pairs)) {
      ++of[i]->chosen;
      --sends_[of[i]->pair.from];
      --receives_[of[i]->pair.to];
    }
  }

  void widen(std::vector<Weighed>& waiting, CircuitPlan& plan) {
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Weighed& a, const Weighed& b) { return a.weight > b.weight; });
    std::vector<PairTraffic> pairs;
    for (const Weighed& w : waiting) pairs.push_back({w.pair, w.bytes});
    ports_.widen(pairs, waiting_.even_share(), plan.connect);
  }

  double hysteresis_;
  double age_;
  std::uint32_t width_;
  Places places_;
  Waiting waiting_;
  FreePorts ports_;
  std::vector<std::uint32_t> sends_;
  std::vector<std::uint32_t> receives_;
};

std::unique_ptr<Controller> make_max_weight(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<MaxWeight>(spec);
}

}  // namespace

ControllerFactory max_weight_factory() {
  return {
      .name = "max_weight",
      .summary = "maximum weighted matching of what waits, with hysteresis (McKeown 1999, Wang and Javidi 2017)",
      .make = make_max_weight,
      .rail_symmetric = true,
      .needs = [](const ControllerSpec&) { return PolicyNeeds{.view = {ViewPart::kBytes}, .service = Service::kByPair}; },
      .parameters = {ControllerParameter::number("hysteresis", 0.1, 0.0, 1e6, "how much more a lit pair weighs"),
                     ControllerParameter::number("age", 1.0, 0.0, 1e6,
                                                 "weight of the bytes that could have been sent while a pair waited"),
                     ControllerParameter::count("width", 0, 0, 1024, kWidthSummary)},
      .work_conserving = true};
}

}  // namespace photonrail::control
