// A collective that is written down send by send, for one operation and one number of members.
#pragma once

#include "photonrail/collective.hpp"

#include <memory>
#include <string>
#include <vector>

namespace photonrail::collective {

/// A send whose bytes are those of its chunks, or `parts` of ListedPlan::whole.
struct ListedSend {
  Member from = 0;
  Member to = 0;
  std::uint32_t first_chunk = 0;
  std::uint32_t chunks = 1;
  bool reduce = false;
  std::int64_t parts = 0;
  std::vector<SendIndex> after{};  ///< earlier entries of the list
};

struct ListedPlan {
  CollectiveOp op = CollectiveOp::kAllReduce;
  Member members = 2;
  Member root = 0;  ///< a call with another root swaps the two members
  std::uint32_t chunk_count = 1;
  std::int64_t whole = 0;  ///< above 0: sends say their bytes for a call of this size, and what they carry is not known
  std::vector<ListedSend> sends;
};

/// The algorithm that expands calls of the op and the members to the plan; CollectiveCall::pieces means nothing to it.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_listed(std::string name, std::string summary,
                                                                     ListedPlan plan);

}  // namespace photonrail::collective
