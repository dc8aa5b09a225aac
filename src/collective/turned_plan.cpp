#include "collective/turned_plan.hpp"

#include "collective/uniform_plan.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::collective {

namespace {

using Entry = TurnedPlanBuilder::Entry;
using Released = TurnedPlanBuilder::Released;

/// The entries of a plan, and what each releases.
struct FirstServer {
  std::vector<Entry> entries;
  std::vector<std::size_t> first_released;  ///< by entry, and one more: into released
  std::vector<Released> released;
  std::vector<std::uint32_t> first_of_step;  ///< by step, and one more: its first entry
};

/// Sends are numbered (step, server, entry of the step). A part shows the first servers only.
class TurnedPlan final : public UniformPlan {
 public:
  TurnedPlan(const PlanTotals& totals, const ServerGrid& grid, ChunkOrder order, std::shared_ptr<const FirstServer> first)
      : UniformPlan(totals), grid_(grid), shown_(totals.members / grid.rails), order_(order), first_(std::move(first)) {
    for (const Entry& entry : first_->entries) {
      ++count(sent_, entry.round, entry.send.rail);
      ++count(received_, entry.round, entry.send.to_rail);
    }
  }

  [[nodiscard]] Send send(SendIndex i) const override {
    const Place at = place(i);
    const Entry& entry = first_->entries[at.entry];
    const ChunkRun data = first_run(entry, at.server);
    return {.from = at.server * grid_.rails + entry.send.rail,
            .to = turned(at.server, entry.send.servers_away) * grid_.rails + entry.send.to_rail,
            .bytes = entry.bytes,
            .first_chunk = data.first,
            .chunks = data.count,
            .round = entry.round,
            .reduce = entry.send.reduce};
  }
  void data(SendIndex i, std::vector<ChunkRun>& out) const override {
    const Place at = place(i);
    const Runs runs = turned_runs(first_->entries[at.entry].data, at.server);
    out.insert(out.end(), runs.begin(), runs.end());
  }
  [[nodiscard]] std::uint32_t waits_for(SendIndex i) const override { return first_->entries[place(i).entry].waits; }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    const Place at = place(arrived);
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    for (std::size_t r = first_->first_released[at.entry]; r < first_->first_released[at.entry + 1]; ++r) {
      const Released& released = first_->released[r];
      out.push_back(number(released.entry, turned(at.server, released.servers_away) % shown_));
    }
    if (!std::is_sorted(out.begin() + begin, out.end())) std::sort(out.begin() + begin, out.end());
  }

  [[nodiscard]] std::vector<MemberPair> pairs(std::uint32_t round) const override {
    std::vector<MemberPair> used;
    for (const Entry& entry : first_->entries) {
      if (entry.round != round) continue;
      for (Member server = 0; server < shown_; ++server) {
        used.emplace_back(server * grid_.rails + entry.send.rail,
                          turned(server, entry.send.servers_away) * grid_.rails + entry.send.to_rail);
      }
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
  }
  [[nodiscard]] std::uint32_t sends_from(Member member, std::uint32_t round) const override {
    return sent_[round * std::size_t{grid_.rails} + member % grid_.rails];
  }
  [[nodiscard]] std::uint32_t sends_to(Member member, std::uint32_t round) const override {
    return received_[round * std::size_t{grid_.rails} + member % grid_.rails];
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> folded(Member period) const override {
    if (period % grid_.rails != 0) return nullptr;
    return std::make_unique<TurnedPlan>(totals_.folded(period), grid_, order_, first_);
  }

 private:
  struct Place {
    std::uint32_t entry;
    Member server;
  };

  [[nodiscard]] std::uint32_t& count(std::vector<std::uint32_t>& of, std::uint32_t round, Member rail) const {
    of.resize(totals_.rounds * std::size_t{grid_.rails});
    return of[round * std::size_t{grid_.rails} + rail];
  }
  [[nodiscard]] Member turned(Member server, Member by) const {
    const Member sum = server + by;
    return sum >= grid_.servers ? sum - grid_.servers : sum;
  }

  [[nodiscard]] Place place(SendIndex i) const {
    const std::vector<std::uint32_t>& steps = first_->first_of_step;
    const auto after = std::upper_bound(steps.begin(), steps.end(), i / shown_);
    const std::uint32_t begin = *(after - 1);
    const std::uint32_t in_step = i - begin * shown_;
    const std::uint32_t size = *after - begin;
    return {begin + in_step % size, in_step / size};
  }
  [[nodiscard]] SendIndex number(std::uint32_t entry, Member server) const {
    const std::uint32_t step = first_->entries[entry].step;
    const std::uint32_t begin = first_->first_of_step[step];
    return begin * shown_ + server * (first_->first_of_step[step + 1] - begin) + entry - begin;
  }

  [[nodiscard]] std::uint32_t turned_chunk(std::uint32_t chunk, Member by) const {
    const Member members = grid_.servers * grid_.rails;
    const auto member = [&](Member m) { return turned(m / grid_.rails, by) * grid_.rails + m % grid_.rails; };
    switch (order_) {
      case ChunkOrder::kServersOfRail:
        return chunk / grid_.servers * grid_.servers + turned(chunk % grid_.servers, by);
      case ChunkOrder::kRailsOfServer:
        return member(chunk);
      case ChunkOrder::kPairs:
        return member(chunk / members) * members + member(chunk % members);
    }
    return chunk;
  }
  [[nodiscard]] Runs turned_runs(const Runs& runs, Member by) const {
    std::vector<std::uint32_t> chunks;
    for (const ChunkRun& run : runs) {
      for (std::uint32_t c = 0; c < run.count; ++c) chunks.push_back(turned_chunk(run.first + c, by));
    }
    std::sort(chunks.begin(), chunks.end());
    Runs turned;
    for (const std::uint32_t chunk : chunks) append_chunk(turned, chunk);
    return turned;
  }
  /// A ring's sends have one chunk each, and are most of them.
  [[nodiscard]] ChunkRun first_run(const Entry& entry, Member by) const {
    if (entry.data.size() == 1 && entry.data.front().count == 1) return {turned_chunk(entry.data.front().first, by), 1};
    return turned_runs(entry.data, by).front();
  }

  ServerGrid grid_;
  Member shown_;  ///< servers
  ChunkOrder order_;
  std::shared_ptr<const FirstServer> first_;
  std::vector<std::uint32_t> sent_;  ///< by round and rail
  std::vector<std::uint32_t> received_;
};

}  // namespace

TurnedPlanBuilder::TurnedPlanBuilder(const CollectiveCall& call, const ServerGrid& grid, std::uint32_t chunk_count,
                                     ChunkOrder order)
    : call_(call), grid_(grid), chunk_count_(chunk_count), order_(order), last_(grid.rails), present_(grid.rails) {}

void TurnedPlanBuilder::step() {
  if (!entries_.empty() && entries_.back().step == step_) ++step_;
  for (Member rail = 0; rail < grid_.rails; ++rail) {
    if (present_[rail].empty()) continue;
    last_[rail].swap(present_[rail]);
    present_[rail].clear();
  }
}

void TurnedPlanBuilder::round() {
  step();
  if (!entries_.empty() && entries_.back().round == round_) ++round_;
}

void TurnedPlanBuilder::send(const TurnedSend& send, const Runs& data) {
  const auto servers_back = [&](Member away) { return away == 0 ? 0 : grid_.servers - away; };
  // The receiver is the first server's member of its rail, turned.
  std::vector<Released> after = last_[send.rail];
  for (const Released& earlier : last_[send.to_rail]) {
    after.push_back({earlier.entry, (earlier.servers_away + send.servers_away) % grid_.servers});
  }
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  const auto entry = static_cast<std::uint32_t>(entries_.size());
  Bytes bytes{};
  for (const ChunkRun& run : data) bytes += run_bytes(call_, chunk_count_, run);
  std::uint32_t depth = 1;
  for (const Released& earlier : after) {
    depth = std::max(depth, entries_[earlier.entry].depth + 1);
    released_[earlier.entry].push_back({entry, servers_back(earlier.servers_away)});
  }
  entries_.push_back({send, bytes, step_, round_, static_cast<std::uint32_t>(after.size()), depth, data});
  released_.emplace_back();
  present_[send.rail].push_back({entry, 0});
  present_[send.to_rail].push_back({entry, servers_back(send.servers_away)});
}

std::unique_ptr<const SendPlan> TurnedPlanBuilder::build() && {
  auto first = std::make_shared<FirstServer>();
  PlanTotals totals{.members = grid_.servers * grid_.rails,
                    .sends = std::uint64_t{entries_.size()} * grid_.servers,
                    .initial = 0,
                    .chunks = chunk_count_,
                    .critical = 0};
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    PHOTONRAIL_CHECK((entry.waits == 0) == (entry.step == 0));
    if (entry.step == first->first_of_step.size()) first->first_of_step.push_back(e);
    totals.initial += entry.waits == 0 ? grid_.servers : 0;
    totals.waits = std::max(totals.waits, entry.waits);
    totals.rounds = std::max(totals.rounds, entry.round + 1);
    totals.critical = std::max(totals.critical, entry.depth);
    totals.wire += multiply(entry.bytes, grid_.servers);
    first->first_released.push_back(first->released.size());
    first->released.insert(first->released.end(), released_[e].begin(), released_[e].end());
  }
  first->first_released.push_back(first->released.size());
  first->first_of_step.push_back(static_cast<std::uint32_t>(entries_.size()));
  first->entries = std::move(entries_);
  return std::make_unique<TurnedPlan>(totals, grid_, order_, std::move(first));
}

}  // namespace photonrail::collective
