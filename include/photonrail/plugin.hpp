// Controllers, collectives, agents and schedulers of your own in a shared library that the command loads:
// `photonrail --plugin libmine.so run ...`.
//
//     PHOTONRAIL_PLUGIN(known) { known.controllers.add(my_policy()); }
//
// The library links nothing of photonrail: the command has all that it calls. It must be built with the headers of the
// command's version and with the same C++ standard library, which the command checks before the body runs.
#pragma once

#include "photonrail/fabric_view.hpp"
#include "photonrail/simulate.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

/// The version of these headers; version() is that of the library that runs.
#define PHOTONRAIL_HEADER_VERSION "0.1.0"

namespace photonrail {

namespace plugin {

/// Holds what the command and a plug-in tell each other. Its layout is the same in every version.
struct Call {
  std::uint32_t size = sizeof(Call);  ///< bytes
  std::uint32_t version_differs = 0;  ///< set by the plug-in to 1: then nothing was registered
  char command[96] = {};              ///< what the command was built with, as set_interface() says it
  char plugin[96] = {};               ///< set by the plug-in: what it was built with
  char problem[1024] = {};            ///< set by the plug-in: what was thrown while registering, cut off where too long
  void* registries = nullptr;         ///< Registries of the command; the call ends before they do
};

/// The one entry point of a plug-in, "photonrail_plugin", which PHOTONRAIL_PLUGIN writes. Throws nothing.
using Entry = void (*)(Call* call);

/// Copies text that is cut off where `into` ends.
template <std::size_t kSize>
void set_text(char (&into)[kSize], std::string_view text) {
  const std::size_t length = text.size() < kSize ? text.size() : kSize - 1;
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

/// Writes down what headers and compiler are: "photonrail 0.1.0, C++ library 1 (48+96 bytes)". Equal text, equal layout.
template <std::size_t kSize>
void set_interface(char (&into)[kSize]) {
  const auto number = [](std::size_t n) { return std::to_string(n); };
#ifdef _GLIBCXX_USE_CXX11_ABI
  constexpr std::size_t kStandardLibrary = 1 + _GLIBCXX_USE_CXX11_ABI;
#else
  constexpr std::size_t kStandardLibrary = 0;
#endif
  set_text(into, "photonrail " PHOTONRAIL_HEADER_VERSION ", C++ library " + number(kStandardLibrary) + " (" +
                     number(sizeof(Registries)) + "+" + number(sizeof(ControllerFactory)) + "+" +
                     number(sizeof(FabricView)) + "+" + number(sizeof(AgentFactory) + sizeof(EngineView)) + " bytes)");
}

inline void answer(Call* call, void (*register_names)(Registries&)) {
  set_interface(call->plugin);
  call->version_differs = std::strcmp(call->command, call->plugin) != 0 ? 1 : 0;
  if (call->version_differs != 0) return;
  try {
    register_names(*static_cast<Registries*>(call->registries));
  } catch (const std::exception& error) {
    set_text(call->problem, error.what());
  } catch (...) {
    set_text(call->problem, "something that is no std::exception was thrown");
  }
}

}  // namespace plugin
}  // namespace photonrail

/// The entry point of a plug-in. The block after it has the Registries under the name that is given here, and adds to them.
#define PHOTONRAIL_PLUGIN(known)                                                                             \
  static void photonrail_plugin_names(photonrail::Registries& known);                                        \
  extern "C" __attribute__((visibility("default"))) void photonrail_plugin(photonrail::plugin::Call* call) { \
    photonrail::plugin::answer(call, &photonrail_plugin_names);                                              \
  }                                                                                                          \
  static void photonrail_plugin_names([[maybe_unused]] photonrail::Registries& known)
