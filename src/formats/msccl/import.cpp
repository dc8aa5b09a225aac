#include "formats/msccl/import.hpp"

#include "photonrail/core/random.hpp"

namespace photonrail::formats::msccl {

using collective::ListedPlan;
using collective::ListedSend;
using collective::MessageGraph;

namespace {

using Node = MessageGraph::Node;

std::uint32_t plan_chunks(const Program& program) {
  const auto gpus = static_cast<std::uint32_t>(program.gpus.size());
  return program.op == CollectiveOp::kAllToAll ? program.chunks * gpus : program.chunks;
}

// Steps that only chance puts in order can come in any: a program is right when it is right in all. Few are tried.
void play_otherwise(const Program& program, const WiredProgram& wired) {
  constexpr int kDraws = 2;
  const std::size_t nodes = wired.graph.nodes();
  std::vector<std::uint64_t> rank(nodes);
  for (std::size_t n = 0; n < nodes; ++n) rank[n] = nodes - n;
  static_cast<void>(play(program, wired, wired.graph.sequence(rank)));
  RandomStream random(1, "msccl/orders");
  for (int draw = 0; draw < kDraws; ++draw) {
    for (std::uint64_t& r : rank) r = random.next();
    static_cast<void>(play(program, wired, wired.graph.sequence(rank)));
  }
}

struct Proven {
  WiredProgram wired;
  std::vector<Node> sequence;
  std::vector<std::vector<Piece>> pieces;
};

Proven proven(const Program& program) {
  Proven of{wire(program), {}, {}};
  of.sequence = of.wired.graph.sequence(of.wired.graph.levels());
  of.pieces = play(program, of.wired, of.sequence);
  play_otherwise(program, of.wired);
  return of;
}

}  // namespace

void prove(const Program& program) { static_cast<void>(proven(program)); }

ListedPlan import(const Program& program) {
  const auto [wired, sequence, pieces] = proven(program);
  const std::vector<std::vector<MessageGraph::Message>> waits = wired.graph.waits(sequence);
  ListedPlan plan;
  plan.op = program.op;
  plan.members = static_cast<Member>(program.gpus.size());
  plan.root = program.root;
  plan.chunk_count = plan_chunks(program);
  std::vector<SendIndex> last(waits.size());  // of each message: its pieces arrive in order
  for (const Node n : sequence) {
    const MessageGraph::Message message = wired.graph.received_by(n);
    if (message == MessageGraph::kNone) continue;
    std::vector<SendIndex> after;
    for (const MessageGraph::Message m : waits[message]) after.push_back(last[m]);
    for (const Piece& piece : pieces[message]) {
      ListedSend send{.from = *wired.steps[n].block->receive, .to = wired.steps[n].gpu};
      send.first_chunk = piece.first_chunk;
      send.chunks = piece.chunks;
      send.reduce = piece.reduce;
      send.after = after;
      plan.sends.push_back(std::move(send));
    }
    last[message] = static_cast<SendIndex>(plan.sends.size() - 1);
  }
  return plan;
}

}  // namespace photonrail::formats::msccl
