// The circuits that the scenario gives, or those of its matrix of shares (matrix_circuits.hpp), lit once and kept. What
// they do not join waits for ever, or is forwarded.
#include "control/builtin.hpp"

namespace photonrail::control {

namespace {

class StaticCircuits : public Controller {
 public:
  explicit StaticCircuits(CircuitPlan plan) : plan_(std::move(plan)) {}

  Decision decide(const FabricView&) override {
    if (done_) return std::nullopt;
    done_ = true;
    return plan_;
  }

 private:
  CircuitPlan plan_;
  bool done_ = false;
};

std::unique_ptr<Controller> make_static_circuits(const ControllerSpec& spec, RailId rail, std::uint32_t gpus_per_server,
                                                 std::uint32_t ports_per_gpu) {
  CircuitPlan plan;
  for (const StaticCircuit& circuit : spec.circuits) {
    if (circuit.from.value % gpus_per_server != rail.value) continue;
    plan.connect.push_back({PortId{circuit.from.value / gpus_per_server * ports_per_gpu + circuit.from_port},
                            PortId{circuit.to.value / gpus_per_server * ports_per_gpu + circuit.to_port}});
  }
  return std::make_unique<StaticCircuits>(std::move(plan));
}

}  // namespace

ControllerFactory static_factory() {
  return {.name = "static",
          .summary = "circuits given by the scenario, or ports split by a matrix of shares, lit once",
          .make = make_static_circuits,
          .takes_circuits = true};
}

}  // namespace photonrail::control
