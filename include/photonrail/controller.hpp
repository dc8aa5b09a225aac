// Reconfiguration policies. A controller maps a view of one rail to the circuits it wants: a value in, a value out.
// It knows no clock, no network and no fabric, so that a test writes the view as a literal.
#pragma once

#include "photonrail/circuit.hpp"
#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// A GPU's place on its rail: the index of its server.
using Position = std::uint32_t;

/// A directed pair of positions that an operation wants joined by a circuit.
struct Pair {
  Position from = 0;
  Position to = 0;

  friend constexpr auto operator<=>(const Pair&, const Pair&) = default;
};

/// What the transmit fibre of a port does.
struct PortView {
  PortId peer = PortId::none();  ///< the receive side that it points to, or points to soon
  bool lit = false;              ///< carries light; false with a peer: switching
  bool in_use = false;           ///< an operation has bytes on it: it must not be torn down
};

/// Operations that wait for circuits, or announce that they will want them.
struct DemandView {
  DemandId id;
  CommunicatorId communicator;
  Dimension dimension = Dimension::kOther;
  std::span<const Pair> pairs;  ///< on this rail; ascending, no duplicates
  std::uint32_t members = 0;    ///< how many ranks must ask before it counts (2 for a send)
  std::uint32_t asked = 0;      ///< how many did
  Time since{};                 ///< when the first asked
  Time complete{};              ///< when the last asked
  bool blocking = false;        ///< every member has reached the operation and waits: the circuits are all that it lacks

  [[nodiscard]] bool all_asked() const { return asked == members; }
};

/// One rail, as a controller sees it. It grows by fields; a field added later breaks no controller.
struct FabricView {
  Time now{};
  RailId rail{};
  std::uint32_t positions = 0;            ///< servers
  std::uint32_t ports_per_gpu = 1;        ///< PortId = position * ports_per_gpu + NIC port
  std::span<const PortView> transmit;     ///< by PortId
  std::span<const PortId> receive;        ///< by PortId: the transmit side that points here, or none
  std::span<const DemandView> demands;    ///< every member asked; in the order in which they became so
  std::span<const DemandView> gathering;  ///< some members have yet to ask
  Duration reconfiguration{};             ///< typical switching plus link bring-up

  [[nodiscard]] PortId port(Position p, std::uint32_t nic_port) const { return PortId{p * ports_per_gpu + nic_port}; }
  [[nodiscard]] Position position(PortId p) const { return p.value / ports_per_gpu; }
  /// Lit circuits from one position to another.
  [[nodiscard]] std::uint32_t circuits(Pair pair) const;
};

/// How the ranks talk to a controller (the shim of Opus, arXiv 2602.12521, section 4).
struct ShimPolicy {
  bool announce = false;   ///< when an operation completes, ask at once for what the schedule says comes next
  bool scheduled = false;  ///< issue a rank's rail operations in the order of the profiling run
};

class Controller {
 public:
  virtual ~Controller() = default;

  /// Asked once an instant when something that a controller could act on changed on the rail: a demand came, grew or
  /// went; an operation left its circuits; a reconfiguration ended. nullopt: keep everything as it is.
  [[nodiscard]] virtual std::optional<CircuitPlan> decide(const FabricView& view) = 0;
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

  [[nodiscard]] ShimPolicy shim() const;
};

/// Makes one controller for one rail.
struct ControllerFactory {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Controller>(const ControllerSpec& spec, RailId rail, std::uint32_t gpus_per_server,
                                            std::uint32_t ports_per_gpu)>
      make;
  /// Its decisions for ports depend on nothing but the demands for them, the circuits on them and the order of the demands:
  /// not on their numbers, nor on how many others there are. Ranks that nothing tells apart may then be simulated once.
  bool symmetric = false;
};

/// The controllers by name: a value with an explicit table.
class ControllerRegistry {
 public:
  /// electrical, static, opus.
  [[nodiscard]] static ControllerRegistry builtin();

  void add(ControllerFactory factory) { factories_.push_back(std::move(factory)); }
  /// Throws ConfigError that lists what is known.
  [[nodiscard]] const ControllerFactory& find(std::string_view name) const;
  [[nodiscard]] const std::vector<ControllerFactory>& all() const& { return factories_; }
  void all() const&& = delete;  // what it would name ends with the statement

 private:
  std::vector<ControllerFactory> factories_;
};

}  // namespace photonrail
