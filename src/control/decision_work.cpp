#include "control/decision_work.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace photonrail::control {

// Fitted to all-to-alls among 64, 128 and 256 ranks, pairwise, direct and of experts, and to training with replicas of a
// sharded model on 4 to 64 servers.
DecisionWork decision_work(std::string_view policy) {
  static constexpr std::array<std::pair<std::string_view, DecisionWork>, 13> kMeasured{{
      {"electrical", {.send_s = 0.0, .growth = 0.0}},
      {"opus", {.send_s = 1.5e-6, .growth = 0.2}},
      {"opus_artifact", {.send_s = 1.7e-6, .growth = 0.3, .backlog_s = 2e-9}},
      {"bvn", {.send_s = 4.5e-6, .growth = 1.1}},
      {"lru", {.send_s = 1.5e-6, .growth = 0.5}},
      {"coalesce", {.send_s = 1.2e-6, .growth = 0.2, .backlog_s = 8e-9}},
      {"harvest", {.send_s = 8e-6, .growth = 1.0}},
      {"rotor", {.send_s = 1.5e-6, .growth = 1.3, .turns = true}},
      {"max_weight", {.send_s = 2e-6, .growth = 1.0}},
      {"mixnet", {.send_s = 3.5e-6, .growth = 1.1}},
      {"static_split", {.send_s = 4e-6, .growth = 1.6, .backlog_s = 2e-9}},
      {"topoopt", {.send_s = 4e-6, .growth = 1.6, .backlog_s = 2e-9}},
      {"oracle", {.send_s = 0.5e-6, .growth = 0.0}},
  }};
  const auto* const found =
      std::find_if(kMeasured.begin(), kMeasured.end(), [policy](const auto& entry) { return entry.first == policy; });
  return found == kMeasured.end() ? DecisionWork{} : found->second;
}

}  // namespace photonrail::control
