// Which of the requests that wait an engine knows of when it decides a step, and whether it holds them back.
#pragma once

#include "serving/engine/engine_spec.hpp"

#include <cstdint>

namespace photonrail::serving {

class Intake {
 public:
  /// A step is decided. `coming`: the number that the next request will have. `runs`: others run, so that nothing is lost
  /// by waiting. `had_prompts`: the step before had some.
  void look(const IntakeRules& rules, std::int64_t coming, bool runs, bool had_prompts) {
    const std::int64_t known = rules.ahead && runs ? coming_ : coming;
    coming_ = coming;
    runs_ = runs;
    if (runs && rules.poll_steps > 1) {
      steps_ += had_prompts ? rules.poll_steps : 1;
      if (steps_ < rules.poll_steps) return;
    }
    steps_ = 0;
    known_ = known;
  }
  [[nodiscard]] bool knows(std::int64_t number) const { return number < known_; }
  /// Those that it knows of are held back. `tokens`: of a step with them; `budget`: what a step has room for.
  [[nodiscard]] bool holds_back(const IntakeRules& rules, std::uint64_t tokens, std::uint32_t budget) {
    const std::uint32_t enough = rules.wait_tokens > 0 ? rules.wait_tokens : budget;
    const bool holds = runs_ && held_ < rules.wait_steps && tokens < enough;
    held_ = holds ? held_ + 1 : 0;
    return holds;
  }

 private:
  std::int64_t coming_ = 0;  // when the step before was decided
  std::int64_t known_ = 0;
  std::uint32_t steps_ = 0;  // since it looked
  std::uint32_t held_ = 0;
  bool runs_ = false;
};

}  // namespace photonrail::serving
