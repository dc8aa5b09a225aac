// Serves rounds: an operation takes all circuits of a round together or none, and keeps each until its sender's last send.
#pragma once

#include "control_plane/control_plane.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

class RoundService : public RoundOpener {
 public:
  /// All must outlive the object.
  RoundService(const ControlContext& run, ControlPlane& plane) : run_(run), plane_(plane) {}

  void attach(execution::RoundListener& rounds, execution::LaneArbiter& lanes) override;
  void request(execution::OpId op, std::uint32_t round, Member member, TaskId task) override;
  void enter(execution::OpId op, std::uint32_t round) override;
  void send(execution::OpId op, const Send& send, std::uint64_t tag) override;
  void leave(execution::OpId op, const Send& send, bool sender_done, bool round_done) override;
  void retry(execution::OpId op) override;
  void try_open(execution::OpId op, std::uint32_t round) override;
  void set_running(std::uint32_t operations) override { plane_.set_running(operations); }
  void task_ended(RankId rank) override { plane_.task_ended(rank); }
  void job_ended() override { plane_.end(); }
  void set_progress(RankId rank, std::uint32_t iteration, std::size_t next) override {
    plane_.set_progress(rank, iteration, next);
  }
  [[nodiscard]] execution::MissingCircuits missing(execution::OpId op) const override;

 private:
  /// A link with the circuits that it holds.
  struct HeldLink : execution::Link {
    fabric::OpticalRail::HoldId hold = 0;
    bool held = false;  ///< a link within a server never is
  };
  struct Round {
    std::uint32_t index = 0;
    bool waiting = false;                 ///< every participant reached it; only circuits are missing
    std::vector<Duration> waited_before;  ///< by member: what its rank had waited for circuits when the round began to wait
    std::vector<HeldLink> links;          ///< ascending by pair
  };

  void open_pending(std::uint64_t);
  [[nodiscard]] bool hold(execution::OpId id, Round& round);
  void withdraw(Round& round);
  void begin_waiting(execution::OpId id, const execution::Operation& op, Round& round);
  [[nodiscard]] Duration end_waiting(const execution::Operation& op, const Round& round);
  void open(execution::OpId id, Round& round, std::optional<Duration> idle);
  [[nodiscard]] Round* find(execution::OpId op, std::uint32_t round);
  [[nodiscard]] std::string too_many_circuits(const execution::Operation& op, const Round& round) const;

  ControlContext run_;
  ControlPlane& plane_;
  execution::RoundListener* listener_ = nullptr;
  execution::LaneArbiter* lanes_ = nullptr;
  std::vector<std::vector<Round>> rounds_;                          // by operation
  std::vector<std::pair<execution::OpId, std::uint32_t>> to_open_;  // in the start phase of this instant
};

}  // namespace photonrail::control_plane
