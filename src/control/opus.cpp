// Opus (arXiv 2507.08119 and 2602.12521): re-points the circuits of a rail when every member of a group has asked. Demands
// are served in the order in which they became complete, those that hold up their members before those that were announced;
// a demand that cannot be served yet keeps the ports that it needs from younger ones, so that none starves. Circuits in use
// are never touched, and circuits without a request stay as they are. The ports of a NIC are divided according to the
// phases of the known schedule (PhaseWidth): one for each neighbour of a pipeline stage, all for a ring's next.
//
// The asking (on demand, or announced one phase ahead) is the ranks' part: RankBehaviour, carried out by the simulation.
//
// Leaves out: the published prototype's time-outs, and its one-bit-a-stage topologies: circuits change one by one here, so
// that two groups on disjoint ports never wait for each other.
#include "control/asking.hpp"
#include "control/builtin.hpp"
#include "control/changed_requests.hpp"
#include "control/free_ports.hpp"
#include "control/phase_width.hpp"

namespace photonrail::control {

namespace {

class Opus : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    plan_ = {};
    if (view.by_port != nullptr) {
      changed_.serve(view, plan_.connect);
    } else {
      serve_all(view);
    }
    if (plan_.connect.empty()) return std::nullopt;
    return plan_;
  }

 private:
  void serve_all(const FabricView& view) {
    width_.learn(view);
    ports_.begin(view);
    for (const bool blocking : {true, false}) {
      for (const CircuitRequest& request : view.requests) {
        if (request.blocking != blocking) continue;
        ports_.serve_all(request.pairs, width_.of(view, request), plan_.connect);
      }
    }
  }

  FreePorts ports_;
  PhaseWidth width_;
  ChangedRequests changed_;
  CircuitPlan plan_;
};

std::unique_ptr<Controller> make_opus(const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Opus>();
}

PolicyNeeds opus_needs(const ControllerSpec& spec) {
  return {.view = {ViewPart::kScheduleWithPorts, ViewPart::kByPort}, .ranks = asking_of(spec.parameters)};
}

// Both ways to ask in both orders, none of which rehearses.
std::vector<ControllerSpec> ways_of(const ControllerSpec& spec) {
  std::vector<ControllerSpec> ways;
  for (const char* mode : {"on_demand", "provisioned"}) {
    for (const char* order : {"scheduled", "free"}) {
      ways.push_back(spec);
      ways.back().parameters.set("rehearse", 0.0).set("mode", mode).set("order", order);
    }
  }
  return ways;
}

void examine_opus(std::vector<ControllerSpec>& settings) { settings = ways_of(ControllerSpec{settings.front()}); }

std::vector<ControllerSpec> opus_rehearsals(const ControllerSpec& spec) {
  return spec.parameters.flag("rehearse") ? ways_of(spec) : std::vector<ControllerSpec>{};
}

}  // namespace

ControllerFactory opus_factory() {
  return {.name = "opus",
          .summary = "re-points circuits at phase boundaries, on demand or provisioned (arXiv 2602.12521)",
          .make = make_opus,
          .rank_symmetric = true,
          .tells_sheets = true,
          .needs = opus_needs,
          .parameters = with_asking({ControllerParameter::flag(
              "rehearse", false, "try both modes and both orders on the job, and take the best")}),
          .work_conserving = true,
          .claims = {.faster_ports = true, .shorter_delay = true, .server_names = true},
          .examine = examine_opus,
          .rehearse = opus_rehearsals,
          .rehearse_first = 1};
}

}  // namespace photonrail::control
