#include "formats/msccl/graph.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace photonrail::formats::msccl {

using collective::MessageGraph;

namespace {

void check_declared(const Gpu& gpu, const char* key, std::uint32_t declared, std::uint32_t needed) {
  if (declared == 0 || declared == needed) return;
  fail(gpu.line, std::string(key) + " is " + number(declared) + ", but the collective needs " + number(needed));
}

// Input, output and scratch of all GPUs together: a file of a few bytes can claim to be huge.
constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 26;

void check_buffers(const Program& program) {
  const std::size_t gpus = program.gpus.size();
  if (gpus < 2) fail(0, "a collective needs two GPUs, not " + number(gpus));
  if (program.chunks == 0) fail(0, "nchunksperloop must be at least 1");
  const bool by_shard = program.op == CollectiveOp::kAllGather || program.op == CollectiveOp::kReduceScatter ||
                        program.op == CollectiveOp::kAllToAll;
  if (by_shard && program.chunks % gpus != 0) {
    fail(0, "nchunksperloop is " + number(program.chunks) + ", not a multiple of the " + number(gpus) + " GPUs",
         "every GPU has the same share of the buffer");
  }
  if (program.root >= gpus) fail(0, "the root is GPU " + number(program.root) + ", but there are " + number(gpus));
  std::uint64_t slots = 0;
  for (const Gpu& gpu : program.gpus) {
    check_declared(gpu, "i_chunks", gpu.input_chunks, input_chunks(program));
    check_declared(gpu, "o_chunks", gpu.output_chunks, output_chunks(program));
    slots += std::uint64_t{2} * program.chunks + gpu.scratch_chunks;
  }
  if (slots > kMaxSlots) fail(0, "has " + number(slots) + " chunks of buffers, more than " + number(kMaxSlots));
}

class Wiring {
 public:
  explicit Wiring(const Program& program) : program_(program) {}

  WiredProgram wire() && {
    for (Member g = 0; g < program_.gpus.size(); ++g) add_gpu(g);
    for (Member g = 0; g < program_.gpus.size(); ++g) add_dependencies(g);
    for (const auto& [ends, connection] : connections_) match(ends, connection);
    check_circle();
    return std::move(wired_);
  }

 private:
  using Node = MessageGraph::Node;
  using Ends = std::tuple<Member, Member, std::uint32_t>;  // from, to, channel
  struct Connection {
    const Block* sender = nullptr;
    const Block* receiver = nullptr;
    std::vector<Node> sends;
    std::vector<Node> receives;
  };

  [[nodiscard]] const Step& step(Node node) const { return *wired_.steps[node].step; }

  void check_place(Member gpu, const Step& step, const Place& place) const {
    const std::uint32_t size = place.buffer == Buffer::kInput    ? input_chunks(program_)
                               : place.buffer == Buffer::kOutput ? output_chunks(program_)
                                                                 : program_.gpus[gpu].scratch_chunks;
    if (std::uint64_t{place.offset} + step.count <= size) return;
    const char* buffer = place.buffer == Buffer::kInput ? "input" : place.buffer == Buffer::kOutput ? "output" : "scratch";
    fail(step.line, "chunk " + number(std::uint64_t{place.offset} + step.count - 1) + " of the " + buffer +
                        " buffer, which has " + number(size));
  }

  void check_step(Member gpu, const Block& block, const Step& step) const {
    if (step.type == StepType::kNop) return;
    if (step.count == 0) fail(step.line, "cnt must be at least 1");
    if (sends(step.type) && !block.send) fail(step.line, "sends, but its thread block has no send peer");
    if (receives(step.type) && !block.receive) fail(step.line, "receives, but its thread block has no recv peer");
    if (step.type != StepType::kReceive && step.type != StepType::kReceiveCopySend) check_place(gpu, step, step.source);
    if (step.type != StepType::kSend && step.type != StepType::kReceiveReduceSend) check_place(gpu, step, step.destination);
  }

  void check_peer(Member gpu, const Block& block, std::optional<Member> peer, const char* key) const {
    if (!peer) return;
    if (*peer >= program_.gpus.size())
      fail(block.line,
           std::string(key) + " names GPU " + number(*peer) + ", but there are " + number(program_.gpus.size()));
    if (*peer == gpu) fail(block.line, std::string(key) + " names its own GPU");
  }

  void add_gpu(Member g) {
    std::map<std::uint32_t, Node>& first = first_node_.emplace_back();
    for (const Copy& copy : program_.gpus[g].copies) {
      if (copy.input >= input_chunks(program_)) fail(copy.line, "i_off is beyond the input buffer");
      if (copy.output >= output_chunks(program_)) fail(copy.line, "o_off is beyond the output buffer");
    }
    for (const Block& block : program_.gpus[g].blocks) {
      check_peer(g, block, block.send, "send");
      check_peer(g, block, block.receive, "recv");
      if (!first.emplace(block.id, static_cast<Node>(wired_.graph.nodes())).second)
        fail(block.line, "GPU " + number(g) + " has two thread blocks " + number(block.id));
      for (std::size_t s = 0; s < block.steps.size(); ++s) {
        check_step(g, block, block.steps[s]);
        const Node node = wired_.graph.add_node();
        wired_.steps.push_back({g, &block, &block.steps[s]});
        if (s > 0) wired_.graph.order(node - 1, node);
        connect(g, block, node);
      }
    }
  }

  void connect(Member g, const Block& block, Node node) {
    const Step& step = this->step(node);
    const auto only = [&](const Block*& known, const char* verb) {
      if (known != nullptr && known != &block) {
        fail(block.line, "two thread blocks of GPU " + number(g) + " " + verb + " on channel " + number(block.channel),
             "give them different channels: messages on one channel cannot be told apart");
      }
      known = &block;
    };
    if (sends(step.type)) {
      Connection& connection = connections_[{g, *block.send, block.channel}];
      only(connection.sender, ("send to GPU " + number(*block.send)).c_str());
      connection.sends.push_back(node);
    }
    if (receives(step.type)) {
      Connection& connection = connections_[{*block.receive, g, block.channel}];
      only(connection.receiver, ("receive from GPU " + number(*block.receive)).c_str());
      connection.receives.push_back(node);
    }
  }

  void add_dependencies(Member g) {
    const Gpu& gpu = program_.gpus[g];
    std::map<std::uint32_t, std::size_t> length;
    for (const Block& block : gpu.blocks) length[block.id] = block.steps.size();
    for (const Block& block : gpu.blocks) {
      for (std::size_t s = 0; s < block.steps.size(); ++s) {
        const Step& step = block.steps[s];
        if (!step.after_block) continue;
        const auto found = length.find(*step.after_block);
        if (found == length.end())
          fail(step.line, "waits for thread block " + number(*step.after_block) + ", which is not there");
        if (step.after_step >= found->second) {
          fail(step.line, "waits for step " + number(step.after_step) + " of thread block " + number(*step.after_block) +
                              ", which has " + number(found->second));
        }
        const Node before = first_node_[g].at(*step.after_block) + step.after_step;
        const Node node = first_node_[g].at(block.id) + static_cast<Node>(s);
        protect(block, s, before);
        // Data that a step hands on while it stores it is there when it was received.
        const bool plain_send = this->step(before).type == StepType::kSend;
        wired_.graph.order(before, node, plain_send ? MessageGraph::Until::kArrived : MessageGraph::Until::kLeft);
      }
    }
  }

  // A receive that waits for a step that reads or writes the same place, itself or by nop steps just before it.
  void protect(const Block& block, std::size_t waiting, Node before) {
    const Node first = first_node_[wired_.steps[before].gpu].at(block.id);
    std::size_t s = waiting;
    while (s + 1 < block.steps.size() && block.steps[s].type == StepType::kNop) ++s;
    const Step& step = block.steps[s];
    const Step& earlier = this->step(before);
    const bool touched = overlap(earlier, earlier.source, step) || overlap(earlier, earlier.destination, step);
    if (receives(step.type) && earlier.type != StepType::kNop && touched)
      wired_.graph.protect(before, first + static_cast<Node>(s));
  }

  [[nodiscard]] static bool overlap(const Step& earlier, const Place& place, const Step& step) {
    return place.buffer == step.destination.buffer && place.offset < step.destination.offset + step.count &&
           step.destination.offset < place.offset + earlier.count;
  }

  void match(const Ends& ends, const Connection& connection) {
    const auto& [from, to, channel] = ends;
    const std::size_t both = std::min(connection.sends.size(), connection.receives.size());
    const std::string way = "GPU " + number(from) + " to GPU " + number(to) + " on channel " + number(channel);
    if (connection.sends.size() > both) {
      fail(step(connection.sends[both]).line, "a send from " + way + " has no receive",
           number(connection.sends.size()) + " sends, " + number(both) + " receives");
    }
    if (connection.receives.size() > both) {
      fail(step(connection.receives[both]).line, "a receive from " + way + " has no send",
           number(connection.receives.size()) + " receives, " + number(both) + " sends");
    }
    for (std::size_t k = 0; k < both; ++k) {
      const Step& sent = step(connection.sends[k]);
      const Step& received = step(connection.receives[k]);
      if (sent.count != received.count) {
        fail(received.line, "receives " + number(received.count) + " chunks from GPU " + number(from) + ", which sends " +
                                number(sent.count) + " (" + place_of(sent.line) + ")");
      }
      wired_.graph.connect(connection.sends[k], connection.receives[k], lanes_);
    }
    if (both > 0) ++lanes_;
  }

  void check_circle() const {
    constexpr std::size_t kShown = 6;
    const std::vector<Node> circle = wired_.graph.circle();
    if (circle.empty()) return;
    std::string way;
    for (std::size_t i = 0; i < std::min(circle.size(), kShown); ++i) {
      const StepOf& at = wired_.steps[circle[i]];
      const std::string place = "GPU " + number(at.gpu) + ", block " + number(at.block->id);
      way += (i == 0 ? "" : "; ") + (at.step->line == 0 ? place : place_of(at.step->line) + " (" + place + ")");
    }
    if (circle.size() > kShown) way += " and " + number(circle.size() - kShown) + " more";
    fail(step(circle.front()).line, "steps wait for each other in a circle: " + way);
  }

  const Program& program_;
  WiredProgram wired_;
  std::vector<std::map<std::uint32_t, Node>> first_node_;  ///< by GPU: of each block
  std::map<Ends, Connection> connections_;
  std::uint32_t lanes_ = 0;
};

}  // namespace

std::string place_of(std::uint64_t line) { return line == 0 ? "" : "line " + number(line); }

void fail(std::uint64_t line, const std::string& what, const std::string& hint) {
  throw ConfigError(place_of(line), what, hint);
}

WiredProgram wire(const Program& program) {
  check_buffers(program);
  return Wiring(program).wire();
}

}  // namespace photonrail::formats::msccl
