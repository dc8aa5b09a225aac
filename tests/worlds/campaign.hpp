// Many worlds one after another: what was counted, and the first world of every kind of fault, made smaller.
#pragma once

#include "worlds/sandbox.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace photonrail::worlds {

struct CampaignOptions {
  std::string family = "scenario";   ///< of family.hpp
  std::uint64_t seed = 1;            ///< of the first world; the next ones follow
  std::uint64_t cases = 1000;        ///< worlds at most
  double time_s = 0.0;               ///< wall time at most; 0: no limit
  std::string with;                  ///< if not empty, only ordinary worlds with this word are judged
  bool until_found = false;          ///< ends with the first world that goes wrong
  std::uint64_t shrink_tries = 600;  ///< for each kind of fault; 0: not made smaller
  std::filesystem::path out;         ///< folder of the scenarios that went wrong; "": not written
  JudgeOptions judge{};
  Limits limits{};
};

/// A kind of fault: the symptom, the policies, and the words without numbers and names.
struct Finding {
  std::string symptom;
  std::string detail;       ///< of the smallest world
  std::string policies;     ///< of the first world
  std::uint64_t seed = 0;   ///< of the first world
  std::uint64_t after = 0;  ///< worlds until it was found, itself included
  std::uint64_t count = 0;  ///< worlds of this kind
  World smallest;
};

struct CampaignReport {
  std::uint64_t worlds = 0;
  std::uint64_t runs = 0;  ///< simulations, those of twins included
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  std::uint64_t stuck = 0;
  std::map<std::string, std::uint64_t> laws;      ///< worlds that each law was examined on
  std::map<std::string, std::uint64_t> refusals;  ///< by kind
  std::vector<Finding> findings;
  std::size_t words = 0;  ///< keys and words of keys of worlds that were not refused; scenarios only, as the pairs
  std::size_t pairs = 0;  ///< that stood together in a job
  std::vector<std::pair<std::string, std::string>> missing;  ///< pairs that did not stand together, and may
  std::size_t pairs_possible = 0;  ///< of these words, but for those that readers do not accept together
  double wall_s = 0.0;
};

[[nodiscard]] CampaignReport run_campaign(const CampaignOptions& options);

/// For people, and for a file.
[[nodiscard]] std::string to_text(const CampaignReport& report);
[[nodiscard]] std::string to_json_text(const CampaignReport& report);

}  // namespace photonrail::worlds
