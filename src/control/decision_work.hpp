// What it costs to simulate the decisions of a policy: for forecasts of a run's time, never for decisions.
#pragma once

#include <string_view>

namespace photonrail::control {

/// Measured on one core of 2025. A policy that is not in the table has the default.
struct DecisionWork {
  double send_s = 3e-6;  ///< of a send of an operation in which 64 members exchange with each other
  double growth = 0.5;   ///< exponent by which that grows with the members
  /// Of an operation for each one of another group that the rank may have open at the same time, and each server.
  double backlog_s = 0.0;
  bool turns = false;  ///< circuits change slot by slot, whatever is asked: parameters "slot" and "duty"
};

[[nodiscard]] DecisionWork decision_work(std::string_view policy);

}  // namespace photonrail::control
