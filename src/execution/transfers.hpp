// Runs the send plans of operations: posts a send when the sends that it waits for have arrived, and notifies the listener
// when all sends and receives of a member are done. Sends over circuits go through the CircuitService, all others directly
// to the network.
#pragma once

#include "execution/capacity_loads.hpp"
#include "execution/circuit_service.hpp"
#include "execution/gpu_pool.hpp"
#include "execution/plan_ways.hpp"
#include "execution/proxy_queue.hpp"
#include "execution/run_context.hpp"
#include "fabric/fabric.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail::execution {

/// Notified when a member is done; implemented by Executor.
class MemberListener {
 public:
  virtual ~MemberListener() = default;
  /// All sends and receives of the member are done. After the last member the listener retires the operation.
  virtual void member_done(OpId op, Member member) = 0;
  /// All members are done at one instant, and none was before. False: the listener wants to be told of each, and did
  /// nothing.
  [[nodiscard]] virtual bool all_done(OpId op, const LockstepGroup& members) = 0;
  /// An operation of the rank has bytes on their way from now on, or no more.
  virtual void exchange_began(RankId rank, Dimension d) = 0;
  virtual void exchange_ended(RankId rank, Dimension d) = 0;
};

/// The only writer of TransferProgress.
class Transfers : public network::DeliveryListener, public RoundListener, private ProxyListener {
 public:
  /// All must outlive the object.
  Transfers(const RunContext& run, CircuitService& circuits, MemberListener& members);

  /// Starts an operation. Sends over circuits are posted when their round opens. REQUIRES: every member that the plan needs
  /// has arrived and holds its lane.
  void start(OpId id);
  /// Adds a member that has arrived after the start of the operation.
  void join(OpId id, Member member);
  /// The network delivered a message of an operation, or a local step ended.
  void delivered(std::uint64_t tag) override;
  void delivered_together(std::uint64_t tag, std::uint32_t messages) override;
  void round_opened(OpId id, std::uint32_t round) override;

  [[nodiscard]] const CapacityLoads& loads() const { return loads_; }

 private:
  [[nodiscard]] RoundProgress& enter_round(Operation& op, std::uint32_t index);
  void reach(OpId id, Operation& op, std::uint32_t round, Member member);
  void advance(OpId id, Operation& op, Member member, std::uint32_t after);
  void start_rounds(OpId id, Operation& op);
  void enter_first(OpId id, Operation& op, Member member);
  void rest(Operation& op);
  void make_links(Operation& op);
  void release(OpId id, Operation& op, SendIndex arrived);
  void post(OpId id, Operation& op, SendIndex i);
  void post_initial(OpId id, Operation& op);
  void leave(Operation& op, const Send& send, std::uint64_t tag);
  void begin_step(Operation& op, const Send& send, std::uint64_t tag);
  void launch(std::uint64_t tag) override;
  void fenced(std::uint64_t tag) override { delivered(tag); }
  void finish_send(OpId id, Operation& op, RoundProgress& round, const Send& send);
  void began(const Operation& op, Member member);
  void ended(const Operation& op, Member member);
  void finish_work(OpId id, Operation& op, Member member);
  void complete_all(OpId id, Operation& op);

  RunContext run_;
  CircuitService& circuits_;
  MemberListener& members_;
  GpuPool gpus_;
  ProxyQueues proxies_;
  CapacityLoads loads_;
  PlanWays ways_;
  std::uint32_t running_ = 0;        // operations with bytes in flight
  std::vector<SendIndex> released_;  // scratch
};

/// Finds the path of an operation's sends between two members, whose crossing of a rail is known; of a `first` one, which
/// waits for no other, with the launch of the operation (ScaleUpSpec::lines). REQUIRES: there is one now.
[[nodiscard]] network::Path path_of(fabric::Fabric& fabric, const Operation& op, MemberPair pair,
                                    const std::optional<fabric::RailCrossing>& crossing, bool first = false);
/// The same with its crossing. REQUIRES: the operation waits for no circuits.
[[nodiscard]] fabric::Way way_of(fabric::Fabric& fabric, const Operation& op, MemberPair pair, bool first = false);

}  // namespace photonrail::execution
