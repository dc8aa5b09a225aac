// Collectives that come as files: MSCCL XML, TACCL's algorithms, sends and receives in Chakra traces. They are proven when
// they are read, and are algorithms like any other: for one operation and one number of members.
#pragma once

#include "photonrail/collective.hpp"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace photonrail {

struct CollectiveFile {
  std::shared_ptr<const CollectiveAlgorithm> algorithm;  ///< named after the file
  CollectiveOp op = CollectiveOp::kAllReduce;
  Member members = 2;
  Member root = 0;  ///< as written: a call with another root swaps the two members
};

/// MSCCL XML as TACCL, TACOS and msccl-scheduler write it. Throws ConfigError with the line: what is not XML; a peer,
/// thread block, step or chunk that does not exist; sends and receives that do not meet; steps that wait for each other in
/// a circle; a result that is not the collective's. Times in files are not read: a run computes its own.
[[nodiscard]] CollectiveFile read_msccl(const std::filesystem::path& file);
/// The same from text; `name` is what errors and the algorithm call it.
[[nodiscard]] CollectiveFile parse_msccl(std::string_view xml, std::string_view name);

/// TACCL's algorithm JSON ("sccl_type": "algorithm"): the sends in their order, each after what brings it its chunk.
[[nodiscard]] CollectiveFile read_taccl(const std::filesystem::path& file);

/// A collective written as Chakra sends and receives, <prefix>.<rank>.et, for data of `size` bytes (CollectiveCall::size);
/// calls of another size scale every message. Such a trace does not say what a message carries. The check is therefore a
/// necessary condition only: the data of each member can have reached the members that need it, and no member receives less
/// than it needs. Computation in the trace takes no time. Throws ConfigError.
[[nodiscard]] CollectiveFile read_chakra_collective(const std::filesystem::path& prefix, CollectiveOp op, Bytes size);

/// The plan as MSCCL XML, proven before it is handed out. What the format cannot say is lost: rounds and sizes in bytes.
/// Throws ConfigError when it has no such operation.
[[nodiscard]] std::string msccl_xml(const CollectiveCall& call, const SendPlan& plan, std::string_view name);
/// The same as what writes it to a stream, once: the text may be larger than the memory. The proof is done before it
/// returns.
[[nodiscard]] std::function<void(std::ostream&)> msccl_writer(const CollectiveCall& call, const SendPlan& plan,
                                                              std::string_view name);

}  // namespace photonrail
