// Tells circuits between two classes apart by the GPUs that they lead to, where a GPU has circuits to several of a class.
//
// A use is a pair of places in a group of one type. It gives each rank of the sending class a rank of the receiving one,
// one to one. When two uses agree for all ranks of the class, or for none, they are one circuit of each rank or two: uses
// that agree share a sheet. The circuits of a port are then in conflict, or the same, for all ranks of the class alike, so
// that the job is a covering of the smaller one with its sheets. Uses that agree for some ranks only have no sheets.
#pragma once

#include "fabric/sheets.hpp"
#include "folding/circuit_pairs.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::folding {

struct SheetAttempt {
  std::optional<fabric::Sheets> sheets;  ///< of the circuits of one group of each type
  /// Where there are none: types of groups whose uses agree for some ranks only. Empty: there are more than can be
  /// numbered.
  std::vector<std::uint32_t> mixed;
};

[[nodiscard]] SheetAttempt circuit_sheets(const FoldingInput& job, CircuitPairs& pairs, const ColourRefinement& classes);

}  // namespace photonrail::folding
