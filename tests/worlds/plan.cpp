#include "worlds/plan.hpp"

#include "photonrail/config.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "run/expected_time.hpp"
#include "worlds/cover.hpp"
#include "worlds/inputs.hpp"
#include "worlds/words.hpp"

#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <exception>
#include <sstream>

namespace photonrail::worlds {

namespace {

constexpr std::uint64_t kOrdinary = 3000;  // worlds that the plan is made of
constexpr std::size_t kDonors = 8;         // kept of a word
constexpr std::size_t kWholeTries = 3;     // of donors of a wanted word
constexpr std::size_t kCandidates = 4;     // words of which the next one to get is chosen
constexpr std::size_t kTries = 96;         // of words, for a child with many
constexpr double kMostWork = 0.5;          // seconds that a child is known to take before it is run
constexpr std::size_t kNumbers = 2;        // that a child has otherwise
constexpr std::uint64_t kFirst = 1500;     // children, which look for what ordinary worlds miss
constexpr std::uint64_t kLooked = 300;     // worlds that are asked which words they exclude

/// While it lives, a signal of the readers goes back to `place`. What they held is lost: a search that meets this has found
/// a fault.
class SignalGuard {
 public:
  SignalGuard() {
    struct sigaction caught {};
    caught.sa_handler = [](int) { siglongjmp(place, 1); };
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &caught, &before_[i]);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

  static inline sigjmp_buf place;

 private:
  static constexpr std::array<int, 3> kSignals{SIGSEGV, SIGFPE, SIGABRT};

  std::array<struct sigaction, 3> before_{};
};

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

// A reader that ends otherwise than by a refusal is for the judge, who has a process for that.
bool is_accepted(const Json& scenario, std::optional<double> most_s) {
  const SignalGuard guard;
  if (sigsetjmp(SignalGuard::place, 1) != 0) return true;
  try {
    const Scenario read = parse_scenario(scenario.dump(), inputs(), "world.json");
    read.validate();
    return !most_s || run::expected_work(read, Registries{}).seconds() <= *most_s;
  } catch (const ConfigError&) {
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

namespace {

// The word of the key at which the readers refuse a scenario; "" where they do not, or name none.
std::string refused_at(const Json& scenario) {
  const SignalGuard guard;
  if (sigsetjmp(SignalGuard::place, 1) != 0) return "";
  try {
    parse_scenario(scenario.dump(), inputs(), "world.json").validate();
  } catch (const ConfigError& error) {
    std::vector<std::string> path;
    std::istringstream keys(error.where().substr(std::min(error.where().size(), error.where().find(" /") + 2)));
    for (std::string key; std::getline(keys, key, '/');) {
      if (key.find_first_not_of("0123456789") != std::string::npos) path.push_back(key);
    }
    return path.empty() ? "" : word_at(path);
  } catch (const std::exception&) {
  }
  return "";
}

// The word's key, the object that it is in, or something below it.
bool is_place_of(const std::string& at, const std::string& word) {
  const std::string key = word.substr(0, word.find('='));
  return !at.empty() && (at == key || at.starts_with(key + "/") || at == key.substr(0, key.rfind('/')));
}

}  // namespace

bool Plan::refuses(std::uint32_t has, std::uint32_t word) const {
  constexpr std::size_t kAsked = 3;
  const Words both{seen_.words()[has], seen_.words()[word]};
  std::size_t asked = 0;
  for (const Donor& base : donors_[has]) {
    if (!base.accepted || donors_[word].empty()) continue;
    const Donor& donor = donors_[word][asked % donors_[word].size()];
    const Json grown = graft(draw_ordinary(base.world).scenario, donor.smallest, false);
    const Words words = words_by_job(grown).front();
    if (!std::includes(words.begin(), words.end(), both.begin(), both.end())) return false;
    const std::string at = refused_at(grown);
    if (!is_place_of(at, *both.begin()) && !is_place_of(at, *both.rbegin())) return false;
    if (++asked == kAsked) break;
  }
  return asked > 0;
}

bool Plan::is_refused(const std::string& one, const std::string& other) const {
  const std::vector<std::uint32_t> numbers = seen_.numbers({one, other});
  return numbers.size() == 2 && refuses(numbers[0], numbers[1]) && refuses(numbers[1], numbers[0]);
}

/// A child while it grows.
struct Plan::Growth {
  Json scenario;
  RandomStream random;
  std::vector<std::uint32_t> words{};  ///< of its first job, ascending
  std::vector<std::uint32_t> kept{};   ///< words that it does not give away for others
  std::size_t least = 0;               ///< words that it has at least

  [[nodiscard]] bool has(std::uint32_t word) const { return std::binary_search(words.begin(), words.end(), word); }
};

const Plan& Plan::of_worlds() {
  static const Plan plan;
  return plan;
}

Plan::Plan() : seen_({}) {
  const Ordinary drawn = draw_first();
  seen_ = Pairs(drawn.all);
  donors_.resize(seen_.words().size());
  for (std::size_t i = 0; i < drawn.worlds.size(); ++i) {
    std::vector<std::uint32_t> wanting;
    for (const Words& words : drawn.worlds[i]) {
      const std::vector<std::uint32_t> numbers = seen_.numbers(words);
      if (drawn.accepted[i]) {
        seen_.add(numbers);
        said_.insert(words.begin(), words.end());
      }
      for (const std::uint32_t word : numbers) {
        if (donors_[word].size() < kDonors) wanting.push_back(word);
      }
    }
    if (!wanting.empty()) add_donors(i + 1, drawn.accepted[i], draw_ordinary(i + 1).scenario, wanting);
    if (drawn.accepted[i]) any_.push_back(i + 1);
  }
  count_exclusions(drawn.worlds);
  first_ = aims_without(seen_);
}

void Plan::add_donors(std::uint64_t world, bool accepted, const Json& scenario, const std::vector<std::uint32_t>& numbers) {
  const std::vector<Branch> branches = branches_of(scenario);
  for (const std::uint32_t word : numbers) {
    const auto smallest = std::find_if(branches.rbegin(), branches.rend(),
                                       [&](const Branch& branch) { return has_word(branch, seen_.words()[word]); });
    if (smallest == branches.rend()) continue;  // of a job that is not the first
    std::vector<Donor>& donors = donors_[word];
    if (donors.size() < kDonors) donors.push_back({*smallest, world, accepted});
  }
}

void Plan::count_exclusions(const std::vector<std::vector<Words>>& worlds) {
  const auto count = static_cast<std::uint32_t>(seen_.words().size());
  excluded_.resize(std::size_t{count} * count);
  excluding_.resize(count);
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < one; ++other) {
      if (seen_.has(one, other) || !exclude(seen_.words()[one], seen_.words()[other])) continue;
      excluded_[std::size_t{one} * count + other] = excluded_[std::size_t{other} * count + one] = true;
    }
  }
  for (std::size_t i = 0; i < kLooked; ++i) {
    const Growth growth{{}, RandomStream(1, ""), seen_.numbers(worlds[i].front())};
    for (std::uint32_t word = 0; word < count; ++word)
      excluding_[word] += !growth.has(word) && !may_get(growth, word) ? 1 : 0;
  }
}

// A word that most worlds exclude seldom comes along: it needs turns for nearly all of the words that it misses. And one
// that misses many is seldom drawn, so that turns go by the square of what it misses.
Plan::Aims Plan::aims_without(const Pairs& seen) const {
  constexpr std::uint64_t kExcluded = 8;  // turns of a word that all worlds exclude, where one that none does has one
  const auto count = static_cast<std::uint32_t>(seen.words().size());
  Aims aims;
  aims.partners.resize(count);
  aims.missing.resize(std::size_t{count} * count);
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < one; ++other) {
      // A word without a donor is said by jobs alone that are not the first.
      if (seen.has(one, other) || donors_[one].empty() || donors_[other].empty()) continue;
      if (excluded_[std::size_t{one} * count + other]) continue;
      aims.missing[std::size_t{one} * count + other] = aims.missing[std::size_t{other} * count + one] = true;
      aims.partners[one].push_back(other);
      aims.partners[other].push_back(one);
    }
  }
  std::uint64_t sum = 0;
  for (std::size_t word = 0; word < count; ++word) {
    const std::uint64_t missing = aims.partners[word].size();
    aims.turns.push_back(sum += missing * missing * (kLooked + (kExcluded - 1) * excluding_[word]) / kLooked);
  }
  return aims;
}

Plan::Aims Plan::aims_after_first() const {
  Pairs seen = seen_;
  for (std::uint64_t number = 1; number <= kFirst; ++number) {
    for (const Words& words : words_by_job(child(number).scenario)) seen.add(seen.numbers(words));
  }
  return aims_without(seen);
}

const Plan::Aims& Plan::aims_of(std::uint64_t number) const {
  if (number <= kFirst) return first_;
  static const Aims later = of_worlds().aims_after_first();
  return later;
}

std::pair<std::uint32_t, std::uint32_t> Plan::pair_of(std::uint64_t number) const {
  const Aims& aims = aims_of(number);
  RandomStream random(number, "pair");
  const auto at = std::upper_bound(aims.turns.begin(), aims.turns.end(), random.below(aims.turns.back()));
  const auto word = static_cast<std::uint32_t>(at - aims.turns.begin());
  return {word, aims.partners[word][random.below(aims.partners[word].size())]};
}

bool Plan::may_get(const Growth& growth, std::uint32_t word) const {
  const std::size_t row = std::size_t{word} * seen_.words().size();
  return !growth.has(word) &&
         std::none_of(growth.words.begin(), growth.words.end(), [&](std::uint32_t has) { return excluded_[row + has]; });
}

std::pair<std::string, std::string> Plan::wanted(std::uint64_t number) const {
  const auto [one, other] = pair_of(number);
  return {seen_.words()[one], seen_.words()[other]};
}

// A world that has the word and is accepted, if there is one.
Plan::Growth Plan::begin(RandomStream random, std::uint32_t word) const {
  std::vector<std::uint64_t> with;
  for (const Donor& donor : donors_[word]) {
    if (donor.accepted) with.push_back(donor.world);
  }
  const std::vector<std::uint64_t>& from = with.empty() ? any_ : with;
  Growth growth{draw_ordinary(from[random.below(from.size())]).scenario, random};
  growth.words = seen_.numbers(words_by_job(growth.scenario).front());
  return growth;
}

bool Plan::try_out(Growth& growth, const Json& grown) const {
  std::vector<std::uint32_t> words = seen_.numbers(words_by_job(grown).front());
  const auto stays = [&](std::uint32_t word) { return std::binary_search(words.begin(), words.end(), word); };
  if (words.size() < growth.least || !std::all_of(growth.kept.begin(), growth.kept.end(), stays)) return false;
  if (!is_accepted(grown, kMostWork)) return false;
  growth.scenario = grown;
  growth.words = std::move(words);
  return true;
}

bool Plan::get_small(Growth& growth, std::uint32_t word) const {
  const Donor& donor = donors_[word][growth.random.below(donors_[word].size())];
  return try_out(growth, graft(growth.scenario, donor.smallest, growth.random.below(2) == 0));
}

// The smallest part of a world with the word that the readers accept in its new place; or that part and sections that it
// may need beside it.
bool Plan::get_whole(Growth& growth, std::uint32_t word) const {
  const Donor& donor = donors_[word][growth.random.below(donors_[word].size())];
  std::vector<Branch> branches = branches_of(draw_ordinary(donor.world).scenario);
  Json grown = growth.scenario;
  for (const Branch& section : branches) {
    const std::string& name = section.path[0];
    if (section.path.size() == 1 && (name == "cluster" || name == "controller")) grown = graft(grown, section, false);
  }
  std::erase_if(branches, [&](const Branch& branch) { return !has_word(branch, seen_.words()[word]); });
  const bool add = growth.random.below(2) == 0;
  for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch) {
    if (try_out(growth, graft(growth.scenario, *branch, add))) return true;
  }
  return !branches.empty() && try_out(growth, graft(grown, branches.front(), false));
}

void Plan::get_wanted(Growth& growth, std::uint32_t word) const {
  for (std::size_t tries = 0; tries < kWholeTries && !growth.has(word); ++tries) get_whole(growth, word);
  if (growth.has(word)) growth.kept.push_back(word);
}

// Of some words that miss one of the pair, the one that misses most of what the child has.
std::uint32_t Plan::choose_word(const Aims& aims, Growth& growth,
                                const std::pair<std::uint32_t, std::uint32_t>& pair) const {
  std::uint32_t best = pair.first;
  std::ptrdiff_t most = 0;
  for (std::size_t c = 0; c < kCandidates; ++c) {
    const std::vector<std::uint32_t>& partners = aims.partners[c == 0 ? pair.second : pair.first];
    const std::uint32_t word = partners[growth.random.below(partners.size())];
    if (growth.has(word) || (!may_get(growth, word) && growth.random.below(4) > 0)) continue;
    const std::size_t row = std::size_t{word} * aims.partners.size();
    const std::ptrdiff_t fresh =
        std::count_if(growth.words.begin(), growth.words.end(), [&](std::uint32_t has) { return aims.missing[row + has]; });
    if (fresh <= most) continue;
    most = fresh;
    best = word;
  }
  return best;
}

// Drawers know what numbers fit each other, so that others seldom meet: one more or less, twice, half, or a few.
void Plan::change_number(Growth& growth) const {
  std::vector<Branch> numbers = branches_of(growth.scenario);
  std::erase_if(numbers, [](const Branch& branch) { return !branch.value.is_number() || branch.value > 1e12; });
  if (numbers.empty()) return;
  Branch& number = numbers[growth.random.below(numbers.size())];
  const std::uint64_t way = growth.random.below(5);
  if (number.value.is_number_float()) {
    const auto value = number.value.get<double>();
    number.value = std::array{value + 1, std::max(0.0, value - 1), 2 * value, value / 2, 5.0}[way];
  } else {
    const auto value = number.value.get<std::int64_t>();
    number.value = std::array{value + 1, std::max<std::int64_t>(0, value - 1), 2 * value, value / 2, std::int64_t{5}}[way];
  }
  try_out(growth, graft(growth.scenario, number, false));
}

World Plan::child(std::uint64_t number) const {
  const std::pair<std::uint32_t, std::uint32_t> pair = pair_of(number);
  const auto accepted = [](const Donor& donor) { return donor.accepted; };
  const bool first = std::any_of(donors_[pair.first].begin(), donors_[pair.first].end(), accepted);
  Growth growth = begin(RandomStream(number, "child"), first ? pair.first : pair.second);
  get_wanted(growth, pair.first);
  get_wanted(growth, pair.second);
  for (std::size_t tries = number % 4 == 0 ? kTries : 0; tries < kTries; ++tries) {
    const std::uint32_t word = choose_word(aims_of(number), growth, pair);
    growth.least = growth.words.size();
    if (!growth.has(word)) get_small(growth, word);
  }
  growth.least = growth.words.size();
  for (std::size_t left = growth.random.below(2) * kNumbers; left > 0; --left) change_number(growth);
  return {number, growth.scenario};
}

}  // namespace photonrail::worlds
