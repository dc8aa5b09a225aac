// The collectives in progress: chunks, the queues of dimensions that they go through, and messages between members.
#pragma once

#include "astra/chunk.hpp"
#include "astra/clock.hpp"
#include "astra/links.hpp"
#include "photonrail/formats/astra.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace photonrail::astra {

/// Something that a rank does a while later: with a chunk, or, where there is none, the end of a task.
struct RankEvent {
  Chunk* chunk = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t task = 0;
  bool reduce = false;
  bool over = false;  ///< the chunk's phase, whose messages were not simulated one by one
};

/// Set in the number of every message of a collective.
inline constexpr std::uint64_t kOfACollective = std::uint64_t{1} << 63;

/// The machine as the collectives see it.
class RankCalls {
 public:
  RankCalls() = default;
  RankCalls(const RankCalls&) = delete;
  RankCalls& operator=(const RankCalls&) = delete;
  virtual ~RankCalls() = default;

  virtual void after(std::uint32_t rank, std::uint64_t nanoseconds, const RankEvent& event) = 0;
  /// Every chunk of the task's collective is done on this rank.
  virtual void collective_over(std::uint32_t rank, std::uint32_t task) = 0;
};

class Collectives final : public ChunkActions {
 public:
  /// All must outlive this. A job with one rank on a network of several is folded: what the rank sends, it receives from
  /// the member at the same distance on the other side. REQUIRES, then: all ranks are alike, no trees, and no link with
  /// congestion that several share. `repeat`: of chunks of equal size the first alone is simulated message by message, and
  /// the others take as long; only where all_chunks_alike().
  Collectives(const AnalyticalJob& job, Clock& clock, Links& links, RankCalls& ranks, bool repeat);

  /// False when the collective has nothing to do: no dimension of several members takes part.
  [[nodiscard]] bool begin(std::uint32_t rank, std::uint32_t task);
  /// A number that begin() or a phase gave to Links::send() has arrived.
  void arrived(std::uint64_t message);
  void handled(const RankEvent& event);
  /// Messages of chunks that took as long as an earlier one.
  [[nodiscard]] std::uint64_t repeated_messages() const { return folding_.repeated_messages; }
  /// Returns what a rank that is in the collective of `task` waits for, for people.
  [[nodiscard]] std::string waits_for(std::uint32_t rank, std::uint32_t task) const;

  void handle(Chunk& chunk, bool reduce, std::uint64_t bytes) override;
  void send(Chunk& chunk, std::uint32_t to, std::uint32_t source, std::uint64_t bytes) override;
  void expect(Chunk& chunk, std::uint32_t source) override;
  void finish(Chunk& chunk) override;

 private:
  struct Call {
    std::uint32_t task = 0;
    std::uint32_t chunks_left = 0;
  };
  struct Queue {
    std::deque<Chunk*> chunks;  // those that have started first, then by descending priority
    std::uint32_t started = 0;
  };
  struct Members {
    Topology topology;  // of each operation, made when it is first needed
    std::uint32_t count = 0;
    bool subset = false;
  };

  /// Holds what is simulated once in place of many times.
  struct Folding {
    bool of_ranks = false;   // the job has one rank, which stands for all
    bool of_chunks = false;  // the first chunk of each size stands for the others
    std::uint64_t repeated_messages = 0;
    std::map<std::pair<CollectiveOp, std::uint64_t>, std::uint64_t> duration{};  // of a chunk with so many bytes, ns
  };

  [[nodiscard]] const Members& members_of(std::uint32_t group, CollectiveOp op);
  [[nodiscard]] std::uint32_t member_index(std::uint32_t group, std::uint32_t rank) const;
  CollectiveInstance& join(std::uint32_t rank, const AnalyticalTask& task, std::uint64_t bytes);
  std::unique_ptr<CollectiveInstance> make_instance(const AnalyticalTask& task, std::uint64_t bytes);
  [[nodiscard]] std::int64_t next_priority(std::uint32_t rank, const AnalyticalTask& task);
  [[nodiscard]] Queue& queue_of(std::uint32_t rank, std::uint32_t dimension);
  void begin_phase(Chunk& chunk);
  void put_in_queue(Chunk& chunk, Queue& queue);
  void start_next(Queue& queue);
  [[nodiscard]] bool repeats(Chunk& chunk);
  void leave(Chunk& chunk);
  void over_on_rank(Chunk& chunk);
  void receive_now(std::uint64_t message);
  [[nodiscard]] Chunk& receiver(std::uint64_t message, std::uint32_t& phase, std::uint32_t& source);

  const AnalyticalJob& job_;
  Clock& clock_;
  Links& links_;
  RankCalls& ranks_;
  std::uint32_t rank_count_;
  Folding folding_;
  std::unordered_map<std::uint64_t, Members> members_;            // by group and operation
  std::unordered_map<std::uint64_t, std::uint32_t> next_number_;  // by rank and group: of the next chunk
  std::unordered_map<std::uint64_t, std::uint32_t> by_number_;    // by group and number: place in instances_
  std::vector<std::unique_ptr<CollectiveInstance>> instances_;
  std::vector<std::uint32_t> unused_;                  // places in instances_
  std::vector<std::vector<Call>> calls_;               // by rank
  std::vector<std::int64_t> collectives_;              // by rank: begun
  std::vector<Queue> queues_;                          // by rank and dimension
  std::unordered_map<std::uint64_t, bool> next_tree_;  // by operation and dimension: which tree is next
};

/// Returns true when chunks of equal size of a collective take equally long, whatever else goes on: one phase, links that
/// know no congestion, and tasks one after another, so that no other collective is in progress. REQUIRES: the job is
/// folded.
[[nodiscard]] bool all_chunks_alike(const AnalyticalJob& job, AnalyticalBackend backend);

}  // namespace photonrail::astra
