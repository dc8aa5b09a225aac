// Between the ranks and the controllers: collects who asks for which circuits, shows each rail's controller its view once
// an instant, carries out what it decides, and wakes the operations whose circuits are lit.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/engine.hpp"
#include "execution/critical_path.hpp"
#include "control_plane/request_channel.hpp"
#include "control_plane/request_list.hpp"
#include "control_plane/profiled_schedule.hpp"
#include "execution/operation.hpp"
#include "control_plane/plan_sequencer.hpp"
#include "control_plane/rail_traffic.hpp"
#include "execution/transfers.hpp"
#include "execution/observer_list.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail {

class ControlPlane : public CircuitListener, private RequestListener {
 public:
  /// So often in a row a controller may re-point circuits, ask to be asked again, or decide within one instant, without
  /// any operation getting hold of a circuit on its rail.
  static constexpr std::uint32_t kMaxFruitless = 10'000;

  /// All must outlive the object. Without optical rails it does nothing. `spec` is complete (ControllerFactory).
  ControlPlane(Engine& engine, Fabric& fabric, OperationTable& operations, const ControllerSpec& spec,
               const ControllerFactory& factory, const ObserverList& watchers, std::uint64_t seed);

  /// Where the job's ranks are; without it every port is the job's. Before begin().
  void seat(std::span<const GpuId> gpu_of_rank);
  /// What the profiling run saw, for policies that want it. It must outlive the object.
  void know(ProfiledSchedule& schedule) { known_ = &schedule; }
  /// Asks every controller once, at time 0. `transfers` must outlive the object.
  void begin(Transfers& transfers);
  /// The job is done: from the next instant on no controller is asked, and timetables stand still.
  void end();

  /// A member asks for the circuits of a round, with its task of the operation; a second time is no news.
  void ask(OpId op, std::uint32_t round, Member member, TaskId task);
  /// The round lacks only its circuits.
  void blocked(OpId op, std::uint32_t round);
  /// The round's circuits are held: its demands are met. `idle`: see TransferListener::round_opened.
  void opened(OpId op, std::uint32_t round, std::optional<Duration> idle);
  void released(RailId rail, CriticalPathTag cause);

  // PolicyNeeds::per_pair: see TransferListener.
  void opened_by_pair(OpId op, std::uint32_t round);
  void pair_waits(OpId op, std::uint32_t round, MemberPair pair, Bytes bytes);
  void pair_served(OpId op, std::uint32_t round, MemberPair pair, const Parked& parked, Duration idle);

  /// A task of the rank ended (PolicyNeeds::events).
  void task_ended(RankId rank);

  /// A rank's place in the known schedule.
  void stands(RankId rank, std::uint32_t iteration, std::size_t next) {
    if (known_ != nullptr) known_->stands(rank, iteration, next);
  }

  void circuit_changed(RailId rail, Circuit circuit, CircuitState state) override;
  void command_done(RailId rail, std::uint32_t command) override;
  void circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override;
  void circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override;
  void rail_changed(RailId rail) override;
  void light_back(RailId rail) override;

  /// Nothing will ever happen again, and the job is not done. Policies that want events look at everything once more; false:
  /// none does, or nothing came of it the last time.
  [[nodiscard]] bool stand_still();
  /// What policies say of how the run went.
  [[nodiscard]] std::vector<std::string> remarks(Duration makespan) const;

  /// `rail_image`: in a folded run, by rail of the cluster, which of the rails run here stands for it, or none; otherwise
  /// empty.
  void summarize(std::span<const RailId> rail_image, ReconfigurationSummary& summary) const;

 private:
  /// What a round wants of one rail.
  struct RailRound {
    std::vector<ServerPair> pairs;   // ascending
    std::vector<Bytes> bytes;  // by pair, where somebody wants it
  };
  struct Demand {
    CircuitRequest view;
    std::vector<ServerPair> pairs;
    std::vector<Bytes> bytes;           // by pair, where somebody wants it
    std::vector<Time> since;            // by pair, while it waits pair by pair
    std::vector<std::uint32_t> parked;  // by pair, while it waits pair by pair: sends
    std::vector<RoundView> next;        // where somebody wants it; into `later`
    std::deque<RailRound> later_of;
    std::vector<Requester> askers;
    std::vector<bool> asked;             // by member
    TaskId first_task = TaskId::none();  // of those that asked
    TaskId last_task{};
    RailId rail;
    OpId op = kNoOp;
    std::uint32_t round = 0;
    std::uint32_t serial = 0;
    bool open = false;
    bool missed = false;   // for a circuit that was taken away in use
    bool by_pair = false;  // its pairs wait and are served one by one
    EventHandle alarm{};   // when it has waited too long
  };
  struct CommandRecord {
    Time decided{};
    Time usable{};
    bool timed = false;  // `usable` is known
    Duration exposed{};
    CriticalPathTag cause;
  };
  struct Rail {
    std::unique_ptr<Controller> controller;
    std::unique_ptr<PlanSequencer> driver;
    std::vector<PortView> transmit;
    std::vector<PortId> receive;
    std::vector<ServerIndex> own;           // FabricView::own
    RequestList complete;                 // everybody asked
    RequestList gathering;                // somebody asked
    std::vector<std::uint32_t> blocked;  // slots: lack only circuits, whether or not everybody's request is here
    RailTraffic traffic;
    std::vector<CommandRecord> commands;
    bool foreign = false;  // the job has no port on it: its controller has nothing to decide
    bool decide_scheduled = false;
    EventHandle timer{};
    Time timer_at{};
    std::optional<Time> ask_again;
    std::uint64_t uses_seen = 0;  // OpticalRail::uses
    std::uint32_t fruitless = 0;  // commands since
    std::uint32_t fruitless_wakes = 0;
    Time decided_at{-1};                    // the instant of its last decision
    std::uint64_t progress_seen = 0;        // uses, and tasks that ended, until then
    std::uint32_t fruitless_decisions = 0;  // within this instant
    std::uint32_t down = 0;                 // restarts that its controller is in
    CriticalPathTag cause;             // of the last thing that the controller could act on
    CriticalPathTag lit_cause;         // of the last circuits that were lit
  };

  // demands (control_demands.cpp)
  void open_demands(OpId op, std::uint32_t round);
  Demand& take_demand(OpId op, std::uint32_t round, RailId rail, std::uint32_t members);
  [[nodiscard]] Demand* find_demand(OpId op, std::uint32_t round, RailId rail);
  [[nodiscard]] Demand* find_missed(OpId op, RailId rail);
  [[nodiscard]] std::map<RailId, RailRound> circuits_of(const Operation& op, std::uint32_t round) const;
  void show_next_rounds(Demand& demand);
  void block(Demand& demand);
  void expose(Duration idle);
  void refresh(Demand& demand);
  void send_request(std::uint32_t slot, Member member);
  void request_served(std::uint32_t slot, std::uint32_t serial, RankId from, bool by_root) override;
  void count_request(Demand& demand, RankId from);
  void enlist(Demand& demand);
  [[nodiscard]] bool before(const Demand& a, const Demand& b) const;
  void drop(Demand& demand);
  void arm(Demand& demand, Time since);
  void starved(std::uint64_t slot);
  [[nodiscard]] std::string name_demand(const Demand& demand) const;

  // decisions (control_plane.cpp)
  /// Something happened that a controller can act on.
  void stir(RailId rail, CriticalPathTag cause);
  void wake_controller(RailId rail, CriticalPathTag cause);
  void decide(std::uint64_t rail);
  void consult(RailId id, Rail& rail);
  /// From begin() to the instant of end().
  [[nodiscard]] bool running() const { return transfers_ != nullptr && (!ended_ || *ended_ == engine_.now()); }
  void require_time_passes(RailId id, Rail& rail);
  void note(RailId id, Rail& rail);
  void mark_stirred(Rail& rail);
  void set_timer(RailId id, Rail& rail);
  void timer_rang(std::uint64_t rail);
  void retry_blocked(RailId id);
  void sync_ports(RailId rail);
  void schedule_restarts();
  void go_down(std::uint64_t restart);
  void come_up(std::uint64_t restart);
  void ask_again(RailId rail);

  Engine& engine_;
  Fabric& fabric_;
  OperationTable& operations_;
  const ControllerSpec& spec_;
  const ControllerFactory& factory_;
  const ObserverList& watchers_;
  RequestChannel messages_;
  PolicyNeeds needs_;
  bool weighs_ = false;  // plans say what pairs exchange
  Transfers* transfers_ = nullptr;
  std::optional<Time> ended_;  // the instant of end()
  std::uint64_t tasks_ended_ = 0;
  ProfiledSchedule* known_ = nullptr;
  std::vector<Rail> rails_;
  std::deque<Demand> demands_;
  std::vector<std::uint32_t> free_demands_;
  std::uint32_t next_serial_ = 0;
  std::vector<PortId> touched_;
  std::vector<PlanSequencer::Issued> issued_;
  CommandRecord* finishing_ = nullptr;
  std::vector<Time> last_event_;  // by rank, where somebody wants it
  std::optional<Time> stands_still_;
  std::uint64_t commands_at_standstill_ = ~std::uint64_t{0};
};

}  // namespace photonrail
