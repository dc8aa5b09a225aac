// Rings over servers, one on each rail, or one over all ranks. Weights enter the ring at the last stop before those who
// need them that holds them, and travel until the last of these has them. One set of circuits serves the whole refit.
#include "collective/refit/writers.hpp"
#include "collective/steps.hpp"
#include "photonrail/error.hpp"

#include <limits>
#include <map>
#include <utility>

namespace photonrail::collective {

namespace {

/// Where a shard enters the ring, and over how many hops it goes.
struct Journey {
  std::uint32_t entry = 0;
  std::uint32_t hops = 0;

  friend auto operator<=>(const Journey&, const Journey&) = default;
};

class RefitRing {
 public:
  RefitRing(std::vector<WeightShard> shards, const std::vector<std::vector<Member>>& stops, std::uint32_t rails,
            Bytes piece)
      : stops_(stops), rails_(rails), piece_(piece) {
    refit_.shards = std::move(shards);
    for (std::uint32_t s = 0; s < stops.size(); ++s) {
      for (const Member m : stops[s]) stop_of_[m] = s;
    }
  }

  [[nodiscard]] RefitPlan build() && {
    cut();
    SendPlanBuilder plan(static_cast<Member>(stop_of_.size()), static_cast<std::uint32_t>(refit_.chunks.size()));
    for (const Message& message : messages_) send(plan, message);
    refit_.plan = std::move(plan).build();
    return std::move(refit_);
  }

 private:
  /// Consecutive chunks that make one journey on one rail together.
  struct Message {
    Journey journey;
    std::uint32_t rail = 0;
    ChunkRun run{};
  };

  [[nodiscard]] Journey journey(const WeightShard& shard) const {
    const auto n = static_cast<std::uint32_t>(stops_.size());
    Journey best{0, std::numeric_limits<std::uint32_t>::max()};
    std::uint32_t tried = n;
    for (const Member holder : shard.holders) {
      const std::uint32_t entry = stop_of_.at(holder);
      if (entry == tried) continue;
      tried = entry;
      std::uint32_t hops = 0;
      for (const Member needer : shard.needers) {
        if (!holds(shard, needer)) hops = std::max(hops, (stop_of_.at(needer) + n - entry) % n);
      }
      if (hops < best.hops) best = {entry, hops};
    }
    return best;
  }

  // Shards that make the same journey follow each other in messages of a piece.
  void cut() {
    std::map<Journey, std::vector<std::size_t>> together;
    for (std::size_t s = 0; s < refit_.shards.size(); ++s) together[journey(refit_.shards[s])].push_back(s);
    for (const auto& [way, shards] : together) {
      for (std::uint32_t rail = 0; rail < rails_; ++rail) {
        Bytes filled = piece_;
        for (const std::size_t s : shards) {
          const Bytes part = share(refit_.shards[s].bytes, rails_, rail);
          const std::uint64_t pieces = pieces_of(part, piece_);
          for (std::uint64_t p = 0; p < pieces; ++p) add_chunk(way, rail, share(part, pieces, p), s, filled);
        }
      }
    }
  }

  void add_chunk(const Journey& way, std::uint32_t rail, Bytes bytes, std::size_t shard, Bytes& filled) {
    if (bytes == Bytes{}) return;
    if (filled + bytes > piece_) {
      messages_.push_back({way, rail, {static_cast<std::uint32_t>(refit_.chunks.size()), 0}});
      filled = {};
    }
    refit_.chunks.push_back({bytes, shard});
    ++messages_.back().run.count;
    filled += bytes;
  }

  [[nodiscard]] Member port(std::uint32_t stop, std::uint32_t rail) const {
    return stops_[stop][rail % stops_[stop].size()];
  }

  SendIndex add(SendPlanBuilder& plan, Member from, Member to, const std::vector<ChunkRun>& runs,
                const std::vector<SendIndex>& after) {
    Bytes bytes{};
    for (const ChunkRun& run : runs) {
      for (std::uint32_t c = run.first; c < run.first + run.count; ++c) bytes += refit_.chunks[c].bytes;
    }
    const Send send{.from = from, .to = to, .bytes = bytes, .first_chunk = runs[0].first, .chunks = runs[0].count};
    return plan.add(send, after, {runs.begin() + 1, runs.end()});
  }

  /// The chunks of the message by the member that `member_of(shard)` names, without those for which it is `none`.
  template <class MemberOf>
  [[nodiscard]] std::map<Member, std::vector<ChunkRun>> sorted(const Message& message, Member none,
                                                               MemberOf&& member_of) const {
    std::map<Member, std::vector<ChunkRun>> runs;
    for (std::uint32_t c = message.run.first; c < message.run.first + message.run.count; ++c) {
      const Member member = member_of(refit_.shards[refit_.chunks[c].shard]);
      if (member != none) append_chunk(runs[member], c);
    }
    return runs;
  }

  // From the holders of the first stop to its port, from port to port, and in each stop to those who need it.
  void send(SendPlanBuilder& plan, const Message& message) {
    const std::uint32_t entry = message.journey.entry;
    const Member first = port(entry, message.rail);
    std::vector<SendIndex> here;
    const auto holder_here = [&](const WeightShard& shard) {
      if (holds(shard, first)) return first;
      for (const Member m : stops_[entry]) {
        if (holds(shard, m)) return m;
      }
      PHOTONRAIL_CHECK(false);
      return first;
    };
    const bool leaves = message.journey.hops > 0 || needed_in(message, entry);
    for (const auto& [holder, runs] : sorted(message, first, holder_here)) {
      if (leaves) here.push_back(add(plan, holder, first, runs, {}));
    }
    deliver(plan, message, entry, here);
    for (std::uint32_t hop = 0; hop < message.journey.hops; ++hop) {
      const auto n = static_cast<std::uint32_t>(stops_.size());
      const std::uint32_t to = (entry + hop + 1) % n;
      here = {add(plan, port((entry + hop) % n, message.rail), port(to, message.rail), {message.run}, here)};
      deliver(plan, message, to, here);
    }
  }

  [[nodiscard]] bool wants(const WeightShard& shard, Member m) const {
    return !holds(shard, m) && std::binary_search(shard.needers.begin(), shard.needers.end(), m);
  }
  [[nodiscard]] bool needed_in(const Message& message, std::uint32_t stop) const {
    for (std::uint32_t c = message.run.first; c < message.run.first + message.run.count; ++c) {
      for (const Member m : stops_[stop]) {
        if (wants(refit_.shards[refit_.chunks[c].shard], m)) return true;
      }
    }
    return false;
  }
  void deliver(SendPlanBuilder& plan, const Message& message, std::uint32_t stop, const std::vector<SendIndex>& here) {
    const Member from = port(stop, message.rail);
    for (const Member m : stops_[stop]) {
      if (m == from) continue;
      const auto runs = sorted(message, from, [&](const WeightShard& shard) { return wants(shard, m) ? m : from; });
      for (const auto& [to, chunks] : runs) add(plan, from, to, chunks, here);
    }
  }

  const std::vector<std::vector<Member>>& stops_;
  std::uint32_t rails_;
  Bytes piece_;
  std::map<Member, std::uint32_t> stop_of_;
  std::vector<Message> messages_;
  RefitPlan refit_;
};

}  // namespace

RefitPlan plan_refit_ring(std::vector<WeightShard> shards, const std::vector<std::vector<Member>>& stops,
                          std::uint32_t rails, Bytes piece) {
  return RefitRing(std::move(shards), stops, rails, piece).build();
}

}  // namespace photonrail::collective
