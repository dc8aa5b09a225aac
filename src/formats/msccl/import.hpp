// An MSCCL program proven and turned into a plan of sends.
#pragma once

#include "collective/listed.hpp"
#include "formats/msccl/graph.hpp"
#include "formats/msccl/program.hpp"

namespace photonrail::formats::msccl {

/// The chunks of a message as a plan numbers them (SendPlan).
struct Piece {
  std::uint32_t first_chunk = 0;
  std::uint32_t chunks = 1;
  bool reduce = false;
};

/// Plays the program's buffers with sets of contributors in place of numbers, in `sequence`, and returns what each message
/// carried. Throws ConfigError at the line of the step that sends or adds missing data or adds a contributor twice, or
/// of the GPU that does not end with what the collective promises.
[[nodiscard]] std::vector<std::vector<Piece>> play(const Program& program, const WiredProgram& wired,
                                                   std::span<const collective::MessageGraph::Node> sequence);

/// wire() and play() in several orders: a program must be right in all. Throws ConfigError where it is not.
void prove(const Program& program);

/// prove(), and the sends with what each waits for. Chunks of a
/// message that are not neighbours as plans number them become messages of their own. Local copies take no time.
[[nodiscard]] collective::ListedPlan import(const Program& program);

}  // namespace photonrail::formats::msccl
