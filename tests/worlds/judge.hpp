// Runs a world in this process and says what is wrong with how it ended. A signal or an endless run is for sandbox.hpp.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/result.hpp"
#include "worlds/world.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::worlds {

/// As the command's exit status tells them: 0, 2 and 3.
enum class Ending : std::uint8_t { kDone, kRefused, kStuck };

struct Verdict {
  Ending ending = Ending::kDone;
  std::string symptom;  ///< one word for the class of fault, or "" when nothing is wrong
  std::string detail;
  std::uint64_t runs = 0;         ///< simulations, the twins of laws included
  std::vector<std::string> laws;  ///< that applied
};

struct JudgeOptions {
  bool all_laws = false;  ///< else each law is examined on one world in three, chosen by the world's seed
  std::string only_law;   ///< if not empty, no other is examined
};

[[nodiscard]] Verdict judge(const World& world, const JudgeOptions& options = {});

/// How often circuits were made, by rail and port, and when ports were pointed.
struct CircuitCounts {
  std::map<std::pair<RailId, Circuit>, std::uint32_t> made;
  std::map<std::uint32_t, std::pair<Time, Time>> pointed;  ///< by port, of all rails: when first and last
  bool pointed_elsewhere = false;                          ///< a port of a rail, to another one than before

  /// Servers that the GPU with the most of them sends to, or receives from, over one rail.
  [[nodiscard]] std::uint32_t peers(std::uint32_t ports_per_gpu) const;
  /// Of the pair of servers whose circuits were made most often, on one rail.
  [[nodiscard]] std::uint32_t most_joined(std::uint32_t ports_per_gpu) const;
};

/// One run of a scenario.
struct Outcome {
  Ending ending = Ending::kDone;
  RunResult result;            ///< kDone
  std::string text;            ///< kDone: the result as a file
  std::string message;         ///< of an error
  std::string symptom;         ///< an ending that is a finding by itself
  std::uint64_t history = 0;   ///< a hash of what observers were told
  CircuitCounts circuits;      ///< of a run that was watched
  std::vector<Time> instants;  ///< ... the first at which ranks began or ended operations, also where it did not end
};

enum class Watched : std::uint8_t { kYes, kNo };  ///< an observer sees every rank, so that no ranks are folded

[[nodiscard]] Outcome run(const Json& scenario, Watched watched = Watched::kYes);

/// What is wrong with a result by itself: times that do not add up, negative amounts. Or "".
[[nodiscard]] std::string problem_of(const RunResult& result);

/// Whether the scenario says what may stop its job for good, whatever the code does.
[[nodiscard]] bool may_stop(const Json& scenario);

/// Whether the run is stuck because a mesh has no ways for what an operation wants at once: ports are the policy's choice,
/// which goes by what came before, and others are not tried (docs/models/pipswitch.md).
[[nodiscard]] bool lacks_ways(const Outcome& run);

/// A run on electrical rails that ends tells a job that waits for circuits from a job that waits for itself.
[[nodiscard]] Json on_electrical_rails(Json scenario);

/// Whether a JSON text has a number that is none: nan or inf.
[[nodiscard]] bool has_no_number(const std::string& json);

}  // namespace photonrail::worlds
