#include "worlds/cover.hpp"

#include "worlds/plan.hpp"
#include "worlds/words.hpp"

#include <algorithm>

namespace photonrail::worlds {

void Cover::add(const Json& scenario) {
  for (const Words& words : words_by_job(scenario)) {
    std::vector<std::uint32_t> together;
    for (const std::string& word : words) together.push_back(number_of(word));
    for (const std::uint32_t one : together) {
      for (const std::uint32_t other : together) {
        if (other < one) seen_[one][other] = true;
      }
    }
  }
}

std::uint32_t Cover::number_of(const std::string& word) {
  const auto [at, fresh] = numbers_.try_emplace(word, static_cast<std::uint32_t>(numbers_.size()));
  if (fresh) seen_.emplace_back(at->second);
  return at->second;
}

bool Cover::is_possible(const std::string& one, const std::string& other) const {
  return !exclude(one, other) && !refused_.contains({one, other});
}

std::size_t Cover::leave_out_refused() {
  refused_.clear();
  std::size_t count = 0;
  for (const auto& [one, other] : missing()) {
    if (!Plan::of_worlds().is_refused(one, other)) continue;
    refused_.insert({one, other});
    refused_.insert({other, one});
    ++count;
  }
  return count;
}

std::size_t Cover::possible() const {
  std::size_t count = 0;
  for (auto one = numbers_.begin(); one != numbers_.end(); ++one) {
    for (auto other = numbers_.begin(); other != one; ++other) count += is_possible(one->first, other->first) ? 1 : 0;
  }
  return count;
}

std::vector<std::pair<std::string, std::string>> Cover::missing() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (auto one = numbers_.begin(); one != numbers_.end(); ++one) {
    for (auto other = numbers_.begin(); other != one; ++other) {
      const auto [small, great] = std::minmax(one->second, other->second);
      if (!seen_[great][small] && is_possible(one->first, other->first)) list.emplace_back(other->first, one->first);
    }
  }
  return list;
}

double Cover::share() const {
  const std::size_t all = possible();
  return all == 0 ? 0.0 : static_cast<double>(all - missing().size()) / static_cast<double>(all);
}

Cover cover_of_drawn(std::uint64_t count) {
  Cover cover;
  for (std::uint64_t number = 1; number <= count; ++number) {
    const World world = draw_world(number);
    if (is_accepted(world.scenario)) cover.add(world.scenario);
  }
  return cover;
}

}  // namespace photonrail::worlds
