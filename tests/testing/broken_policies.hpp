// A policy that keeps every promise, and others that break one each.
#pragma once

#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace photonrail::test {

/// Serves demands where all that a demand needs is free, those that hold up their members first, then in their order. The
/// circuits of a demand are always on the same ports: the k-th circuit of a GPU on its k-th. A demand that cannot be
/// served yet keeps others from its ports.
class Honest : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    CircuitPlan plan;
    std::set<PortId> from;
    std::set<PortId> to;
    for (const CircuitRequest& demand : in_order(view)) {
      if (!considers(demand)) continue;
      CircuitPlan own;
      bool possible = true;
      std::map<ServerIndex, std::uint32_t> out;
      std::map<ServerIndex, std::uint32_t> in;
      for (const ServerPair pair : demand.pairs) {
        if (!considers(pair)) continue;
        const Circuit circuit{view.port(pair.from, out[pair.from]++), view.port(pair.to, in[pair.to]++)};
        const bool there = view.transmit[circuit.from.index()].peer == circuit.to;
        possible = from.insert(circuit.from).second && possible;
        possible = to.insert(circuit.to).second && possible;
        possible = possible && (there || is_free(view, circuit));
        if (!there) own.connect.push_back(circuit);
      }
      if (possible) plan.connect.insert(plan.connect.end(), own.connect.begin(), own.connect.end());
      if (!possible) refused(demand);
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 protected:
  static std::vector<CircuitRequest> in_order(const FabricView& view) {
    std::vector<CircuitRequest> demands(view.requests.begin(), view.requests.end());
    std::stable_partition(demands.begin(), demands.end(), [](const CircuitRequest& demand) { return demand.blocking; });
    return demands;
  }
  virtual bool considers(const CircuitRequest&) { return true; }
  virtual bool considers(ServerPair) { return true; }
  virtual void refused(const CircuitRequest&) {}
  virtual bool is_free(const FabricView& view, Circuit circuit) {
    const auto busy = [&](PortId port) {
      const PortView& fibre = view.transmit[port.index()];
      return fibre.in_use || (!fibre.peer.is_none() && !fibre.lit);
    };
    const PortId source = view.receive[circuit.to.index()];
    return !busy(circuit.from) && (source.is_none() || !busy(source));
  }
};

/// Forgets the demands that it cannot serve at once.
class DropsADemand : public Honest {
  bool considers(const CircuitRequest& demand) override { return !dropped_.contains({demand.id, demand.since}); }
  void refused(const CircuitRequest& demand) override { dropped_.emplace(demand.id, demand.since); }
  std::set<std::pair<RequestId, Time>> dropped_;
};

class TearsDownBusyCircuits : public Honest {
  bool is_free(const FabricView&, Circuit) override { return true; }
};

class IgnoresOnePair : public Honest {
  bool considers(ServerPair pair) override { return pair != ServerPair{1, 0}; }
};

/// Ignores which demand blocks which: a demand that waits for a lane keeps the ports of the one that has it.
class FirstComeFirstServed : public Honest {
  Decision decide(const FabricView& view) override {
    std::vector<CircuitRequest> demands(view.requests.begin(), view.requests.end());
    for (CircuitRequest& demand : demands) demand.blocking = false;
    FabricView same = view;
    same.requests = demands;
    return Honest::decide(same);
  }
};

/// Connects the first port of each pair at once, even if several pairs need the same one.
class NoMatching : public Controller {
  Decision decide(const FabricView& view) override {
    CircuitPlan plan;
    for (const CircuitRequest& demand : view.requests) {
      for (const ServerPair pair : demand.pairs) plan.connect.push_back({view.port(pair.from, 0), view.port(pair.to, 0)});
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }
};

/// While a demand waits: changes the circuits there and back again, for ever.
class SwitchesForEver : public Controller {
  Decision decide(const FabricView& view) override {
    if (view.requests.empty()) return std::nullopt;
    const Circuit circuit{view.port(0, 0), view.port(1, 0)};
    if (view.transmit[circuit.from.index()].in_use) return std::nullopt;
    if (view.transmit[circuit.from.index()].peer == circuit.to) return CircuitPlan{{}, {circuit.from}};
    return CircuitPlan{{circuit}, {}};
  }
};

/// Tomorrow.
class PutsOff : public Honest {
  Decision decide(const FabricView& view) override {
    Decision decision = Honest::decide(view);
    for (Step& step : decision.steps) {
      step.when = When::kAt;
      step.at = view.now + std::chrono::seconds(100);
    }
    if (decision.keeps() || waiting_) return std::nullopt;
    waiting_ = true;
    return decision;
  }
  bool waiting_ = false;
};

class Throws : public Controller {
  Decision decide(const FabricView& view) override {
    if (!view.requests.empty()) throw std::out_of_range("the policy's own table");
    return std::nullopt;
  }
};

/// Of two that are shown the same one does nothing at first: it depends on how many were made before it.
class Moody : public Honest {
 public:
  explicit Moody(std::uint64_t born) : born_(born) {}

 private:
  bool considers(const CircuitRequest&) override { return born_ % 2 == 0 || ++shown_ > 2; }
  std::uint64_t born_;
  std::uint64_t shown_ = 0;
};

template <class Policy>
ControllerFactory policy(const std::string& name) {
  return {.name = name, .summary = "for a test", .make = [](auto&&...) { return std::make_unique<Policy>(); }};
}

}  // namespace photonrail::test
