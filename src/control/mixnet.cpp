// Circuits for the largest demands first, in each region of the rail on its own (MixNet, arXiv 2501.03905, SIGCOMM 2025:
// greedy by the largest pair demand, refreshed for each layer of a mixture of experts or each iteration).
//
// "layer" goes by the bytes that wait now. "iteration" goes by what the pairs exchanged in the past iteration: the largest
// pairs have their circuits before a request arrives, and among waiting requests the one with most traffic comes first; the
// first iteration goes by the bytes that wait.
//
// MixNet sends what has no circuit over an electrical fabric. A rail has none here: it waits for its pair's turn (pairs are
// served one by one), or is forwarded where the rail forwards and faulty ports rule out its own circuit. Pairs that leave a
// region come after those inside.
//
// Leaves out: the electrical fabric; routing of experts; the cost of collecting demands from the GPUs.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/waiting.hpp"
#include "control/waiting_reader.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace photonrail::control {

namespace {

struct Ranked {
  ServerPair pair;
  std::int64_t bytes = 0;
  Time since{};
};

class MixNet : public WaitingReader {
 public:
  explicit MixNet(const ControllerSpec& spec)
      : region_(spec.parameters.count("region")),
        width_(spec.parameters.count("width")),
        by_iteration_(spec.parameters.word("refresh") == "iteration") {}

  Decision decide(const FabricView& view) override {
    places_.learn(view);
    waiting_.learn(view, places_);
    ports_.begin(view);
    CircuitPlan plan;
    const std::vector<Ranked> waiting = ranked(view);
    serve(waiting, plan);
    if (by_iteration_ && begins_iteration(view)) {
      std::vector<Ranked> learnt;
      for (const PairTraffic& traffic : view.traffic) learnt.push_back({traffic.pair, traffic.bytes.count});
      sort(learnt);
      serve(learnt, plan);
    }
    if (width_ == 0) {
      std::vector<PairTraffic> all;
      for (const Ranked& r : waiting) all.push_back({r.pair, Bytes{r.bytes}});
      ports_.widen(all, waiting_.even_share(), plan.connect);
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 private:
  // Only those that the ports allow: in a crowd they are few.
  [[nodiscard]] std::vector<Ranked> ranked(const FabricView& view) const {
    std::vector<Ranked> pairs;
    for (const WaitingPair& w : waiting_.servable()) {
      Ranked ranked{w.pair, w.bytes.count, w.since};
      if (by_iteration_ && !view.traffic.empty()) {
        const auto found = std::lower_bound(view.traffic.begin(), view.traffic.end(), w.pair,
                                            [](const PairTraffic& t, ServerPair p) { return t.pair < p; });
        ranked.bytes = found != view.traffic.end() && found->pair == w.pair ? found->bytes.count : 0;
      }
      pairs.push_back(ranked);
    }
    sort(pairs);
    return pairs;
  }

  void sort(std::vector<Ranked>& pairs) const {
    const auto leaves = [this](ServerPair pair) { return region_ > 0 && pair.from / region_ != pair.to / region_; };
    std::sort(pairs.begin(), pairs.end(), [&](const Ranked& a, const Ranked& b) {
      return std::tuple{leaves(a.pair), -a.bytes, a.since, places_.places(a.pair)} <
             std::tuple{leaves(b.pair), -b.bytes, b.since, places_.places(b.pair)};
    });
  }

  // Pairs keep the circuits that they have. Further circuits are assigned one a pair in each pass, until no port is left.
  void serve(const std::vector<Ranked>& pairs, CircuitPlan& plan) {
    const std::uint32_t width = std::max(1u, width_);
    std::vector<std::uint32_t> have;
    for (const Ranked& ranked : pairs) have.push_back(ports_.keep(ranked.pair, width));
    for (std::uint32_t wanted = 1; wanted <= width; ++wanted) {
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (have[i] < wanted && ports_.join(pairs[i].pair, plan.connect)) ++have[i];
      }
    }
  }

  bool begins_iteration(const FabricView& view) {
    if (view.traffic.empty()) return false;
    std::uint32_t latest = iteration_;
    for (const CircuitRequest& demand : view.requests) latest = std::max(latest, demand.iteration);
    const bool begins = latest > iteration_;
    iteration_ = latest;
    return begins;
  }

  std::uint32_t region_;
  std::uint32_t width_;
  bool by_iteration_;
  std::uint32_t iteration_ = 0;
  Places places_;
  Waiting waiting_;
  FreePorts ports_;
};

std::unique_ptr<Controller> make_mixnet(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<MixNet>(spec);
}

PolicyNeeds mixnet_needs(const ControllerSpec& spec) {
  PolicyNeeds needs{.view = {ViewPart::kBytes}, .service = Service::kByPair};
  needs.view.add(ViewPart::kTraffic, spec.parameters.word("refresh") == "iteration");
  return needs;
}

}  // namespace

ControllerFactory mixnet_factory() {
  return {.name = "mixnet",
          .summary = "circuits for the largest pairs first, for each layer or iteration (arXiv 2501.03905)",
          .make = make_mixnet,
          .rail_symmetric = true,
          .needs = mixnet_needs,
          .parameters = {ControllerParameter::word("refresh", {"layer", "iteration"}, "what the sizes are taken from"),
                         ControllerParameter::count("region", 0, 0, 1u << 20, "servers of a region; 0: the whole rail"),
                         ControllerParameter::count("width", 0, 0, 1024, kWidthSummary)},
          .work_conserving = true};
}

}  // namespace photonrail::control
