// The places of a drawer record their decisions, so that a world can have two parents: each function of the drawer decides
// as it did in one of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <source_location>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::worlds {

#if defined(__cpp_lib_source_location)
using Site = std::source_location;
#else  // clang 14: the worlds of a seed are others then
struct Site {
  static constexpr Site current(const char* function = __builtin_FUNCTION(), unsigned line = __builtin_LINE()) {
    return {function, line};
  }
  [[nodiscard]] constexpr const char* function_name() const { return function; }
  [[nodiscard]] constexpr unsigned line() const { return number; }

  const char* function = "";
  unsigned number = 0;
};
#endif

/// A place of a drawer: compared by addresses, which are the same throughout a process.
struct DecisionPlace {
  std::string_view stream;  ///< name of the dice
  Site site;

  friend bool operator<(const DecisionPlace& a, const DecisionPlace& b) {
    return std::tuple(a.stream.data(), a.site.function_name(), a.site.line()) <
           std::tuple(b.stream.data(), b.site.function_name(), b.site.line());
  }
};

/// The decisions of one world, by place, each in the order of time.
class Decisions {
 public:
  void add(const DecisionPlace& place, std::uint64_t value) { values_[place].push_back(value); }
  [[nodiscard]] std::optional<std::uint64_t> at(const DecisionPlace& place, std::size_t index) const {
    const auto found = values_.find(place);
    if (found == values_.end() || index >= found->second.size()) return std::nullopt;
    return found->second[index];
  }

 private:
  std::map<DecisionPlace, std::vector<std::uint64_t>> values_;
};

/// Two worlds whose decisions a third one repeats, each function those of one of them, and where that one has none those of
/// the other. `seed` chooses. The worlds must outlive it.
class Parents {
 public:
  Parents(const Decisions& first, const Decisions& second, std::uint64_t seed)
      : first_(&first), second_(&second), seed_(seed) {}

  [[nodiscard]] std::optional<std::uint64_t> next(const DecisionPlace& place);

 private:
  bool follows_first(const DecisionPlace& place);

  const Decisions* first_;
  const Decisions* second_;
  std::uint64_t seed_;
  std::map<DecisionPlace, std::size_t> asked_;
  std::map<std::pair<const char*, const char*>, bool> sides_;  // by dice and function
};

/// Where the numbers of a world come from.
struct Source {
  std::uint64_t seed = 0;
  Decisions* record = nullptr;  ///< decisions are added here
  Parents* parents = nullptr;   ///< what they have decided is repeated
};

}  // namespace photonrail::worlds
