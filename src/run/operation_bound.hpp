// The earliest times at which one operation can be over, whatever circuits the controllers make: a part of LowerBound.
#pragma once

#include "execution/operation_table.hpp"
#include "photonrail/cluster.hpp"
#include "run/bound_terms.hpp"
#include "run/circuit_history.hpp"
#include "run/circuit_orders.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace photonrail::run {

/// Holds what the fibres of one GPU in one direction carry in the whole run.
struct FibreLoad {
  std::vector<std::pair<Time, Bytes>> uses;  ///< from when on, and how much
  std::set<ServerIndex> peers;

  /// The earliest time at which all of it can have left.
  [[nodiscard]] Time end(const BoundTerms& terms);
};

class OperationBound {
 public:
  /// A member's part: `history` comes in as it was when the member arrived.
  struct Part {
    Time begins{};  ///< its first byte
    Time ends{};    ///< its last send and receive are delivered
    NicHistory history;
  };

  /// All must outlive the object.
  OperationBound(const fabric::Fabric& fabric, const BoundTerms& terms) : fabric_(fabric), terms_(terms) {}

  /// A run of the whole job begins. `floors` must outlive it.
  void begin(const TransferFloors& floors);
  /// Every member has arrived at `start`; `parts` by member. REQUIRES: the plan is known, and starts with all members.
  void evaluate(const execution::Operation& op, Time start, std::vector<Part>& parts);

  /// When all fibres have carried what they were given so far.
  [[nodiscard]] Time end_of_loads();
  /// Of this run.
  [[nodiscard]] std::uint64_t sends() const { return sends_; }
  /// Those of this run over optical rails; none where there are too many to be looked at.
  [[nodiscard]] std::vector<Transfer> take_transfers();

 private:
  struct Way {
    Duration latency{};
    Duration overhead{};
    Bandwidth rate{};
  };
  struct Link {
    std::uint32_t round = 0;
    Member from = 0;
    Member to = 0;
    Way way;
    std::optional<fabric::RailCrossing> crossing{};
    bool new_source = true;  // the first of the round that comes from this server to this receiver
    std::uint32_t left = 0;  // sends to go
    Time ready{};            // its circuit can be there
    Time first = Time::never();
    Time last{};
    Bytes bytes{};
  };
  /// Holds what a member sends, or receives, over its own fibres in a round.
  struct Share {
    Time first = Time::never();
    Bytes bytes{};
    std::uint32_t peers = 0;  // servers: a circuit joins those, and carries what several of their GPUs send
    Duration latency = Duration::max();
  };
  struct MemberRound {
    std::uint32_t work = 0;  // sends and receives to go
    Time end{};
    Share out;
    Share in;
  };
  struct RoundState {
    std::uint32_t participants = 0;
    std::uint32_t reached = 0;
    Time start{};
    bool open = false;
    std::vector<SendIndex> parked;
  };

  void prepare(Time start);
  void add_links();
  void find_new_sources();
  [[nodiscard]] Way way(GpuId from, GpuId to, bool crosses) const;
  [[nodiscard]] bool own_nic(const Link& link) const;
  [[nodiscard]] Time circuit_ready(const Link& link) const;
  [[nodiscard]] Link& link_of(std::uint32_t round, Member from, Member to);
  [[nodiscard]] std::uint32_t round_of(const Send& send) const { return op_->optical ? send.round : 0; }
  void reach(std::uint32_t round, Member member, Time at);
  void open(std::uint32_t round);
  void release(SendIndex send);
  void run(SendIndex send);
  static Time within_longest(Time time);
  [[nodiscard]] Time deliver(const Send& send, SendIndex index);
  void close(Link& link);
  void carry(const Link& link, const TransferId& id);
  [[nodiscard]] TransferId id_of(const Link& link) const;
  static void count(Share& share, const Link& link, bool new_peer);
  void leave(std::uint32_t round, Member member);
  [[nodiscard]] Time least_end(const Share& share) const;

  const fabric::Fabric& fabric_;
  const BoundTerms terms_;
  const TransferFloors* floors_ = nullptr;  // null: none
  std::map<Fibres, FibreLoad> loads_;
  std::vector<Transfer> transfers_;
  std::uint64_t sends_ = 0;
  // These members are of the operation in hand:
  const execution::Operation* op_ = nullptr;
  std::vector<Part>* parts_ = nullptr;
  std::vector<Link> links_;  // ascending by round, sender and receiver
  std::vector<RoundState> rounds_;
  std::vector<MemberRound> members_;  // by round and member
  std::vector<Time> when_;            // by send: what it waits for has arrived
  std::vector<std::uint32_t> waits_;  // by send: arrivals to go
  std::vector<SendIndex> queue_;
  std::vector<SendIndex> released_;
};

}  // namespace photonrail::run
