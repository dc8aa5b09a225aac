// Jobs that wait, by what they ask for: jobs with equal requests are refused together.
#pragma once

#include "studies/slices/pods/scheduling.hpp"

#include <compare>
#include <map>
#include <set>
#include <utility>

namespace photonrail::slices {

/// Equal for requests that an allocator cannot tell apart.
struct RequestKey {
  std::uint32_t accelerators = 0;
  Shape shape{};
  bool has_shape = false;

  explicit RequestKey(const SliceRequest& request)
      : accelerators(request.accelerators), shape(request.shape.value_or(Shape{})), has_shape(request.shape.has_value()) {}
  friend auto operator<=>(const RequestKey&, const RequestKey&) = default;
};

class JobQueue {
 public:
  /// The key that comes first among equal requests, and in an order without groups; ties by job.
  using Entry = std::pair<double, std::uint32_t>;
  using Group = std::set<Entry>;

  void add(std::uint32_t job, const RequestKey& request, double key) { groups_[request].insert({key, job}); }
  void remove(std::uint32_t job, const RequestKey& request, double key) {
    Group& group = groups_.at(request);
    group.erase({key, job});
    if (group.empty()) groups_.erase(request);
  }
  /// Returns how many of the jobs that ask for this were removed: those for which `is_so`(job) is true.
  template <class Is>
  std::size_t remove_if(const RequestKey& request, const Is& is_so) {
    Group& group = groups_.at(request);
    const std::size_t removed = std::erase_if(group, [&](const Entry& entry) { return is_so(entry.second); });
    if (group.empty()) groups_.erase(request);
    return removed;
  }
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] const std::map<RequestKey, Group>& groups() const { return groups_; }

 private:
  std::map<RequestKey, Group> groups_;  // none is empty
};

}  // namespace photonrail::slices
