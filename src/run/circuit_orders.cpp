#include "run/circuit_orders.hpp"

#include <algorithm>

namespace photonrail::run {

namespace {

bool is_before(const Transfer& transfer, const TransferId& id) { return transfer.id < id; }

/// REQUIRES: the run has it, and its transfers ascend.
const Transfer& transfer(const RelaxedRun& run, const TransferId& id) {
  return *std::lower_bound(run.transfers.begin(), run.transfers.end(), id, is_before);
}

void sort(RelaxedRun& run) {
  std::sort(run.transfers.begin(), run.transfers.end(),
            [](const Transfer& a, const Transfer& b) { return std::tie(a.id, a.fibres) < std::tie(b.id, b.fibres); });
}

}  // namespace

// The run that ends first is looked at first, and of equals the one with the most orders.
TransferFloors CircuitOrders::search(RelaxedRun free) {
  sort(free);
  std::vector<Node> nodes;
  std::set<std::tuple<Time, std::size_t, std::size_t>> open;  // end, orders that are missing, number of the node
  const auto add = [&](Node node) {
    open.emplace(node.run.end, ~node.orders.size(), nodes.size());
    nodes.push_back(std::move(node));
  };
  add({std::move(free), {}, {}});
  for (;;) {
    const std::size_t first = std::get<2>(*open.begin());
    const Conflict conflict = this->conflict(nodes[first].run);
    const std::size_t children = conflict.size() * (conflict.size() - (conflict.empty() ? 0 : 1));
    if (conflict.empty() || left_ < children) return std::move(nodes[first].floors);
    open.erase(open.begin());
    const Node node = std::move(nodes[first]);
    for (const TransferId& a : conflict) {
      for (const TransferId& b : conflict) {
        if (a != b) add(with(node, {a, b}));
      }
    }
  }
}

// Each evaluation gives bounds, and higher floors give higher ones; a few are enough.
CircuitOrders::Node CircuitOrders::with(const Node& node, const Order& order) {
  constexpr int kMostRounds = 4;
  Node made{node.run, node.floors, node.orders};
  made.orders.push_back(order);
  for (int round = 0; round < kMostRounds && left_ > 0; ++round) {
    if (!raise(made.run, made.orders, made.floors)) break;
    --left_;
    made.run = evaluate_(made.floors);
    sort(made.run);
  }
  made.run.end = std::max(made.run.end, node.run.end);
  return made;
}

// The last byte of the second leaves when a fibre has turned to its peer after the last one of the first. Where there is
// one fibre it carries both, and turns, from the first byte of either on.
bool CircuitOrders::raise(const RelaxedRun& run, const std::vector<Order>& orders, TransferFloors& floors) const {
  bool raised = false;
  for (const Order& order : orders) {
    const Transfer& first = transfer(run, order.first);
    const Transfer& second = transfer(run, order.second);
    Time floor = first.until + terms_.dark;
    if (terms_.ports == 1) {
      const Duration busy = least_time(first.bytes + second.bytes, terms_.port_rate) + terms_.dark;
      floor = std::max(floor, std::min(first.first, second.first) + busy);
    }
    if (second.until >= floor) continue;
    Time& of = floors[order.second];
    raised = raised || of < floor;
    of = std::max(of, floor);
  }
  return raised;
}

// The earliest conflict of all fibres.
CircuitOrders::Conflict CircuitOrders::conflict(const RelaxedRun& run) const {
  std::map<Fibres, std::vector<const Transfer*>> by_fibres;
  for (const Transfer& transfer : run.transfers) by_fibres[transfer.fibres].push_back(&transfer);
  Conflict earliest;
  for (auto& [fibres, transfers] : by_fibres) {
    std::stable_sort(transfers.begin(), transfers.end(),
                     [](const Transfer* a, const Transfer* b) { return a->until < b->until; });
    Conflict found = first_of(transfers);
    if (found.empty()) continue;
    if (earliest.empty() || transfer(run, found.front()).until < transfer(run, earliest.front()).until)
      earliest = std::move(found);
  }
  return earliest;
}

// Transfers of one operation are in the order of its rounds, or share their fibres as its bound counts them.
CircuitOrders::Conflict CircuitOrders::first_of(const std::vector<const Transfer*>& by_until) const {
  for (std::size_t i = 0; i < by_until.size(); ++i) {
    std::vector<const Transfer*> close{by_until[i]};
    for (std::size_t j = i + 1; j < by_until.size() && by_until[j]->until < by_until[i]->until + terms_.dark; ++j) {
      const Transfer* const next = by_until[j];
      const bool apart = std::all_of(close.begin(), close.end(), [next](const Transfer* other) {
        return other->peer != next->peer && !other->id.same_operation(next->id);
      });
      if (apart) close.push_back(next);
      if (close.size() <= terms_.ports) continue;
      Conflict found;
      for (const Transfer* const one : close) found.push_back(one->id);
      return found;
    }
  }
  return {};
}

}  // namespace photonrail::run
