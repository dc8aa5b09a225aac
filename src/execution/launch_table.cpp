#include "execution/launch_table.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::execution {

namespace {

constexpr std::size_t kMaxOpen = std::size_t{1} << 24;

}  // namespace

Launch& LaunchTable::open(std::size_t parts, std::uint32_t longest) {
  if (open_ == 0) next_task_ = 0;
  if (open_ == kMaxOpen || next_ == LaunchId::none().value || next_task_ + longest >= TaskId::none().index()) {
    throw core::FieldError(core::field("graph"),
                           "has " + core::counted(open_, "open launch", "open launches") + " of " + std::to_string(next_) +
                               ", and no numbers are left for more",
                           "launch less, or more slowly than launches end");
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pool_.size()));
    pool_.push_back(std::make_unique<Launch>());
  }
  Launch& launch = *pool_[free_.back()];
  launch.slot = free_.back();
  free_.pop_back();
  launch.id = LaunchId{next_++};
  launch.first = TaskId{next_task_};
  launch.parts.assign(parts, {});
  launch.ranks_left = static_cast<std::uint32_t>(parts);
  launch.asked = 0;
  launch.last = {};
  next_task_ += longest;
  ++open_;
  return launch;
}

void LaunchTable::list(const Launch& launch) {
  for (std::uint32_t part = 0; part < launch.parts.size(); ++part) {
    ranks_[launch.parts[part].rank.index()].push_back({launch.first, launch.id.value, launch.slot, part});
  }
}

// Most launches of a rank end in the order in which they began: the first of its list is looked at first.
void LaunchTable::close(Launch& launch) {
  for (const LaunchPart& part : launch.parts) {
    std::deque<Entry>& list = ranks_[part.rank.index()];
    const auto found = std::lower_bound(list.begin(), list.end(), launch.id.value,
                                        [](const Entry& entry, std::uint32_t id) { return entry.id < id; });
    list.erase(found);
  }
  free_.push_back(launch.slot);
  launch.id = LaunchId::none();
  --open_;
}

std::vector<const Launch*> LaunchTable::all() const {
  std::vector<const Launch*> open;
  for (const auto& launch : pool_) {
    if (!launch->id.is_none()) open.push_back(launch.get());
  }
  std::sort(open.begin(), open.end(), [](const Launch* a, const Launch* b) { return a->id < b->id; });
  return open;
}

LaunchTable::Place LaunchTable::place(RankId rank, TaskId number) const {
  const std::deque<Entry>& list = ranks_[rank.index()];
  auto after = list.end();
  if (list.size() > 1) {
    after = std::upper_bound(list.begin(), list.end(), number,
                             [](TaskId task, const Entry& entry) { return task < entry.first; });
  }
  const Entry& entry = *--after;
  return {pool_[entry.slot].get(), entry.part};
}

LaunchTable::Place LaunchTable::place(RankId rank, LaunchId id) const {
  const std::deque<Entry>& list = ranks_[rank.index()];
  if (list.size() == 1 && list.front().id == id.value) return {pool_[list.front().slot].get(), list.front().part};
  const auto found = std::lower_bound(list.begin(), list.end(), id.value,
                                      [](const Entry& entry, std::uint32_t launch) { return entry.id < launch; });
  if (found == list.end() || found->id != id.value) return {};
  return {pool_[found->slot].get(), found->part};
}

}  // namespace photonrail::execution
