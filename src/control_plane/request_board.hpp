// The requests of operations for the circuits of their rounds, by rail, as controllers see them.
#pragma once

#include "control_plane/control_context.hpp"
#include "control_plane/pair_queue.hpp"
#include "control_plane/rail_circuits.hpp"
#include "control_plane/request_channel.hpp"
#include "control_plane/request_list.hpp"
#include "control_plane/round_circuits.hpp"
#include "execution/critical_path.hpp"
#include "folding/order_ambiguity.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::control_plane {

/// Notified when the requests of a rail change; implemented by ControlPlane.
class RequestBoardListener {
 public:
  virtual ~RequestBoardListener() = default;
  virtual void requests_changed(RailId rail, execution::CriticalPathTag cause) = 0;
  /// Returns true when the rail's controller receives requests now: false while it restarts.
  [[nodiscard]] virtual bool hears(RailId rail) const = 0;
};

/// The least and the greatest task of the members that asked.
struct AskingTasks {
  TaskId first = TaskId::none();
  TaskId last{};

  void add(TaskId task) {
    first = std::min(first, task);
    last = std::max(last, task);
  }
};

/// An operation's request for the circuits of one round on one rail.
struct Request {
  CircuitRequest view;
  PairQueue pairs;
  std::vector<RoundView> next;  ///< later rounds, where the policy wants them; into `later`
  std::deque<RailCircuits> later;
  std::vector<Requester> requesters;
  std::vector<bool> asked;  ///< by member
  AskingTasks tasks;
  RailId rail;
  execution::OpId op = execution::kNoOp;
  std::uint32_t round = 0;
  std::uint32_t serial = 0;
  std::uint64_t listed = 0;  ///< when it came to the list in which it is, by a count of the board
  bool open = false;
  bool missed = false;          ///< for circuits that were taken away in use
  engine::EventHandle alarm{};  ///< the end of ControllerSpec::starvation
};

/// A request that lacks only circuits, and one of the pairs that must have one before it is served.
struct BlockedRequest {
  std::uint32_t slot = 0;
  ServerPair pair;  ///< of pairs that wait one by one: the first that did
};

/// Text for reports: "all_gather of group 'dp' (server 1 to 2)". `op`: the request's.
[[nodiscard]] std::string describe(const Request& request, const execution::Operation& op);

/// Opens, completes and drops requests, and keeps the views of them that controllers get.
class RequestBoard : private RequestListener {
 public:
  /// All must outlive the object. `ambiguity`: of a folded run, else null.
  RequestBoard(const ControlContext& run, const PolicyNeeds& needs, RequestChannel& channel, RequestBoardListener& listener,
               folding::OrderAmbiguity* ambiguity);

  /// What a round of the operation wants of the rails, where it is kept, or null. Valid until the next call.
  [[nodiscard]] const RoundLinks* round_links(execution::OpId op, std::uint32_t round) {
    return round_circuits_.of(run_.operations[op], round);
  }
  /// A member requests the circuits of a round. Idempotent. `task`: the task of the member.
  void ask(execution::OpId op, std::uint32_t round, Member member, TaskId task);
  /// The round lacks only its circuits.
  void block(execution::OpId op, std::uint32_t round);
  /// The round has its circuits: visits each of its requests and drops it.
  void serve(execution::OpId op, std::uint32_t round, const std::function<void(const Request&)>& visit);

  /// From now on the pairs of the round wait one by one.
  void split_by_pair(execution::OpId op, std::uint32_t round);
  /// A send between two servers waits. `first`: the member that sends.
  void pair_waits(execution::OpId op, std::uint32_t round, const fabric::RailCrossing& crossing, Bytes bytes, Member first);
  /// `sends` sends between the servers, of `bytes` together, have their circuit.
  void pair_served(execution::OpId op, std::uint32_t round, const fabric::RailCrossing& crossing, std::uint32_t sends,
                   Bytes bytes);

  /// A circuit that the operation held was taken away.
  void circuit_missed(RailId rail, execution::OpId op, ServerPair pair);
  /// That circuit is back, or no longer needed.
  void circuit_back(RailId rail, execution::OpId op, ServerPair pair);

  /// The rail's controller has lost its requests: the ranks repeat them.
  void repeat(RailId rail);
  /// Sets CircuitRequest::requester_progressed of all requests, or of those with a rank that ended a task at this instant.
  /// `last_event`: by rank.
  void mark_progress(RailId rail, const std::vector<Time>& last_event, bool all);
  /// From now on complete requests are shown in one order on all rails: by what the programs say and by when operations
  /// began to gather, and no longer by when their messages came, which rails may hear in different orders.
  /// False: they were already.
  bool use_one_order();

  /// Returns what the operations whose requests the rail heard in this instant waited for last.
  [[nodiscard]] execution::CriticalPathTag cause_of_counted(RailId rail) const;

  /// Lists the pairs that wait one by one in the views of their requests, for a controller that reads them.
  void list_pairs(RailId rail, bool read);
  /// Requests that every member has sent, and those that some members have sent.
  [[nodiscard]] const RequestList& complete(RailId rail) const { return rails_[rail.index()].complete; }
  [[nodiscard]] const RequestList& partial(RailId rail) const { return rails_[rail.index()].partial; }
  /// The rail's requests that lack only circuits.
  [[nodiscard]] const std::vector<BlockedRequest>& blocked(RailId rail) const { return rails_[rail.index()].blocked; }
  [[nodiscard]] const Request& operator[](std::uint32_t slot) const { return requests_[slot]; }

 private:
  struct OpenRequest {
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
  };
  struct RailRequests {
    RequestList complete;
    RequestList partial;
    std::vector<BlockedRequest> blocked;                           // whether or not every member's request is here
    Time counted_at{Duration{-1}};                                 // when a request was heard last
    std::vector<std::pair<std::uint32_t, std::uint32_t>> counted;  // slots and serials of those heard then
    std::vector<std::uint32_t> stale;                              // slots of requests whose views lack changes
  };

  void open_requests(execution::OpId op, std::uint32_t round);
  Request& take(execution::OpId op, std::uint32_t round, RailId rail, std::uint32_t members);
  [[nodiscard]] Request* find(execution::OpId op, std::uint32_t round, RailId rail, bool missed = false);
  void show_as_blocked(Request& request);
  void refresh(Request& request);
  void request_served(std::uint32_t slot, std::uint32_t serial, RankId from, bool by_root) override;
  void count_request(Request& request, RankId from);
  void enlist(Request& request);
  void drop(Request& request);
  void arm(Request& request, Time since);
  void starved(std::uint64_t slot);

  ControlContext run_;
  PolicyNeeds needs_;
  RequestChannel& channel_;
  RequestBoardListener& listener_;
  folding::OrderAmbiguity* ambiguity_;
  RoundCircuits round_circuits_;
  std::vector<RailRequests> rails_;
  std::deque<Request> requests_;
  std::vector<std::uint32_t> free_;
  std::vector<std::vector<OpenRequest>> open_;  // by operation
  std::uint32_t next_serial_ = 0;
  std::uint64_t listings_ = 0;
  bool one_order_ = false;
};

}  // namespace photonrail::control_plane
