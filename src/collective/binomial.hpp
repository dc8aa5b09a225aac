// Binomial trees as steps, for plans that have one inside.
#pragma once

#include "collective/steps.hpp"

#include <functional>

namespace photonrail::collective {

/// The data that the subtree of the `count` members line[v] .. line[v + count - 1] exchanges with the rest of their line.
using TreeData = std::function<Runs(std::size_t line, Member v, Member count)>;

enum class TreeFlow : std::uint8_t { kSpread, kCollect, kReduce };

/// A tree over every line, all at the same time, with the first of the line as its root: from the root to all (the largest
/// subtree is served first), or from all to the root. Each step is a round. REQUIRES: the lines are equally long.
void binomial_trees(StepPlan& plan, const std::vector<std::vector<Member>>& lines, TreeFlow flow, const TreeData& data);

}  // namespace photonrail::collective
