// Electrical rails connect all servers with each other, so that the controller has nothing to decide.
#include "control/builtin.hpp"

namespace photonrail::control {

namespace {

class Electrical : public Controller {
 public:
  Decision decide(const FabricView&) override { return std::nullopt; }
};

std::unique_ptr<Controller> make_electrical(const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Electrical>();
}

}  // namespace

ControllerFactory electrical_factory() {
  return {.name = "electrical",
          .summary = "electrical rail switches: every port reaches every port, nothing to decide",
          .make = make_electrical,
          .rank_symmetric = true,
          .claims = {.faster_ports = true, .more_ports = true, .shorter_delay = true, .server_names = true}};
}

}  // namespace photonrail::control
