// Tells the observers of a run that it goes on, while others are made for it: rehearsals and profiling runs.
#pragma once

#include "photonrail/observer.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace photonrail::run {

/// An observer of these other runs. Of the run itself nothing is done yet, so that progress stands at 0; an observer that
/// throws in progress() ends them.
class Heartbeat : public Observer {
 public:
  explicit Heartbeat(std::span<Observer* const> observers) : observers_(observers) {}
  Heartbeat(const Heartbeat& other) : Observer(other), observers_(other.observers_) {}
  Heartbeat& operator=(const Heartbeat&) = delete;

  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void progress(std::uint64_t /*done*/, std::uint64_t of, Time /*simulated*/) override {
    for (Observer* const observer : observers_) observer->progress(0, of, Time{});
  }

  /// The observer as a list; empty where nobody is to be told.
  [[nodiscard]] std::span<Observer* const> list() const {
    return observers_.empty() ? std::span<Observer* const>() : std::span<Observer* const>(self_);
  }

 private:
  std::span<Observer* const> observers_;
  std::array<Observer*, 1> self_{this};
};

}  // namespace photonrail::run
