// The tasks of all ranks: which is ready, which runs, and the resources of a rank: one computation on the CPU, one on the
// GPU, one collective or send at a time; receives take none.
#pragma once

#include "astra/clock.hpp"
#include "astra/collectives.hpp"
#include "astra/links.hpp"
#include "photonrail/formats/astra.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace photonrail::astra {

class Tasks {
 public:
  Tasks(const AnalyticalJob& job, Clock& clock, Links& links, Collectives& collectives, RankCalls& ranks);

  void begin();
  /// A task that took time, or a collective, is over.
  void over(std::uint32_t rank, std::uint32_t task);
  /// A number that a send gave to Links::send() has arrived.
  void arrived(std::uint64_t message);
  /// Throws DeadlockError when a rank has tasks left.
  void check_finished() const;

  [[nodiscard]] const std::vector<std::uint64_t>& finish_ns() const { return finish_; }
  [[nodiscard]] std::vector<std::uint64_t> exposed_ns() const;

 private:
  struct Rank {
    std::vector<std::uint32_t> waits_for;                // by task: predecessors that are not over
    std::vector<std::vector<std::uint32_t>> successors;  // by task
    std::set<std::uint32_t> ready;
    std::set<std::uint32_t> running;
    bool cpu_busy = false;
    bool gpu_busy = false;
    bool network_busy = false;
    std::uint64_t gpu_ns = 0;
    std::size_t left = 0;
  };
  /// Source, destination, tag and bytes: what a send and its receive have in common.
  using Link = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  struct Mailbox {
    std::uint64_t arrived = 0;
    std::deque<std::uint32_t> receives;
  };
  struct Sent {
    Link link;
    std::uint32_t task = 0;
  };

  [[nodiscard]] const AnalyticalTask& task_of(std::uint32_t rank, std::uint32_t task) const {
    return job_.ranks[rank][task];
  }
  [[nodiscard]] bool* resource(Rank& rank, const AnalyticalTask& task) const;
  void issue_ready(std::uint32_t rank);
  bool issue(std::uint32_t rank, std::uint32_t task);
  bool compute(std::uint32_t rank, std::uint32_t task);
  void take_time(std::uint32_t rank, std::uint32_t task, std::uint64_t nanoseconds);
  void send(std::uint32_t rank, std::uint32_t task);
  void receive(std::uint32_t rank, std::uint32_t task);
  void received_now(std::uint64_t rank_and_task);
  void finish(std::uint32_t rank, std::uint32_t task);
  void end(std::uint32_t rank, std::uint32_t task);
  [[nodiscard]] std::string waits_for(std::uint32_t rank, std::uint32_t task) const;

  const AnalyticalJob& job_;
  Clock& clock_;
  Links& links_;
  Collectives& collectives_;
  RankCalls& rank_calls_;
  std::vector<Rank> ranks_;
  std::vector<std::uint64_t> finish_;
  std::map<Link, Mailbox> mailboxes_;
  std::vector<Sent> sent_;
  std::vector<std::uint64_t> unused_;  // places in sent_
};

}  // namespace photonrail::astra
