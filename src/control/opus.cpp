// Opus (arXiv 2507.08119 and 2602.12521): re-points the circuits of a rail when every member of a group has asked. Demands
// are served in the order in which they became complete, those that hold up their members before those that were announced;
// a demand that cannot be served yet keeps the ports that it needs from younger ones, so that none starves. Circuits in use
// are never touched, circuits that nobody asks for stay as they are.
//
// The asking (on demand, or announced one phase ahead) is the ranks' part: ShimPolicy, carried out by the simulation.
//
// Leaves out: the published prototype's time-outs, and its one-bit-a-stage topologies: circuits change one by one here, so
// that two groups on disjoint ports never wait for each other.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"

#include <algorithm>
#include <vector>

namespace photonrail {

namespace {

class Opus : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    view_ = &view;
    ports_.begin(view);
    plan_ = {};
    for (const bool blocking : {true, false}) {
      for (const CircuitRequest& demand : view.demands) {
        if (demand.blocking == blocking) ports_.serve_all(demand.pairs, width(demand.pairs), plan_.connect);
      }
    }
    if (plan_.connect.empty()) return std::nullopt;
    return plan_;
  }

 private:
  // Ports in parallel for each pair: all that the GPU with the most partners can give each of them.
  [[nodiscard]] std::uint32_t width(std::span<const ServerPair> pairs) {
    if (view_->ports_per_gpu == 1) return 1;
    degree_.resize(2 * std::size_t{view_->positions});
    std::uint32_t most = 1;
    for (const ServerPair pair : pairs) most = std::max({most, ++degree_[pair.from], ++degree_[view_->positions + pair.to]});
    for (const ServerPair pair : pairs) degree_[pair.from] = degree_[view_->positions + pair.to] = 0;
    return std::max(1u, view_->ports_per_gpu / most);
  }

  const FabricView* view_ = nullptr;
  FreePorts ports_;
  CircuitPlan plan_;
  std::vector<std::uint32_t>
      degree_;  // by position: partners to send to, then partners to receive from; all 0 between calls
};

}  // namespace

std::unique_ptr<Controller> make_opus(const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Opus>();
}

PolicyNeeds opus_needs(const ControllerSpec& spec) {
  return {.shim = {spec.mode == OpusMode::kProvisioned, spec.order == OperationOrder::kScheduled}};
}

}  // namespace photonrail
