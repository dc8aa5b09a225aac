#include "photonrail/controller.hpp"
#include "worlds/world.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::worlds {

namespace {

// Keys of a policy's own table, by kind; about one in three is given.
void draw_parameters(Dice& dice, const ControllerFactory& factory, Json& controller) {
  using Kind = ControllerParameter::Kind;
  for (const ControllerParameter& parameter : factory.parameters) {
    if (!dice.one_in(3)) continue;
    switch (parameter.kind) {
      case Kind::kFlag:
        controller[parameter.key] = dice.one_in(2);
        break;
      case Kind::kWord:
        controller[parameter.key] = dice.pick(parameter.words);
        break;
      case Kind::kDuration:
        controller[parameter.key + "_us"] = dice.pick<double>({0, 1, 20, 100, 1000});
        break;
      case Kind::kCount:
      case Kind::kNumber: {
        const double wish = dice.pick<double>({0, 0.5, 0.9, 1, 2, 4});
        const double value = std::clamp(wish, parameter.least, std::min(parameter.greatest, 1e6));
        if (parameter.kind == Kind::kCount) {
          controller[parameter.key] = static_cast<std::uint64_t>(std::ceil(value));
        } else {
          controller[parameter.key] = value;
        }
        break;
      }
    }
  }
}

// Each rail's ports joined at random, some left dark.
Json draw_circuits(Dice& dice, const Extent& extent) {
  Json circuits = Json::array();
  for (std::uint32_t rail = 0; rail < extent.gpus_per_server; ++rail) {
    std::vector<std::uint32_t> from, to;
    for (std::uint32_t p = 0; p < extent.servers * extent.ports; ++p) from.push_back(p);
    to = from;
    dice.shuffle(to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] / extent.ports == to[i] / extent.ports || dice.one_in(8)) continue;
      circuits.push_back({{"from", from[i] / extent.ports * extent.gpus_per_server + rail},
                          {"to", to[i] / extent.ports * extent.gpus_per_server + rail},
                          {"from_port", from[i] % extent.ports},
                          {"to_port", to[i] % extent.ports}});
    }
  }
  return circuits;
}

// Some servers send to all, or all to all, in shares; more than the ports of a rail are for, now and then.
Json draw_matrix(Dice& dice, const Extent& extent) {
  Json matrix{{"from", Json::array()}, {"to", Json::array()}};
  const std::uint32_t senders = dice.from_to(1, extent.servers);
  for (std::uint32_t server = 0; server < extent.servers; ++server) {
    if (server < senders) matrix["from"].push_back(server);
    if (dice.one_in(2) || server == extent.servers - 1) matrix["to"].push_back(server);
  }
  if (dice.one_in(3)) return matrix;
  for (std::uint32_t row = 0; row < senders; ++row) {
    Json shares = Json::array();
    for (std::size_t column = 0; column < matrix["to"].size(); ++column)
      shares.push_back(dice.pick<double>({0, 0, 0.5, 1, 7}));
    matrix["shares"].push_back(std::move(shares));
  }
  return matrix;
}

void draw_messages(Dice& dice, const Extent& extent, Json& controller) {
  if (dice.one_in(3)) controller["request_us"] = draw_us(dice);
  if (dice.one_in(3)) controller["service_us"] = draw_us(dice);
  if (dice.one_in(4)) controller["command_us"] = draw_us(dice);
  if (dice.one_in(4)) controller["acknowledgement_us"] = draw_us(dice);
  if (dice.one_in(4)) {
    controller["placement"] = dice.pick<std::string>({"per_rail", "one", "hierarchical"});
    if (controller["placement"] == "hierarchical") {
      controller["root_request_us"] = draw_us(dice);
      controller["root_service_us"] = draw_us(dice);
    }
  }
  if (dice.one_in(4)) {
    Json messages{{"loss", dice.pick<double>({0, 0.1, 0.5})}, {"timeout_us", 150}};
    if (dice.one_in(2)) messages["delay_us"] = draw_delay_us(dice);
    if (dice.one_in(6)) messages["retries"] = dice.from_to(0, 3);
    controller["messages"] = messages;
  }
  if (dice.one_in(6)) {
    controller["restarts"] = Json::array();
    for (std::uint32_t left = dice.from_to(1, 2); left > 0; --left) {
      Json restart{{"at_us", dice.pick<double>({0, 1, 110, 1000})}, {"down_us", dice.pick<double>({0, 30, 4000})}};
      const bool one = controller.contains("placement") && controller["placement"] == "one";
      if (!one && dice.one_in(3)) restart["rail"] = dice.from_to(0, extent.gpus_per_server - 1);
      controller["restarts"].push_back(restart);
    }
  }
}

}  // namespace

Json draw_controller(Dice& dice, const Extent& extent) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  std::vector<std::string> names{"opus", "opus", "opus"};
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.name != "electrical") names.push_back(factory.name);
  }
  Json controller{{"name", dice.pick(names)}};
  const std::string name = controller["name"];
  if (name == "opus" || name == "opus_artifact") {
    if (dice.one_in(2)) controller["mode"] = "provisioned";
    if (dice.one_in(3)) controller["order"] = "free";
    if (name == "opus" && dice.one_in(8)) controller["rehearse"] = true;
  }
  if (name == "static" && dice.one_in(4)) {
    controller["matrix"] = draw_matrix(dice, extent);
  } else if (name == "static") {
    controller["circuits"] = draw_circuits(dice, extent);
  }
  if (name != "opus") draw_parameters(dice, registry.find(name), controller);
  if (name == "coalesce" && dice.one_in(2))
    controller["rehearse"] = false;  // what locks up is not seen where others are tried
  if (dice.one_in(2)) draw_messages(dice, extent, controller);
  if (dice.one_in(10)) {
    Json shim{{"ranks", {0}}, {"request_us", draw_us(dice)}};
    if (name == "opus" && dice.one_in(2)) shim["mode"] = dice.one_in(2) ? "provisioned" : "on_demand";
    controller["shims"] = Json::array({shim});
  }
  return controller;
}

}  // namespace photonrail::worlds
