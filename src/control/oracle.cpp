// Oracle: no policy, but what all of them are held against: a lower bound on the run of the job, computed by a relaxation
// of it (sim/lower_bound.hpp). docs/models/lower-bound.md says what it bounds, and proves it.
#include "control/builtin.hpp"

namespace photonrail::control {

ControllerFactory oracle_factory() {
  ControllerFactory factory;
  factory.name = "oracle";
  factory.summary =
      "no policy: a lower bound on the run under every policy and in every order, circuits prefetched at their best";
  factory.bound = true;
  factory.parameters = {ControllerParameter::flag(
      "forwarding", false, "also of policies that send over circuits of other GPUs, as on rails with forwarding")};
  return factory;
}

}  // namespace photonrail::control
