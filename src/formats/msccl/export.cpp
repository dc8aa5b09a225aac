#include "formats/msccl/export.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::formats::msccl {

namespace {

// Indexed by send: how many sends stand one after another before it.
std::vector<std::uint32_t> levels_of(const SendPlan& plan) {
  std::vector<std::uint32_t> left(plan.send_count());
  std::vector<std::uint32_t> level(plan.send_count());
  std::vector<SendIndex> ready;
  for (SendIndex i = 0; i < left.size(); ++i) {
    left[i] = plan.waits_for(i);
    if (left[i] == 0) ready.push_back(i);
  }
  std::vector<SendIndex> released;
  for (std::size_t next = 0; next < ready.size(); ++next) {
    released.clear();
    plan.released_by(ready[next], released);
    for (const SendIndex i : released) {
      level[i] = std::max(level[i], level[ready[next]] + 1);
      if (--left[i] == 0) ready.push_back(i);
    }
  }
  PHOTONRAIL_CHECK(ready.size() == left.size());
  return level;
}

// All sends by level, those of one level ascending.
std::vector<std::vector<SendIndex>> by_level(const SendPlan& plan) {
  const std::vector<std::uint32_t> level = levels_of(plan);
  std::vector<std::vector<SendIndex>> sends;
  for (SendIndex i = 0; i < level.size(); ++i) {
    if (level[i] >= sends.size()) sends.resize(level[i] + 1);
    sends[level[i]].push_back(i);
  }
  return sends;
}

class Exporter {
 public:
  Exporter(const CollectiveCall& call, const SendPlan& plan)
      : plan_(plan),
        all_to_all_(call.op == CollectiveOp::kAllToAll),
        waits_(plan.send_count()),
        ends_(plan.send_count()),
        arriving_(plan.send_count()) {
    const auto members = plan.members();
    program_.op = call.op;
    program_.chunks = all_to_all_ ? plan.chunk_count() / members : plan.chunk_count();
    program_.in_place = !all_to_all_;
    program_.root = call.root;
    program_.gpus.resize(members);
    per_pair_ = all_to_all_ ? plan.chunk_count() / members / members : 1;
    scratch_.resize(members);
    std::vector<SendIndex> released;
    for (SendIndex i = 0; i < plan.send_count(); ++i) {
      released.clear();
      plan.released_by(i, released);
      for (const SendIndex next : released) waits_[next].push_back(i);
    }
  }

  Program run() && {
    if (all_to_all_) copy_own();
    // Dependencies go from level to level, and from the sends of a level to its receives: never in a circle.
    for (const std::vector<SendIndex>& together : by_level(plan_)) {
      read_.clear();
      for (const SendIndex i : together) add_send(i);
      for (const SendIndex i : together) add_receive(i);
    }
    for (Member m = 0; m < program_.gpus.size(); ++m) {
      Gpu& gpu = program_.gpus[m];
      gpu.input_chunks = program_.op == CollectiveOp::kAllGather ? 0 : input_chunks(program_);
      gpu.output_chunks = program_.in_place && program_.op != CollectiveOp::kAllGather ? 0 : output_chunks(program_);
      gpu.scratch_chunks = static_cast<std::uint32_t>(scratch_[m].size());
    }
    return std::move(program_);
  }

 private:
  /// Blocks and steps of a message; of several steps the last.
  struct Ends {
    std::uint32_t out = 0;
    std::uint32_t send_step = 0;
    std::uint32_t in = 0;
    std::uint32_t receive_step = 0;
  };
  using Dependencies = std::map<std::uint32_t, std::uint32_t>;  // block of the GPU: step
  struct Channel {
    std::uint32_t out = 0;  ///< block of the sender
    std::uint32_t in = 0;   ///< block of the receiver
    Dependencies by_send;   ///< what the last send awaits
    Dependencies by_receive;
  };
  /// Holds what must be done at either end before a message goes.
  struct Awaited {
    Dependencies by_send;
    Dependencies by_receive;
  };
  struct Run {
    Place source;
    Place destination;
    std::uint32_t count = 1;
  };
  enum Direction : std::uint8_t { kOut, kIn };

  // Data that a member has for itself never travels.
  void copy_own() {
    for (Member m = 0; m < program_.gpus.size(); ++m) {
      Block& block = program_.gpus[m].blocks.emplace_back();
      const std::uint32_t own = m * per_pair_;
      block.steps.push_back({.type = StepType::kCopy,
                             .source = {Buffer::kInput, own},
                             .destination = {Buffer::kOutput, own},
                             .count = per_pair_});
    }
  }

  Block& add_block(Member gpu, Direction direction, Member peer, std::uint32_t channel) {
    std::vector<Block>& blocks = program_.gpus[gpu].blocks;
    Block& made = blocks.emplace_back();
    made.id = static_cast<std::uint32_t>(blocks.size() - 1);
    made.channel = channel;
    (direction == kOut ? made.send : made.receive) = peer;
    program_.channels = std::max(program_.channels, channel + 1);
    return made;
  }

  [[nodiscard]] static bool covers(const Dependencies& after, const Dependencies& earlier) {
    return std::all_of(earlier.begin(), earlier.end(), [&](const auto& one) {
      const auto found = after.find(one.first);
      return found != after.end() && found->second >= one.second;
    });
  }

  // A block works in order. So that no message waits for one that it does not follow, a channel takes it only when the
  // message waits for everything that the earlier ones of the channel do.
  Channel& channel_for(const Send& send, const Awaited& after) {
    std::vector<Channel>& channels = channels_[{send.from, send.to}];
    for (Channel& channel : channels) {
      if (covers(after.by_send, channel.by_send) && covers(after.by_receive, channel.by_receive)) return channel;
    }
    const auto number = static_cast<std::uint32_t>(channels.size());
    const std::uint32_t out = add_block(send.from, kOut, send.to, number).id;
    return channels.emplace_back(Channel{out, add_block(send.to, kIn, send.from, number).id, {}, {}});
  }

  Place place(Member gpu, std::uint32_t chunk) {
    if (!all_to_all_) return {program_.op == CollectiveOp::kAllGather ? Buffer::kOutput : Buffer::kInput, chunk};
    const Member from = chunk / program_.chunks;
    const std::uint32_t offset = chunk % program_.chunks;  // in the input of `from`
    if (from == gpu) return {Buffer::kInput, offset};
    if (offset / per_pair_ == gpu) return {Buffer::kOutput, from * per_pair_ + offset % per_pair_};
    const auto slot = static_cast<std::uint32_t>(scratch_[gpu].size());
    return {Buffer::kScratch, scratch_[gpu].try_emplace(chunk, slot).first->second};
  }

  // Chunks that are neighbours at both ends travel together.
  std::vector<Run> runs(SendIndex i, const Send& send) {
    std::vector<Run> runs;
    const auto follows = [](const Place& a, std::uint32_t count, const Place& b) {
      return a.buffer == b.buffer && a.offset + count == b.offset;
    };
    for_each_chunk(i, [&](std::uint32_t c) {
      const Place source = place(send.from, c);
      const Place destination = place(send.to, c);
      if (!runs.empty() && follows(runs.back().source, runs.back().count, source) &&
          follows(runs.back().destination, runs.back().count, destination)) {
        ++runs.back().count;
      } else {
        runs.push_back({source, destination, 1});
      }
    });
    return runs;
  }

  template <typename Visit>
  void for_each_chunk(SendIndex i, Visit visit) {
    data_.clear();
    plan_.data(i, data_);
    for (const ChunkRun& run : data_) {
      for (std::uint32_t c = run.first; c < run.first + run.count; ++c) visit(c);
    }
  }

  static void keep_last(Dependencies& last, std::uint32_t block, std::uint32_t step) {
    const auto [at, fresh] = last.try_emplace(block, step);
    if (!fresh) at->second = std::max(at->second, step);
  }

  // The step of each block that must be done first: the last one, where there are several. What the sender cannot see, the
  // receive waits for.
  [[nodiscard]] Awaited awaited(SendIndex i, const Send& send) const {
    Awaited after;
    for (const SendIndex before : waits_[i]) {
      const Send earlier = plan_.send(before);
      const Ends& ends = ends_[before];
      if (earlier.to == send.from) keep_last(after.by_send, ends.in, ends.receive_step);
      if (earlier.from == send.from) keep_last(after.by_send, ends.out, ends.send_step);
      if (earlier.to == send.to) keep_last(after.by_receive, ends.in, ends.receive_step);
      const bool met = earlier.to == send.from || earlier.from == send.from;
      if (!met && earlier.from == send.to) keep_last(after.by_receive, ends.out, ends.send_step);
      if (!met && earlier.from != send.to && earlier.to != send.to) {
        throw ConfigError("",
                          "a send from member " + std::to_string(send.from) + " waits for one between members " +
                              std::to_string(earlier.from) + " and " + std::to_string(earlier.to),
                          "MSCCL steps wait for steps of their own GPU only");
      }
    }
    return after;
  }

  void await(Member gpu, Step& step, std::pair<std::uint32_t, std::uint32_t> dependency) {
    step.after_block = dependency.first;
    step.after_step = dependency.second;
    program_.gpus[gpu].blocks[dependency.first].steps[dependency.second].awaited = true;
  }

  // Waits for all of `after` but what the block has waited for already (`known`): nop steps for all but the last, which is
  // left for the step to come.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> wait(Member gpu, std::uint32_t block, Dependencies after,
                                                              const Dependencies& known) {
    std::erase_if(after, [&](const auto& one) { return covers(known, {one}); });
    std::optional<std::pair<std::uint32_t, std::uint32_t>> last;
    for (const auto& dependency : after) {
      if (last) await(gpu, program_.gpus[gpu].blocks[block].steps.emplace_back(), *last);
      last = dependency;
    }
    return last;
  }

  void add_send(SendIndex i) {
    const Send send = plan_.send(i);
    const Awaited after = awaited(i, send);
    Channel& channel = channel_for(send, after);
    auto dependency = wait(send.from, channel.out, after.by_send, channel.by_send);
    channel.by_send = after.by_send;
    std::vector<Step>& steps = program_.gpus[send.from].blocks[channel.out].steps;
    for (const Run& run : runs(i, send)) {
      Step& sent = steps.emplace_back(Step{StepType::kSend, run.source, run.destination, run.count});
      if (dependency) await(send.from, sent, *std::exchange(dependency, std::nullopt));
    }
    ends_[i] = {channel.out, static_cast<std::uint32_t>(steps.size() - 1), channel.in, 0};
    for_each_chunk(i, [&](std::uint32_t chunk) {
      read_[{send.from, chunk}].emplace_back(ends_[i].out, ends_[i].send_step);
    });
    arriving_[i] = after.by_receive;
  }

  // A GPU that sends what it has of a chunk while it receives that chunk sends it as it was before.
  void add_receive(SendIndex i) {
    const Send send = plan_.send(i);
    Dependencies after = arriving_[i];
    for_each_chunk(i, [&](std::uint32_t chunk) {
      const auto read = read_.find({send.to, chunk});
      if (read == read_.end()) return;
      for (const auto& [block, step] : read->second) keep_last(after, block, step);
    });
    std::vector<Channel>& channels = channels_[{send.from, send.to}];
    Channel& channel =
        *std::find_if(channels.begin(), channels.end(), [&](const Channel& c) { return c.in == ends_[i].in; });
    auto dependency = wait(send.to, channel.in, after, channel.by_receive);
    channel.by_receive = arriving_[i];
    std::vector<Step>& received = program_.gpus[send.to].blocks[channel.in].steps;
    for (const Run& run : runs(i, send)) {
      const StepType type = send.reduce ? StepType::kReceiveReduceCopy : StepType::kReceive;
      Step& step =
          received.emplace_back(Step{type, send.reduce ? run.destination : run.source, run.destination, run.count});
      if (dependency) await(send.to, step, *std::exchange(dependency, std::nullopt));
    }
    ends_[i].receive_step = static_cast<std::uint32_t>(received.size() - 1);
  }

  const SendPlan& plan_;
  bool all_to_all_;
  std::uint32_t per_pair_ = 1;  ///< chunks from one member to another
  Program program_;
  std::vector<std::vector<SendIndex>> waits_;
  std::vector<Ends> ends_;
  std::vector<Dependencies> arriving_;  ///< by send: what its receive awaits
  std::map<MemberPair, std::vector<Channel>> channels_;
  std::vector<ChunkRun> data_;
  /// Records, of the sends of one level, which steps read a chunk of a GPU.
  std::map<std::pair<Member, std::uint32_t>, std::vector<std::pair<std::uint32_t, std::uint32_t>>> read_;
  std::vector<std::map<std::uint32_t, std::uint32_t>> scratch_;  ///< by GPU: where a chunk passes through
};

}  // namespace

Program to_program(const CollectiveCall& call, const SendPlan& plan) {
  if (!collective_name(call.op)) {
    throw ConfigError("", "MSCCL has no " + std::string(photonrail::name(call.op)),
                      "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce");
  }
  return Exporter(call, plan).run();
}

}  // namespace photonrail::formats::msccl
