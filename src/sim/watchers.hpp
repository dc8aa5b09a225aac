// The observers of a run, told one after another.
#pragma once

#include "photonrail/observer.hpp"

#include <span>

namespace photonrail {

class Watchers {
 public:
  explicit Watchers(std::span<Observer* const> observers) : observers_(observers) {}

  [[nodiscard]] bool empty() const { return observers_.empty(); }
  template <class Tell>
  void tell(Tell&& tell) const {
    for (Observer* observer : observers_) tell(*observer);
  }

 private:
  std::span<Observer* const> observers_;
};

}  // namespace photonrail
