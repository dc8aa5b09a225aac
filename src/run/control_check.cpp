#include "run/control_check.hpp"

#include "core/field.hpp"

#include <string>

namespace photonrail::run {

namespace {

using core::field;

void require_time(Duration time, const core::Field& where) { require(time >= Duration{}, where, "must not be negative"); }

void check_messages(const MessageSpec& messages) {
  require(messages.loss >= 0.0 && messages.loss <= 0.99, field("messages.loss"), "must be a probability from 0 to 0.99");
  require(messages.loss == 0.0 || messages.timeout > Duration{}, field("messages.timeout"),
          "missing: a message that is lost must be sent again", "after how long, for example 100");
  require_time(messages.timeout, field("messages.timeout"));
  require_time(messages.delay.a, field("messages.delay"));
  require_time(messages.delay.b, field("messages.delay"));
}

}  // namespace

void check_control_plane(const ControlPlaneSpec& spec, std::uint32_t rails, std::size_t ranks) {
  require_time(spec.root_request, field("root_request"));
  require_time(spec.root_service, field("root_service"));
  check_messages(spec.messages);
  for (std::size_t i = 0; i < spec.restarts.size(); ++i) {
    const ControllerRestart& restart = spec.restarts[i];
    require_time(restart.at, field("restarts[].at", i));
    require_time(restart.down, field("restarts[].down", i));
    if (!restart.rail) continue;
    require(spec.placement != ControllerPlacement::kOne, field("restarts[].rail", i), "one process controls all rails",
            "remove it");
    require(restart.rail->value < rails, field("restarts[].rail", i),
            "there is no rail " + std::to_string(restart.rail->value), "rails are 0 to " + std::to_string(rails - 1));
  }
  for (std::size_t i = 0; i < spec.shims.size(); ++i) {
    const ShimSpec& shim = spec.shims[i];
    require_time(shim.request.value_or(Duration{}), field("shims[].request", i));
    for (std::size_t r = 0; r < shim.ranks.size(); ++r) {
      require(shim.ranks[r].index() < ranks, field("shims[].ranks[]", i, r),
              "there is no rank " + std::to_string(shim.ranks[r].value), "ranks are 0 to " + std::to_string(ranks - 1));
    }
  }
}

}  // namespace photonrail::run
