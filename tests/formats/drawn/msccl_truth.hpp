// Collectives by rings, chains and pairs, drawn step by step as an MSCCL program has them, with the sends that they are.
#pragma once

#include "formats/drawn/drawn.hpp"
#include "formats/plan_file_support.hpp"

#include <optional>

namespace photonrail::test::drawn {

struct StepTruth {
  std::string type;
  char source = 'i';
  int source_offset = -1;  ///< -1: the step has none
  char destination = 'i';
  int destination_offset = -1;
  int count = 1;
  int after_block = -1;
  int after_step = -1;
  bool awaited = false;
};

struct TbTruth {
  int id = 0;
  int send = -1;
  int receive = -1;
  int channel = 0;
  std::vector<StepTruth> steps;
};

struct GpuTruth {
  int scratch = 0;
  bool says_input = false, says_output = false;  ///< how many chunks its buffers have
  std::vector<std::pair<int, int>> copies;       ///< input, output
  std::vector<TbTruth> blocks;
};

struct MscclTruth {
  std::string name;
  std::string coll;
  CollectiveOp op = CollectiveOp::kAllReduce;
  int chunks = 1;
  int channels = 1;
  bool in_place = true;
  int root = 0;
  std::vector<GpuTruth> gpus;
  std::vector<Sent> sends;       ///< as SendPlan numbers chunks
  std::uint64_t ring_steps = 0;  ///< of a ring of one channel: messages one after another, each of a share; else 0
  std::uint64_t shares = 1;      ///< of the size of a call that a message has
};

class MscclDrawer {
 public:
  explicit MscclDrawer(std::uint64_t seed) : draw_(seed, "msccl/truth") {}

  MscclTruth draw() {
    n_ = static_cast<int>(draw_.from_to(2, 7));
    width_ = static_cast<int>(draw_.from_to(1, 3));
    channels_ = static_cast<int>(draw_.from_to(1, 3));
    for (int g = 0; g < n_; ++g) order_.push_back(g);
    draw_.shuffle(order_);
    truth_.gpus.resize(static_cast<std::size_t>(n_));
    truth_.name = name_text(draw_);
    truth_.channels = channels_;
    switch (draw_.below(7)) {
      case 0:
        all_gather();
        break;
      case 1:
        reduce_scatter();
        break;
      case 2:
        all_to_all();
        break;
      case 3:
        chain("broadcast", CollectiveOp::kBroadcast);
        break;
      case 4:
        chain("reduce", CollectiveOp::kReduce);
        break;
      case 5:
        gather_and_reduce();
        break;
      default:
        all_reduce();
    }
    for (GpuTruth& gpu : truth_.gpus) rename_blocks(gpu);
    std::sort(truth_.sends.begin(), truth_.sends.end());
    return std::move(truth_);
  }

 private:
  [[nodiscard]] int at(int position) const { return order_[static_cast<std::size_t>(((position % n_) + n_) % n_)]; }
  [[nodiscard]] GpuTruth& gpu(int g) { return truth_.gpus[static_cast<std::size_t>(g)]; }
  void kind(const char* coll, CollectiveOp op, int chunks) {
    truth_.coll = coll;
    truth_.op = op;
    truth_.chunks = chunks;
  }
  void sent(int from, int to, int first, bool reduce) {
    truth_.sends.emplace_back(static_cast<Member>(from), static_cast<Member>(to), static_cast<std::uint32_t>(first),
                              static_cast<std::uint32_t>(width_), reduce);
  }
  /// A step on the same place of source and destination, where it has them.
  [[nodiscard]] StepTruth step(const std::string& type, char buffer, int offset) const {
    StepTruth step{type, buffer, offset, buffer, offset, width_, -1, -1, false};
    if (type == "r" || type == "rcs") step.source_offset = -1;
    if (type == "s" || type == "rrs") step.destination_offset = -1;
    return step;
  }
  TbTruth& block(int g, int send, int receive, int channel) {
    gpu(g).blocks.push_back({static_cast<int>(gpu(g).blocks.size()), send, receive, channel, {}});
    return gpu(g).blocks.back();
  }
  /// The ring's block of the GPU at a position.
  TbTruth& ring_block(int p, int channel) { return block(at(p), at(p + 1), at(p - 1), channel); }
  void timed_ring(std::uint64_t steps, std::uint64_t shares) {
    if (channels_ == 1) truth_.ring_steps = steps;
    truth_.shares = shares;
  }

  /// Chunks of one GPU: of each channel so many.
  [[nodiscard]] int share() const { return width_ * channels_; }

  void all_gather() {
    kind("allgather", CollectiveOp::kAllGather, n_ * share());
    truth_.in_place = draw_.one_in(2);
    timed_ring(static_cast<std::uint64_t>(n_ - 1), 1);
    for (int p = 0; p < n_; ++p) {
      for (int c = 0; c < channels_; ++c) {
        TbTruth& tb = ring_block(p, c);
        const auto place = [&](int q) { return at(q) * share() + c * width_; };
        StepTruth first = step("s", 'i', c * width_);  // its own, which is its input
        if (draw_.one_in(2) && truth_.in_place) first = step("s", 'o', place(p));
        tb.steps.push_back(first);
        for (int k = 1; k < n_; ++k) tb.steps.push_back(step(k + 1 < n_ ? "rcs" : "r", 'o', place(p - k)));
        for (int k = 0; k + 1 < n_; ++k) sent(at(p), at(p + 1), place(p - k), false);
      }
      if (!truth_.in_place) keep_own(at(p), 0, at(p) * share());
    }
  }

  /// Chunks of the input that stay on the GPU: copied before everything, or by a step of a block of its own.
  void keep_own(int g, int input, int output) {
    if (draw_.one_in(2)) {
      for (int i = 0; i < share(); ++i) gpu(g).copies.emplace_back(input + i, output + i);
    } else {
      block(g, -1, -1, 0).steps.push_back({"cpy", 'i', input, 'o', output, share(), -1, -1, false});
    }
  }

  void reduce_scatter() {
    kind("reduce_scatter", CollectiveOp::kReduceScatter, n_ * share());
    timed_ring(static_cast<std::uint64_t>(n_ - 1), static_cast<std::uint64_t>(n_));
    for (int p = 0; p < n_; ++p) {
      for (int c = 0; c < channels_; ++c) {
        TbTruth& tb = ring_block(p, c);
        const auto place = [&](int q) { return at(q) * share() + c * width_; };
        tb.steps.push_back(step("s", 'i', place(p - 1)));
        for (int k = 1; k + 1 < n_; ++k) tb.steps.push_back(step("rrs", 'i', place(p - 1 - k)));
        StepTruth last = step("rrc", 'i', place(p));
        if (draw_.one_in(2)) {
          last.destination = 'o';
          last.destination_offset = c * width_;
        }
        tb.steps.push_back(last);
        for (int k = 0; k + 1 < n_; ++k) sent(at(p), at(p + 1), place(p - 1 - k), true);
      }
    }
  }

  void all_reduce() {
    kind("allreduce", CollectiveOp::kAllReduce, n_ * share());
    timed_ring(2 * static_cast<std::uint64_t>(n_ - 1), static_cast<std::uint64_t>(n_));
    const char buffer = draw_.pick<char>({'i', 'o'});  // the same memory
    for (int p = 0; p < n_; ++p) {
      for (int c = 0; c < channels_; ++c) {
        TbTruth& tb = ring_block(p, c);
        const auto place = [&](int q) { return ((q % n_ + n_) % n_) * share() + c * width_; };
        tb.steps.push_back(step("s", buffer, place(p)));
        for (int k = 1; k + 1 < n_; ++k) tb.steps.push_back(step("rrs", buffer, place(p - k)));
        tb.steps.push_back(step("rrcs", buffer, place(p + 1)));
        for (int k = 1; k + 1 < n_; ++k) tb.steps.push_back(step("rcs", buffer, place(p + 1 - k)));
        tb.steps.push_back(step("r", buffer, place(p + 2)));
        for (int k = 0; k + 1 < n_; ++k) {
          sent(at(p), at(p + 1), place(p - k), true);
          sent(at(p), at(p + 1), place(p + 1 - k), false);
        }
      }
    }
  }

  void all_to_all() {
    channels_ = truth_.channels = 1;
    kind("alltoall", CollectiveOp::kAllToAll, n_ * width_);
    truth_.in_place = false;
    for (int g = 0; g < n_; ++g) {
      for (int other = 0; other < n_; ++other) {
        if (other == g) continue;
        TbTruth& tb = block(g, other, other, 0);
        tb.steps = {step("s", 'i', other * width_), step("r", 'o', other * width_)};
        sent(g, other, (g * n_ + other) * width_, false);
      }
      keep_own(g, g * width_, g * width_);
    }
  }

  void chain(const char* coll, CollectiveOp op) {
    const bool reduces = op == CollectiveOp::kReduce;
    kind(coll, op, share());
    truth_.root = at(reduces ? n_ - 1 : 0);
    for (int p = 0; p < n_; ++p) {
      for (int c = 0; c < channels_; ++c) {
        TbTruth& tb = block(at(p), p + 1 < n_ ? at(p + 1) : -1, p > 0 ? at(p - 1) : -1, c);
        const std::string middle = reduces ? "rrs" : "rcs", last = reduces ? "rrc" : "r";
        tb.steps.push_back(step(p == 0 ? "s" : p + 1 < n_ ? middle : last, 'i', c * width_));
        if (p + 1 < n_) sent(at(p), at(p + 1), c * width_, reduces);
      }
    }
  }

  /// One GPU takes the data of all into its scratch, adds one after the other, and sends the sum back.
  void gather_and_reduce() {
    channels_ = truth_.channels = 1;
    kind("allreduce", CollectiveOp::kAllReduce, width_);
    const int hub = at(0);
    gpu(hub).scratch = (n_ - 1) * width_;
    for (int m = 1; m < n_; ++m) {
      TbTruth& own = block(hub, at(m), at(m), 0);
      own.steps.push_back(step("r", 's', (m - 1) * width_));
      StepTruth add{"re",   's',   (m - 1) * width_, 'i',  0,
                    width_, m - 2, m > 1 ? 1 : -1,   false};  // after that of the block before
      own.steps.push_back(add);
      StepTruth wait{"nop", 'i', -1, 'i', -1, 1, n_ - 2, 1, false};
      StepTruth send = step("s", 'i', 0);
      if (m + 1 < n_ && draw_.one_in(2))
        own.steps.push_back(wait);
      else if (m + 1 < n_)
        std::tie(send.after_block, send.after_step) = std::pair(n_ - 2, 1);
      own.steps.push_back(send);
      block(at(m), hub, hub, 0).steps = {step("s", 'i', 0), step("r", 'i', 0)};
      sent(at(m), hub, 0, true);
      sent(hub, at(m), 0, false);
    }
  }

  /// Any numbers will do, in any order.
  void rename_blocks(GpuTruth& of) {
    of.says_input = draw_.one_in(2);
    of.says_output = draw_.one_in(2);
    std::vector<int> ids;
    for (std::size_t i = 0; i < of.blocks.size(); ++i) ids.push_back(static_cast<int>(3 * i + draw_.below(3)));
    draw_.shuffle(ids);
    for (TbTruth& tb : of.blocks) {
      tb.id = ids[static_cast<std::size_t>(tb.id)];
      for (StepTruth& step : tb.steps) {
        step.awaited = draw_.one_in(3);
        if (step.after_block >= 0) step.after_block = ids[static_cast<std::size_t>(step.after_block)];
      }
    }
  }

  Draw draw_;
  int n_ = 2, width_ = 1, channels_ = 1;
  std::vector<int> order_;
  MscclTruth truth_;
};

}  // namespace photonrail::test::drawn
