// Unit-tests a reconfiguration policy without a cluster: a view of one rail is written as a literal, the policy is asked,
// and its answer is checked against what every switch demands. And a controller whose decisions a test writes down.
//
//     RailView rail(4);                                     // four servers, one port each
//     rail.lit({0, 1}).demand({{0, 2}}, Dimension::kPp);    // an idle circuit 0->1; a request for 0->2
//     auto plan = my_controller.decide(rail.view());
//     EXPECT_EQ(plan, rail.plan({{0, 2}}));
//     EXPECT_EQ(check_plan(rail.view(), *plan), "");
//     EXPECT_EQ(ask(my_policy, rail.view()).problem(), "");
//
//     Transcript said;
//     known.controllers.add(overheard(my_factory, said));   // then simulate() with `known`
#pragma once

#include "photonrail/controller.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::testing {

class RailView {
 public:
  explicit RailView(std::uint32_t positions, std::uint32_t ports_per_gpu = 1);

  /// A circuit between the first ports of two positions that are free, in this order of ports.
  RailView& lit(ServerPair pair) { return circuit(pair, true, false); }
  /// The same with an operation on it: no policy may darken it.
  RailView& in_use(ServerPair pair) { return circuit(pair, true, true); }
  /// The same, and it carries nothing yet: see light().
  RailView& switching(ServerPair pair) { return circuit(pair, false, false); }
  RailView& dark(ServerPair pair);  ///< takes away every circuit of the pair

  struct DemandOptions {
    bool blocking = true;
    std::uint32_t members = 2;
    std::uint32_t asked = 2;
    Time since{};
    std::vector<Bytes> bytes{};  ///< by pair, for policies that want them; empty: unknown
  };
  /// Demands are in the order of these calls. Communicators are numbered from 0 in that order unless given.
  RailView& demand(std::vector<ServerPair> pairs, Dimension dimension = Dimension::kDp) {
    return demand(std::move(pairs), dimension, DemandOptions{});
  }
  RailView& demand(std::vector<ServerPair> pairs, Dimension dimension, const DemandOptions& options);
  RailView& clear_demands();
  RailView& at(Time now);                     ///< FabricView::now, from here on
  RailView& reconfiguration(Duration delay);  ///< what the switch takes, without settling and link-up

  /// Valid until the next change.
  [[nodiscard]] const FabricView& view();

  /// The plan that connects each pair by port 0.
  [[nodiscard]] CircuitPlan plan(const std::vector<ServerPair>& pairs) const;

  /// Carries a plan out at once: what it takes goes dark, its circuits are lit.
  RailView& apply(const CircuitPlan& plan);
  /// Begins to carry a plan out: what it takes goes dark, its circuits are switching until light().
  RailView& begin(const CircuitPlan& plan);
  /// Every circuit that is switching is lit.
  RailView& light();
  /// Marks a lit, idle circuit of the pair as in use; false when there is none.
  bool hold(ServerPair pair);
  /// One that is in use is given back. REQUIRES: there is one.
  RailView& release(ServerPair pair);

 private:
  RailView& circuit(ServerPair pair, bool lit, bool in_use);
  void take(PortId from);
  void connect(const CircuitPlan& plan, bool lit);
  PortView* find(ServerPair pair, bool in_use);

  FabricView view_;
  std::vector<PortView> transmit_;
  std::vector<PortId> receive_;
  std::vector<CircuitRequest> demands_;
  std::vector<CircuitRequest> gathering_;
  std::deque<std::vector<ServerPair>> pairs_;
  std::deque<std::vector<Bytes>> bytes_;
  std::uint32_t next_demand_ = 0;
};

/// Why the plan is no partial matching of the rail's fibres, or "": ports that do not exist, a fibre named twice.
[[nodiscard]] std::string matching_problem(const FabricView& view, const CircuitPlan& plan);
/// The circuits that the plan would darken, ascending. Ports that do not exist are passed over.
[[nodiscard]] std::vector<Circuit> darkened_by(const FabricView& view, const CircuitPlan& plan);
/// A circuit in use that the plan would darken, or "".
[[nodiscard]] std::string teardown_problem(const FabricView& view, const CircuitPlan& plan);
/// The first of both, or "".
[[nodiscard]] std::string check_plan(const FabricView& view, const CircuitPlan& plan);

/// One answer, with what the view said against it.
struct Answer {
  Time at{};
  RailId rail{};
  bool keeps = true;                 ///< nothing is to change
  std::vector<ServerPair> connects;  ///< by position; circuits that are there already count too
  std::vector<ServerPair> darkens;   ///< pairs that lose a circuit
  std::string no_matching;           ///< why it is none, or ports that do not exist; "" when it is one
  std::string torn_down;             ///< a circuit in use that would go dark although the step does not preempt; or ""

  /// Returns what is wrong with it, or "".
  [[nodiscard]] const std::string& problem() const { return no_matching.empty() ? torn_down : no_matching; }
};

/// Asks a policy once. What it wants done later is judged as a matching only.
[[nodiscard]] Answer ask(Controller& policy, const FabricView& view);
/// Returns what `decision` does to `view`.
[[nodiscard]] Answer judge(const FabricView& view, const Decision& decision);

/// The answers of a run, in the order in which they were given. Those that kept everything are counted only.
struct Transcript {
  std::vector<Answer> changes;
  std::uint64_t asked = 0;
  /// When a policy has been asked so often, asking it throws Restless: a run that never ends has to be stopped.
  std::uint64_t most = UINT64_MAX;
};

struct Restless {};

/// The factory, under the same name, of policies that are overheard. `transcript` must outlive them.
[[nodiscard]] ControllerFactory overheard(ControllerFactory factory, Transcript& transcript);

/// Answers from a script, each line once, in turn; after the last it keeps everything.
///
///     ScriptedController script;
///     script.connect({{0, 1}}).keep().connect_at(Time{10ms}, {{1, 0}});
///     known.controllers.add(script.factory("script"));
class ScriptedController : public Controller {
 public:
  /// At the next question: circuits for these pairs, between the first ports that are free, else the first.
  ScriptedController& connect(std::vector<ServerPair> pairs) { return connect_at(Time{}, std::move(pairs)); }
  /// At the first question from `at` on; it asks to be asked then.
  ScriptedController& connect_at(Time at, std::vector<ServerPair> pairs);
  /// At the next question: the circuits of these pairs go dark.
  ScriptedController& disconnect(std::vector<ServerPair> pairs);
  /// The next question changes nothing.
  ScriptedController& keep();
  /// Whatever else a decision can say.
  ScriptedController& answer(std::function<Decision(const FabricView&)> line);

  [[nodiscard]] Decision decide(const FabricView& view) override;

  /// Every rail gets a copy of the script as it is now.
  [[nodiscard]] ControllerFactory factory(std::string name) const;
  [[nodiscard]] std::size_t lines_left() const { return lines_.size() - next_; }

 private:
  struct Line {
    Time from{};
    std::function<Decision(const FabricView&)> answer;
  };
  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

}  // namespace photonrail::testing
