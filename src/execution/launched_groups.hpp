// The communicators of launches: equal ones are one, from the first launch that names it to the end of the run.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace photonrail::execution {

/// What makes communicators equal.
struct GroupKey {
  std::string_view name{};            ///< empty: of a launch of one task, which gets a name
  std::span<const RankId> members{};  ///< ascending; point to point: sender, receiver
  Dimension dimension = Dimension::kOther;
  bool point_to_point = false;
  std::uint32_t ordinal = 0;  ///< among the equal ones of one graph, which are several
};

class LaunchedGroups {
 public:
  struct Found {
    CommunicatorId id;
    bool is_new = false;
  };

  /// `gpu_of_rank` must outlive the object.
  explicit LaunchedGroups(std::span<const GpuId> gpu_of_rank) : gpu_of_rank_(gpu_of_rank) {}

  [[nodiscard]] Found find_or_add(const GroupKey& key);
  /// Its address stays.
  [[nodiscard]] const Communicator& operator[](CommunicatorId id) const { return groups_[id.index()].communicator; }
  /// By member; its address stays.
  [[nodiscard]] std::span<const GpuId> gpus(CommunicatorId id) const { return groups_[id.index()].gpus; }

 private:
  struct Group {
    Communicator communicator;
    std::vector<GpuId> gpus;
    std::uint32_t ordinal = 0;
    bool named = false;

    [[nodiscard]] bool is(const GroupKey& key) const;
  };

  std::span<const GpuId> gpu_of_rank_;
  std::deque<Group> groups_;
  std::unordered_multimap<std::uint64_t, CommunicatorId> by_hash_;
};

}  // namespace photonrail::execution
