#include "control/builtin.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

namespace photonrail {

ControllerRegistry ControllerRegistry::builtin() {
  ControllerRegistry registry;
  registry.add(
      {"electrical", "electrical rail switches: every port reaches every port, nothing to decide", make_electrical, true});
  registry.add({"static", "circuits given by the scenario, lit once", make_static});
  registry.add({"opus", "re-points circuits at phase boundaries, on demand or provisioned (arXiv 2602.12521)", make_opus,
                true, opus_needs});
  registry.add(opus_artifact_factory());
  registry.add(oracle_factory());
  registry.add(coalesce_factory());
  return registry;
}

const ControllerFactory& ControllerRegistry::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const ControllerFactory& factory : factories_) {
    if (factory.name == name) return factory;
    known.push_back(factory.name);
  }
  throw ConfigError("/controller/name", "there is no controller '" + std::string(name) + "'", suggest(name, known));
}

}  // namespace photonrail
