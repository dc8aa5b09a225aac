// The observers of a run, told one after another.
#pragma once

#include "photonrail/observer.hpp"

#include <span>

namespace photonrail {

class ObserverList {
 public:
  explicit ObserverList(std::span<Observer* const> observers) : observers_(observers) {}

  [[nodiscard]] bool empty() const { return observers_.empty(); }
  template <class Tell>
  void notify(Tell&& notify) const {
    for (Observer* observer : observers_) notify(*observer);
  }

 private:
  std::span<Observer* const> observers_;
};

}  // namespace photonrail
