#include "formats/msccl/program.hpp"

#include <array>
#include <utility>

namespace photonrail::formats::msccl {

namespace {

constexpr std::array<std::string_view, kStepTypeCount> kStepNames{"s",    "r",   "rcs", "rrs", "rrc",
                                                                  "rrcs", "cpy", "re",  "nop"};

constexpr std::array<std::pair<std::string_view, CollectiveOp>, 6> kCollectives{
    {{"allreduce", CollectiveOp::kAllReduce},
     {"allgather", CollectiveOp::kAllGather},
     {"reduce_scatter", CollectiveOp::kReduceScatter},
     {"alltoall", CollectiveOp::kAllToAll},
     {"broadcast", CollectiveOp::kBroadcast},
     {"reduce", CollectiveOp::kReduce}}};

}  // namespace

std::string_view name(StepType type) { return kStepNames[static_cast<std::size_t>(type)]; }

std::optional<StepType> step_type_from(std::string_view name) {
  for (std::size_t i = 0; i < kStepNames.size(); ++i) {
    if (kStepNames[i] == name) return static_cast<StepType>(i);
  }
  return std::nullopt;
}

bool sends(StepType type) {
  return type == StepType::kSend || type == StepType::kReceiveCopySend || type == StepType::kReceiveReduceSend ||
         type == StepType::kReceiveReduceCopySend;
}

bool receives(StepType type) {
  return type == StepType::kReceive || type == StepType::kReceiveCopySend || type == StepType::kReceiveReduceSend ||
         type == StepType::kReceiveReduceCopy || type == StepType::kReceiveReduceCopySend;
}

std::optional<std::string_view> collective_name(CollectiveOp op) {
  for (const auto& [text, known] : kCollectives) {
    if (known == op) return text;
  }
  return std::nullopt;
}

std::optional<CollectiveOp> collective_from(std::string_view name) {
  for (const auto& [text, known] : kCollectives) {
    if (text == name) return known;
  }
  return std::nullopt;
}

std::uint32_t input_chunks(const Program& program) {
  const auto gpus = static_cast<std::uint32_t>(program.gpus.size());
  return program.op == CollectiveOp::kAllGather ? program.chunks / gpus : program.chunks;
}

std::uint32_t output_chunks(const Program& program) {
  const auto gpus = static_cast<std::uint32_t>(program.gpus.size());
  return program.op == CollectiveOp::kReduceScatter ? program.chunks / gpus : program.chunks;
}

}  // namespace photonrail::formats::msccl
