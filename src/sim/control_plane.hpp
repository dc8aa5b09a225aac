// Between the ranks and the controllers: collects who asks for which circuits, shows each rail's controller its view once
// an instant, carries out what it decides, and wakes the operations whose circuits are lit.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/engine.hpp"
#include "sim/cause.hpp"
#include "sim/operation.hpp"
#include "sim/transfers.hpp"
#include "sim/watchers.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace photonrail {

class ControlPlane : public CircuitListener {
 public:
  /// All must outlive the object. Without optical rails it does nothing.
  ControlPlane(Engine& engine, Fabric& fabric, Operations& operations, const ControllerSpec& spec,
               const ControllerFactory& factory, const Watchers& watchers);

  /// Asks every controller once, at time 0. `transfers` must outlive the object.
  void begin(Transfers& transfers);

  /// A member asks for the circuits of a round, with its task of the operation; a second time is no news.
  void ask(OpId op, std::uint32_t round, Member member, TaskId task);
  /// The round lacks only its circuits.
  void blocked(OpId op, std::uint32_t round);
  /// The round's circuits are held: its demands are met. `idle`: see TransferListener::round_opened.
  void opened(OpId op, std::uint32_t round, std::optional<Duration> idle);
  void released(RailId rail, Cause cause);

  void circuit_changed(RailId rail, Circuit circuit, CircuitState state) override;
  void command_done(RailId rail, std::uint32_t command) override;
  void circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override;
  void circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override;

  /// `rail_image`: in a folded run, by rail of the cluster, which of the rails run here stands for it, or none; otherwise
  /// empty.
  void summarize(std::span<const RailId> rail_image, ReconfigurationSummary& summary) const;

 private:
  struct Demand {
    DemandView view;
    std::vector<Pair> pairs;
    std::vector<bool> asked;             // by member
    TaskId first_task = TaskId::none();  // of those that asked
    TaskId last_task{};
    RailId rail;
    OpId op = kNoOp;
    std::uint32_t round = 0;
    std::uint32_t serial = 0;
    bool open = false;
    bool missed = false;  // for a circuit that was taken away in use
  };
  struct CommandRecord {
    Time decided{};
    Time usable{};
    Duration exposed{};
    Cause cause;
  };
  struct Rail {
    std::unique_ptr<Controller> controller;
    std::vector<PortView> transmit;
    std::vector<PortId> receive;
    // Demands by slot:
    std::vector<std::uint32_t> complete;   // everybody asked
    std::vector<std::uint32_t> gathering;  // somebody asked
    std::vector<std::uint32_t> blocked;    // lack only circuits, whether or not everybody's request is here
    std::vector<CommandRecord> commands;
    bool decide_scheduled = false;
    Time service_free{};
    Cause cause;      // of the last thing that the controller could act on
    Cause lit_cause;  // of the last circuits that were lit
  };
  struct Message {
    std::uint32_t slot;
    std::uint32_t serial;  // the demand may be met before the request arrives, and its slot serve another
    RailId rail;
  };

  void open_demands(OpId op, std::uint32_t round);
  Demand& take_demand(OpId op, std::uint32_t round, RailId rail, std::vector<Pair> pairs, std::uint32_t members);
  void send_request(std::uint32_t slot, Member member);
  void request_arrived(std::uint64_t message);
  void request_served(std::uint64_t message);
  void count_request(Demand& demand);
  void enlist(Demand& demand);
  [[nodiscard]] bool before(const Demand& a, const Demand& b) const;
  void drop(Demand& demand);
  void show(const std::vector<std::uint32_t>& slots, std::vector<DemandView>& out) const;
  void wake_controller(RailId rail, Cause cause);
  void decide(std::uint64_t rail);
  void sync_ports(RailId rail);

  Engine& engine_;
  Fabric& fabric_;
  Operations& operations_;
  const ControllerSpec& spec_;
  const Watchers& watchers_;
  Transfers* transfers_ = nullptr;
  std::vector<Rail> rails_;
  std::deque<Demand> demands_;
  std::vector<std::uint32_t> free_demands_;
  std::vector<Message> messages_;  // requests on their way
  std::vector<std::uint32_t> free_messages_;
  std::vector<DemandView> shown_complete_;  // for the time of one decision
  std::vector<DemandView> shown_gathering_;
  std::uint32_t next_serial_ = 0;
  std::vector<PortId> touched_;
  CommandRecord* finishing_ = nullptr;
};

}  // namespace photonrail
