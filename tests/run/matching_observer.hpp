// What a run says of circuits must make sense.
#pragma once

#include "photonrail/observer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace photonrail::test {

/// Circuits of each rail, as told: a partial matching at every instant, dark before switching, switching before lit.
class CircuitsAreAMatching : public Observer {
 public:
  void circuit(const CircuitEvent& event) override {
    auto& rail = rails_[event.rail];
    switch (event.state) {
      case CircuitState::kSwitching:
        EXPECT_TRUE(rail.out.emplace(event.circuit.from, event.circuit.to).second) << "the transmit side is taken";
        EXPECT_TRUE(rail.in.emplace(event.circuit.to, event.circuit.from).second) << "the receive side is taken";
        break;
      case CircuitState::kLit:
        EXPECT_TRUE(rail.out.contains(event.circuit.from) && rail.out[event.circuit.from] == event.circuit.to);
        break;
      case CircuitState::kDark:
        EXPECT_TRUE(rail.out.contains(event.circuit.from) && rail.out[event.circuit.from] == event.circuit.to);
        rail.out.erase(event.circuit.from);
        rail.in.erase(event.circuit.to);
        break;
    }
  }
  void operation(const OperationEvent& event) override {
    EXPECT_GE(event.at, last_) << "time runs forward";
    last_ = event.at;
    if (event.state == OperationEvent::State::kDone) ++done;
  }

  std::uint64_t done = 0;

 private:
  struct Rail {
    std::map<PortId, PortId> out;
    std::map<PortId, PortId> in;
  };
  std::map<RailId, Rail> rails_;
  Time last_{};
};

}  // namespace photonrail::test
