// The part of "controller" that is about messages: what they take, where controllers run, what goes wrong.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/control/control_plane.hpp"

#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;

/// The values that lines of the table take from the file and the policy.
struct PlaneContext : FileContext {
  PlaneContext(const std::filesystem::path& folder, bool modes) : FileContext(folder), has_modes(modes) {}
  bool has_modes;
};

constexpr Field kMessageFields[] = {
    fields::number<&MessageSpec::loss>("loss", 0.0, 0.99, "Probability that a message is lost.").or_else("0"),
    fields::own_time(
        "delay", "us", fields::kTimeUnits, kDelayShape,
        [](const Reading& at) { into<MessageSpec>(at).delay = read_delay(at.value, at.picoseconds, folder_of(at)); },
        "Of every message, on top of its own time; a number or a distribution.")
        .or_else("0"),
    fields::time<&MessageSpec::timeout>("timeout", "us", "After which a message that has not arrived is sent again.")
        .or_else("never sent again; required with `loss`"),
    fields::count<&MessageSpec::retries>("retries", 0, 1'000'000, "How often it is sent again.").or_else("no limit"),
};
constexpr Section kMessages{kMessageFields};

constexpr Field kRestartFields[] = {
    fields::time<&ControllerRestart::at>("at", "ms", "When the controllers stop.").must_later(),
    fields::time<&ControllerRestart::down>("down", "ms", "How long they are away.").must_later(),
    fields::then([](const Reading& at) {
      for (const auto& [stem, hint] : {std::pair{"at", "when the controller stops (any of _ns, _us, _ms, _s)"},
                                       std::pair{"down", "how long it is away (any of _ns, _us, _ms, _s)"}}) {
        if (!fields::has_time(at.section, stem)) at.section.missing(std::string(stem) + "_ms", hint);
      }
    }),
    fields::count<&ControllerRestart::rail>("rail", 0, 4294967294.0, "The rail; not with `\"placement\": \"one\"`.")
        .or_else("all"),
};
constexpr Section kRestart{kRestartFields};

constexpr Word<bool> kModes[] = {{"on_demand", false}, {"provisioned", true}};
constexpr Field kShimFields[] = {
    fields::own(
        "ranks", fields::list_shape(kRankShape),
        [](const Reading& at) {
          for (const JsonReader& rank : at.value.elements()) {
            into<ShimSpec>(at).ranks.push_back(RankId{whole_of(rank, kRankShape)});
          }
          if (context_of<PlaneContext>(at).has_modes) return;
          at.section.refuse("mode", "this controller has no modes", "remove it, or name a controller that has a \"mode\"");
        },
        "The ranks with a different shim; of several entries the last counts.")
        .must("a list of rank numbers"),
    fields::word<kModes, &ShimSpec::announce>("mode", "Their mode, of a controller that has modes.")
        .or_else("as the others"),
    fields::time<&ShimSpec::request>("request", "us", "Their message to the controller.").or_else("as the others"),
};

void check_shim(const Reading& at) {
  const auto& shim = into<ShimSpec>(at);
  if (!shim.announce && !shim.request) {
    at.section.fail("says nothing about its ranks", R"(give a "mode" or a "request_us")");
  }
}

constexpr Section kShim{kShimFields, check_shim};

constexpr std::string_view kNoRoot = "there is no root";
constexpr std::string_view kOrHierarchical = R"(remove it, or set "placement" to "hierarchical")";
constexpr Word<ControllerPlacement> kPlacements[] = {{"per_rail", ControllerPlacement::kPerRail},
                                                     {"one", ControllerPlacement::kOne},
                                                     {"hierarchical", ControllerPlacement::kHierarchical}};

constexpr Field kPlaneFields[] = {
    fields::time<&ControllerSpec::request>("request", "us", "A rank's message to the controller.").or_else("0"),
    fields::time<&ControllerSpec::service>("service", "us", "The controller's work on a request; one queue per rail.")
        .or_else("0"),
    fields::time<&ControllerSpec::command>("command", "us", "From the decision until the switch begins.").or_else("0"),
    fields::time<&ControllerSpec::acknowledgement>("acknowledgement", "us", "From lit until the ranks know.").or_else("0"),
    fields::time<&ControllerSpec::starvation>("starvation", "ms",
                                              "A request that holds up its members for longer is an error that names it.")
        .or_else("0: none"),
    fields::word<kPlacements, &ControllerSpec::control, &ControlPlaneSpec::placement>("placement",
                                                                                      "Which queues serve requests.")
        .by("control.placement")
        .or_else("`\"per_rail\"`"),
    fields::time<&ControllerSpec::control, &ControlPlaneSpec::root_request>(
        "root_request", "us", "A message from a rail's controller to the root.")
        .by("control.root_request")
        .only_if("placement=hierarchical", kNoRoot, kOrHierarchical)
        .or_else("0"),
    fields::time<&ControllerSpec::control, &ControlPlaneSpec::root_service>("root_service", "us", "The root's work on it.")
        .by("control.root_service")
        .only_if("placement=hierarchical", kNoRoot, kOrHierarchical)
        .or_else("0"),
    fields::part<kMessages, &ControllerSpec::control, &ControlPlaneSpec::messages>("messages",
                                                                                   "What goes wrong with messages.")
        .by("control.messages"),
    fields::parts<kRestart, &ControllerSpec::control, &ControlPlaneSpec::restarts>("restarts",
                                                                                   "When controllers stop and come back.")
        .by("control.restarts")
        .or_else("none"),
    fields::parts<kShim, &ControllerSpec::control, &ControlPlaneSpec::shims>("shims", "Ranks with a different shim.")
        .by("control.shims")
        .or_else("none"),
};

}  // namespace

constexpr Section kControlPlaneSection{kPlaneFields};

void read_control_plane(JsonReader& controller, const std::filesystem::path& directory, const ControllerFactory& policy,
                        ControllerSpec& into) {
  const PlaneContext context(directory, policy.has("mode"));
  fields::read_open(controller, kControlPlaneSection, &into, &context);
}

}  // namespace photonrail::config
