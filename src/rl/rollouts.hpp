// The responses that are under way: how long each will be, where it calls tools, on which engine it is.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"
#include "rl/spec.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::rl {

struct Rollout {
  std::uint32_t engine = 0;
  std::uint32_t total = 0;  ///< tokens of the response
  std::uint32_t done = 0;
  std::uint32_t results = 0;           ///< calls that were answered
  std::vector<std::uint32_t> calls{};  ///< tokens after which it calls a tool, ascending
  Time begun{};
  Time completed = Time::never();
};

class Rollouts {
 public:
  explicit Rollouts(const RlSpec& spec)
      : spec_(spec),
        lengths_(spec.prompts.lengths),
        length_draws_(spec.seed, "rl lengths"),
        call_draws_(spec.seed, "rl calls") {}

  /// Begins the next sample. Samples are numbered in this order.
  void begin(std::uint32_t engine, Time now);
  [[nodiscard]] Rollout& of(std::uint64_t sample) { return all_[sample]; }
  [[nodiscard]] const Rollout& of(std::uint64_t sample) const { return all_[sample]; }
  [[nodiscard]] std::uint64_t prompt(std::uint64_t sample) const { return sample / spec_.prompts.responses; }

  /// The next stretch of generation of the sample, until its next call or its end. `fresh`: tokens whose KV is not there.
  [[nodiscard]] GenerationRequest stretch(std::uint64_t sample, double fresh) const;
  /// Tokens of KV that it ever has, and those that it has now.
  [[nodiscard]] double room(std::uint64_t sample) const;
  [[nodiscard]] double context(std::uint64_t sample) const;
  /// The stretch has ended. True: the response is complete; else it calls a tool.
  bool advance(std::uint64_t sample);

 private:
  [[nodiscard]] double result_tokens() const { return spec_.tools ? spec_.tools->result_tokens : 0.0; }

  const RlSpec& spec_;
  ResponseLengths lengths_;
  RandomStream length_draws_;
  RandomStream call_draws_;
  std::vector<Rollout> all_;
};

}  // namespace photonrail::rl
