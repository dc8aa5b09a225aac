// The responses that are under way: how long each will be, where it calls tools, on which engine it is.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"
#include "rl/generation_engine.hpp"
#include "rl/spec.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::rl {

struct Rollout {
  std::uint32_t engine = 0;
  std::uint32_t version = 0;  ///< of the weights that it was begun with
  std::uint32_t total = 0;    ///< tokens of the response
  std::uint32_t done = 0;
  std::uint32_t results = 0;           ///< calls that were answered
  std::vector<std::uint32_t> calls{};  ///< tokens after which it calls a tool, ascending
  Time begun{};
  Time answer_due = Time::never();  ///< of the call that it waits for
  Time completed = Time::never();
};

class Rollouts {
 public:
  /// `spec` must outlive the object.
  explicit Rollouts(const RlSpec& spec)
      : spec_(spec),
        lengths_(spec.prompts.lengths),
        most_(static_cast<std::uint64_t>(kv_tokens(spec)) - spec.generation.batching.block_tokens),
        length_draws_(spec.seed, "rl lengths"),
        call_draws_(spec.seed, "rl calls") {}

  /// Begins the next sample. Samples are numbered in this order. What an engine's KV cannot hold is cut.
  void begin(std::uint32_t engine, std::uint32_t version, Time now);
  /// The sample is made again from the beginning, as long and with as many calls.
  void again(std::uint64_t sample, std::uint32_t engine, std::uint32_t version);
  [[nodiscard]] Rollout& of(std::uint64_t sample) { return all_[sample]; }
  [[nodiscard]] const Rollout& of(std::uint64_t sample) const { return all_[sample]; }
  [[nodiscard]] std::uint64_t count() const { return all_.size(); }
  [[nodiscard]] std::uint64_t prompt(std::uint64_t sample) const { return sample / spec_.prompts.responses; }

  /// The next stretch of generation of the sample, until its next call or its end.
  [[nodiscard]] Stretch stretch(std::uint64_t sample) const;
  /// Tokens that it has now, results of calls among them.
  [[nodiscard]] std::uint32_t context(std::uint64_t sample) const;
  /// The stretch has ended. True: the response is complete; else it calls a tool.
  bool advance(std::uint64_t sample);

 private:
  [[nodiscard]] std::uint32_t result_tokens() const { return spec_.tools ? spec_.tools->result_tokens : 0; }

  const RlSpec& spec_;
  ResponseLengths lengths_;
  std::uint64_t most_;  ///< tokens of a prompt, its response and results
  RandomStream length_draws_;
  RandomStream call_draws_;
  std::vector<Rollout> all_;
};

}  // namespace photonrail::rl
