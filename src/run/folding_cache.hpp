// The foldings of a job on its own rails, made once for all rehearsals and the run.
#pragma once

#include "folding/folding.hpp"
#include "photonrail/simulate.hpp"

#include <cstdint>
#include <list>
#include <span>
#include <vector>

namespace photonrail::run {

class FoldingCache {
 public:
  /// Both must outlive the object.
  FoldingCache(const Scenario& scenario, const Registries& registries) : scenario_(scenario), registries_(registries) {}

  /// `labels`, `whole_rails`, `sheets`: FoldingInput; models of GPUs tell ranks apart too. What it returns lives as long as
  /// the object.
  [[nodiscard]] const folding::FoldingAttempt& fold(std::span<const std::uint32_t> labels, bool whole_rails,
                                                    bool sheets = false);

 private:
  struct Entry {
    std::vector<std::uint32_t> labels;
    bool whole_rails = false;
    bool sheets = false;
    folding::FoldingAttempt attempt;
  };

  const Scenario& scenario_;
  const Registries& registries_;
  std::list<Entry> entries_;
};

}  // namespace photonrail::run
