// Calls of a user's code, whose exceptions become errors that name it.
#pragma once

#include "photonrail/error.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace photonrail::core {

/// Calls `call`. Errors of this library pass, and a lack of memory; what else it throws becomes a ConfigError: "the agent
/// mine: on() failed:
/// ...".
template <class Call>
decltype(auto) guarded(const std::string& who, const char* method, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Error&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError(who, std::string(method) + " failed: " + error.what());
  } catch (...) {
    throw ConfigError(who, std::string(method) + " threw something that is no std::exception");
  }
}

}  // namespace photonrail::core
