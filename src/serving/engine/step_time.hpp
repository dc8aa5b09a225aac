// How long a step of an engine takes.
#pragma once

#include "photonrail/units.hpp"
#include "serving/engine/scheduler.hpp"

#include <algorithm>
#include <cstdint>

namespace photonrail::serving {

/// Maps what a step computes to its time. Must give the same time for the same step; may keep what it has computed.
class StepTime {
 public:
  virtual ~StepTime() = default;
  [[nodiscard]] virtual Duration of(const Step& step) const = 0;
  /// Seconds that a step of at most `most` tokens takes at least for each of them, whatever they are; 0: not known.
  [[nodiscard]] virtual double least_s_per_token(std::uint32_t /*most*/) const { return 0.0; }
};

/// A law with four constants, for tests and for engines of which no more is known.
struct LinearLaw {
  Duration fixed{};
  Duration prefill_token{};
  Duration decode{};        ///< a request that decodes
  Duration cached_token{};  ///< ... a token that it reads
};

class LinearStepTime final : public StepTime {
 public:
  explicit LinearStepTime(const LinearLaw& law) : law_(law) {}
  [[nodiscard]] Duration of(const Step& step) const override {
    return law_.fixed + law_.prefill_token * step.prefill_tokens + law_.decode * step.decode_tokens +
           law_.cached_token * static_cast<std::int64_t>(step.decode_cached);
  }
  [[nodiscard]] double least_s_per_token(std::uint32_t most) const override {
    return to_seconds(law_.fixed) / most + to_seconds(std::min(law_.prefill_token, law_.decode));
  }

 private:
  LinearLaw law_;
};

/// A step with what its batching adds: swaps, and drafts that are proposed for all requests at once.
[[nodiscard]] inline Duration step_duration(const StepTime& times, const EngineSpec& engine, const Step& step) {
  Duration time = times.of(step) + engine.swap_block * (step.swapped_out + step.swapped_in);
  if (step.decode_tokens > step.decodes) time += engine.speculation.draft * engine.speculation.drafts;
  return time;
}

/// What the host adds, as constants that the caller states.
struct HostTimes {
  Duration step{};      ///< each step
  Duration sequence{};  ///< each request of a step
  Duration token{};     ///< each token of a step

  [[nodiscard]] Duration of(const Step& step_of) const {
    return step + sequence * step_of.sequences + token * step_of.tokens();
  }
};

}  // namespace photonrail::serving
