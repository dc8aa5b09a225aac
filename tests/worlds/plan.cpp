#include "worlds/plan.hpp"

#include "worlds/cover.hpp"

#include <algorithm>

namespace photonrail::worlds {

namespace {

constexpr std::uint64_t kOrdinary = 3000;     // worlds that the plan is made of
constexpr std::size_t kKept = 12;             // worlds with a word
constexpr std::uint64_t kChildren = 24;       // of two worlds, of which one is taken
constexpr std::uint64_t kSeeds = 1ULL << 40;  // far from the numbers of ordinary worlds

Words all_words(std::vector<std::vector<Words>>& by_world) {
  Words all;
  for (std::uint64_t number = 1; number <= kOrdinary; ++number) {
    by_world.push_back(words_by_job(draw_ordinary(Source{number}).scenario));
    for (const Words& words : by_world.back()) all.insert(words.begin(), words.end());
  }
  return all;
}

}  // namespace

const Plan& Plan::of_worlds() {
  static const Plan plan;
  return plan;
}

Plan::Plan() : seen_({}) {
  std::vector<std::vector<Words>> by_world;
  seen_ = Pairs(all_words(by_world));
  const auto count = static_cast<std::uint32_t>(seen_.words().size());
  with_.resize(count);
  for (std::size_t world = 0; world < by_world.size(); ++world) {
    for (const Words& words : by_world[world]) {
      const std::vector<std::uint32_t> numbers = seen_.numbers(words);
      seen_.add(numbers);
      for (const std::uint32_t word : numbers) {
        if (with_[word].size() < kKept) with_[word].push_back(world + 1);
      }
    }
  }
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < one; ++other) {
      if (!seen_.has(one, other) && !exclude(seen_.words()[one], seen_.words()[other])) missing_.emplace_back(one, other);
    }
  }
  RandomStream random(1, "order of missing pairs");
  for (std::size_t i = missing_.size(); i > 1; --i) std::swap(missing_[i - 1], missing_[random.below(i)]);
}

std::pair<std::string, std::string> Plan::wanted(std::uint64_t number) const {
  const auto [one, other] = missing_[number % missing_.size()];
  return {seen_.words()[one], seen_.words()[other]};
}

World Plan::child(std::uint64_t number) const {
  const auto [one, other] = missing_[number % missing_.size()];
  RandomStream random(number, "parents");
  Decisions decisions[2];
  for (const std::uint32_t word : {one, other}) {
    const std::vector<std::uint64_t>& with = with_[word];
    static_cast<void>(draw_ordinary(Source{with[random.below(with.size())], &decisions[word == one ? 0 : 1]}));
  }
  World best;
  std::size_t most = 0;
  for (std::uint64_t c = 0; c < kChildren; ++c) {
    Parents parents(decisions[0], decisions[1], kChildren * number + c);
    World world = draw_ordinary(Source{kSeeds + kChildren * number + c, nullptr, &parents});
    std::size_t worth = 1;
    for (const Words& words : words_by_job(world.scenario)) {
      const std::vector<std::uint32_t> numbers = seen_.numbers(words);
      const auto has = [&](std::uint32_t word) { return std::binary_search(numbers.begin(), numbers.end(), word); };
      worth += seen_.fresh(numbers) + (has(one) && has(other) ? 1'000'000 : 0);
    }
    if (worth <= most) continue;
    most = worth;
    best = std::move(world);
  }
  return best;
}

}  // namespace photonrail::worlds
