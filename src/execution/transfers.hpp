// Runs the send plans of operations: posts sends when what they wait for has arrived and their round's circuits are held,
// follows deliveries, says when a member is done.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/engine.hpp"
#include "execution/operation.hpp"
#include "execution/gpu_pool.hpp"
#include "execution/proxy_queue.hpp"
#include "execution/time_accounting.hpp"
#include "execution/straggler_injector.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace photonrail {

/// A message's tag: the operation's number above the send's.
inline constexpr int kTagOpShift = 32;

/// Sends of one pair that wait for its circuits.
struct Parked {
  std::uint32_t sends = 0;
  Bytes bytes{};
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  /// All sends and receives of the member are done. After the last member the operation is retired by the listener.
  virtual void member_done(OpId op, Member member) = 0;
  /// A member reached a round after the first.
  virtual void round_reached(OpId op, std::uint32_t round, Member member) = 0;
  /// The round's circuits are held, or they were wanted and are not lit. `idle`: how long the member that waited most had
  /// nothing else to do meanwhile; nullopt when nobody had to wait.
  virtual void round_opened(OpId op, std::uint32_t round, std::optional<Duration> idle) = 0;
  virtual void round_blocked(OpId op, std::uint32_t round) = 0;
  /// Pair by pair: the round goes on, with whatever circuits there are; a send that finds none waits; circuits were found
  /// for those of a pair. `idle`: as round_opened(). A member begins or ends to have nothing but sends that wait.
  virtual void round_opened_by_pair(OpId op, std::uint32_t round) = 0;
  virtual void pair_waits(OpId op, std::uint32_t round, MemberPair pair, Bytes bytes) = 0;
  virtual void pair_served(OpId op, std::uint32_t round, MemberPair pair, const Parked& parked, Duration idle) = 0;
  virtual void member_waits(OpId op, Member member, bool waits) = 0;
  /// The circuits of an operation that waited may be lit: whether it has what else it needs.
  virtual bool may_open(OpId op) = 0;
  /// Circuits were given back.
  virtual void circuits_released(RailId rail, OpId op) = 0;
};

class Transfers : public DeliveryListener, private ProxyListener {
 public:
  /// All must outlive the object.
  Transfers(Engine& engine, Fabric& fabric, OperationTable& operations, TimeAccounting& recorder, const StragglerInjector& straggling)
      : engine_(engine),
        fabric_(fabric),
        operations_(operations),
        recorder_(recorder),
        processors_(engine, fabric, recorder, straggling, *this),
        proxies_(engine, *this) {}

  /// Who is told of progress. It must outlive the object.
  void attach(TransferListener& listener) { listener_ = &listener; }

  /// Sends over circuits wait for those of their own pair only (PolicyNeeds::per_pair).
  void serve_by_pair() { by_pair_ = true; }

  /// Every member that the plan needs has arrived and the lanes are the operation's: sends go as soon as circuits allow.
  void start(OpId id);
  /// A member that the plan started without has arrived.
  void join(OpId id, Member member);
  /// Circuits may have become available: holds them and goes on, if all of them are lit. REQUIRES: the round waits.
  bool try_open(OpId id, std::uint32_t round);
  /// The same, for each pair on its own.
  void try_pairs(OpId id, std::uint32_t round);
  /// How many operations have something on its way.
  [[nodiscard]] std::uint32_t running() const { return running_; }
  /// The network delivered a message posted here, or a local step is over.
  void delivered(std::uint64_t tag) override;

 private:
  [[nodiscard]] Round& enter_round(Operation& op, std::uint32_t index);
  void reach(OpId id, Operation& op, std::uint32_t round, Member member);
  void advance(OpId id, Operation& op, Member member, std::uint32_t after);
  void begin_waiting(Operation& op, Round& round);
  [[nodiscard]] bool hold_circuits(OpId id, Operation& op, Round& round);
  void open(OpId id, Operation& op, Round& round);
  void start_rounds(OpId id, Operation& op);
  void enter_first(OpId id, Operation& op, Member member);
  void rest(Operation& op);
  void open_pending(std::uint64_t);
  void open_by_pair(OpId id, Operation& op, Round& round);
  void offer(OpId id, Operation& op, const Send& send, std::uint64_t tag);
  void hold_pair(OpId id, Operation& op, Round& round, Link& link);
  void try_offered(std::uint64_t);
  void leave_pair(OpId id, Operation& op, Round& round, const Send& send);
  enum class Count : std::uint8_t { kMoving, kLacking };
  void count(OpId id, Operation& op, Round& round, MemberPair pair, Count which, std::int32_t change);
  void make_links(Operation& op);
  void release(OpId id, Operation& op, SendIndex send);
  void post(OpId id, Operation& op, SendIndex i);
  void leave(Operation& op, const Send& send, std::uint64_t tag);
  void begin_step(Operation& op, const Send& send, std::uint64_t tag);
  void launch(std::uint64_t tag) override;
  void fenced(std::uint64_t tag) override { delivered(tag); }
  void finish_send(OpId id, Operation& op, Round& round, const Send& send);
  void finish_work(OpId id, Operation& op, Member member);
  void complete_all(OpId id, Operation& op);
  [[nodiscard]] Path path_of(const Operation& op, MemberPair pair) const;
  void add_steps(const Operation& op, Path& path) const;
  [[nodiscard]] static Link& find(std::vector<Link>& links, Member from, Member to);

  Engine& engine_;
  Fabric& fabric_;
  OperationTable& operations_;
  TimeAccounting& recorder_;
  GpuPool processors_;
  ProxyQueues proxies_;
  TransferListener* listener_ = nullptr;
  bool by_pair_ = false;
  std::uint32_t running_ = 0;
  std::vector<std::pair<OpId, std::uint32_t>> to_open_;
  std::vector<std::pair<OpId, std::uint32_t>> offered_;  // rounds with sends to be tried at this instant
  std::vector<SendIndex> released_;
};

}  // namespace photonrail
