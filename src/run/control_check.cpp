#include "run/control_check.hpp"

#include "photonrail/error.hpp"

#include <string>

namespace photonrail::run {

namespace {

void require(bool holds, const std::string& where, const std::string& what, const std::string& hint = {}) {
  if (!holds) throw ConfigError("/controller" + where, what, hint);
}

void require_time(Duration time, const std::string& where) { require(time >= Duration{}, where, "must not be negative"); }

void check_messages(const MessageSpec& messages) {
  require(messages.loss >= 0.0 && messages.loss <= 0.99, "/messages/loss", "must be a probability from 0 to 0.99");
  require(messages.loss == 0.0 || messages.timeout > Duration{}, "/messages/timeout_us",
          "missing: a message that is lost must be sent again", "after how long, for example 100");
  require_time(messages.timeout, "/messages/timeout_us");
  require_time(messages.delay.a, "/messages/delay_us");
  require_time(messages.delay.b, "/messages/delay_us");
}

}  // namespace

void check_control_plane(const ControlPlaneSpec& spec, std::uint32_t rails, std::size_t ranks) {
  require_time(spec.root_request, "/root_request_us");
  require_time(spec.root_service, "/root_service_us");
  check_messages(spec.messages);
  for (std::size_t i = 0; i < spec.restarts.size(); ++i) {
    const ControllerRestart& restart = spec.restarts[i];
    const std::string where = "/restarts/" + std::to_string(i);
    require_time(restart.at, where + "/at_ms");
    require_time(restart.down, where + "/down_ms");
    if (!restart.rail) continue;
    require(spec.placement != ControllerPlacement::kOne, where + "/rail", "one process controls all rails", "remove it");
    require(restart.rail->value < rails, where + "/rail", "there is no rail " + std::to_string(restart.rail->value),
            "rails are 0 to " + std::to_string(rails - 1));
  }
  for (std::size_t i = 0; i < spec.shims.size(); ++i) {
    const ShimSpec& shim = spec.shims[i];
    const std::string where = "/shims/" + std::to_string(i);
    require_time(shim.request.value_or(Duration{}), where + "/request_us");
    for (std::size_t r = 0; r < shim.ranks.size(); ++r) {
      require(shim.ranks[r].index() < ranks, where + "/ranks/" + std::to_string(r),
              "there is no rank " + std::to_string(shim.ranks[r].value), "ranks are 0 to " + std::to_string(ranks - 1));
    }
  }
}

}  // namespace photonrail::run
