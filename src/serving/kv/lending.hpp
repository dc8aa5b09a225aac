// KV of preempted requests in the memory of other engines (AQUA, arXiv 2407.21255): a donor lends blocks that it has to
// spare, and takes them back where it lacks some, at the borrower's next safe point, which is between two of its steps.
#pragma once

#include "serving/fleet/engine_run.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::serving {

class Lending {
 public:
  /// `engines` outlives it and does not move. An engine of a pool whose OffloadSpec names a donor pool borrows from one of
  /// its engines: in its own server where there is one, else in the order of both.
  explicit Lending(std::span<EngineRun> engines);

  /// The engine that keeps its KV, by number; none: no engine does.
  [[nodiscard]] std::optional<std::uint32_t> donor(std::uint32_t engine) const { return donors_[engine]; }
  /// Between two steps of a borrower. Returns true when its donor got blocks back.
  bool safe_point(std::uint32_t engine);
  /// After a step of a donor was decided: the borrowers that have to give back, which begin a step or wait for one.
  [[nodiscard]] std::vector<std::uint32_t> debtors(std::uint32_t donor) const;
  /// An engine is about to lose everything: what it has lent, and what it has borrowed.
  void lost(std::uint32_t engine);

 private:
  [[nodiscard]] std::uint64_t donor_blocks(std::uint32_t engine, std::uint64_t blocks) const;
  void give_back(std::uint32_t engine);

  std::span<EngineRun> engines_;
  std::vector<std::optional<std::uint32_t>> donors_;  // by engine
  std::vector<std::uint64_t> borrowed_;               // by engine: of its own blocks
};

}  // namespace photonrail::serving
