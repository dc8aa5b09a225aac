// Shared libraries with controllers and collectives of a user.
#pragma once

#include "photonrail/simulate.hpp"

#include <filesystem>
#include <vector>

namespace photonrail::command {

/// A table of one's own to which names can be added: those of `known`, which must outlive it.
[[nodiscard]] Registries extendable(const Registries& known);

/// Loads the library and adds to `known` what it has. The library stays loaded until the process ends, since names that
/// it added may outlive any owner. Returns its absolute path. Throws ConfigError: there is no such file, it cannot be
/// loaded, it has no entry point, it was built for another version, or what it threw while it registered its names.
std::filesystem::path load_plugin(const std::filesystem::path& file, Registries& known);

}  // namespace photonrail::command
