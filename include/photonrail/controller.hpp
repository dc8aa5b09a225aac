// Reconfiguration policies. A controller maps a view of one rail to the circuits it wants: a value in, a value out.
// It has no access to the clock, the network or the fabric, so that a test writes the view as a literal.
#pragma once

#include "photonrail/control/control_plane.hpp"
#include "photonrail/control/decision.hpp"
#include "photonrail/control/needs.hpp"
#include "photonrail/control/parameter.hpp"
#include "photonrail/core/circuit.hpp"
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

class Controller {
 public:
  virtual ~Controller() = default;

  /// Called once an instant when the rail changed in a way that a controller can act on: a request arrived, grew or was
  /// removed; an operation released its circuits; a reconfiguration ended; Decision::ask_again was reached.
  [[nodiscard]] virtual Decision decide(const FabricView& view) = 0;

  /// A remark of the controller about the run on this rail, for the result; "" for none.
  [[nodiscard]] virtual std::string remark(Duration /*makespan*/) const { return {}; }
};

/// The controller of electrical rails, which has nothing to decide: the absence of a policy.
inline constexpr const char* kNoPolicy = "electrical";

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
  std::string name = kNoPolicy;
  std::vector<StaticCircuit> circuits;  ///< where ControllerFactory::takes_circuits
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

/// Guarantees of a policy for jobs that issue one operation after another: elsewhere a faster part may change an order. The
/// delays are constant, nothing fails, and without `more_ports` a NIC has one port: how several are shared goes by the
/// rates.
struct PolicyClaims {
  bool faster_ports = false;   ///< doubling the rate of ports makes no run longer
  bool more_ports = false;     ///< one more port on each NIC makes no run longer
  bool shorter_delay = false;  ///< halving the switching delay makes no run longer
  bool server_names = false;   ///< on any job: renumbering servers changes no run; symmetric policies guarantee it

  /// "one operation after another is not slower with faster ports ...; the same under renamed servers", or "".
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
  bool rank_symmetric = false;
  /// Of a rank-symmetric policy: it may be shown circuits and pairs whose receive side has a sheet (core/circuit.hpp),
  /// where NICs have one port and rails one plane. It looks receive sides up by fibre_of() and compares them as they are.
  bool tells_sheets = false;
  /// Rail-symmetric: a controller decides by what it is shown of its rail, and neither by the number of the rail nor at
  /// random. Equal rails may then be simulated once; implied by `rank_symmetric`.
  bool rail_symmetric = false;
  std::function<PolicyNeeds(const ControllerSpec& spec)> needs{};  ///< null: none; `spec` is complete()
  std::vector<ControllerParameter> parameters{};                   ///< the policy's own keys of the scenario
  /// Work-conserving: a blocked operation is served as soon as its ports are free, FIFO among conflicting requests.
  bool work_conserving = false;
  PolicyClaims claims{};        ///< further guarantees
  bool takes_circuits = false;  ///< it is given ControllerSpec::circuits
  /// The test kit examines a policy by default and in each word and flag of its parameters once. This changes the list to
  /// settings in which the policy promises to serve every request; null: all of them.
  void (*examine)(std::vector<ControllerSpec>& settings) = nullptr;
  /// Specifications (of any policy) that are tried on the job before the run, with typical reconfiguration delays and
  /// without stragglers. The one with the shortest run is used, the first among equals. Null: none.
  std::vector<ControllerSpec> (*rehearse)(const ControllerSpec& spec) = nullptr;
  std::size_t rehearse_first = 0;  ///< index of the one that is most often good: others then stop sooner
  /// Not a policy but a bound: the result is a lower bound on the run of every policy, and `make` is not called.
  bool bound = false;

  [[nodiscard]] bool has(std::string_view key) const;  ///< among `parameters`
  /// The spec with every parameter set. Throws ConfigError for one that is unknown, of another kind or out of range.
  [[nodiscard]] ControllerSpec complete(const ControllerSpec& spec) const;
  /// The spec with every word set: the ways that a policy has are named in reports, given or not.
  [[nodiscard]] ControllerSpec with_words(ControllerSpec spec) const;
  [[nodiscard]] PolicyNeeds needs_of(const ControllerSpec& spec) const {
    PolicyNeeds wanted = needs == nullptr ? PolicyNeeds{} : needs(complete(spec));
    wanted.ranks.of_ranks = spec.control.shims;
    return wanted;
  }
};

/// The table of controllers by name. It is a value: copies are independent.
class ControllerRegistry {
 public:
  /// The controllers that `photonrail list controllers` shows.
  [[nodiscard]] static ControllerRegistry builtin();

  /// Throws ConfigError when there is a controller of that name, or the factory has no name.
  void add(ControllerFactory factory);
  /// Throws ConfigError that lists the known names.
  [[nodiscard]] const ControllerFactory& find(std::string_view name) const;
  [[nodiscard]] bool knows(std::string_view name) const;
  /// The first that decides something and takes no list of circuits: what is proposed where none is named. Null: none.
  [[nodiscard]] const ControllerFactory* first_that_decides() const;
  [[nodiscard]] const std::vector<ControllerFactory>& all() const& { return factories_; }
  void all() const&& = delete;  // the reference would outlive the temporary table

 private:
  std::vector<ControllerFactory> factories_;
};

}  // namespace photonrail
