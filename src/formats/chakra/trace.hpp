// One rank's Chakra file as flat arrays: the nodes in ascending id, with what a simulation needs of them and nothing else.
#pragma once

#include "formats/chakra/format.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::chakra {

/// The whole numbers that a node may have.
enum class Number : std::uint8_t {
  kCommType,
  kCommSize,
  kCommSource,
  kCommDestination,
  kCommTag,
  kTensorSize,
  kRootRank,
  kDurationMicros,
  kExactDuration,
  kCommPriority,
};
inline constexpr std::size_t kNumberCount = 10;

/// A piece of one of the arrays of a Trace.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  friend bool operator==(Range, Range) = default;
};

struct TraceNode {
  std::uint64_t id = 0;
  NodeType type = NodeType::kInvalid;
  bool on_cpu = false;
  bool has_operations = false;
  std::uint16_t present = 0;       // by Number
  std::uint32_t dimensions = ~0U;  ///< of a collective: a bit for each dimension of the network that takes part
  Range name;
  Range group;    ///< pg_name; empty when absent
  Range data;     ///< in Trace::data_dependencies
  Range control;  ///< in Trace::control_dependencies
  double operations = 0.0;
  std::array<std::uint64_t, kNumberCount> numbers{};

  [[nodiscard]] std::optional<std::uint64_t> number(Number n) const {
    const auto i = static_cast<std::size_t>(n);
    if ((present >> i & 1U) == 0) return std::nullopt;
    return numbers[i];
  }
  void set(Number n, std::uint64_t value) {
    const auto i = static_cast<std::size_t>(n);
    present = static_cast<std::uint16_t>(present | 1U << i);
    numbers[i] = value;
  }

  friend bool operator==(const TraceNode&, const TraceNode&) = default;
};

/// Text of a metadata node that may be a JSON list of groups.
struct GroupText {
  std::string where;  ///< node and attribute
  std::string json;
};

struct Trace {
  std::vector<TraceNode> nodes;                  ///< ascending id
  std::vector<std::uint64_t> data_dependencies;  ///< node ids
  std::vector<std::uint64_t> control_dependencies;
  std::string text;
  std::vector<GroupText> groups;
  bool has_version = false;

  [[nodiscard]] std::string_view name(const TraceNode& n) const { return view(n.name); }
  [[nodiscard]] std::string_view group(const TraceNode& n) const { return view(n.group); }
  [[nodiscard]] std::span<const std::uint64_t> data(const TraceNode& n) const {
    return {data_dependencies.data() + n.data.first, n.data.count};
  }
  [[nodiscard]] std::span<const std::uint64_t> control(const TraceNode& n) const {
    return {control_dependencies.data() + n.control.first, n.control.count};
  }
  /// "node 12 (name)", for people.
  [[nodiscard]] std::string describe(const TraceNode& n) const;

 private:
  [[nodiscard]] std::string_view view(Range r) const { return std::string_view(text).substr(r.first, r.count); }
};

/// `data` is the unpacked content of a file. Throws ConfigError that names the node, or the byte in `data`.
/// REQUIRES: data.size() <= kMaxFileBytes, so that positions fit 32 bits.
[[nodiscard]] Trace parse_trace(std::string_view data);

/// parse_trace() of one file after another. Most messages of a file are, byte for byte, those at the same place of a file
/// before it: their nodes are copied from there. The results are those of parse_trace().
class TraceParser {
 public:
  [[nodiscard]] Trace parse(std::string_view data);

  /// An earlier file, to compare with.
  struct Sample {
    /// A message, and where what it added to the arrays of the trace begins.
    struct Piece {
      std::uint32_t begin = 0;  ///< in `data`
      std::uint32_t size = 0;
      std::uint32_t text = 0;
      std::uint32_t data_dependencies = 0;
      std::uint32_t control_dependencies = 0;
    };
    std::string data;
    std::vector<Piece> pieces;  ///< by node, and one more at the end
    Trace trace;                ///< in the order of the file
  };

 private:
  Sample sample_;
};

}  // namespace photonrail::formats::chakra
