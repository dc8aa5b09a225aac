// Serves pairs one by one: a send waits for the circuit of its own pair, and a pair holds its circuit while something is on
// its way over it and no longer. So a pair that has nothing to send keeps no port from one that has, and operations that
// want more circuits than there are ports get on.
#pragma once

#include "control_plane/control_plane.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

class PairService : public RoundOpener {
 public:
  /// All must outlive the object.
  PairService(const ControlContext& run, ControlPlane& plane) : run_(run), plane_(plane) {}

  void attach(execution::RoundListener& rounds, execution::LaneArbiter& lanes) override;
  void request(execution::OpId op, std::uint32_t round, Member member, TaskId task) override;
  void enter(execution::OpId op, std::uint32_t round) override;
  void send(execution::OpId op, const Send& send, std::uint64_t tag) override;
  void leave(execution::OpId op, const Send& send, bool sender_done, bool round_done) override;
  /// Operations that are served pair by pair keep their lanes.
  void retry(execution::OpId) override {}
  void try_open(execution::OpId op, std::uint32_t round) override;
  void set_running(std::uint32_t operations) override { plane_.set_running(operations); }
  void task_ended(RankId rank) override { plane_.task_ended(rank); }
  void job_ended() override { plane_.end(); }
  void set_progress(RankId rank, std::uint32_t iteration, std::size_t next) override {
    plane_.set_progress(rank, iteration, next);
  }
  [[nodiscard]] execution::MissingCircuits missing(execution::OpId op) const override;

 private:
  struct PairLink : execution::Link {
    fabric::OpticalRail::HoldId hold = 0;
    bool held = false;
    std::uint32_t on_way = 0;             ///< sends posted and not delivered
    std::vector<std::uint64_t> parked{};  ///< tags of sends that wait for the circuit
    std::uint32_t row = 0;                ///< of Round::rows; only if the link needs a circuit
  };
  /// The links that need circuits from one server on one rail.
  struct Row {
    RailId rail;
    std::uint32_t from = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links;  ///< the server they lead to, and the link; ascending
    std::uint32_t parked = 0;                                    ///< links with sends that wait for the circuit
  };
  struct Round {
    std::uint32_t index = 0;
    std::vector<PairLink> links;  ///< ascending by pair
    std::vector<Row> rows;        ///< ascending by rail and server
    // Indexed by member: its sends and receives on their way, those that wait for circuits, and what its rank had waited
    // for circuits when nothing of it was on its way any more.
    std::vector<std::uint32_t> moving;
    std::vector<std::uint32_t> lacking;
    std::vector<Duration> waited_before;

    /// The member has nothing but sends and receives that wait for circuits.
    [[nodiscard]] bool waits(Member m) const { return lacking[m] > 0 && moving[m] == 0; }
  };
  enum class Count : std::uint8_t { kMoving, kLacking };

  void open_pending(std::uint64_t);
  void open(execution::OpId id, std::uint32_t index);
  static void make_rows(Round& round);
  [[nodiscard]] bool forwards(const Round& round) const;
  void try_offered(std::uint64_t);
  void hold(execution::OpId id, Round& round, PairLink& link);
  void count(execution::OpId id, Round& round, MemberPair pair, Count which, std::int32_t change);
  [[nodiscard]] Round* find(execution::OpId op, std::uint32_t round);

  ControlContext run_;
  ControlPlane& plane_;
  execution::RoundListener* listener_ = nullptr;
  std::vector<std::vector<Round>> rounds_;                          // by operation
  std::vector<std::pair<execution::OpId, std::uint32_t>> to_open_;  // in the start phase of this instant
  std::vector<std::pair<execution::OpId, std::uint32_t>> offered_;  // rounds with sends to be tried at this instant
};

}  // namespace photonrail::control_plane
