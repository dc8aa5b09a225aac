// Pairs of words that the readers do not accept together in one job, so that no world can have them.
#include "photonrail/collective.hpp"
#include "photonrail/controller.hpp"
#include "worlds/cover.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace photonrail::worlds {

namespace {

// Keys whose objects are elements of arrays, or members of maps, so that a file may have several.
constexpr std::array<std::string_view, 15> kLists{"/cluster/rail/faults",
                                                  "/cluster/scale_up/curve/",
                                                  "/cluster/scale_up/faults",
                                                  "/cluster/unlike_gpus",
                                                  "/controller/circuits",
                                                  "/controller/restarts",
                                                  "/controller/shims",
                                                  "/placement/order",
                                                  "/placement/rank_order",
                                                  "/server_faults",
                                                  "/stragglers",
                                                  "/workload/graph/",
                                                  "/workload/training/operators/precision_of/",
                                                  "/workload/training/operators/recompute",
                                                  "/workload/training/operators/unlike/"};

// Keys of /cluster/rail.
constexpr std::array<std::string_view, 4> kTiers{"/fewer_spines", "/oversubscription", "/radix", "/tier_latency_time"};
constexpr std::array<std::string_view, 6> kOptical{"forwarding", "kind=optical", "on_dark", "planes", "pods", "switch"};

bool is_in_list(std::string_view word) {
  return std::any_of(kLists.begin(), kLists.end(), [&](std::string_view list) { return word.starts_with(list); });
}

std::string_view key_of(std::string_view word) { return word.substr(0, word.find('=')); }
bool has_word(std::string_view word) { return word.find('=') != std::string_view::npos; }

// A key has one word at a time, and a value that is a word has no keys.
bool are_other_values(std::string_view one, std::string_view other) {
  if (is_in_list(one) || !has_word(one)) return false;
  const std::string_view key = key_of(one);
  if (key_of(other) == key) return has_word(other) && one != other;
  return other.starts_with(key) && other[key.size()] == '/';
}

// A distribution has keys by its word; others beside them are refused.
bool are_other_distributions(std::string_view one, std::string_view other) {
  static const std::map<std::string_view, std::set<std::string_view>> kKeys{{"uniform", {"least", "greatest"}},
                                                                            {"normal", {"mean", "deviation"}},
                                                                            {"log_normal", {"median", "sigma"}},
                                                                            {"empirical", {"samples"}}};
  const auto place_of = [](std::string_view word) { return word.substr(0, word.rfind('/')); };
  const auto name_of = [](std::string_view word) { return word.substr(word.rfind('/') + 1); };
  if (is_in_list(one) || place_of(one) != place_of(other)) return false;
  for (const auto& [word, keys] : kKeys) {
    const bool has_one = keys.contains(name_of(one)) || name_of(one) == "distribution=" + std::string(word);
    if (!has_one) continue;
    for (const auto& [another, others] : kKeys) {
      if (another != word && (others.contains(name_of(other)) || name_of(other) == "distribution=" + std::string(another)))
        return true;
    }
  }
  return false;
}

/// Which policies know a key of /controller that is a policy's own; empty: all of them do.
const std::set<std::string>& policies_with(const std::string& key) {
  static const std::map<std::string, std::set<std::string>> known = [] {
    std::map<std::string, std::set<std::string>> list;
    const ControllerRegistry registry = ControllerRegistry::builtin();
    for (const ControllerFactory& factory : registry.all()) {
      for (const ControllerParameter& parameter : factory.parameters) {
        const bool timed = parameter.kind == ControllerParameter::Kind::kDuration;
        list["/controller/" + parameter.key + (timed ? "_time" : "")].insert(factory.name);
      }
    }
    list["/controller/circuits"] = list["/controller/matrix"] = {"static"};
    return list;
  }();
  static const std::set<std::string> all;
  const std::size_t end = key.find('/', std::string_view("/controller/").size());
  const auto at = known.find(key.substr(0, end));
  return at == known.end() ? all : at->second;
}

// Policies and their keys are of optical rails; the controller of electrical rails has no keys but its name.
bool are_of_other_rails(const std::string& one, const std::string& other) {
  constexpr std::string_view kElectrical = "/controller/name=electrical";
  const bool circuits = one.starts_with("/controller/") && one != "/controller/name" && one != kElectrical;
  const bool tiers = std::any_of(kTiers.begin(), kTiers.end(), [&](std::string_view key) { return other.ends_with(key); });
  const bool optical = std::any_of(kOptical.begin(), kOptical.end(), [&](std::string_view key) {
    return other.starts_with("/cluster/rail/" + std::string(key));
  });
  return (circuits && ((tiers && other.starts_with("/cluster/rail/")) || other == kElectrical)) ||
         (one == kElectrical && optical);
}

bool are_of_other_policies(const std::string& one, const std::string& other) {
  if (!one.starts_with("/controller/") || !other.starts_with("/controller/")) return false;
  const auto policies = [](const std::string& word) -> std::set<std::string> {
    constexpr std::string_view kName = "/controller/name=";
    if (word.starts_with(kName)) return {word.substr(kName.size())};
    return policies_with(std::string(key_of(word)));
  };
  const std::set<std::string> first = policies(one);
  const std::set<std::string> second = policies(other);
  if (first.empty() || second.empty()) return false;
  return std::none_of(first.begin(), first.end(), [&](const std::string& name) { return second.contains(name); });
}

using Operations = std::set<std::string>;

// The operations that an algorithm of /workload/collective can carry out among some numbers of members.
const std::map<std::string, Operations>& operations_of_algorithms() {
  static const std::map<std::string, Operations> known = [] {
    constexpr std::uint32_t kMostMembers = 64;
    std::map<std::string, Operations> list;
    const CollectiveRegistry registry = CollectiveRegistry::builtin();
    for (const auto& algorithm : registry.all()) {
      Operations& operations = list[std::string(algorithm->name())];
      for (int i = 0; i < kCollectiveOpCount; ++i) {
        const auto op = static_cast<CollectiveOp>(i);
        for (std::uint32_t members = 2; members <= kMostMembers; ++members) {
          if (algorithm->supports(op, members)) operations.emplace(name(op));
        }
      }
    }
    return list;
  }();
  return known;
}

// What a word of /workload/collective says of its operation; empty: nothing.
Operations operations_with(std::string_view word) {
  constexpr std::string_view kCall = "/workload/collective/";
  if (!word.starts_with(kCall)) return {};
  const std::string_view rest = word.substr(kCall.size());
  if (rest.starts_with("op=")) return {std::string(rest.substr(3))};
  for (const std::string_view demand : {"moe", "demand", "refit"}) {
    if (rest.starts_with(demand)) return {"all_to_all"};
  }
  if (rest == "root") return {"broadcast", "reduce", "gather", "scatter"};
  constexpr std::string_view kAlgorithm = "algorithm=";
  if (!rest.starts_with(kAlgorithm)) return {};
  const auto at = operations_of_algorithms().find(std::string(rest.substr(kAlgorithm.size())));
  return at == operations_of_algorithms().end() ? Operations{} : at->second;
}

bool are_of_other_operations(std::string_view one, std::string_view other) {
  const Operations first = operations_with(one);
  const Operations second = first.empty() ? first : operations_with(other);
  if (first.empty() || second.empty()) return false;
  return std::none_of(first.begin(), first.end(), [&](const std::string& name) { return second.contains(name); });
}

}  // namespace

const std::vector<Exclusion>& exclusions() {
  static const std::vector<Exclusion> table = [] {
    std::vector<Exclusion> list;
    const std::vector<std::string> workloads{"/workload/collective", "/workload/graph",   "/workload/moe_layer",
                                             "/workload/rl",         "/workload/serving", "/workload/training"};
    for (const std::string& one : workloads) {
      for (const std::string& other : workloads) {
        if (one < other) list.push_back({one, other, "a job has one workload"});
      }
    }
    for (const std::string_view optical : kOptical) {
      const std::string word = "/cluster/rail/" + std::string(optical);
      if (optical != "kind=optical")
        list.push_back({word, "/cluster/rail/kind=electrical", "electrical rails have no circuits"});
      for (const std::string_view tier : kTiers) {
        list.push_back({word, "/cluster/rail" + std::string(tier), "optical rails have no tiers"});
      }
    }
    list.push_back({"/cluster/scale_up/ring", "/cluster/scale_up/torus", "links are a torus or a ring"});
    list.push_back({"/cluster/scale_up/ring", "/cluster/scale_up/curve=measured", "links have a rate of their own"});
    list.push_back({"/cluster/scale_up/torus", "/cluster/scale_up/curve=measured", "links have a rate of their own"});
    list.push_back(
        {"/cluster/scale_up/gb_per_s", "/cluster/scale_up/curve=measured", "a measured fabric has its own rate"});
    list.push_back({"/placement/rank_to_gpu", "/placement/order", "ranks are placed one by one, or by order"});
    list.push_back({"/placement/rank_to_gpu", "/placement/sizes", "ranks are placed one by one, or by order"});
    list.push_back({"/placement/rank_to_gpu", "/placement/rank_order", "ranks are placed one by one, or by order"});
    list.push_back({"/workload/training", "/placement/sizes", "training has its sizes in its parallelism"});
    for (const char* const order : {"/placement/order=a", "/placement/order=b"}) {
      list.push_back({"/workload/training", order, "training has its sizes in its parallelism"});
    }
    list.push_back({"/workload/training", "/placement/rank_order", "training has its sizes in its parallelism"});
    for (const char* const demand : {"/workload/collective/demand", "/workload/collective/moe"}) {
      list.push_back({"/workload/collective/refit", demand, "the demand is given once"});
    }
    for (const char* const size : {"/workload/collective/bytes", "/workload/collective/ranks"}) {
      list.push_back({"/workload/collective/refit", size, "the layouts say how many"});
    }
    list.push_back({"/workload/collective/bytes", "/workload/collective/op=barrier", "a barrier carries no bytes"});
    list.push_back({"/workload/collective/demand", "/workload/collective/moe", "the demand is given or drawn"});
    list.push_back({"/workload/collective/demand", "/workload/collective/bytes", "the demand says how many bytes"});
    list.push_back({"/workload/collective/demand", "/workload/collective/ranks", "the demand says how many ranks"});
    list.push_back({"/workload/collective/bytes", "/workload/collective/moe", "the demand says how many bytes"});
    return list;
  }();
  return table;
}

bool exclude(const std::string& one, const std::string& other) {
  const auto fits = [](const std::string& word, const std::string& begin) { return word.starts_with(begin); };
  for (const auto& [a, b] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    if (are_other_values(*a, *b) || are_other_distributions(*a, *b) || are_of_other_rails(*a, *b)) return true;
  }
  if (are_of_other_policies(one, other) || are_of_other_operations(one, other)) return true;
  return std::any_of(exclusions().begin(), exclusions().end(), [&](const Exclusion& e) {
    return (fits(one, e.one) && fits(other, e.other)) || (fits(one, e.other) && fits(other, e.one));
  });
}

}  // namespace photonrail::worlds
