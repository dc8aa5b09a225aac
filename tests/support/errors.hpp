// The ConfigError that something throws, to look at.
#pragma once

#include "photonrail/error.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace photonrail::test {

/// The ConfigError that `action` throws; a failure and an empty one when it throws none.
inline ConfigError error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& e) {
    return e;
  }
  ADD_FAILURE() << "no ConfigError";
  return ConfigError("", "");
}

}  // namespace photonrail::test
