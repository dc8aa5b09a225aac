// One topology for the whole job: a GPU's ports are split over the dimensions of parallelism in proportion to the square
// root of what each sends (the one-shot baseline of arXiv 2602.12521). In each dimension the ports go to the pairs with
// most bytes, once each, then again, until they are gone.
// "forward": a pair without a circuit of its own is forwarded over other GPUs. Where the split leaves a pair without a
// path, one port of each GPU makes a ring over all of them, and the other ports are split. Without "forward", such a pair
// waits for ever.
//
// Leaves out: tensor parallelism, whose share of the bandwidth the paper splits in the same way but which has no circuits
// here; shares finer than a port.
#include "control/builtin.hpp"
#include "control/one_shot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace photonrail::control {

namespace {

using Shares = std::array<std::uint32_t, kDimensionCount>;

// Whole ports in proportion to the square roots: each dimension that sends gets one while there are some, and each further
// port goes to the dimension that is furthest below its share.
Shares split(const JobTraffic& traffic, std::uint32_t ports) {
  std::array<double, kDimensionCount> roots{};
  for (const JobTraffic::Entry& e : traffic.entries) roots[static_cast<std::size_t>(e.dimension)] += double(e.bytes);
  for (double& root : roots) root = std::sqrt(root);
  const double sum = std::accumulate(roots.begin(), roots.end(), 0.0);
  Shares shares{};
  for (std::uint32_t given = 0; given < ports && sum > 0.0; ++given) {
    const auto lack = [&](std::size_t d) {
      if (roots[d] == 0.0) return -double(ports) - 1.0;
      const double below = roots[d] / sum * ports - shares[d];
      return shares[d] == 0 ? below + ports : below;
    };
    std::size_t most = 0;
    for (std::size_t d = 1; d < kDimensionCount; ++d) most = lack(d) > lack(most) ? d : most;
    ++shares[most];
  }
  return shares;
}

/// Gives each dimension its ports.
class Splitter {
 public:
  Splitter(const FabricView& view, std::uint32_t places, const JobTraffic& traffic)
      : view_(view), places_(places), traffic_(traffic) {}

  OneShot topology(bool with_ring) {
    OneShot circuits(places_, view_.ports_per_gpu, view_.planes);
    if (with_ring) {
      std::vector<WeightedPair> pairs;
      for (const JobTraffic::Entry& e : traffic_.entries) pairs.push_back({e.pair, e.bytes});
      circuits.ring(pairs);
    }
    const Shares shares = split(traffic_, view_.ports_per_gpu - (with_ring ? 1 : 0));
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      if (shares[d] > 0) join(circuits, static_cast<Dimension>(d), shares[d]);
    }
    return circuits;
  }

 private:
  void join(OneShot& circuits, Dimension dimension, std::uint32_t ports) const {
    std::vector<JobTraffic::Entry> pairs;
    for (const JobTraffic::Entry& e : traffic_.entries) {
      if (e.dimension == dimension) pairs.push_back(e);
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    std::vector<std::uint32_t> sends(places_);
    std::vector<std::uint32_t> receives(places_);
    for (bool more = true; more;) {
      more = false;
      for (const JobTraffic::Entry& e : pairs) {
        if (sends[e.pair.from] == ports || receives[e.pair.to] == ports || !circuits.join(e.pair)) continue;
        ++sends[e.pair.from];
        ++receives[e.pair.to];
        more = true;
      }
    }
  }

  const FabricView& view_;
  std::uint32_t places_;
  const JobTraffic& traffic_;
};

class StaticSplit : public Controller {
 public:
  explicit StaticSplit(bool forward) : forward_(forward) {}

  Decision decide(const FabricView& view) override {
    if (done_) return std::nullopt;
    done_ = true;
    Places places;
    places.learn(view);
    const JobTraffic traffic = job_traffic(view, places);
    if (traffic.entries.empty()) return std::nullopt;
    Splitter splitter(view, places.count(), traffic);
    OneShot circuits = splitter.topology(false);
    if (forward_ && !circuits.reaches(traffic.pairs())) circuits = splitter.topology(true);
    return at_positions(circuits.plan(), view, places);
  }

 private:
  bool forward_;
  bool done_ = false;
};

}  // namespace

ControllerFactory static_split_factory() {
  return {
      .name = "static_split",
      .summary = "one topology for the job: ports split by the square root of each dimension's bytes (arXiv 2602.12521)",
      .make = [](const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
        return std::make_unique<StaticSplit>(spec.parameters.flag("forward"));
      },
      .rail_symmetric = true,
      .needs =
          [](const ControllerSpec& spec) {
            return PolicyNeeds{.view = {ViewPart::kSchedule}, .hops = spec.parameters.flag("forward") ? kAnyHops : 0};
          },
      .parameters = {ControllerParameter::flag("forward", true, "over other GPUs, where a pair has no circuit of its own")},
      // One shot without forwarding leaves pairs without circuits for ever: only the default promises to serve all.
      .examine = [](std::vector<ControllerSpec>& settings) { settings.resize(1); }};
}

}  // namespace photonrail::control
