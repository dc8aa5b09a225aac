// Reconfiguration policies. A controller maps a view of one rail to the circuits it wants: a value in, a value out.
// It knows no clock, no network and no fabric, so that a test writes the view as a literal.
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

/// How the ranks talk to a controller (the shim of Opus, arXiv 2602.12521, section 4).
struct ShimPolicy {
  bool announce = false;             ///< when an operation completes, ask at once for what the schedule says comes next
  bool scheduled = false;            ///< issue a rank's rail operations in the order of the profiling run
  bool patient = false;              ///< an operation leaves its lanes to others while it waits for circuits
  bool by_due = false;               ///< of operations that want a lane the one that is due first gets it; needs foresight
  std::vector<ShimSpec> of_ranks{};  ///< what is different on some ranks

  [[nodiscard]] bool announces(RankId rank) const;
  [[nodiscard]] bool announces_any() const;
};

/// What a policy wants of the run besides demands and circuits. What nobody wants is not made, and costs nothing.
struct PolicyNeeds {
  ShimPolicy shim{};
  bool bytes = false;     ///< CircuitRequest::bytes, PortView::bytes_left
  bool rounds = false;    ///< CircuitRequest::next
  bool schedule = false;  ///< FabricView::schedule, from a profiling run on electrical rails
  bool schedule_with_ports = false;  ///< the same, but only where a NIC has several ports
  bool traffic = false;   ///< FabricView::traffic, traffic_now
  /// A send waits for the circuits of its own pair only, and holds them only while it is on its way; without it a round of
  /// an operation takes all its circuits together or none, and keeps each until its last send. Operations then run send by
  /// send, at either fidelity: a ring whose links are lit one after the other is not one flow. Where `hops` is 0 they are
  /// forwarded only if the rail forwards and faulty ports rule out a circuit of their own.
  bool per_pair = false;
  bool foresight = false;  ///< CircuitRequest::expected, due; from a profiling run of one step on electrical rails
  bool events = false;     ///< CircuitRequest::stirred, FabricView::running; asked whenever a task ends while somebody waits
  bool direct = false;     ///< a send whose own circuit is on its way waits for it, also where it could be forwarded
  std::uint32_t hops = 0;  ///< sends may be forwarded over so many circuits, whatever the rail says; 0: as the rail says

  /// Whether somebody must know what each pair exchanges.
  [[nodiscard]] bool weighs() const { return bytes || rounds || schedule || traffic || per_pair; }
  /// The same on NICs of so many ports.
  [[nodiscard]] PolicyNeeds with_ports(std::uint32_t ports) const {
    PolicyNeeds needs = *this;
    needs.schedule = schedule || (schedule_with_ports && ports > 1);
    return needs;
  }
};

/// When a step is carried out: at the earliest when the circuits of the step before it can be used.
enum class When : std::uint8_t {
  kNow,
  kDrained,  ///< when nobody holds a circuit that it would darken; until then nobody else gets hold of one
  kAt        ///< at Step::at, or at once when that has passed
};

struct Step {
  CircuitPlan plan{};
  When when = When::kNow;
  Time at{};
  bool preempt = false;  ///< may darken circuits in use: their bytes wait until the pair is joined again
};

/// Matchings that take turns for ever, whatever is asked: at `start` + k * slot the switch begins to go over to round
/// k modulo rounds.size(), and whatever is on the circuits that it darkens waits until they come back. A slot must be
/// at least ReconfigurationTerms::shortest_slot().
struct Timetable {
  std::vector<CircuitPlan> rounds{};
  Duration slot{};
  Time start{};
};

/// What a controller answers. Without steps and timetable everything stays as it is, and earlier steps go on.
struct Decision {
  std::vector<Step> steps{};  ///< in turn; they replace what earlier decisions have not carried out yet
  std::optional<Timetable> timetable{};
  /// Ask again then, whatever happens; an earlier wish is forgotten with every decision. While nobody waits on the rail and
  /// nothing is in use, nobody is asked before something happens.
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

  /// Asked once an instant when something that a controller could act on changed on the rail: a demand came, grew or
  /// went; an operation left its circuits; a reconfiguration ended; the time came to ask again.
  [[nodiscard]] virtual Decision decide(const FabricView& view) = 0;

  /// What the result should say of how the run went on this rail, or "".
  [[nodiscard]] virtual std::string remark(Duration /*makespan*/) const { return {}; }
};

enum class OpusMode : std::uint8_t { kOnDemand, kProvisioned };
enum class OperationOrder : std::uint8_t { kScheduled, kFree };

/// A circuit of a `static` controller, by GPU.
struct StaticCircuit {
  GpuId from;
  GpuId to;
  std::uint32_t from_port = 0;
  std::uint32_t to_port = 0;

  friend bool operator==(const StaticCircuit&, const StaticCircuit&) = default;
};

/// Which controller, and the terms of the control plane (each default 0: only switching costs).
struct ControllerSpec {
  std::string name = "electrical";
  OpusMode mode = OpusMode::kOnDemand;
  OperationOrder order = OperationOrder::kScheduled;
  std::vector<StaticCircuit> circuits;  ///< static
  Duration request{};                   ///< a rank's message to the controller
  Duration service{};                   ///< the controller's work on one request; one queue per rail
  Duration command{};                   ///< from the decision until the switch begins
  Duration acknowledgement{};           ///< from lit until the ranks know
  /// A demand that blocks its members for longer is reported by name, as an error; 0: however long.
  Duration starvation{};
  ParameterValues parameters{};  ///< keys that one policy has; see ControllerFactory::parameters
  ControlPlaneSpec control{};

  [[nodiscard]] std::string describe() const;  ///< its name and what it is told, for people
};

/// What a policy promises of a job whose operations come one after another, on switches whose delays are constant and
/// where nothing fails. Elsewhere making one thing faster may change an order, and no policy that acts without knowing the
/// future can promise it.
struct PolicyClaims {
  bool faster_ports = false;   ///< ports of twice the rate make no run longer
  bool more_ports = false;     ///< one more port of a NIC makes no run longer
  bool shorter_delay = false;  ///< half of the switching delay makes no run longer
  bool server_names = false;   ///< on any job: servers that change their numbers change no run; symmetric policies claim it

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
  /// Its decisions for ports depend on nothing but the demands for them, the circuits on them and the order of the demands:
  /// not on their numbers, nor on how many others there are. Ranks that nothing tells apart may then be simulated once.
  bool symmetric = false;
  std::function<PolicyNeeds(const ControllerSpec& spec)> needs{};  ///< null: none; `spec` is complete()
  std::vector<ControllerParameter> parameters{};                   ///< the policy's own keys of the scenario
  /// It claims that nobody waits without need: an operation that lacks only circuits gets them as soon as its ports are
  /// free and nobody older wants them.
  bool prompt = false;
  PolicyClaims claims{};  ///< what it promises besides
  /// Specifications (of any policy) that are tried on the job before the run, with typical reconfigurations and nobody late;
  /// the one with the shortest run is taken, the first among equals. Null: none.
  std::vector<ControllerSpec> (*rehearse)(const ControllerSpec& spec) = nullptr;
  /// It is no policy: instead of a run the result has a lower bound on the run of every policy, and `make` is not called.
  bool bound = false;

  /// The spec with every parameter set. Throws ConfigError for one that is unknown, of another kind or out of range.
  [[nodiscard]] ControllerSpec complete(const ControllerSpec& spec) const;
  [[nodiscard]] PolicyNeeds needs_of(const ControllerSpec& spec) const {
    PolicyNeeds wanted = needs == nullptr ? PolicyNeeds{} : needs(complete(spec));
    wanted.shim.of_ranks = spec.control.shims;
    return wanted;
  }
};

/// The controllers by name: a value with an explicit table.
class ControllerRegistry {
 public:
  /// Those that `photonrail list controllers` shows.
  [[nodiscard]] static ControllerRegistry builtin();

  void add(ControllerFactory factory) { factories_.push_back(std::move(factory)); }
  /// Throws ConfigError that lists what is known.
  [[nodiscard]] const ControllerFactory& find(std::string_view name) const;
  [[nodiscard]] bool knows(std::string_view name) const;
  [[nodiscard]] const std::vector<ControllerFactory>& all() const& { return factories_; }
  void all() const&& = delete;  // what it would name ends with the statement

 private:
  std::vector<ControllerFactory> factories_;
};

}  // namespace photonrail
