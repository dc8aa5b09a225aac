#include "worlds/decisions.hpp"

#include "photonrail/core/random.hpp"

#include <string>

namespace photonrail::worlds {

std::optional<std::uint64_t> Parents::next(const DecisionPlace& place) {
  const std::size_t index = asked_[place]++;
  const bool first = follows_first(place);
  if (const auto value = (first ? first_ : second_)->at(place, index)) return value;
  return (first ? second_ : first_)->at(place, index);
}

bool Parents::follows_first(const DecisionPlace& place) {
  const char* const function = place.site.function_name();
  const auto [at, fresh] = sides_.try_emplace({place.stream.data(), function}, false);
  if (fresh) at->second = RandomStream(seed_, std::string(place.stream) + function).below(2) == 0;
  return at->second;
}

}  // namespace photonrail::worlds
