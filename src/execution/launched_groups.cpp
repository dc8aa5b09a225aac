#include "execution/launched_groups.hpp"

#include <algorithm>

namespace photonrail::execution {

namespace {

std::uint64_t hash_of(const GroupKey& key) {
  std::uint64_t hash = std::hash<std::string_view>{}(key.name);
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  };
  mix(static_cast<std::uint64_t>(key.dimension) << 1 | static_cast<std::uint64_t>(key.point_to_point));
  mix(key.ordinal);
  for (const RankId member : key.members) mix(member.value);
  return hash;
}

std::string name_of(const GroupKey& key) {
  if (!key.name.empty()) return std::string(key.name);
  const std::string first = std::to_string(key.members.front().value);
  const std::string last = std::to_string(key.members.back().value);
  if (key.point_to_point) return "link." + first + ">" + last;
  return std::string(name(key.dimension)) + "." + first + "-" + last;
}

}  // namespace

bool LaunchedGroups::Group::is(const GroupKey& key) const {
  return ordinal == key.ordinal && communicator.dimension == key.dimension &&
         communicator.point_to_point == key.point_to_point && named == !key.name.empty() &&
         (!named || communicator.name == key.name) && std::ranges::equal(communicator.members, key.members);
}

LaunchedGroups::Found LaunchedGroups::find_or_add(const GroupKey& key) {
  const std::uint64_t hash = hash_of(key);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    if (groups_[found->second.index()].is(key)) return {found->second, false};
  }
  const CommunicatorId id{groups_.size()};
  Group& group = groups_.emplace_back();
  group.communicator = {name_of(key), {key.members.begin(), key.members.end()}, key.dimension, key.point_to_point};
  for (const RankId member : key.members) group.gpus.push_back(gpu_of_rank_[member.index()]);
  group.ordinal = key.ordinal;
  group.named = !key.name.empty();
  by_hash_.emplace(hash, id);
  return {id, true};
}

}  // namespace photonrail::execution
