// The order in which complete requests have their turn.
#pragma once

#include "control_plane/request_board.hpp"

#include <vector>

namespace photonrail::control_plane {

/// A request for circuits that were taken away in use precedes the others, because other requests may wait for circuits
/// that its operation still holds. Requests that are complete at one instant are ordered by their programs, not by their
/// events. `one_order`: by what the programs say alone, which is the same on all rails.
[[nodiscard]] bool before(const execution::OperationTable& operations, bool one_order, const Request& a, const Request& b);

/// The same as a total order: equal ones are in the order in which they came.
[[nodiscard]] bool has_turn_before(const execution::OperationTable& operations, bool one_order, const Request& a,
                                   const Request& b);

/// Whether a request of the index that needs one of its ports is equal to it.
[[nodiscard]] bool is_tied(const Request& request, const RequestsByPort& by_port, const RequestBoard& board,
                           const execution::OperationTable& operations, bool one_order);

/// The complete requests of a rail in their order, then the partial ones as they came. O(n log n) where the board keeps
/// none.
[[nodiscard]] std::vector<const CircuitRequest*> in_order(const RequestBoard& board, RailId rail);

}  // namespace photonrail::control_plane
