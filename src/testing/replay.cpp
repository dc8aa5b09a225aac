#include "photonrail/testing/replay.hpp"

#include "core/counted.hpp"
#include "photonrail/core/random.hpp"
#include "testing/promise.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::testing {

namespace {

std::string describe_send(SendIndex i, const Send& send) {
  return "send " + std::to_string(i) + " (" + std::to_string(send.from) + " to " + std::to_string(send.to) + ", chunk " +
         std::to_string(send.first_chunk) + (send.chunks > 1 ? " and more" : "") + ")";
}

/// The contributors to each chunk at each member, as sets of members.
class Ledger {
 public:
  Ledger(Member members, std::uint32_t chunks, const Promise& promise, bool barrier)
      : members_(members), chunks_(chunks), words_((members + 63) / 64), barrier_(barrier) {
    sets_.resize(std::size_t{members} * chunks * words_);
    for (Member m = 0; m < members; ++m) {
      for (std::uint32_t c = 0; c < chunks; ++c) {
        const Member from = promise.contributor(m, c);
        if (promise.starts_with(m, c)) at(m, c)[from / 64] |= std::uint64_t{1} << (from % 64);
      }
    }
  }

  /// Loads what the sender has now of the data of the send.
  void load(SendIndex i, const Send& send, std::span<const ChunkRun> data, std::vector<std::uint64_t>& payload) {
    payload.clear();
    for (const ChunkRun& run : data) {
      const auto* first = at(send.from, run.first);
      payload.insert(payload.end(), first, first + std::size_t{run.count} * words_);
    }
    for (auto chunk = payload.begin(); chunk != payload.end(); chunk += words_) {
      const bool empty = std::all_of(chunk, chunk + words_, [](std::uint64_t word) { return word == 0; });
      if (empty) fail(describe_send(i, send) + " leaves before its sender has the data");
    }
  }

  /// A barrier's token may count a member twice, because it is a set and not a sum.
  void store(SendIndex i, const Send& send, std::span<const ChunkRun> data, const std::vector<std::uint64_t>& payload) {
    const auto* word = payload.data();
    for (const ChunkRun& run : data) {
      auto* receiver = at(send.to, run.first);
      for (std::size_t w = 0; w < std::size_t{run.count} * words_; ++w, ++word) {
        if (send.reduce && (receiver[w] & *word) != 0 && !barrier_)
          fail(describe_send(i, send) + " adds a contribution that is in already");
        receiver[w] = send.reduce ? receiver[w] | *word : *word;
      }
    }
  }

  void check_end(const Promise& promise) {
    for (Member m = 0; m < members_; ++m) {
      for (std::uint32_t c = 0; c < chunks_; ++c) {
        if (promise.ends_with(m, c)) check_end(promise, m, c);
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t* at(Member member, std::uint32_t chunk) {
    return sets_.data() + (std::size_t{member} * chunks_ + chunk) * words_;
  }

  void check_end(const Promise& promise, Member member, std::uint32_t chunk) {
    for (Member m = 0; m < members_; ++m) {
      const bool has = (at(member, chunk)[m / 64] >> (m % 64) & 1) != 0;
      const bool wanted = promise.reduces() || m == promise.owner(chunk);
      if (has != wanted)
        fail("in the end member " + std::to_string(member) + (has ? " has" : " lacks") + " the contribution of " +
             std::to_string(m) + " in chunk " + std::to_string(chunk));
    }
  }

  Member members_;
  std::uint32_t chunks_;
  std::size_t words_;
  bool barrier_;
  std::vector<std::uint64_t> sets_;
};

/// The plan copied out, with the sends of each round and member counted.
class Shape {
 public:
  Shape(const Promise& promise, Member members, const SendPlan& plan)
      : promise_(promise), plan_(plan), members_(plan.members()), sends_(plan.send_count()) {
    if (members_ != members) fail("members() is " + count(members_, members));
    if (plan.rounds() == 0) fail("a plan needs a round");
    if (plan.initial_sends() > sends_.size()) fail("initial_sends is more than send_count");
    leaving_.resize(std::size_t{plan.rounds()} * members_);
    reaching_.resize(leaving_.size());
    for (SendIndex i = 0; i < sends_.size(); ++i) read(i);
    check_parts();
    check_waits();
    check_rounds();
    check_critical();
  }

  [[nodiscard]] const std::vector<Send>& sends() const { return sends_; }
  [[nodiscard]] std::span<const SendIndex> released(SendIndex arrived) const {
    return std::span(released_).subspan(first_released_[arrived], first_released_[arrived + 1] - first_released_[arrived]);
  }
  [[nodiscard]] std::span<const ChunkRun> data(SendIndex i) const {
    return std::span(data_).subspan(first_data_[i], first_data_[i + 1] - first_data_[i]);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& waits() const { return waits_; }
  [[nodiscard]] std::vector<std::uint32_t> traffic() const {
    std::vector<std::uint32_t> sum = leaving_;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += reaching_[i];
    return sum;
  }

 private:
  [[nodiscard]] std::size_t cell(Member member, std::uint32_t round) const {
    return std::size_t{round} * members_ + member;
  }

  void read(SendIndex i) {
    const Send send = sends_[i] = plan_.send(i);
    if (send.from >= members_ || send.to >= members_ || send.from == send.to)
      fail(describe_send(i, send) + ": no such pair");
    if (send.round >= plan_.rounds()) fail(describe_send(i, send) + ": no such round");
    plan_.data(i, data_);
    first_data_.push_back(data_.size());
    if (data(i).empty() || data(i)[0].first != send.first_chunk || data(i)[0].count != send.chunks)
      fail(describe_send(i, send) + ": its data does not begin with the chunks that it names");
    Bytes bytes{};
    for (const ChunkRun& run : data(i)) {
      if (run.count == 0 || std::uint64_t{run.first} + run.count > plan_.chunk_count())
        fail(describe_send(i, send) + ": no such chunk");
      for (std::uint32_t c = 0; c < run.count; ++c) bytes += promise_.bytes(run.first + c);
    }
    const bool may_be_part = promise_.travels_in_parts() && send.chunks == 1 && send.bytes < bytes;
    if (may_be_part) parts_[{send.from, send.to, send.first_chunk}] += send.bytes;
    if (send.bytes != bytes && !may_be_part)
      fail(describe_send(i, send) + " carries " + count(send.bytes.count, bytes.count) + " bytes");
    ++leaving_[cell(send.from, send.round)];
    ++reaching_[cell(send.to, send.round)];
    plan_.released_by(i, released_);
    first_released_.push_back(released_.size());
    for (const SendIndex next : released(i)) {
      if (next >= sends_.size()) fail(describe_send(i, send) + " releases a send that does not exist");
    }
  }

  /// Sends of one pair that share a chunk carry all of it.
  void check_parts() const {
    for (const auto& [part, bytes] : parts_) {
      const std::uint32_t chunk = std::get<2>(part);
      const Bytes whole = promise_.bytes(chunk);
      if (bytes != whole)
        fail("chunk " + std::to_string(chunk) + " travels as " + count(bytes.count, whole.count) + " bytes");
    }
  }

  void check_waits() {
    waits_.resize(sends_.size());
    Bytes wire{};
    for (SendIndex i = 0; i < sends_.size(); ++i) {
      wire += sends_[i].bytes;
      for (const SendIndex next : released(i)) {
        ++waits_[next];
        if (sends_[next].round < sends_[i].round) fail(describe_send(next, sends_[next]) + " goes back a round");
      }
    }
    std::uint32_t most = 0;
    for (SendIndex i = 0; i < sends_.size(); ++i) {
      most = std::max(most, waits_[i]);
      if (plan_.waits_for(i) != waits_[i])
        fail(describe_send(i, sends_[i]) + ": waits_for is " + count(plan_.waits_for(i), waits_[i]));
      if ((waits_[i] == 0) != (i < plan_.initial_sends()))
        fail(describe_send(i, sends_[i]) + ": the sends that wait for nothing must be [0, initial_sends())");
    }
    if (plan_.most_waits() != most) fail("most_waits is " + count(plan_.most_waits(), most));
    if (plan_.wire_bytes() != wire) fail("wire_bytes is " + count(plan_.wire_bytes().count, wire.count));
  }

  void check_rounds() const {
    std::vector<std::vector<MemberPair>> used(plan_.rounds());
    for (const Send& send : sends_) used[send.round].emplace_back(send.from, send.to);
    for (std::uint32_t round = 0; round < plan_.rounds(); ++round) {
      const std::string where = "round " + std::to_string(round) + ": ";
      std::sort(used[round].begin(), used[round].end());
      used[round].erase(std::unique(used[round].begin(), used[round].end()), used[round].end());
      if (plan_.pairs(round) != used[round]) fail(where + "pairs() are not the pairs of its sends, ascending");
      for (Member m = 0; m < members_; ++m) {
        const std::uint32_t from = leaving_[cell(m, round)];
        const std::uint32_t to = reaching_[cell(m, round)];
        if (plan_.sends_from(m, round) != from) fail(where + "sends_from is " + count(plan_.sends_from(m, round), from));
        if (plan_.sends_to(m, round) != to) fail(where + "sends_to is " + count(plan_.sends_to(m, round), to));
      }
    }
  }

  /// The longest chain, by peeling off sends that wait for nothing more. A cycle is never peeled off.
  void check_critical() const {
    std::vector<std::uint32_t> left = waits_;
    std::vector<std::uint32_t> depth(sends_.size(), 1);
    std::vector<SendIndex> order(plan_.initial_sends());
    for (SendIndex i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t at = 0; at < order.size(); ++at) {
      for (const SendIndex next : released(order[at])) {
        depth[next] = std::max(depth[next], depth[order[at]] + 1);
        if (--left[next] == 0) order.push_back(next);
      }
    }
    if (order.size() != sends_.size()) fail("some sends wait for each other in a circle");
    const std::uint32_t longest = sends_.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
    if (plan_.critical_sends() != longest) fail("critical_sends is " + count(plan_.critical_sends(), longest));
  }

  const Promise& promise_;
  const SendPlan& plan_;
  Member members_;
  std::vector<Send> sends_;
  std::map<std::tuple<Member, Member, std::uint32_t>, Bytes>
      parts_;                        ///< of chunks that travel in parts: sender, receiver, chunk
  std::vector<SendIndex> released_;  ///< by send j: released_[first_released_[j]] .. released_[first_released_[j + 1] - 1]
  std::vector<std::size_t> first_released_{0};
  std::vector<ChunkRun> data_;  ///< of send i: data_[first_data_[i]] .. data_[first_data_[i + 1] - 1]
  std::vector<std::size_t> first_data_{0};
  std::vector<std::uint32_t> waits_;
  std::vector<std::uint32_t> leaving_;   ///< by (round, member)
  std::vector<std::uint32_t> reaching_;  ///< by (round, member)
};

/// Moves messages, one at a time on each pair.
class Player {
 public:
  Player(const Shape& shape, Ledger& ledger, Member members, const ReplayOptions& options)
      : shape_(shape),
        ledger_(ledger),
        members_(members),
        options_(options),
        random_(options.seed, "replay"),
        waits_(shape.waits()),
        traffic_(shape.traffic()),
        round_of_(members),
        released_round_(members) {
    for (const Send& send : shape.sends()) pairs_.emplace_back(send.from, send.to);
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    lanes_.resize(pairs_.size());
    payloads_.resize(shape.sends().size());
    for (Member m = 0; m < members; ++m) enter_rounds(m);
  }

  /// Returns how many sends arrived.
  std::uint64_t play() {
    for (SendIndex i = 0; i < shape_.sends().size() && waits_[i] == 0; ++i) release(i);
    while (!busy_.empty()) step(pick());
    if (arrived_ != shape_.sends().size())
      fail(core::counted(shape_.sends().size() - arrived_, "send") + " would never leave");
    return arrived_;
  }

 private:
  struct Lane {
    std::deque<SendIndex> queue;  ///< the front is in flight, if any is
    bool in_flight = false;
  };

  void release(SendIndex i) {
    const Send& send = shape_.sends()[i];
    if (send.round < released_round_[send.from])
      fail(describe_send(i, send) + " is released after a send of the same member in a later round");
    released_round_[send.from] = send.round;
    ledger_.load(i, send, shape_.data(i), payloads_[i]);
    const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), MemberPair{send.from, send.to});
    const auto lane = static_cast<std::size_t>(found - pairs_.begin());
    lanes_[lane].queue.push_back(i);
    if (lanes_[lane].queue.size() == 1) next_departure(lane);
  }

  /// Sends the front of the lane on its way, or lets chance say when.
  void next_departure(std::size_t lane) {
    if (options_.order == ArrivalOrder::kRandom) {
      busy_.push_back(lane);
    } else {
      depart(lane);
    }
  }

  void depart(std::size_t lane) {
    const SendIndex i = lanes_[lane].queue.front();
    const Send& send = shape_.sends()[i];
    if (options_.by_rounds && (send.round > round_of_[send.from] || send.round > round_of_[send.to])) {
      held_.push_back(lane);
      return;
    }
    lanes_[lane].in_flight = true;
    busy_.push_back(lane);
  }

  void step(std::size_t lane) {
    if (!lanes_[lane].in_flight) return depart(lane);
    const SendIndex i = lanes_[lane].queue.front();
    const Send& send = shape_.sends()[i];
    ledger_.store(i, send, shape_.data(i), payloads_[i]);
    std::vector<std::uint64_t>().swap(payloads_[i]);
    ++arrived_;
    lanes_[lane].in_flight = false;
    lanes_[lane].queue.pop_front();
    if (!lanes_[lane].queue.empty()) next_departure(lane);

    std::vector<SendIndex> freed;
    for (const SendIndex next : shape_.released(i)) {
      if (--waits_[next] == 0) freed.push_back(next);
    }
    std::sort(freed.begin(), freed.end());
    for (const SendIndex next : freed) release(next);
    leave_round(send);
  }

  std::size_t pick() {
    if (options_.order == ArrivalOrder::kRandom) std::swap(busy_[random_.below(busy_.size())], busy_.back());
    if (options_.order == ArrivalOrder::kStarveOne && busy_.back() == options_.seed % lanes_.size()) {
      std::swap(busy_.front(), busy_.back());
    }
    const bool oldest = options_.order == ArrivalOrder::kOldestFirst;
    const std::size_t lane = oldest ? busy_.front() : busy_.back();
    if (oldest) {
      busy_.pop_front();
    } else {
      busy_.pop_back();
    }
    return lane;
  }

  void leave_round(const Send& send) {
    --traffic_[std::size_t{send.round} * members_ + send.from];
    --traffic_[std::size_t{send.round} * members_ + send.to];
    const bool moved = enter_rounds(send.from) | enter_rounds(send.to);
    if (!moved || held_.empty()) return;
    for (const std::size_t lane : std::exchange(held_, {})) depart(lane);
  }

  /// Moves the member on to the first round in which it has something left to do.
  bool enter_rounds(Member member) {
    const std::uint32_t before = round_of_[member];
    std::uint32_t& round = round_of_[member];
    while ((std::size_t{round} + 1) * members_ < traffic_.size() && traffic_[std::size_t{round} * members_ + member] == 0) {
      ++round;
    }
    return round != before;
  }

  const Shape& shape_;
  Ledger& ledger_;
  Member members_;
  ReplayOptions options_;
  RandomStream random_;
  std::vector<std::uint32_t> waits_;           ///< arrivals that each send still waits for
  std::vector<std::uint32_t> traffic_;         ///< sends and receives left, by (round, member)
  std::vector<std::uint32_t> round_of_;        ///< by member
  std::vector<std::uint32_t> released_round_;  ///< by member: of the last send that was released
  std::vector<MemberPair> pairs_;              ///< by lane, ascending
  std::vector<Lane> lanes_;
  std::vector<std::vector<std::uint64_t>> payloads_;  ///< by send, from its release to its arrival
  std::deque<std::size_t> busy_;                      ///< lanes with a message in flight, or ready to depart
  std::vector<std::size_t> held_;                     ///< lanes whose front is in a round that an end has not entered
  std::uint64_t arrived_ = 0;
};

template <class MakePromise>
ReplayReport play(Member members, const SendPlan& plan, const ReplayOptions& options, bool barrier,
                  MakePromise&& make_promise) {
  ReplayReport report;
  try {
    const Promise promise = make_promise();
    const Shape shape(promise, members, plan);
    Ledger ledger(members, plan.chunk_count(), promise, barrier);
    report.arrived = Player(shape, ledger, members, options).play();
    ledger.check_end(promise);
    report.correct = true;
  } catch (const Problem& problem) {
    report.problem = problem.text;
  }
  return report;
}

}  // namespace

ReplayReport replay(const CollectiveCall& call, const SendPlan& plan, const ReplayOptions& options) {
  return play(call.members, plan, options, call.op == CollectiveOp::kBarrier,
              [&] { return Promise(call, plan.chunk_count()); });
}

ReplayReport replay(std::span<const PlacedChunk> chunks, const SendPlan& plan, const ReplayOptions& options) {
  return play(plan.members(), plan, options, false, [&] { return Promise(chunks, plan.members(), plan.chunk_count()); });
}

}  // namespace photonrail::testing
