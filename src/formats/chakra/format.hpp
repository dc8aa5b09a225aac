// The words of a Chakra execution trace that reading and writing share: field numbers, kinds and attribute names.
#pragma once

#include "photonrail/collective.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace photonrail::formats::chakra {

enum class NodeType : std::uint8_t {
  kInvalid,
  kMetadata,
  kMemoryLoad,
  kMemoryStore,
  kCompute,
  kSend,
  kReceive,
  kCollective
};
inline constexpr std::uint64_t kNodeTypeCount = 8;

/// Field numbers of the messages.
namespace field {
// GlobalMetadata
inline constexpr std::uint32_t kVersion = 1;

// Node
inline constexpr std::uint32_t kNodeId = 1;
inline constexpr std::uint32_t kNodeName = 2;
inline constexpr std::uint32_t kNodeKind = 3;
inline constexpr std::uint32_t kControlDependencies = 4;
inline constexpr std::uint32_t kDataDependencies = 5;
inline constexpr std::uint32_t kDurationMicros = 7;
inline constexpr std::uint32_t kNodeAttribute = 10;

// Attribute: a name, a comment, then one value. Odd numbers are single values, the even ones after them lists of the same.
inline constexpr std::uint32_t kAttributeName = 1;
inline constexpr std::uint32_t kAttributeComment = 2;
inline constexpr std::uint32_t kDouble = 3;
inline constexpr std::uint32_t kFloat = 5;
inline constexpr std::uint32_t kInt32 = 7;
inline constexpr std::uint32_t kInt64 = 9;
inline constexpr std::uint32_t kUint32 = 11;
inline constexpr std::uint32_t kUint64 = 13;
inline constexpr std::uint32_t kSint32 = 15;
inline constexpr std::uint32_t kSint64 = 17;
inline constexpr std::uint32_t kFixed32 = 19;
inline constexpr std::uint32_t kFixed64 = 21;
inline constexpr std::uint32_t kSfixed32 = 23;
inline constexpr std::uint32_t kSfixed64 = 25;
inline constexpr std::uint32_t kBool = 27;
inline constexpr std::uint32_t kBoolList = 28;
inline constexpr std::uint32_t kString = 29;
inline constexpr std::uint32_t kBytes = 31;
inline constexpr std::uint32_t kLastList = 32;
}  // namespace field

/// Indexed by comm_type. The eighth and the ninth are reduce-scatter and reduce-scatter block: the same to a network.
inline constexpr std::array<CollectiveOp, 10> kCollectiveTypes{
    CollectiveOp::kAllReduce,     CollectiveOp::kReduce,    CollectiveOp::kAllGather, CollectiveOp::kGather,
    CollectiveOp::kScatter,       CollectiveOp::kBroadcast, CollectiveOp::kAllToAll,  CollectiveOp::kReduceScatter,
    CollectiveOp::kReduceScatter, CollectiveOp::kBarrier};

/// Names of attributes.
namespace key {
inline constexpr std::string_view kCommType = "comm_type";
inline constexpr std::string_view kCommSize = "comm_size";
inline constexpr std::string_view kCommSource = "comm_src";
inline constexpr std::string_view kCommDestination = "comm_dst";
inline constexpr std::string_view kCommTag = "comm_tag";
inline constexpr std::string_view kGroupName = "pg_name";
inline constexpr std::string_view kOperations = "num_ops";
inline constexpr std::string_view kTensorSize = "tensor_size";
inline constexpr std::string_view kOnCpu = "is_cpu_op";
inline constexpr std::string_view kCommPriority = "comm_priority";
/// A list of bool, one for each dimension of the network.
inline constexpr std::string_view kDimensions = "involved_dim";
/// The root of a rooted collective, as a rank of the job; absent: the lowest rank of the group.
inline constexpr std::string_view kRootRank = "root_rank";
inline constexpr std::string_view kRootRankToo = "comm_root";
/// An exact duration, in an attribute of our own because Chakra's durations are whole microseconds. It takes precedence
/// over the reader's options for compute time.
inline constexpr std::string_view kExactDuration = "photonrail_duration_ps";
}  // namespace key

}  // namespace photonrail::formats::chakra
