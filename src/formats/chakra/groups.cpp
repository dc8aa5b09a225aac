#include "formats/chakra/groups.hpp"
#include "core/inside.hpp"
#include "json/in_file.hpp"

#include "core/counted.hpp"
#include "formats/input_file.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::formats::chakra {

using json::Json;
using json::parse_json;

namespace {

constexpr std::string_view kDefaultGroup = "0";
constexpr std::string_view kLinks = "p2p";  // among the dimensions: all sends and receives

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<RankId> all_ranks(std::size_t ranks) {
  std::vector<RankId> all;
  for (std::size_t r = 0; r < ranks; ++r) all.emplace_back(r);
  return all;
}

std::vector<RankId> read_members(const JsonReader& list, std::size_t ranks) {
  std::vector<RankId> members;
  std::vector<bool> seen(ranks, false);
  for (const JsonReader& element : list.elements()) {
    const std::uint64_t rank = element.integer(0, UINT32_MAX);
    if (rank >= ranks) {
      element.fail("rank " + std::to_string(rank) + " does not exist",
                   "the trace has " + core::counted(ranks, "file") + ", one a rank from 0");
    }
    if (seen[rank]) element.fail("rank " + std::to_string(rank) + " is in the group twice");
    seen[rank] = true;
    members.emplace_back(rank);
  }
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace

bool NaturalOrder::operator()(std::string_view a, std::string_view b) const {
  const bool numbers = is_number(a) && is_number(b);
  if (numbers && a.size() != b.size()) return a.size() < b.size();
  if (!numbers && is_number(a) != is_number(b)) return is_number(a);
  return a < b;
}

Groups::Groups(const ChakraOptions& options, const std::vector<std::filesystem::path>& files,
               const std::vector<RankTrace>& traces, TaskGraphBuilder& builder)
    : ranks_(traces.size()), builder_(builder), dimensions_(options.dimensions) {
  if (!options.comm_groups.empty()) read_file_groups(options.comm_groups);
  for (std::size_t r = 0; r < traces.size(); ++r) {
    core::inside(files[r].string(), [&] { read_text_groups(traces[r].texts); });
  }
  const auto zero = groups_.find(kDefaultGroup);
  if (zero != groups_.end() && zero->second.members.size() == ranks_ && !groups_.contains(world_)) world_ = kDefaultGroup;
  check_dimensions();
  for (auto& [name, group] : groups_) add_communicator(name, group);
  if (const auto links = dimensions_.find(std::string(kLinks)); links != dimensions_.end()) link_dimension_ = links->second;
}

void Groups::define(const JsonReader& place, const std::string& name, std::vector<RankId> members, bool from_file) {
  if (name == world_ && members.size() != ranks_) place.fail("a group with the name " + name + " must have all ranks");
  const auto [known, is_new] = groups_.try_emplace(name, Group{members, {}, from_file});
  if (is_new || known->second.from_file || known->second.members == members) return;
  place.fail("group " + name + " has other members elsewhere", "give the groups in a file (comm_groups)");
}

void Groups::read_file_groups(const std::filesystem::path& file) {
  json::in_file(read_file(file), file.string(), [&](const Json& root) {
    for (const auto& [name, list] : JsonReader(root).members()) {
      std::vector<RankId> members = read_members(list, ranks_);
      if (members.empty()) list.fail("a group needs a member");
      define(list, name, std::move(members), true);
    }
  });
}

void Groups::read_text_groups(const std::vector<GroupText>& texts) {
  for (const GroupText& text : texts) {
    json::in_file(text.json, text.where, [&](const Json& root) {
      for (JsonReader entry : JsonReader(root).elements()) {
        const JsonReader list = entry.child("ranks");
        std::vector<RankId> members = read_members(list, ranks_);
        if (members.empty()) members = all_ranks(ranks_);  // how PyTorch writes its default group
        define(list, entry.child("pg_name").string(), std::move(members), false);
      }
    });
  }
}

void Groups::check_dimensions() const {
  std::vector<std::string> names{world_, std::string(kLinks)};
  for (const auto& [name, group] : groups_) {
    if (name != world_) names.push_back(name);
  }
  for (const auto& [name, dimension] : dimensions_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw ConfigError("dimensions", "there is no group \"" + name + "\"", suggest(name, names));
  }
}

Dimension Groups::dimension_of(const std::string& group) const {
  const auto found = dimensions_.find(group);
  return found == dimensions_.end() ? Dimension::kOther : found->second;
}

void Groups::add_communicator(const std::string& name, Group& group) {
  if (group.members.size() > 1) group.communicator = builder_.add_communicator(name, group.members, dimension_of(name));
}

const Group* Groups::find(std::string_view pg_name) {
  if (const auto found = groups_.find(pg_name); found != groups_.end()) return &found->second;
  if (!pg_name.empty() && pg_name != kDefaultGroup) return nullptr;
  const auto [world, is_new] = groups_.try_emplace(world_, Group{all_ranks(ranks_), {}});
  if (is_new) add_communicator(world_, world->second);
  return &world->second;
}

std::string Groups::known() const {
  std::string list;
  constexpr std::size_t kShown = 20;
  std::size_t shown = 0;
  for (const auto& [name, group] : groups_) {
    if (shown++ == kShown) return list + " and " + std::to_string(groups_.size() - kShown) + " more";
    list += (list.empty() ? "" : ", ") + name;
  }
  return list.empty() ? "no groups are known: give the groups file (--groups, comm_groups)" : "known groups: " + list;
}

}  // namespace photonrail::formats::chakra
