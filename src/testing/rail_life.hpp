// A rail with a policy on it and a life of its own: demands come, circuits light, come into use and are given back, all by
// chance; whatever is lit is what the policy connected.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/testing/laws.hpp"
#include "photonrail/testing/policy_kit.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace photonrail::testing {

/// Leaves out what simulated runs show: that it makes sense. Steps for later are not carried out.
class RailLife {
 public:
  RailLife(const PolicyUnderTest& subject, const ControllerSpec& setting, std::uint64_t seed);

  /// Something happens on the rail; the policy is asked, and what it wants now is begun.
  Answer ask_and_go_on();

  [[nodiscard]] const ControllerSpec& setting() const { return setting_; }
  [[nodiscard]] std::uint32_t asked() const { return asked_; }

 private:
  void happen();
  void want_something();
  void use_what_is_lit();
  void give_back();

  RandomStream random_;
  ControllerSpec setting_;
  PolicyNeeds needs_{};
  std::uint32_t positions_;
  RailView rail_;
  std::unique_ptr<Controller> policy_;
  std::vector<std::vector<ServerPair>> waiting_;
  std::vector<std::vector<ServerPair>> holding_;
  Time now_{};
  std::uint32_t asked_ = 0;
};

}  // namespace photonrail::testing
