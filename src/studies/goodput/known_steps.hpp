// Simulated steps that several calls of run_goodput() share.
#pragma once

#include "photonrail/study/goodput.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace photonrail::goodput {

/// Simulated steps that several scenarios of one program share: those whose steps depend on the same (step_hash). Safe to
/// use from several threads and by several calls at once.
class KnownSteps {
 public:
  using Step = std::optional<Duration>;  ///< none: the job cannot go on
  /// `configuration`: its text. None: not known.
  [[nodiscard]] std::optional<Step> find(const std::string& step_hash, const std::string& configuration) const;
  void add(const std::string& step_hash, const std::string& configuration, Step step);
  /// Of the healthy cluster.
  void add_healthy(const GoodputScenario& scenario, Duration step);

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Step> of_;
};

}  // namespace photonrail::goodput
