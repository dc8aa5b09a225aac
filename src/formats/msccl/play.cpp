// The symbolic machine: buffers of chunks, each with the set of GPUs whose data is in it.
#include "formats/msccl/import.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::formats::msccl {

using collective::MessageGraph;

namespace {

using Node = MessageGraph::Node;

constexpr std::uint32_t kEmpty = 0xffff'ffff;

// Chunks with their contributors, one after another.
struct Content {
  std::vector<std::uint32_t> chunk;
  std::vector<std::uint64_t> who;  ///< `words` for each chunk
};

class Machine {
 public:
  explicit Machine(const Program& program)
      : program_(program),
        gpus_(static_cast<Member>(program.gpus.size())),
        shard_(std::max<std::uint32_t>(1, program.chunks / gpus_)),
        reduces_(program.op == CollectiveOp::kAllReduce || program.op == CollectiveOp::kReduceScatter ||
                 program.op == CollectiveOp::kReduce),
        words_(reduces_ ? (gpus_ + 63) / 64 : 0) {
    std::size_t slots = 0;
    for (const Gpu& gpu : program.gpus) {
      first_.push_back(slots);
      slots += std::size_t{2} * program.chunks + gpu.scratch_chunks;
    }
    constexpr std::size_t kMaxWords = std::size_t{1} << 27;  // 1 GiB
    if (slots * words_ > kMaxWords) fail(0, "is too large to be checked: " + number(slots) + " chunks of buffers");
    all_.chunk.assign(slots, kEmpty);
    all_.who.assign(slots * words_, 0);
    for (Member g = 0; g < gpus_; ++g) fill(g);
  }

  /// The sender's or the block's own part of a step; `arrived` is what a receiving step got.
  Content run(const StepOf& of, const Content* arrived) {
    const Step& step = *of.step;
    switch (step.type) {
      case StepType::kSend:
        return read(of, step.source);
      case StepType::kReceive:
      case StepType::kReceiveCopySend:
        write(of, *arrived);
        return *arrived;
      case StepType::kReceiveReduceSend:
        return sum(of, *arrived, read(of, step.source));
      case StepType::kReceiveReduceCopy:
      case StepType::kReceiveReduceCopySend: {
        Content total = sum(of, *arrived, read(of, step.source));
        write(of, total);
        return total;
      }
      case StepType::kCopy:
        write(of, read(of, step.source));
        return {};
      case StepType::kReduce:
        write(of, sum(of, read(of, step.destination), read(of, step.source)));
        return {};
      case StepType::kNop:
        return {};
    }
    return {};
  }

  [[nodiscard]] std::vector<Piece> pieces(const Content& message, Member to) const {
    std::vector<Piece> runs;
    for (std::size_t i = 0; i < message.chunk.size(); ++i) {
      const std::uint32_t chunk = message.chunk[i];
      // A GPU that has contributed already replaces its data by the sum; the others add the sum to theirs.
      const bool reduce = reduces_ && !has(&message.who[i * words_], to);
      const bool next =
          !runs.empty() && runs.back().first_chunk + runs.back().chunks == chunk && runs.back().reduce == reduce;
      if (next) {
        ++runs.back().chunks;
      } else {
        runs.push_back({chunk, 1, reduce});
      }
    }
    return runs;
  }

  void check_end() const {
    for (Member g = 0; g < gpus_; ++g) {
      if (program_.op == CollectiveOp::kReduce && g != program_.root) continue;
      for (std::uint32_t c = 0; c < output_chunks(program_); ++c) check_end(g, c);
    }
  }

 private:
  static bool has(const std::uint64_t* set, Member m) { return (set[m / 64] >> (m % 64) & 1) != 0; }

  /// The slot of a chunk: in place, input and output are the same memory.
  [[nodiscard]] std::size_t slot(Member g, Buffer buffer, std::uint32_t offset) const {
    const std::size_t output = first_[g] + program_.chunks;
    switch (buffer) {
      case Buffer::kScratch:
        return output + program_.chunks + offset;
      case Buffer::kOutput:
        if (program_.in_place && program_.op == CollectiveOp::kReduceScatter) return first_[g] + g * shard_ + offset;
        return output + offset;
      default:
        if (!program_.in_place || program_.op == CollectiveOp::kReduceScatter) return first_[g] + offset;
        return output + (program_.op == CollectiveOp::kAllGather ? g * shard_ : 0) + offset;
    }
  }

  /// The number of the chunk at `offset` of the input of `g`, as a plan counts.
  [[nodiscard]] std::uint32_t input_chunk(Member g, std::uint32_t offset) const {
    if (program_.op == CollectiveOp::kAllGather) return g * shard_ + offset;
    return program_.op == CollectiveOp::kAllToAll ? g * program_.chunks + offset : offset;
  }
  [[nodiscard]] std::uint32_t output_chunk(Member g, std::uint32_t offset) const {
    if (program_.op == CollectiveOp::kReduceScatter) return g * shard_ + offset;
    if (program_.op != CollectiveOp::kAllToAll) return offset;
    return (offset / shard_) * program_.chunks + g * shard_ + offset % shard_;
  }

  void fill(Member g) {
    if (program_.op != CollectiveOp::kBroadcast || g == program_.root) {
      for (std::uint32_t c = 0; c < input_chunks(program_); ++c) {
        const std::size_t at = slot(g, Buffer::kInput, c);
        all_.chunk[at] = input_chunk(g, c);
        if (reduces_) all_.who[at * words_ + g / 64] |= std::uint64_t{1} << (g % 64);
      }
    }
    for (const Copy& copy : program_.gpus[g].copies) {
      const std::size_t from = slot(g, Buffer::kInput, copy.input);
      const std::size_t to = slot(g, Buffer::kOutput, copy.output);
      all_.chunk[to] = all_.chunk[from];
      std::copy_n(all_.who.begin() + static_cast<std::ptrdiff_t>(from * words_), words_,
                  all_.who.begin() + static_cast<std::ptrdiff_t>(to * words_));
    }
  }

  [[nodiscard]] Content read(const StepOf& of, const Place& place) const {
    Content content;
    for (std::uint32_t i = 0; i < of.step->count; ++i) {
      const std::size_t at = slot(of.gpu, place.buffer, place.offset + i);
      if (all_.chunk[at] == kEmpty)
        fail(of.step->line,
             "GPU " + number(of.gpu) + " has nothing yet in chunk " + number(place.offset + i) + " that it reads");
      content.chunk.push_back(all_.chunk[at]);
      const auto who = all_.who.begin() + static_cast<std::ptrdiff_t>(at * words_);
      content.who.insert(content.who.end(), who, who + static_cast<std::ptrdiff_t>(words_));
    }
    return content;
  }

  void write(const StepOf& of, const Content& content) {
    const Place& place = of.step->destination;
    for (std::uint32_t i = 0; i < of.step->count; ++i) {
      const std::size_t at = slot(of.gpu, place.buffer, place.offset + i);
      all_.chunk[at] = content.chunk[i];
      std::copy_n(content.who.begin() + static_cast<std::ptrdiff_t>(i * words_), words_,
                  all_.who.begin() + static_cast<std::ptrdiff_t>(at * words_));
    }
  }

  [[nodiscard]] Content sum(const StepOf& of, Content a, const Content& b) const {
    if (!reduces_)
      fail(of.step->line, "adds, but the collective " + std::string(photonrail::name(program_.op)) + " does not");
    for (std::size_t i = 0; i < a.chunk.size(); ++i) {
      if (a.chunk[i] != b.chunk[i])
        fail(of.step->line, "adds chunk " + number(a.chunk[i]) + " of the data to chunk " + number(b.chunk[i]));
    }
    for (std::size_t w = 0; w < a.who.size(); ++w) {
      if ((a.who[w] & b.who[w]) != 0) fail(of.step->line, "counts a contribution twice");
      a.who[w] |= b.who[w];
    }
    return a;
  }

  void check_end(Member g, std::uint32_t offset) const {
    const std::size_t at = slot(g, Buffer::kOutput, offset);
    const std::string there = "in the end chunk " + number(offset) + " of the output of GPU " + number(g);
    const std::uint64_t line = program_.gpus[g].line;
    if (all_.chunk[at] == kEmpty) fail(line, there + " is empty");
    const std::uint32_t wanted = output_chunk(g, offset);
    if (all_.chunk[at] != wanted)
      fail(line, there + " holds chunk " + number(all_.chunk[at]) + " of the data in place of " + number(wanted));
    for (Member m = 0; reduces_ && m < gpus_; ++m) {
      if (!has(&all_.who[at * words_], m)) fail(line, there + " lacks the contribution of GPU " + number(m));
    }
  }

  const Program& program_;
  Member gpus_;
  std::uint32_t shard_;  ///< chunks that each GPU contributes or keeps, for the collectives that divide the buffer
  bool reduces_;
  std::size_t words_;  ///< words of a set of contributors; 0 without a reduction: a chunk's number gives its owner
  std::vector<std::size_t> first_;
  Content all_;
};

}  // namespace

std::vector<std::vector<Piece>> play(const Program& program, const WiredProgram& wired, std::span<const Node> sequence) {
  Machine machine(program);
  const MessageGraph& graph = wired.graph;
  std::vector<std::vector<Piece>> pieces;
  std::vector<Content> under_way;
  const auto reserve = [&](MessageGraph::Message message) {
    if (message >= pieces.size()) pieces.resize(std::size_t{message} + 1);
    if (message >= under_way.size()) under_way.resize(std::size_t{message} + 1);
  };
  std::vector<Member> receiver;
  for (Node n = 0; n < graph.nodes(); ++n) {
    const MessageGraph::Message message = graph.received_by(n);
    if (message == MessageGraph::kNone) continue;
    reserve(message);
    receiver.resize(pieces.size());
    receiver[message] = wired.steps[n].gpu;
  }
  for (const Node n : sequence) {
    const MessageGraph::Message in = graph.received_by(n);
    const MessageGraph::Message out = graph.sent_by(n);
    Content result = machine.run(wired.steps[n], in == MessageGraph::kNone ? nullptr : &under_way[in]);
    if (in != MessageGraph::kNone) under_way[in] = {};
    if (out == MessageGraph::kNone) continue;
    pieces[out] = machine.pieces(result, receiver[out]);
    under_way[out] = std::move(result);
  }
  machine.check_end();
  return pieces;
}

}  // namespace photonrail::formats::msccl
