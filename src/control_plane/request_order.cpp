#include "control_plane/request_order.hpp"

#include <algorithm>
#include <tuple>

namespace photonrail::control_plane {

using execution::Operation;
using execution::OperationTable;

bool before(const OperationTable& operations, bool one_order, const Request& a, const Request& b) {
  const auto key = [&](const Request& d) {
    const Operation& operation = operations[d.op];
    const execution::OperationKey& op = operation.key;
    const Time complete = one_order ? Time{} : d.view.complete;
    const std::uint32_t sequence = one_order ? operation.sequence : 0;
    return std::tuple{!d.missed, complete,         op.iteration, d.tasks.first, d.tasks.last,
                      op.tag,    d.view.dimension, d.round,      sequence};
  };
  return key(a) < key(b);
}

bool has_turn_before(const OperationTable& operations, bool one_order, const Request& a, const Request& b) {
  if (before(operations, one_order, a, b)) return true;
  return a.listed < b.listed && !before(operations, one_order, b, a);
}

bool is_tied(const Request& request, const RequestsByPort& by_port, const RequestBoard& board,
             const OperationTable& operations, bool one_order) {
  const auto tied = [&](const CircuitRequest* view) {
    const Request& other = board[view->id.value];
    return !before(operations, one_order, other, request) && !before(operations, one_order, request, other);
  };
  return std::any_of(request.view.pairs.begin(), request.view.pairs.end(), [&](ServerPair pair) {
    const auto senders = by_port.senders(pair.from);
    const auto receivers = by_port.receivers(pair.to);
    return std::any_of(senders.begin(), senders.end(), tied) || std::any_of(receivers.begin(), receivers.end(), tied);
  });
}

std::vector<const CircuitRequest*> in_order(const RequestBoard& board, RailId rail) {
  std::vector<const CircuitRequest*> complete;
  for (const std::uint32_t slot : board.complete(rail).slots()) complete.push_back(&board[slot].view);
  std::vector<const CircuitRequest*> partial;
  for (const std::uint32_t slot : board.partial(rail).slots()) partial.push_back(&board[slot].view);
  if (const RequestsByPort* by_port = board.complete(rail).by_port()) {
    std::sort(complete.begin(), complete.end(), [&](const auto* a, const auto* b) { return by_port->precedes(*a, *b); });
    std::sort(partial.begin(), partial.end(),
              [&](const auto* a, const auto* b) { return board[a->id.value].listed < board[b->id.value].listed; });
  }
  complete.insert(complete.end(), partial.begin(), partial.end());
  return complete;
}

}  // namespace photonrail::control_plane
