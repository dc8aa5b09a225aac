#include "worlds/plan.hpp"

#include "photonrail/config.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "worlds/cover.hpp"
#include "worlds/inputs.hpp"

#include <algorithm>

namespace photonrail::worlds {

namespace {

constexpr std::uint64_t kOrdinary = 3000;  // worlds that the plan is made of
constexpr std::size_t kKept = 12;          // worlds with a word
constexpr std::size_t kDonors = 3;         // tried for a word
constexpr std::size_t kCandidates = 8;     // words of which the next one to get is chosen
constexpr std::uint64_t kMostWords = 48;   // that a child is given

/// The first ordinary worlds, each by the words of its jobs.
struct Ordinary {
  std::vector<std::vector<Words>> worlds;
  std::vector<bool> accepted;
  Words all;
};

Ordinary draw_first() {
  Ordinary drawn;
  for (std::uint64_t number = 1; number <= kOrdinary; ++number) {
    const World world = draw_ordinary(number);
    drawn.accepted.push_back(is_accepted(world.scenario));
    drawn.worlds.push_back(words_by_job(world.scenario));
    for (const Words& words : drawn.worlds.back()) drawn.all.insert(words.begin(), words.end());
  }
  return drawn;
}

}  // namespace

bool is_accepted(const Json& scenario) {
  try {
    parse_scenario(scenario.dump(), inputs(), "world.json").validate();
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

/// A child while it grows.
struct Plan::Growth {
  Json scenario;
  std::vector<std::uint32_t> words;  ///< of its first job, ascending
  RandomStream random;
};

const Plan& Plan::of_worlds() {
  static const Plan plan;
  return plan;
}

Plan::Plan() : seen_({}) {
  const Ordinary drawn = draw_first();
  seen_ = Pairs(drawn.all);
  with_.resize(seen_.words().size());
  accepted_with_.resize(seen_.words().size());
  for (std::size_t world = 0; world < drawn.worlds.size(); ++world) {
    for (const Words& words : drawn.worlds[world]) {
      const std::vector<std::uint32_t> numbers = seen_.numbers(words);
      for (const std::uint32_t word : numbers) {
        if (with_[word].size() < kKept) with_[word].push_back(world + 1);
        if (drawn.accepted[world] && accepted_with_[word].size() < kKept) accepted_with_[word].push_back(world + 1);
      }
      if (drawn.accepted[world]) seen_.add(numbers);
    }
    if (drawn.accepted[world]) any_.push_back(world + 1);
  }
  add_missing();
}

void Plan::add_missing() {
  const auto count = static_cast<std::uint32_t>(seen_.words().size());
  may_meet_.resize(std::size_t{count} * count);
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < one; ++other) {
      if (seen_.has(one, other) || exclude(seen_.words()[one], seen_.words()[other])) continue;
      missing_.emplace_back(one, other);
      may_meet_[std::size_t{one} * count + other] = may_meet_[std::size_t{other} * count + one] = true;
    }
  }
  RandomStream random(1, "order of missing pairs");
  for (std::size_t i = missing_.size(); i > 1; --i) std::swap(missing_[i - 1], missing_[random.below(i)]);
}

bool Plan::is_missing(std::uint32_t one, std::uint32_t other) const {
  return may_meet_[std::size_t{one} * seen_.words().size() + other];
}

std::pair<std::string, std::string> Plan::wanted(std::uint64_t number) const {
  const auto [one, other] = missing_[number % missing_.size()];
  return {seen_.words()[one], seen_.words()[other]};
}

bool Plan::get_word(Growth& growth, std::uint32_t word) const {
  for (std::size_t tries = 0; tries < kDonors; ++tries) {
    if (get_word_once(growth, word)) return true;
  }
  return false;
}

// The smallest part of a world with the word that the readers accept in its new place; or that part and sections that it
// may need beside it.
bool Plan::get_word_once(Growth& growth, std::uint32_t word) const {
  const std::vector<std::uint64_t>& with = with_[word];
  const Json donor = draw_ordinary(with[growth.random.below(with.size())]).scenario;
  std::vector<Branch> branches = branches_of(donor);
  std::reverse(branches.begin(), branches.end());
  const std::string& wanted = seen_.words()[word];
  std::erase_if(branches, [&](const Branch& branch) { return !has_word(branch, wanted); });
  const bool add = growth.random.below(2) == 0;
  const auto try_out = [&](const Json& grown) {
    if (!is_accepted(grown)) return false;
    growth.scenario = grown;
    growth.words = seen_.numbers(words_by_job(grown).front());
    return true;
  };
  for (const Branch& branch : branches) {
    if (try_out(graft(growth.scenario, branch, add))) return true;
  }
  Json grown = growth.scenario;
  for (const Branch& section : branches_of(donor)) {
    const std::string& name = section.path[0];
    if (section.path.size() == 1 && (name == "cluster" || name == "controller")) grown = graft(grown, section, false);
  }
  return !branches.empty() && try_out(graft(grown, branches.back(), false));
}

std::uint32_t Plan::choose_word(Growth& growth) const {
  std::uint32_t best = 0;
  std::size_t most = 0;
  for (std::size_t c = 0; c < kCandidates; ++c) {
    const auto word = static_cast<std::uint32_t>(growth.random.below(with_.size()));
    const auto fresh = static_cast<std::size_t>(
        std::count_if(growth.words.begin(), growth.words.end(), [&](std::uint32_t has) { return is_missing(has, word); }));
    if (c > 0 && fresh <= most) continue;
    most = fresh;
    best = word;
  }
  return best;
}

World Plan::child(std::uint64_t number) const {
  const auto [one, other] = missing_[number % missing_.size()];
  RandomStream random(number, "child");
  const std::uint32_t begin = accepted_with_[one].empty() ? other : one;
  const std::vector<std::uint64_t>& with = accepted_with_[begin].empty() ? any_ : accepted_with_[begin];
  Growth growth{draw_ordinary(with[random.below(with.size())]).scenario, {}, random};
  growth.words = seen_.numbers(words_by_job(growth.scenario).front());
  for (const std::uint32_t word : {one, other}) {
    if (!std::binary_search(growth.words.begin(), growth.words.end(), word)) get_word(growth, word);
  }
  // Few words as often as many: what many do together may hide what two do.
  for (std::uint64_t left = growth.random.below(2) * growth.random.below(kMostWords); left > 0; --left) {
    const std::uint32_t word = choose_word(growth);
    if (!std::binary_search(growth.words.begin(), growth.words.end(), word)) get_word(growth, word);
  }
  return {number, growth.scenario};
}

}  // namespace photonrail::worlds
