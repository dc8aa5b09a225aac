#include "control/builtin.hpp"
#include "core/field.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail {

std::string PolicyClaims::describe() const {
  std::string text;
  const auto add = [&](bool claimed, const char* what) {
    if (claimed) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(faster_ports, "faster ports");
  add(more_ports, "more ports");
  add(shorter_delay, "a shorter delay");
  if (!text.empty()) text = "one operation after another is not slower with " + text;
  if (!text.empty() && !more_ports) text += ", where a NIC has one port";
  if (server_names) text += (text.empty() ? "" : "; ") + std::string("the same under renamed servers");
  return text;
}

ControllerRegistry ControllerRegistry::builtin() {
  using namespace control;
  static constexpr ControllerFactory (*kTable[])() = {
      electrical_factory,   static_factory,  opus_factory,  opus_artifact_factory, oracle_factory, coalesce_factory,
      static_split_factory, topoopt_factory, rotor_factory, max_weight_factory,    mixnet_factory, bvn_factory,
      solstice_factory,     harvest_factory, lru_factory,   phases_factory,        polling_factory};
  ControllerRegistry registry;
  for (const auto& factory : kTable) registry.add(factory());
  return registry;
}

void ControllerRegistry::add(ControllerFactory factory) {
  if (factory.name.empty()) throw ConfigError("", "a controller has no name", "set ControllerFactory::name");
  if (knows(factory.name)) {
    throw ConfigError("", "there is already a controller \"" + factory.name + "\"", "give the new one another name");
  }
  if (!factory.make && !factory.bound && factory.name != kNoPolicy)
    throw ConfigError("", "the controller \"" + factory.name + "\" has no function that makes it",
                      "set ControllerFactory::make");
  factories_.push_back(std::move(factory));
}

bool ControllerRegistry::knows(std::string_view name) const {
  return std::any_of(factories_.begin(), factories_.end(), [&](const ControllerFactory& f) { return f.name == name; });
}

const ControllerFactory* ControllerRegistry::first_that_decides() const {
  const auto decides = [](const ControllerFactory& f) { return f.name != kNoPolicy && !f.takes_circuits; };
  const auto first = std::find_if(factories_.begin(), factories_.end(), decides);
  return first == factories_.end() ? nullptr : &*first;
}

const ControllerFactory& ControllerRegistry::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const ControllerFactory& factory : factories_) {
    if (factory.name == name) return factory;
    known.push_back(factory.name);
  }
  throw core::FieldError(core::field("controller.name"), "there is no controller '" + std::string(name) + "'",
                         suggest(name, known));
}

}  // namespace photonrail
