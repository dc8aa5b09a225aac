// An operation in progress: one collective, or one send with its receive. ArrivalWriter writes its arrival and its cause,
// Transfers the progress of its sends.
#pragma once

#include "execution/arrival.hpp"
#include "execution/critical_path.hpp"
#include "execution/plan_cache.hpp"
#include "fabric/way.hpp"
#include "network/network.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/task_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::execution {

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = ~OpId{0};

/// A message's tag: the operation's number above the send's.
inline constexpr int kTagOpShift = 32;
[[nodiscard]] constexpr std::uint64_t tag_of(OpId op, SendIndex send) {
  return (static_cast<std::uint64_t>(op) << kTagOpShift) | send;
}
[[nodiscard]] constexpr OpId op_of(std::uint64_t tag) { return static_cast<OpId>(tag >> kTagOpShift); }
[[nodiscard]] constexpr SendIndex send_of(std::uint64_t tag) { return static_cast<SendIndex>(tag); }

/// Calls of members with equal keys belong to one operation.
struct OperationKey {
  CommunicatorId communicator;
  std::uint32_t tag = 0;
  std::uint32_t match = 0;
  std::uint32_t iteration = 0;

  friend bool operator==(const OperationKey&, const OperationKey&) = default;
};

/// The constant properties of an operation. OperationTable writes them when the first member arrives, and the plan when the
/// straggler is known.
struct OperationIdentity {
  OperationKey key;
  std::uint32_t sequence = 0;  ///< in the order of their creation
  CollectiveOp op = CollectiveOp::kSend;
  const Communicator* communicator = nullptr;
  std::span<const GpuId> gpus;  ///< by member of the whole group
  Member ranks = 0;             ///< members that are run; folded: each represents gpus.size() / ranks members
  std::uint64_t copies = 1;     ///< folded: the number of operations that it represents
  std::uint32_t demand = 0;     ///< the number of its traffic matrix, or 0
  CollectiveCall call;
  const RunnablePlan* runnable = nullptr;  ///< null until the straggler that the plan depends on is known
  bool crosses = false;                    ///< some pair leaves its server
  bool optical = false;                    ///< some pair uses circuits of an optical rail

  [[nodiscard]] Dimension dimension() const { return communicator->dimension; }
  [[nodiscard]] Member members() const { return ranks; }
  /// The member that is run in place of member `m` of the whole group.
  [[nodiscard]] Member run_for(Member m) const { return m < ranks ? m : m % ranks; }
  [[nodiscard]] DemandQuery demand_query() const { return {key.communicator, demand, key.iteration}; }
  [[nodiscard]] RankId rank(Member m) const { return communicator->members[m]; }
  [[nodiscard]] const SendPlan& plan() const { return *runnable->plan; }
  [[nodiscard]] bool takes_part(Member m, std::uint32_t round) const {
    return plan().sends_from(m, round) + plan().sends_to(m, round) > 0;
  }
  [[nodiscard]] bool starts_without(Member m) const {
    return runnable != nullptr && runnable->late > 0 && plan().starts_without(m);
  }
};

/// The way from one member to another, which stays the same during the operation.
struct Link {
  MemberPair pair;
  fabric::Way way;
  network::Network::ChannelId channel = network::Network::kNone;
};

/// A round in progress: at least one member has entered it and at least one has not left it. Only operations on optical
/// rails have rounds.
struct RoundProgress {
  std::uint32_t index = 0;
  std::uint32_t participants = 0;
  std::uint32_t reached = 0;
  bool open = false;                      ///< its sends may be posted to CircuitService::send()
  std::uint32_t work = 0;                 ///< sends not delivered
  std::vector<std::uint32_t> sends_left;  ///< by member
  std::vector<std::uint32_t> work_left;   ///< by member: sends and receives
  std::vector<SendIndex> parked;          ///< sends that were released before the round opened
};

/// The progress of the sends. Transfers writes it.
struct TransferProgress {
  bool started = false;
  Time started_at{};
  std::vector<std::uint32_t> left;  ///< by member: sends and receives to go
  std::uint32_t sends_to_go = 0;
  std::uint32_t members_to_go = 0;
  std::vector<Link> links;              ///< not optical, in one round: ascending by pair
  std::vector<std::uint16_t> arrivals;  ///< by send; empty when no send waits for more than one
  std::vector<RoundProgress> rounds;
  std::uint32_t in_flight = 0;
  bool together = false;          ///< a stream whose sends left at once, as one message of the network
  bool resting = false;           ///< no send can proceed until a missing member arrives
  std::vector<SendIndex> parked;  ///< not optical: sends that were released while an end had not arrived
};

/// An operation in progress: its identity and the state of each part.
struct Operation : OperationIdentity {
  bool live = false;  ///< not retired; OperationTable writes it
  Arrival arrival;
  TransferProgress transfer;
  bool yielded = false;  ///< it waits for circuits and has yielded its lanes; Starter writes it
  BindingCause cause;    ///< the last event that it waited for

  [[nodiscard]] bool present(Member m) const { return !arrival.task(m).is_none(); }
  [[nodiscard]] bool complete() const { return arrival.arrived() == members(); }
  [[nodiscard]] const RoundProgress* round(std::uint32_t index) const {
    for (const RoundProgress& round : transfer.rounds) {
      if (round.index == index) return &round;
    }
    return nullptr;
  }
};

/// The link of a pair. REQUIRES: `links` ascend by pair and contain it. In a ring, and in most plans with one destination a
/// member, the link of a member is at the index of the member, which is tried first.
template <class L>
[[nodiscard]] L& find_link(std::vector<L>& links, MemberPair pair) {
  if (pair.first < links.size() && links[pair.first].pair == pair) return links[pair.first];
  return *std::lower_bound(links.begin(), links.end(), pair, [](const L& link, MemberPair p) { return link.pair < p; });
}

}  // namespace photonrail::execution
