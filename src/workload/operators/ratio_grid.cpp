#include "workload/operators/ratio_grid.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::workload {

RatioGrid::RatioGrid(std::span<const GridPoint> points) {
  if (points.empty()) return;
  std::size_t cells = 1;
  for (std::size_t axis = kGridAxes; axis-- > 0;) {
    Axis& a = axes_[axis];
    for (const GridPoint& p : points) a.sizes.push_back(p.at[axis]);
    std::sort(a.sizes.begin(), a.sizes.end());
    a.sizes.erase(std::unique(a.sizes.begin(), a.sizes.end()), a.sizes.end());
    for (const std::int64_t size : a.sizes) a.logs.push_back(std::log(static_cast<double>(size)));
    a.stride = cells;
    cells *= a.sizes.size();
  }
  cells_.assign(cells, 0.0F);
  states_.assign(cells, State::kMissing);
  std::vector<float> counts(cells, 0.0F);
  for (const GridPoint& p : points) {
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < kGridAxes; ++axis) {
      const auto& sizes = axes_[axis].sizes;
      const auto at = std::lower_bound(sizes.begin(), sizes.end(), p.at[axis]) - sizes.begin();
      cell += static_cast<std::size_t>(at) * axes_[axis].stride;
    }
    counts[cell] += 1.0F;
    cells_[cell] += (p.log_ratio - cells_[cell]) / counts[cell];
    states_[cell] = State::kMeasured;
  }
  weigh_axes();
  fill();
}

bool RatioGrid::covers(std::size_t axis, std::int64_t size) const {
  const auto& sizes = axes_[axis].sizes;
  return !sizes.empty() && sizes.front() <= size && size <= sizes.back();
}

GridPosition RatioGrid::position(std::size_t cell) const {
  GridPosition at{};
  for (std::size_t axis = 0; axis < kGridAxes; ++axis) {
    at[axis] = axes_[axis].sizes[cell / axes_[axis].stride];
    cell %= axes_[axis].stride;
  }
  return at;
}

// From the nearest neighbours of the line through `cell` whose state is known, up to `at_most`; the cell itself is not
// read.
RatioGrid::Estimate RatioGrid::along(std::size_t cell, std::size_t axis, State at_most) const {
  const Axis& a = axes_[axis];
  const std::size_t count = a.sizes.size();
  const std::size_t i = cell / a.stride % count;
  const auto known = [&](std::size_t c) { return states_[c] != State::kMissing && states_[c] <= at_most; };
  std::size_t low = i;
  std::size_t high = i;
  for (std::size_t j = i; j-- > 0 && low == i;) {
    if (known(cell - (i - j) * a.stride)) low = j;
  }
  for (std::size_t j = i + 1; j < count && high == i; ++j) {
    if (known(cell + (j - i) * a.stride)) high = j;
  }
  if (low == i && high == i) return {};
  const float below = cells_[cell - (i - low) * a.stride];
  const float above = cells_[cell + (high - i) * a.stride];
  if (low == i) return {above, false, true};
  if (high == i) return {below, false, true};
  const auto share = static_cast<float>((a.logs[i] - a.logs[low]) / (a.logs[high] - a.logs[low]));
  return {below + share * (above - below), true, true};
}

// Lines with a neighbour on both sides count; where there is none, all that end here.
RatioGrid::Estimate RatioGrid::blend(std::size_t cell, State at_most) const {
  std::array<float, 2> sum{};
  std::array<float, 2> weight{};
  for (std::size_t axis = 0; axis < kGridAxes; ++axis) {
    const Estimate line = along(cell, axis, at_most);
    if (!line.found) continue;
    sum[line.between ? 1 : 0] += weights_[axis] * line.value;
    weight[line.between ? 1 : 0] += weights_[axis];
  }
  const std::size_t kind = weight[1] > 0.0F ? 1 : 0;
  if (weight[kind] <= 0.0F) return {};
  return {sum[kind] / weight[kind], kind == 1, true};
}

void RatioGrid::weigh_axes() {
  constexpr std::size_t kSample = 4096;  // points, spread evenly: enough for a median
  constexpr float kLeast = 1e-3F;        // keeps an axis that fits exactly from a weight without bound
  const std::size_t step = std::max<std::size_t>(cells_.size() / kSample, 1);
  for (std::size_t axis = 0; axis < kGridAxes; ++axis) {
    std::vector<float> errors;
    for (std::size_t cell = 0; cell < cells_.size(); cell += step) {
      if (states_[cell] != State::kMeasured) continue;
      const Estimate line = along(cell, axis, State::kMeasured);
      if (line.between) errors.push_back(std::abs(line.value - cells_[cell]));
    }
    if (errors.empty()) continue;
    const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    const float error = std::max(*middle, kLeast);
    weights_[axis] = 1.0F / (error * error);
  }
}

// Twice: positions between measured points first, from those alone; then what is left, from the nearest of them.
void RatioGrid::fill() {
  std::vector<std::pair<std::size_t, Estimate>> found;
  for (const State at_most : {State::kMeasured, State::kBetween, State::kBeyond}) {
    bool again = true;
    while (again) {
      found.clear();
      for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
        if (states_[cell] != State::kMissing) continue;
        const Estimate estimate = blend(cell, at_most);
        if (estimate.found && (estimate.between || at_most != State::kMeasured)) found.emplace_back(cell, estimate);
      }
      for (const auto& [cell, estimate] : found) {
        cells_[cell] = estimate.value;
        states_[cell] = estimate.between && at_most == State::kMeasured ? State::kBetween : State::kBeyond;
      }
      again = at_most == State::kBeyond && !found.empty();
    }
  }
}

RatioGrid::Found RatioGrid::at(const GridPosition& where) const {
  std::array<std::size_t, kGridAxes> low{};
  std::array<double, kGridAxes> share{};  // of the next size above `low`
  Found found;
  for (std::size_t axis = 0; axis < kGridAxes; ++axis) {
    const Axis& a = axes_[axis];
    const auto above = std::lower_bound(a.sizes.begin(), a.sizes.end(), where[axis]);
    const auto i = static_cast<std::size_t>(above - a.sizes.begin());
    low[axis] = std::min(i, a.sizes.size() - 1);
    if (above != a.sizes.end() && *above == where[axis]) continue;
    if (i == 0 || i == a.sizes.size()) {
      found.source = OperatorSource::kExtrapolated;
      continue;
    }
    low[axis] = i - 1;
    share[axis] = (std::log(static_cast<double>(where[axis])) - a.logs[i - 1]) / (a.logs[i] - a.logs[i - 1]);
    found.source = std::max(found.source, OperatorSource::kInterpolated);
  }
  for (std::size_t corner = 0; corner < (std::size_t{1} << kGridAxes); ++corner) {
    double weight = 1.0;
    std::size_t cell = 0;
    for (std::size_t axis = 0; axis < kGridAxes; ++axis) {
      const bool upper = ((corner >> axis) & 1U) != 0;
      weight *= upper ? share[axis] : 1.0 - share[axis];
      if (weight == 0.0) break;
      cell += (low[axis] + (upper ? 1 : 0)) * axes_[axis].stride;
    }
    if (weight == 0.0) continue;
    found.log_ratio += weight * static_cast<double>(cells_[cell]);
    if (states_[cell] == State::kBetween) found.source = std::max(found.source, OperatorSource::kInterpolated);
    if (states_[cell] == State::kBeyond) found.source = OperatorSource::kExtrapolated;
  }
  return found;
}

std::vector<RatioGrid::LeftOut> RatioGrid::leave_one_out() const {
  std::vector<LeftOut> left;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    if (states_[cell] != State::kMeasured) continue;
    const Estimate estimate = blend(cell, State::kMeasured);
    if (estimate.found && estimate.between) left.push_back({position(cell), estimate.value - cells_[cell]});
  }
  return left;
}

std::vector<RatioGrid::LeftOut> RatioGrid::leave_line_out(std::size_t axis) const {
  std::vector<LeftOut> left;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    if (states_[cell] != State::kMeasured) continue;
    const Estimate estimate = along(cell, axis, State::kMeasured);
    if (estimate.between) left.push_back({position(cell), estimate.value - cells_[cell]});
  }
  return left;
}

}  // namespace photonrail::workload
