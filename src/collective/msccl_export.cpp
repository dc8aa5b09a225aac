#include "collective/msccl_export.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

namespace photonrail::msccl {

namespace {

// All sends, each after those that it waits for, otherwise ascending.
std::vector<SendIndex> topological(const SendPlan& plan) {
  std::vector<std::uint32_t> left(plan.send_count());
  std::priority_queue<SendIndex, std::vector<SendIndex>, std::greater<>> ready;
  for (SendIndex i = 0; i < left.size(); ++i) {
    left[i] = plan.waits_for(i);
    if (left[i] == 0) ready.push(i);
  }
  std::vector<SendIndex> order;
  std::vector<SendIndex> released;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    released.clear();
    plan.released_by(order.back(), released);
    for (const SendIndex next : released) {
      if (--left[next] == 0) ready.push(next);
    }
  }
  PHOTONRAIL_CHECK(order.size() == left.size());
  return order;
}

class Exporter {
 public:
  Exporter(const CollectiveCall& call, const SendPlan& plan)
      : plan_(plan), all_to_all_(call.op == CollectiveOp::kAllToAll), waits_(plan.send_count()), ends_(plan.send_count()) {
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
    for (const SendIndex i : topological(plan_)) add(i);
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
  using Dependencies = std::map<std::uint32_t, std::uint32_t>;  // block of the sender: step
  struct Channel {
    std::uint32_t out = 0;  ///< block of the sender
    std::uint32_t in = 0;   ///< block of the receiver
    Dependencies awaited;   ///< by the last send
  };
  struct Run {
    Place source;
    Place destination;
    std::uint32_t count = 1;
  };
  enum Direction : std::uint8_t { kOut, kIn };

  // What a member has for itself never travels.
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

  // A block sends in order. So that no send waits for one that it does not follow, a channel takes it only when the send
  // waits for everything that the earlier ones of the channel do.
  Channel& channel_for(const Send& send, const Dependencies& after) {
    std::vector<Channel>& channels = channels_[{send.from, send.to}];
    for (Channel& channel : channels) {
      const bool covered = std::all_of(channel.awaited.begin(), channel.awaited.end(), [&](const auto& earlier) {
        const auto found = after.find(earlier.first);
        return found != after.end() && found->second >= earlier.second;
      });
      if (covered) return channel;
    }
    const auto number = static_cast<std::uint32_t>(channels.size());
    const std::uint32_t out = add_block(send.from, kOut, send.to, number).id;
    return channels.emplace_back(Channel{out, add_block(send.to, kIn, send.from, number).id, {}});
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
  std::vector<Run> runs(const Send& send) {
    std::vector<Run> runs;
    const auto follows = [](const Place& a, std::uint32_t count, const Place& b) {
      return a.buffer == b.buffer && a.offset + count == b.offset;
    };
    for (std::uint32_t c = send.first_chunk; c < send.first_chunk + send.chunks; ++c) {
      const Place source = place(send.from, c);
      const Place destination = place(send.to, c);
      if (!runs.empty() && follows(runs.back().source, runs.back().count, source) &&
          follows(runs.back().destination, runs.back().count, destination)) {
        ++runs.back().count;
      } else {
        runs.push_back({source, destination, 1});
      }
    }
    return runs;
  }

  // The step of each block of the sender that must be done first: the last one, where there are several.
  Dependencies dependencies(SendIndex i, const Send& send) const {
    Dependencies last;
    for (const SendIndex before : waits_[i]) {
      const Send earlier = plan_.send(before);
      const bool reached = earlier.to == send.from;
      if (!reached && earlier.from != send.from) {
        throw ConfigError("",
                          "a send from member " + std::to_string(send.from) + " waits for one between members " +
                              std::to_string(earlier.from) + " and " + std::to_string(earlier.to),
                          "MSCCL steps wait for steps of their own GPU only");
      }
      const Ends& ends = ends_[before];
      const auto [block, step] = reached ? std::pair{ends.in, ends.receive_step} : std::pair{ends.out, ends.send_step};
      const auto [at, fresh] = last.try_emplace(block, step);
      if (!fresh) at->second = std::max(at->second, step);
    }
    return last;
  }

  void await(Member gpu, Step& step, std::pair<std::uint32_t, std::uint32_t> dependency) {
    step.after_block = dependency.first;
    step.after_step = dependency.second;
    program_.gpus[gpu].blocks[dependency.first].steps[dependency.second].awaited = true;
  }

  void add(SendIndex i) {
    const Send send = plan_.send(i);
    Dependencies after = dependencies(i, send);
    Channel& channel = channel_for(send, after);
    const Dependencies known = std::exchange(channel.awaited, after);
    std::erase_if(after, [&](const auto& one) {
      const auto found = known.find(one.first);
      return found != known.end() && found->second >= one.second;
    });
    std::vector<Step>& steps = program_.gpus[send.from].blocks[channel.out].steps;
    std::vector<Step>& received = program_.gpus[send.to].blocks[channel.in].steps;
    auto dependency = after.begin();
    for (std::size_t left = after.size(); left > 1; --left, ++dependency)
      await(send.from, steps.emplace_back(), *dependency);
    for (const Run& run : runs(send)) {
      Step& sent = steps.emplace_back(Step{StepType::kSend, run.source, run.destination, run.count});
      if (dependency != after.end()) await(send.from, sent, *dependency++);
      const StepType type = send.reduce ? StepType::kReceiveReduceCopy : StepType::kReceive;
      received.push_back({type, send.reduce ? run.destination : run.source, run.destination, run.count});
    }
    ends_[i] = {channel.out, static_cast<std::uint32_t>(steps.size() - 1), channel.in,
                static_cast<std::uint32_t>(received.size() - 1)};
  }

  const SendPlan& plan_;
  bool all_to_all_;
  std::uint32_t per_pair_ = 1;  ///< chunks from one member to another
  Program program_;
  std::vector<std::vector<SendIndex>> waits_;
  std::vector<Ends> ends_;
  std::map<MemberPair, std::vector<Channel>> channels_;
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

}  // namespace photonrail::msccl
