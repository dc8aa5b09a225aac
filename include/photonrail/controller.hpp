// Reconfiguration policies. A controller maps a view of one rail to the circuits it wants: a value in, a value out.
// It has no access to the clock, the network or the fabric, so that a test writes the view as a literal.
#pragma once

#include "photonrail/circuit.hpp"
#include "photonrail/control_plane.hpp"
#include "photonrail/controller_parameter.hpp"
#include "photonrail/fabric_view.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail {

/// How the ranks communicate with a controller (the shim of Opus, arXiv 2602.12521, section 4).
struct ShimPolicy {
  bool announce = false;             ///< when an operation completes, request the circuits of the next one of the schedule
  bool scheduled = false;            ///< issue a rank's rail operations in the order of the profiling run
  bool patient = false;              ///< an operation yields its lanes to others while it waits for circuits
  bool by_due = false;               ///< lanes are assigned earliest deadline first (CircuitRequest::due); needs foresight
  std::vector<ShimSpec> of_ranks{};  ///< settings of some ranks in place of these

  [[nodiscard]] bool announces(RankId rank) const;
  [[nodiscard]] bool announces_any() const;
};

/// The inputs and services that a policy needs besides requests and circuits. The run computes only what its policy needs,
/// so that unused inputs cost nothing.
struct PolicyNeeds {
  ShimPolicy shim{};
  bool bytes = false;     ///< CircuitRequest::bytes, PortView::bytes_left
  bool rounds = false;    ///< CircuitRequest::next
  bool schedule = false;  ///< FabricView::schedule, from a profiling run on electrical rails
  bool schedule_with_ports = false;  ///< `schedule`, but only where a NIC has several ports
  bool traffic = false;   ///< FabricView::traffic, traffic_now
  /// Pair-by-pair service: a send waits for the circuits of its own pair only, and holds them only while it is in flight.
  /// Without it a round of an operation takes all its circuits together or none, and keeps each until its last send.
  /// Operations then run send by send at either fidelity, because a ring with links that are lit one after the other is not
  /// one flow. Where `hops` is 0, sends are forwarded only if the rail forwards and faulty ports rule out a direct circuit.
  bool per_pair = false;
  bool foresight = false;  ///< CircuitRequest::expected, due; from a profiling run of one step on electrical rails
  bool events = false;     ///< CircuitRequest::stirred, FabricView::running; asked when a task ends while operations wait
  bool direct = false;     ///< a send waits for its own circuit while that is being set up, even if it could be forwarded
  std::uint32_t hops = 0;  ///< maximum circuits that a send may be forwarded over, in place of the rail's; 0: the rail's

  /// Whether the bytes that each pair exchanges must be computed.
  [[nodiscard]] bool weighs() const { return bytes || rounds || schedule || traffic || per_pair; }
  /// These needs on NICs with `ports` ports: resolves schedule_with_ports.
  [[nodiscard]] PolicyNeeds with_ports(std::uint32_t ports) const {
    PolicyNeeds needs = *this;
    needs.schedule = schedule || (schedule_with_ports && ports > 1);
    return needs;
  }
};

/// When a step is carried out. In each case not before the circuits of the previous step can be used.
enum class When : std::uint8_t {
  kNow,
  kDrained,  ///< when the circuits that it would darken are out of use; until then no further operation may use them
  kAt        ///< at Step::at, or at once if that has passed
};

/// One reconfiguration of a decision.
struct Step {
  CircuitPlan plan{};
  When when = When::kNow;
  Time at{};             ///< kAt only
  bool preempt = false;  ///< may darken circuits in use: their bytes wait until the pair is joined again
};

/// Matchings in cyclic order, independent of requests. At `start` + k * slot the switch begins to change to round
/// k modulo rounds.size(); bytes on the circuits that it darkens wait until those circuits return. REQUIRES: slot >=
/// ReconfigurationTerms::shortest_slot().
struct Timetable {
  std::vector<CircuitPlan> rounds{};
  Duration slot{};
  Time start{};
};

/// The answer of a controller. Without steps and timetable circuits stay as they are, and earlier steps continue.
struct Decision {
  std::vector<Step> steps{};  ///< in order; they replace the steps of earlier decisions that have not been carried out
  std::optional<Timetable> timetable{};
  /// The controller is asked again at this instant even if nothing has changed by then. Each decision replaces the value of
  /// the previous one. While no operation waits on the rail and no circuit is in use, the controller is asked only after
  /// the next change.
  std::optional<Time> ask_again{};

  Decision() = default;
  Decision(std::nullopt_t) {}                                       // NOLINT(google-explicit-constructor): keep
  Decision(CircuitPlan now) { steps.push_back({std::move(now)}); }  // NOLINT(google-explicit-constructor)
  Decision(Step step) { steps.push_back(std::move(step)); }         // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool keeps() const { return steps.empty() && !timetable; }
  /// The plan of the first step. REQUIRES: there is one.
  [[nodiscard]] const CircuitPlan& plan() const { return steps.front().plan; }
};

class Controller {
 public:
  virtual ~Controller() = default;

  /// Called once an instant when the rail changed in a way that a controller can act on: a request arrived, grew or was
  /// removed; an operation released its circuits; a reconfiguration ended; Decision::ask_again was reached.
  [[nodiscard]] virtual Decision decide(const FabricView& view) = 0;

  /// A remark of the controller about the run on this rail, for the result; "" for none.
  [[nodiscard]] virtual std::string remark(Duration /*makespan*/) const { return {}; }
};

enum class OpusMode : std::uint8_t { kOnDemand, kProvisioned };
enum class OperationOrder : std::uint8_t { kScheduled, kFree };

/// A circuit of a `static` controller, between two GPUs.
struct StaticCircuit {
  GpuId from;
  GpuId to;
  std::uint32_t from_port = 0;
  std::uint32_t to_port = 0;

  friend bool operator==(const StaticCircuit&, const StaticCircuit&) = default;
};

/// The controller of a job and the delays of its control plane. All default to 0, so that only switching takes time.
struct ControllerSpec {
  std::string name = "electrical";
  OpusMode mode = OpusMode::kOnDemand;
  OperationOrder order = OperationOrder::kScheduled;
  std::vector<StaticCircuit> circuits;  ///< static
  Duration request{};                   ///< a rank's message to the controller
  Duration service{};                   ///< the controller's work on one request; one queue per rail
  Duration command{};                   ///< from the decision until the switch begins
  Duration acknowledgement{};           ///< from lit until the ranks are notified
  /// A request that blocks its members for longer is an error that names it; 0: no limit.
  Duration starvation{};
  ParameterValues parameters{};  ///< keys of one policy; see ControllerFactory::parameters
  ControlPlaneSpec control{};

  [[nodiscard]] std::string describe() const;  ///< its name and parameters as text for reports
};

/// Guarantees of a policy for jobs that issue one operation after another, on switches with constant delays and without
/// faults. In other jobs a faster part may change an order, and no online policy can guarantee a shorter run.
struct PolicyClaims {
  bool faster_ports = false;   ///< doubling the rate of ports makes no run longer
  bool more_ports = false;     ///< one more port on each NIC makes no run longer
  bool shorter_delay = false;  ///< halving the switching delay makes no run longer
  bool server_names = false;   ///< on any job: renumbering servers changes no run; symmetric policies guarantee it

  /// "not slower with faster ports, more ports; the same under renamed servers", or "".
  [[nodiscard]] std::string describe() const;
};

/// Makes one controller for one rail.
struct ControllerFactory {
  std::string name;
  std::string summary;
  /// `spec` is complete().
  std::function<std::unique_ptr<Controller>(const ControllerSpec& spec, RailId rail, std::uint32_t gpus_per_server,
                                            std::uint32_t ports_per_gpu)>
      make;
  /// Rank-symmetric: decisions for ports depend only on the requests for them, the circuits on them and the order of
  /// requests, and not on port numbers or on the number of other ports. Equivalent ranks may then be simulated once.
  bool symmetric = false;
  std::function<PolicyNeeds(const ControllerSpec& spec)> needs{};  ///< null: none; `spec` is complete()
  std::vector<ControllerParameter> parameters{};                   ///< the policy's own keys of the scenario
  /// Work-conserving: a blocked operation is served as soon as its ports are free, FIFO among conflicting requests.
  bool prompt = false;
  PolicyClaims claims{};  ///< further guarantees
  /// Specifications (of any policy) that are tried on the job before the run, with typical reconfiguration delays and
  /// without stragglers. The one with the shortest run is used, the first among equals. Null: none.
  std::vector<ControllerSpec> (*rehearse)(const ControllerSpec& spec) = nullptr;
  /// Not a policy but a bound: the result is a lower bound on the run of every policy, and `make` is not called.
  bool bound = false;

  /// The spec with every parameter set. Throws ConfigError for one that is unknown, of another kind or out of range.
  [[nodiscard]] ControllerSpec complete(const ControllerSpec& spec) const;
  [[nodiscard]] PolicyNeeds needs_of(const ControllerSpec& spec) const {
    PolicyNeeds wanted = needs == nullptr ? PolicyNeeds{} : needs(complete(spec));
    wanted.shim.of_ranks = spec.control.shims;
    return wanted;
  }
};

/// The table of controllers by name. It is a value: copies are independent.
class ControllerRegistry {
 public:
  /// The controllers that `photonrail list controllers` shows.
  [[nodiscard]] static ControllerRegistry builtin();

  void add(ControllerFactory factory) { factories_.push_back(std::move(factory)); }
  /// Throws ConfigError that lists the known names.
  [[nodiscard]] const ControllerFactory& find(std::string_view name) const;
  [[nodiscard]] bool knows(std::string_view name) const;
  [[nodiscard]] const std::vector<ControllerFactory>& all() const& { return factories_; }
  void all() const&& = delete;  // the reference would outlive the temporary table

 private:
  std::vector<ControllerFactory> factories_;
};

}  // namespace photonrail
