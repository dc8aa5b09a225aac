// The part of "controller" that is about messages: what they take, where controllers run, what goes wrong.
#include "config/scenario_parts.hpp"
#include "photonrail/control/control_plane.hpp"

#include <limits>

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMaxRankNumber = std::numeric_limits<std::uint32_t>::max() - 1;

MessageSpec read_messages(JsonReader section, const std::filesystem::path& directory) {
  MessageSpec spec;
  if (const auto v = section.optional("loss")) spec.loss = v->number(0.0, 0.99);
  if (const auto v = section.timed("delay", "us")) spec.delay = read_delay(v->first, v->second, directory);
  section.read_duration("timeout", spec.timeout, "us");
  if (const auto v = section.optional("retries")) spec.retries = v->count(0, 1'000'000);
  section.finish();
  return spec;
}

ControllerRestart read_restart(JsonReader section) {
  ControllerRestart restart;
  const auto at = section.duration("at", "ms");
  const auto down = section.duration("down", "ms");
  if (!at) section.missing("at_ms", "when the controller stops (any of _ns, _us, _ms, _s)");
  if (!down) section.missing("down_ms", "how long it is away (any of _ns, _us, _ms, _s)");
  restart.at = *at;
  restart.down = *down;
  if (const auto v = section.optional("rail")) restart.rail = RailId{v->count(0, kMaxRankNumber)};
  section.finish();
  return restart;
}

ShimSpec read_shim(JsonReader section, bool has_modes) {
  ShimSpec shim;
  for (const JsonReader& rank : section.child("ranks", "a list of rank numbers").elements()) {
    shim.ranks.push_back(RankId{rank.count(0, kMaxRankNumber)});
  }
  if (!has_modes)
    section.refuse("mode", "this controller has no modes", "remove it, or name a controller that has a \"mode\"");
  if (const auto v = section.optional("mode")) {
    shim.announce = v->choice<bool>({{"on_demand", false}, {"provisioned", true}});
  }
  shim.request = section.duration("request", "us");
  if (!shim.announce && !shim.request) section.fail("says nothing about its ranks", R"(give a "mode" or a "request_us")");
  section.finish();
  return shim;
}

}  // namespace

void read_control_plane(JsonReader& controller, const std::filesystem::path& directory, const ControllerFactory& policy,
                        ControllerSpec& into) {
  controller.read_duration("request", into.request, "us");
  controller.read_duration("service", into.service, "us");
  controller.read_duration("command", into.command, "us");
  controller.read_duration("acknowledgement", into.acknowledgement, "us");
  controller.read_duration("starvation", into.starvation, "ms");
  ControlPlaneSpec& spec = into.control;
  if (const auto v = controller.optional("placement")) {
    using enum ControllerPlacement;
    spec.placement =
        v->choice<ControllerPlacement>({{"per_rail", kPerRail}, {"one", kOne}, {"hierarchical", kHierarchical}});
  }
  if (spec.placement == ControllerPlacement::kHierarchical) {
    controller.read_duration("root_request", spec.root_request, "us");
    controller.read_duration("root_service", spec.root_service, "us");
  } else {
    for (const char* key : {"root_request_us", "root_service_us", "root_request_ms", "root_service_ms"}) {
      controller.refuse(key, "there is no root", R"(remove it, or set "placement" to "hierarchical")");
    }
  }
  if (const auto v = controller.optional("messages")) spec.messages = read_messages(*v, directory);
  if (const auto v = controller.optional("restarts")) {
    for (const JsonReader& restart : v->elements()) spec.restarts.push_back(read_restart(restart));
  }
  if (const auto v = controller.optional("shims")) {
    for (const JsonReader& shim : v->elements()) spec.shims.push_back(read_shim(shim, policy.has("mode")));
  }
}

}  // namespace photonrail::config
