// The steps of an MSCCL program wired up: which send meets which receive, and what waits for what.
#pragma once

#include "collective/message_graph.hpp"
#include "formats/msccl/program.hpp"

#include <string>
#include <vector>

namespace photonrail::formats::msccl {

/// Where a node of the graph comes from. The program must outlive it.
struct StepOf {
  Member gpu = 0;
  const Block* block = nullptr;
  const Step* step = nullptr;
};

struct WiredProgram {
  collective::MessageGraph graph;
  std::vector<StepOf> steps;  ///< by node
};

/// "line 12", or nothing when the program has no lines.
[[nodiscard]] std::string place_of(std::uint64_t line);
/// Throws a ConfigError at that place.
[[noreturn]] void fail(std::uint64_t line, const std::string& what, const std::string& hint = {});
[[nodiscard]] inline std::string number(std::uint64_t n) { return std::to_string(n); }

/// Checks the program's shape and wires it. Throws ConfigError whose `where` is a line: a buffer that does not fit the
/// collective, a chunk out of range, a peer or dependency that does not exist, a send without a receive or the other way
/// round, two ends that disagree about the count, steps that wait for each other in a circle.
///
/// A step waits for the one before it in its block, and for the step that it names. The messages of a block leave in
/// order; a dependency on a send waits until the message has arrived, as a GPU that has sent has written to its peer.
[[nodiscard]] WiredProgram wire(const Program& program);

}  // namespace photonrail::formats::msccl
