// The control plane of one job: the requests of its operations, an agent for each optical rail that asks the controller,
// and the service that gives circuits to operations.
#pragma once

#include "control_plane/control_context.hpp"
#include "control_plane/profiled_schedule.hpp"
#include "control_plane/rail_agent.hpp"
#include "control_plane/request_board.hpp"
#include "control_plane/request_channel.hpp"
#include "execution/circuit_service.hpp"
#include "folding/order_ambiguity.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

/// The circuit service of a job; implemented by RoundService and PairService.
class RoundOpener : public execution::CircuitService {
 public:
  /// Tries to open a round that lacks circuits, after the circuits of a rail changed.
  virtual void try_open(execution::OpId op, std::uint32_t round) = 0;
};

/// Owns the parts of the control plane and connects them. Without optical rails it does nothing.
class ControlPlane : public fabric::CircuitListener,
                     private RequestBoardListener,
                     private RetryListener,
                     private ViewSource {
 public:
  /// All must outlive the object. `ambiguity`: of a folded run, else null.
  ControlPlane(const ControlContext& run, folding::OrderAmbiguity* ambiguity);
  ~ControlPlane() override;
  ControlPlane(const ControlPlane&) = delete;  // its parts refer to each other
  ControlPlane& operator=(const ControlPlane&) = delete;

  /// The service that execution requests circuits from.
  [[nodiscard]] execution::CircuitService& service() { return *service_; }
  /// Sets the schedule of FabricView::schedule. REQUIRES: before begin().
  void show_schedule(ProfiledSchedule schedule) { schedule_.emplace(std::move(schedule)); }
  /// Sets the GPUs of the job's ranks. Without it every port is the job's. REQUIRES: before begin().
  void seat(std::span<const GpuId> gpu_of_rank);
  /// Asks the controller of every rail once.
  void begin();
  /// The job has ended: from the next instant on no controller is asked, and timetables stop.
  void end();
  /// No event is left although the job has not ended: asks the policies with ViewPart::kTaskEvents again. False: there is
  /// no such policy, or the previous attempt changed nothing.
  [[nodiscard]] bool stand_still();
  /// The remarks of controllers about the run (Controller::remark).
  [[nodiscard]] std::vector<std::string> remarks(Duration makespan) const;

  [[nodiscard]] RequestBoard& board() { return board_; }
  /// REQUIRES: the job has a GPU on the rail.
  [[nodiscard]] RailAgent& agent(RailId rail) { return *agents_[rail.index()]; }
  void set_running(std::uint32_t operations) { running_ = operations; }
  void task_ended(RankId rank);
  void set_progress(RankId rank, std::uint32_t iteration, std::size_t next);

  void circuit_changed(RailId rail, Circuit circuit, CircuitState state) override;
  void command_done(RailId rail, std::uint32_t command) override { agent(rail).command_done(command); }
  void circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override;
  void circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override;
  void rail_changed(RailId rail) override { agent(rail).rail_changed(); }
  void light_back(RailId rail) override { agent(rail).light_back(); }
  void light_lost(RailId rail, std::uint64_t fault, const std::vector<std::uint64_t>& owners) override;

  /// `rail_image`: in a folded run, by rail of the cluster, which of the rails run here stands for it, or none; otherwise
  /// empty.
  void summarize(std::span<const RailId> rail_image, ReconfigurationSummary& summary) const;

 private:
  void requests_changed(RailId rail, execution::CriticalPathTag cause) override { agent(rail).notify(cause); }
  [[nodiscard]] bool hears(RailId rail) const override { return !agents_[rail.index()]->is_down(); }
  void circuits_available(RailId rail) override;
  [[nodiscard]] SharedView shared_view(RailId rail) override;
  void schedule_restarts();
  void go_down(std::uint64_t restart);
  void come_up(std::uint64_t restart);
  template <class Visit>
  void each_restarted(std::uint64_t restart, Visit&& visit);
  template <class Visit>
  void each_agent(Visit&& visit) const;

  ControlContext run_;
  const PolicyNeeds needs_;
  RequestChannel channel_;
  RequestBoard board_;
  const ReconfigurationTerms switching_;
  std::vector<std::unique_ptr<RailAgent>> agents_;  // by rail; null where the job has no GPU
  std::unique_ptr<RoundOpener> service_;
  std::optional<ProfiledSchedule> schedule_;
  std::uint32_t running_ = 0;  // operations with bytes on their way
  std::uint64_t tasks_ended_ = 0;
  std::vector<Time> last_event_;  // by rank, where the policy wants it
  std::optional<Time> stands_still_;
  bool one_order_ = false;  // rails show requests in one order
  std::uint64_t commands_at_standstill_ = ~std::uint64_t{0};
  std::map<std::pair<RailId, std::uint64_t>, std::vector<RankId>> blind_;  // by rail and fault: ranks whose light is gone
};

}  // namespace photonrail::control_plane
