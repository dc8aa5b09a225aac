// An MSCCL program as a value: what a GPU's thread blocks do, step by step. The words are those of the XML format.
#pragma once

#include "photonrail/collective.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::msccl {

enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

enum class StepType : std::uint8_t {
  kSend,                   ///< s
  kReceive,                ///< r: into dst
  kReceiveCopySend,        ///< rcs: into dst, and on
  kReceiveReduceSend,      ///< rrs: plus src, and on; kept nowhere
  kReceiveReduceCopy,      ///< rrc: plus src, into dst
  kReceiveReduceCopySend,  ///< rrcs: the same, and on
  kCopy,                   ///< cpy: src to dst
  kReduce,                 ///< re: dst plus src, into dst
  kNop                     ///< nop: waits only
};
inline constexpr int kStepTypeCount = 9;
[[nodiscard]] std::string_view name(StepType type);
[[nodiscard]] std::optional<StepType> step_type_from(std::string_view name);
[[nodiscard]] bool sends(StepType type);
[[nodiscard]] bool receives(StepType type);

struct Place {
  Buffer buffer = Buffer::kInput;
  std::uint32_t offset = 0;  ///< in chunks
};

struct Step {
  StepType type = StepType::kNop;
  Place source;
  Place destination;
  std::uint32_t count = 1;  ///< chunks
  /// A thread block of the same GPU, by its id, and the step of it that must be done first.
  std::optional<std::uint32_t> after_block = std::nullopt;
  std::uint32_t after_step = 0;
  bool awaited = false;    ///< hasdep
  std::uint64_t line = 0;  ///< in the file; 0: none
};

struct Block {
  std::uint32_t id = 0;
  std::optional<Member> send;
  std::optional<Member> receive;
  std::uint32_t channel = 0;
  std::vector<Step> steps;
  std::uint64_t line = 0;
};

/// A local copy from input to output before everything else.
struct Copy {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint64_t line = 0;
};

struct Gpu {
  std::uint32_t input_chunks = 0;  ///< 0: not said
  std::uint32_t output_chunks = 0;
  std::uint32_t scratch_chunks = 0;
  std::vector<Copy> copies;
  std::vector<Block> blocks;
  std::uint64_t line = 0;
};

struct Program {
  std::string name = "unnamed";
  std::string protocol = "Simple";
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::uint32_t chunks = 1;  ///< nchunksperloop: of the full buffer
  std::uint32_t channels = 1;
  bool in_place = true;
  Member root = 0;  ///< broadcast, reduce
  std::vector<Gpu> gpus;
};

/// "allreduce" ...: the names of the format; nullopt for an operation that it does not have.
[[nodiscard]] std::optional<std::string_view> collective_name(CollectiveOp op);
[[nodiscard]] std::optional<CollectiveOp> collective_from(std::string_view name);

/// The chunks that the input and the output of a GPU must have.
[[nodiscard]] std::uint32_t input_chunks(const Program& program);
[[nodiscard]] std::uint32_t output_chunks(const Program& program);

}  // namespace photonrail::formats::msccl
