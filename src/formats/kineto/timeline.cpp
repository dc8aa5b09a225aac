#include "formats/kineto/timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace photonrail::formats::kineto {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Kernels by time of begin, communication first. Those of one stream do not overlap but for rounding: the later is moved.
std::vector<Kernel> in_order(std::span<const Kernel> kernels) {
  std::vector<Kernel> sorted(kernels.begin(), kernels.end());
  const auto earlier = [](const Kernel& a, const Kernel& b) {
    return std::tuple(a.start, !a.call.has_value()) < std::tuple(b.start, !b.call.has_value());
  };
  std::stable_sort(sorted.begin(), sorted.end(), earlier);
  std::map<std::uint32_t, Nanoseconds> stream_free;
  for (Kernel& kernel : sorted) {
    const auto [free, fresh] = stream_free.try_emplace(kernel.stream, kernel.start);
    kernel.start = std::max(kernel.start, free->second);
    kernel.end = std::max(kernel.end, kernel.start);
    free->second = kernel.end;
  }
  std::stable_sort(sorted.begin(), sorted.end(), earlier);
  return sorted;
}

// Ends of communication that a sequence of items has not waited for yet.
struct Ended {
  std::vector<std::uint32_t> items;
  Nanoseconds last = 0;

  void add(std::uint32_t item, Nanoseconds end) {
    items.push_back(item);
    last = std::max(last, end);
  }
};

class Timeline {
 public:
  explicit Timeline(Nanoseconds begin)
      : block_end_(begin), launched_(begin), for_block_{{}, begin}, for_launch_{{}, begin} {}

  void add(const Kernel& kernel) {
    while (!running_.empty() && running_.top().first <= kernel.start) {
      const auto [end, item] = running_.top();
      running_.pop();
      for_block_.add(item, end);
      for_launch_.add(item, end);
    }
    kernel.call ? communicate(kernel) : compute(kernel);
  }

  [[nodiscard]] std::vector<Item> take() && {
    close();
    return std::move(items_);
  }

 private:
  // Computation that is not an item yet. Its last piece, the union of kernels that overlap, may still run.
  struct Block {
    std::vector<std::uint32_t> after;
    Nanoseconds base = 0;         // when all of `after` had ended
    Nanoseconds before_last = 0;  // end of the pieces but the last
    Nanoseconds end = 0;
    std::uint32_t kernels_before_last = 0;
    std::uint32_t kernels = 0;
  };

  std::uint32_t emit(Item item) {
    items_.push_back(std::move(item));
    return static_cast<std::uint32_t>(items_.size() - 1);
  }

  void compute(const Kernel& kernel) {
    if (block_.kernels > 0 && kernel.start < block_.end) {  // overlaps: the same piece
      block_.end = std::max(block_.end, kernel.end);
      ++block_.kernels;
      return;
    }
    if (!for_block_.items.empty()) close();
    if (block_.kernels == 0) open();
    block_.before_last = block_.end;
    block_.kernels_before_last = block_.kernels;
    block_.end = kernel.end;
    ++block_.kernels;
  }

  void open() {
    block_ = {};
    if (last_block_ != kNone) block_.after.push_back(last_block_);
    block_.after.insert(block_.after.end(), for_block_.items.begin(), for_block_.items.end());
    std::sort(block_.after.begin(), block_.after.end());
    block_.base = std::max(block_end_, for_block_.last);
    block_.end = block_.base;
    for_block_.items.clear();
  }

  void close() {
    if (block_.kernels == 0) return;
    last_block_ = emit({Item::Kind::kCompute, block_.end - block_.base, 0, block_.kernels, std::move(block_.after)});
    block_end_ = block_.end;
    block_ = {};
  }

  // Work that has ended by `at` becomes an item, to be waited for.
  void close_until(Nanoseconds at) {
    if (block_.end <= at) return close();
    if (block_.kernels_before_last == 0) return;
    const Block whole = block_;
    block_.end = whole.before_last;
    block_.kernels = whole.kernels_before_last;
    close();
    block_.after = {last_block_};
    block_.base = block_.before_last = whole.before_last;
    block_.end = whole.end;
    block_.kernels = whole.kernels - whole.kernels_before_last;
  }

  void communicate(const Kernel& kernel) {
    close_until(kernel.start);
    Item launch{Item::Kind::kLaunch, 0, 0, 0, std::move(for_launch_.items)};
    for_launch_.items.clear();
    if (last_launch_ != kNone) launch.after.push_back(last_launch_);
    if (last_block_ != launch_knows_) launch.after.push_back(last_block_);
    launch_knows_ = last_block_;
    std::sort(launch.after.begin(), launch.after.end());
    launch.time = kernel.start - std::max({launched_, block_end_, for_launch_.last});
    launched_ = kernel.start;
    last_launch_ = emit(std::move(launch));
    running_.emplace(kernel.end, emit({Item::Kind::kCommunication, 0, *kernel.call, 0, {last_launch_}}));
  }

  using Running = std::pair<Nanoseconds, std::uint32_t>;  // end, item

  std::vector<Item> items_;
  Block block_;
  std::uint32_t last_block_ = kNone, last_launch_ = kNone, launch_knows_ = kNone;  // items
  Nanoseconds block_end_;                                                          // of the last item that computes
  Nanoseconds launched_;
  Ended for_block_, for_launch_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
};

}  // namespace

std::vector<Item> make_timeline(std::span<const Kernel> kernels) {
  if (kernels.empty()) return {};
  const std::vector<Kernel> sorted = in_order(kernels);
  Timeline timeline(sorted.front().start);
  for (const Kernel& kernel : sorted) timeline.add(kernel);
  return std::move(timeline).take();
}

}  // namespace photonrail::formats::kineto
