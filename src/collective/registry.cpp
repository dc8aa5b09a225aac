#include "collective/builtin.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

CollectiveRegistry CollectiveRegistry::builtin() {
  using namespace collective;
  CollectiveRegistry registry;
  registry.add(make_ring());
  registry.add(make_pairwise());
  registry.add(make_direct());
  registry.add(make_ring_bidirectional());
  registry.add(make_ring_channels());
  registry.add(make_halving_doubling());
  registry.add(make_recursive_doubling());
  registry.add(make_bruck());
  registry.add(make_dissemination());
  registry.add(make_binomial());
  registry.add(make_double_tree());
  registry.add(make_one_factorisation());
  registry.add(make_hierarchical());
  registry.add(make_hierarchical_reversed());
  registry.add(make_bucket());
  registry.add(make_torus_rings());
  registry.add(make_stragglar());
  registry.add(make_birkhoff());
  registry.add(make_greedy_matchings());
  return registry;
}

void CollectiveRegistry::add(std::unique_ptr<const CollectiveAlgorithm> algorithm) {
  if (algorithm == nullptr) throw ConfigError("", "there is no collective algorithm to add", "give one, not null");
  for (const auto& known : algorithms_) {
    if (known->name() != algorithm->name()) continue;
    throw ConfigError("", "there is already a collective algorithm \"" + std::string(known->name()) + "\"",
                      "give the new one another name");
  }
  algorithms_.push_back(std::move(algorithm));
}

const CollectiveAlgorithm& CollectiveRegistry::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& algorithm : algorithms_) {
    if (algorithm->name() == name) return *algorithm;
    known.emplace_back(algorithm->name());
  }
  throw ConfigError("", "unknown collective algorithm \"" + std::string(name) + "\"", suggest(name, known));
}

}  // namespace photonrail
