#include "workload/moe/pipeline.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace photonrail::workload {

namespace {

constexpr std::int64_t kSignal = 8;  // bytes: tokens, rows of tiles to expect, sequence

/// Bytes for one destination, and what must be done before they leave.
struct Put {
  std::int64_t bytes = 0;  ///< 0: a signal alone
  std::vector<SendIndex> after;
};

/// Writes puts with their signals as the fence policy has it.
class Transport {
 public:
  Transport(SendPlanBuilder& builder, const MoeLayerSpec& spec, std::span<const std::uint32_t> servers)
      : builder_(builder), spec_(spec), servers_(servers) {}

  /// For each of a group of puts: what tells the receiver that it is there.
  std::vector<SendIndex> deliver(Member from, Member to, const std::vector<Put>& group) {
    const bool leaves = servers_[from] != servers_[to];
    if (leaves && spec_.fences == FencePolicy::kEachDestination) return deliver_together(from, to, group);
    std::vector<SendIndex> signals;
    for (const Put& put : group) {
      const bool fenced = leaves && put.bytes > 0;
      if (fenced && spec_.fences == FencePolicy::kEachMessage) {
        send(from, to, put.bytes, put.after, true);
        signals.push_back(send(from, to, kSignal, {fence(from, put.after)}));
        continue;
      }
      signals.push_back(send(from, to, put.bytes + kSignal, put.after));
      if (fenced && spec_.fences == FencePolicy::kNic) {
        signals.back() = builder_.add_step(from, {.kind = LocalStep::Kind::kWait, .wait = spec_.fence}, {signals.back()});
      }
    }
    return signals;
  }

 private:
  std::vector<SendIndex> deliver_together(Member from, Member to, const std::vector<Put>& group) {
    std::vector<SendIndex> before_fence;
    bool any = false;
    for (const Put& put : group) {
      if (put.bytes == 0) continue;
      any = true;
      send(from, to, put.bytes, put.after, true);
      before_fence.insert(before_fence.end(), put.after.begin(), put.after.end());
    }
    std::vector<SendIndex> after_fence;
    if (any) after_fence.push_back(fence(from, before_fence));
    std::vector<SendIndex> signals;
    for (const Put& put : group) signals.push_back(send(from, to, kSignal, put.bytes > 0 ? after_fence : put.after));
    return signals;
  }

  // It waits for what its put waits for, and so takes its turn right behind it.
  SendIndex fence(Member from, const std::vector<SendIndex>& after) {
    return builder_.add_step(from, {.kind = LocalStep::Kind::kFence, .wait = spec_.fence}, after);
  }

  SendIndex send(Member from, Member to, std::int64_t bytes, const std::vector<SendIndex>& after, bool ordered = false) {
    const auto chunk = static_cast<std::uint32_t>(from * servers_.size() + to);
    return builder_.add({.from = from, .to = to, .bytes = {bytes}, .first_chunk = chunk, .ordered = ordered}, after);
  }

  SendPlanBuilder& builder_;
  const MoeLayerSpec& spec_;
  std::span<const std::uint32_t> servers_;
};

class PipelineWriter {
 public:
  PipelineWriter(const MoeLayerSpec& spec, const Routing& routing, std::span<const std::uint32_t> servers)
      : spec_(spec),
        routing_(routing),
        row_(tile_row(spec)),
        builder_(routing.members, routing.members * routing.members),
        transport_(builder_, spec, servers) {}

  std::unique_ptr<const SendPlan> write() && {
    // Each member begins with a different destination.
    for (Member from = 0; from < routing_.members; ++from) {
      for (Member step = 0; step < routing_.members; ++step) exchange(from, (from + step) % routing_.members);
    }
    return std::move(builder_).build();
  }

 private:
  // The tokens of `from` for the experts on `to`: there, through the experts, and back.
  void exchange(Member from, Member to) {
    const std::uint32_t experts = routing_.experts / routing_.members;
    const std::size_t first = routing_.cell(from, to * experts);
    std::vector<Put> puts;
    for (std::uint32_t e = 0; e < experts; ++e)
      puts.push_back({bytes(routing_.sent[first + e], spec_.traffic.dispatch_bytes), {}});
    std::vector<SendIndex> signals;
    if (from != to) signals = transport_.deliver(from, to, puts);
    for (std::uint32_t e = 0; e < experts; ++e) {
      const std::vector<SendIndex> there = from != to ? std::vector<SendIndex>{signals[e]} : std::vector<SendIndex>{};
      const std::vector<Put> back = compute(to, routing_.sent[first + e], there);
      if (from != to && !back.empty()) transport_.deliver(to, from, back);
    }
  }

  std::vector<Put> compute(Member on, std::uint64_t tokens, const std::vector<SendIndex>& there) {
    std::vector<Put> back;
    for (std::uint64_t left = tokens; left > 0;) {
      const std::uint64_t rows = std::min<std::uint64_t>(left, spec_.tile_rows);
      const SendIndex up = builder_.add_step(on, tiles(row_.first, row_.first_flops), there);
      const SendIndex down = builder_.add_step(on, tiles(row_.second, row_.second_flops), {up});
      back.push_back({bytes(rows, spec_.traffic.combine_bytes), {down}});
      left -= rows;
    }
    return back;
  }

  [[nodiscard]] LocalStep tiles(std::uint32_t count, double flops) const {
    return {.kind = LocalStep::Kind::kTiles, .tiles = count, .processors = spec_.processors, .tile_flops = flops};
  }
  [[nodiscard]] std::int64_t bytes(std::uint64_t tokens, std::uint32_t element) const {
    return static_cast<std::int64_t>(tokens * spec_.traffic.hidden * element);
  }

  const MoeLayerSpec& spec_;
  const Routing& routing_;
  TileRow row_;
  SendPlanBuilder builder_;
  Transport transport_;
};

std::uint32_t divide_up(std::uint64_t a, std::uint32_t b) { return static_cast<std::uint32_t>((a + b - 1) / b); }

}  // namespace

TileRow tile_row(const MoeLayerSpec& spec) {
  const double area = 2.0 * spec.tile_rows * spec.tile_columns;  // a multiplication and an addition
  return {.first = divide_up(spec.ffn, spec.tile_columns),
          .second = divide_up(spec.traffic.hidden, spec.tile_columns),
          .first_flops = area * spec.traffic.hidden * (spec.gated ? 2 : 1),
          .second_flops = area * spec.ffn};
}

std::uint32_t tile_rows(const MoeLayerSpec& spec, std::uint64_t tokens) { return divide_up(tokens, spec.tile_rows); }

std::unique_ptr<const SendPlan> plan_pipeline(const MoeLayerSpec& spec, const Routing& routing,
                                              std::span<const std::uint32_t> servers) {
  return PipelineWriter(spec, routing, servers).write();
}

}  // namespace photonrail::workload
