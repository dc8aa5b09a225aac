// Opus by what changed since it was last asked decides as Opus that looks at everything.
#include "photonrail/control/waiting.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

std::unique_ptr<Controller> opus_for_changes() {
  return ControllerRegistry::builtin().find("opus").make(ControllerSpec{}, RailId{0}, 1, 1);
}

/// A rail whose requests and fibres change at random, with the index that a run keeps of them.
class ChangingRail {
 public:
  ChangingRail(std::uint64_t seed, std::uint32_t positions)
      : random_(seed, "rail"), transmit_(positions), receive_(positions, PortId::none()) {}

  void change() {
    switch (random_.below(6)) {
      case 0:
        return add_request();
      case 1:
        return requests_.empty() ? add_request() : remove_request(random_.below(requests_.size()));
      case 2:
        return block_request();
      case 3:
        return use_circuit();
      case 4:
        return finish_switching();
      default:
        return break_port();
    }
  }
  void apply(const Decision& decision) {
    by_port_.settle();
    for (const Step& step : decision.steps) {
      for (const Circuit c : step.plan.connect) {
        by_port_.port_changed(c.from, transmit_, receive_);
        if (random_.below(4) > 0) connect(c);  // now and then the switch refuses
      }
    }
  }
  [[nodiscard]] FabricView view(bool with_changes) {
    views_.clear();
    for (const CircuitRequest* request : requests_) views_.push_back(*request);
    FabricView view;
    view.positions = static_cast<std::uint32_t>(transmit_.size());
    view.transmit = transmit_;
    view.receive = receive_;
    if (with_changes) {
      view.by_port = &by_port_;
    } else {
      view.requests = views_;
    }
    return view;
  }

 private:
  static bool precedes(const CircuitRequest& a, const CircuitRequest& b) {
    return std::pair(a.iteration, a.id) < std::pair(b.iteration, b.id);
  }
  // Some are inserted before others, as requests for circuits that were taken away are: the class is in `iteration`.
  void add_request() {
    std::vector<ServerPair>& pairs = pairs_.emplace_back();
    const std::size_t count = random_.below(3) > 0 ? 1 : 2 + random_.below(2);
    for (std::size_t i = 0; i < count; ++i) {
      const auto from = static_cast<ServerIndex>(random_.below(transmit_.size()));
      const auto to = static_cast<ServerIndex>((from + 1 + random_.below(transmit_.size() - 1)) % transmit_.size());
      pairs.push_back({from, to});
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    CircuitRequest& request = all_.emplace_back();
    request.id = RequestId{all_.size() - 1};
    request.pairs = pairs;
    request.blocking = random_.below(2) == 0;
    request.iteration = static_cast<std::uint32_t>(random_.below(3));
    const auto place = std::upper_bound(requests_.begin(), requests_.end(), &request,
                                        [&](const auto* a, const auto* b) { return precedes(*a, *b); });
    requests_.insert(place, &request);
    by_port_.insert(request);
  }
  void remove_request(std::size_t at) {
    by_port_.erase(*requests_[at]);
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void block_request() {
    if (requests_.empty()) return;
    CircuitRequest& request = *requests_[random_.below(requests_.size())];
    request.blocking = true;
    by_port_.change(request);
  }
  void use_circuit() {
    const PortId port{random_.below(transmit_.size())};
    PortView& fibre = transmit_[port.index()];
    if (!fibre.lit) return;
    fibre.in_use = !fibre.in_use;
    by_port_.port_changed(port, transmit_, receive_);
  }
  void finish_switching() {
    for (std::uint32_t p = 0; p < transmit_.size(); ++p) {
      if (transmit_[p].peer.is_none() || transmit_[p].lit) continue;
      transmit_[p].lit = true;
      by_port_.port_changed(PortId{p}, transmit_, receive_);
    }
  }
  void break_port() {
    const PortId port{random_.below(transmit_.size())};
    transmit_[port.index()].faulty = !transmit_[port.index()].faulty && random_.below(4) == 0;
    by_port_.port_changed(port, transmit_, receive_);
  }
  void connect(Circuit circuit) {
    const PortId old_peer = transmit_[circuit.from.index()].peer;
    const PortId old_source = receive_[circuit.to.index()];
    if (!old_peer.is_none()) receive_[old_peer.index()] = PortId::none();
    if (!old_source.is_none()) transmit_[old_source.index()] = {};
    transmit_[circuit.from.index()] = {.peer = circuit.to};
    receive_[circuit.to.index()] = circuit.from;
    for (const PortId port : {circuit.from, circuit.to, old_peer, old_source}) {
      if (!port.is_none()) by_port_.port_changed(port, transmit_, receive_);
    }
  }

  RandomStream random_;
  std::vector<PortView> transmit_;
  std::vector<PortId> receive_;
  std::deque<CircuitRequest> all_;
  std::deque<std::vector<ServerPair>> pairs_;
  std::vector<CircuitRequest*> requests_;
  std::vector<CircuitRequest> views_;
  RequestsByPort by_port_{precedes};
};

TEST(ChangedRequests, OpusByWhatChangedDecidesAsOpusByEverything) {
  std::size_t plans = 0;
  std::size_t several = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ChangingRail rail(seed, 3 + static_cast<std::uint32_t>(seed % 6));
    const std::unique_ptr<Controller> by_changes = opus_for_changes();
    for (int decision = 0; decision < 100; ++decision) {
      for (std::uint64_t events = 1 + (seed + static_cast<std::uint64_t>(decision)) % 4; events > 0; --events)
        rail.change();
      const Decision whole = opus_for_changes()->decide(rail.view(false));
      const Decision part = by_changes->decide(rail.view(true));
      ASSERT_EQ(part.keeps(), whole.keeps()) << "seed " << seed << ", decision " << decision;
      rail.apply(part);
      if (whole.keeps()) continue;
      ASSERT_EQ(part.plan(), whole.plan()) << "seed " << seed << ", decision " << decision;
      ++plans;
      several += whole.plan().connect.size() > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(plans, 2'000u) << "hardly anything was decided";
  EXPECT_GT(several, 200u);
}

TEST(RequestsByPort, ChangesAreThoseThatShareAPortWithWhatWent) {
  const std::vector<ServerPair> first{{0, 1}};
  const std::vector<ServerPair> same_sender{{0, 2}};
  const std::vector<ServerPair> apart{{3, 4}};
  CircuitRequest a;
  CircuitRequest b;
  CircuitRequest c;
  a.pairs = first;
  b.pairs = same_sender;
  c.pairs = apart;
  b.id = RequestId{1};
  c.id = RequestId{2};
  RequestsByPort by_port([](const CircuitRequest& x, const CircuitRequest& y) { return x.id < y.id; });
  for (const CircuitRequest* request : {&a, &b, &c}) by_port.insert(*request);
  EXPECT_EQ(by_port.changed().size(), 3u) << "new ones have changed";
  by_port.settle();
  by_port.erase(a);
  ASSERT_EQ(by_port.changed().size(), 1u);
  EXPECT_EQ(by_port.changed().front(), &b);
  EXPECT_EQ(by_port.senders(0).size(), 1u);
  EXPECT_TRUE(by_port.receivers(1).empty());
  EXPECT_TRUE(by_port.senders(1000).empty());
}

}  // namespace
}  // namespace photonrail
