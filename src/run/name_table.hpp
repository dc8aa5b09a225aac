// Factories by name.
#pragma once

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::run {

/// `kind`: "agent", in errors; `type`: "Agent", in the name of the factory.
template <class Factory>
void add_name(const std::string& kind, const std::string& type, Factory factory, std::vector<Factory>& factories) {
  if (factory.name.empty())
    throw ConfigError("", "the name of a factory of " + kind + "s is empty", "set " + type + "Factory::name");
  const auto same = [&](const Factory& other) { return other.name == factory.name; };
  if (std::any_of(factories.begin(), factories.end(), same))
    throw ConfigError("", "there is already one of the " + kind + "s named \"" + factory.name + "\"",
                      "give the new one another name");
  if (!factory.make)
    throw ConfigError("", "the " + kind + " \"" + factory.name + "\" has no function that makes it",
                      "set " + type + "Factory::make");
  factories.push_back(std::move(factory));
}

template <class Factory>
[[nodiscard]] const Factory& find_name(const std::string& kind, std::string_view name,
                                       const std::vector<Factory>& factories) {
  std::vector<std::string> known;
  for (const Factory& factory : factories) {
    if (factory.name == name) return factory;
    known.push_back(factory.name);
  }
  throw ConfigError("name", "unknown " + kind + " \"" + std::string(name) + "\"", suggest(name, known));
}

}  // namespace photonrail::run
