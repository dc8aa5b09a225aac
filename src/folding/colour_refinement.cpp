#include "folding/colour_refinement.hpp"

#include "folding/id_table.hpp"

#include <algorithm>

namespace photonrail::folding {

ColourRefinement::ColourRefinement(const FoldingInput& job, const CallTable& calls, const GroupLayouts& layouts,
                                   bool by_rail)
    : job_(job), calls_(calls), layouts_(layouts), by_rail_(by_rail) {
  colour_programs();
  find_units();
  groups_.resize(job_.graph.communicators().size());
  refine_all();
}

void ColourRefinement::refine_all() {
  do {
    if (by_rail_) colour_rails();
    if (layouts_.by_server()) colour_servers();
    type_groups();
  } while (refine());
  if (classes_ == job_.graph.ranks()) problem_ = "no two ranks are alike";
}

void ColourRefinement::colour_programs() {
  const std::uint32_t local = job_.cluster.gpus_per_server;
  IdTable colours;
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
    const std::uint32_t gpu = job_.gpu_of_rank[r].value;
    key_ = {calls_.program_of_rank()[r], job_.labels.empty() ? 0 : job_.labels[r], job_.whole_rails ? gpu / local : 0,
            layouts_.by_server() ? gpu % local : 0};
    colours_.push_back(colours.number(key_));
  }
  classes_ = colours.size();
}

void ColourRefinement::find_units() {
  units_.resize(job_.graph.communicators().size());
  for (std::size_t c = 0; c < units_.size(); ++c) {
    const Communicator& group = job_.graph.communicators()[c];
    const bool whole = group.point_to_point || !rotates(CommunicatorId{c});
    units_[c] = whole ? static_cast<Member>(group.members.size()) : layouts_.unit(CommunicatorId{c});
  }
}

bool ColourRefinement::rotates(CommunicatorId c) {
  const Communicator& group = job_.graph.communicators()[c.index()];
  const auto members = static_cast<Member>(group.members.size());
  if (members == 1) return false;
  std::uint64_t checked = ~std::uint64_t{0};
  for (Member m = 0; m < members; ++m) {
    const std::uint32_t program = calls_.program_of_rank()[group.members[m].index()];
    const std::uint64_t use = (std::uint64_t{program} << 32) | calls_.slot(c, m);
    if (use != checked && !rotates(program, calls_.slot(c, m), c)) return false;
    checked = use;
  }
  return true;
}

bool ColourRefinement::rotates(std::uint32_t program, std::uint32_t slot, CommunicatorId c) {
  const auto members = static_cast<Member>(job_.graph.communicators()[c.index()].members.size());
  const auto [known, fresh] = rotating_.try_emplace({program, slot, members, layouts_.layout(c)}, true);
  if (!fresh) return known->second;
  for (const CollectiveCall& call : calls_.calls(program, slot, members)) {
    known->second = known->second && layouts_.expand(call, c)->folded(layouts_.unit(c)) != nullptr;
  }
  return known->second;
}

Member ColourRefinement::next_period(CommunicatorId c) const {
  const Communicator& group = job_.graph.communicators()[c.index()];
  const auto members = static_cast<Member>(group.members.size());
  const Member now = groups_[c.index()].period;
  for (Member next = 2 * now; next <= members; next += now) {
    if (members % next == 0) return next;
  }
  return 0;
}

void ColourRefinement::separate(CommunicatorId c) {
  const std::uint32_t type = groups_[c.index()].type;
  const Member period = next_period(c);
  for (std::size_t other = 0; other < groups_.size(); ++other) {
    if (groups_[other].type == type) units_[other] = period;
  }
  refine_all();
}

// A rail's controller ties together what happens on it: rails are alike when the same colours are on them.
void ColourRefinement::colour_rails() {
  const std::uint32_t rails = job_.cluster.gpus_per_server;
  std::vector<std::vector<std::uint32_t>> present(rails);
  std::vector<std::uint32_t> last_seen(std::size_t{rails} * classes_, 0);
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
    const std::uint32_t rail = job_.gpu_of_rank[r].value % rails;
    std::uint32_t& seen = last_seen[std::size_t{rail} * classes_ + colours_[r]];
    if (seen++ == 0) present[rail].push_back(colours_[r]);
  }
  IdTable sets;
  rail_colours_.clear();
  for (std::vector<std::uint32_t>& colours : present) {
    std::sort(colours.begin(), colours.end());
    rail_colours_.push_back(sets.number(colours));
  }
}

// GPUs without a rank are none: then the whole server has no rank.
void ColourRefinement::colour_servers() {
  const std::uint32_t local = job_.cluster.gpus_per_server;
  std::vector<std::uint32_t> of_gpu(job_.cluster.gpus(), 0);
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) of_gpu[job_.gpu_of_rank[r].index()] = colours_[r] + 1;
  IdTable servers;
  server_colours_.clear();
  for (std::size_t gpu = 0; gpu < of_gpu.size(); gpu += local) {
    server_colours_.push_back(servers.number({of_gpu.data() + gpu, local}));
  }
}

void ColourRefinement::type_groups() {
  IdTable types;
  for (std::size_t c = 0; c < groups_.size(); ++c) groups_[c] = type_group(CommunicatorId{c}, types);
  types_ = types.size();
}

GroupClass ColourRefinement::type_group(CommunicatorId c, IdTable& types) {
  const Communicator& communicator = job_.graph.communicators()[c.index()];
  const auto members = static_cast<Member>(communicator.members.size());
  elements_.clear();
  for (Member m = 0; m < members; ++m) {
    elements_.push_back((std::uint64_t{colours_[communicator.members[m].index()]} << 32) | calls_.slot(c, m));
  }
  GroupClass group{0, 0, members};
  find_period(units_[c.index()], group);
  key_ = {communicator.point_to_point ? 1U : 0U,
          layouts_.layout(c),
          static_cast<std::uint32_t>(communicator.dimension),
          members,
          units_[c.index()],
          group.period};
  for (Member m = 0; m < group.period; ++m) {
    const std::uint64_t element = elements_[(group.start + m) % members];
    key_.push_back(static_cast<std::uint32_t>(element >> 32));
    key_.push_back(static_cast<std::uint32_t>(element));
  }
  group.type = types.number(key_);
  return group;
}

// The least period of the cyclic sequence, and where its least rotation begins, among multiples of the unit.
void ColourRefinement::find_period(Member unit, GroupClass& group) const {
  const auto n = static_cast<Member>(elements_.size());
  for (Member period = unit; period < n; period += unit) {
    if (n % period != 0) continue;
    if (!std::equal(elements_.begin() + period, elements_.end(), elements_.begin())) continue;
    group.period = period;
    break;
  }
  const auto rotation_is_less = [&](Member a, Member b) {
    for (Member i = 0; i < group.period; ++i) {
      const std::uint64_t x = elements_[(a + i) % n];
      const std::uint64_t y = elements_[(b + i) % n];
      if (x != y) return x < y;
    }
    return false;
  };
  for (Member start = unit; start < group.period; start += unit) {
    if (rotation_is_less(start, group.start)) group.start = start;
  }
}

// One round: true when it told ranks apart that had one colour.
bool ColourRefinement::refine() {
  IdTable colours;
  const std::uint32_t rails = job_.cluster.gpus_per_server;
  for (std::size_t r = 0; r < job_.graph.ranks(); ++r) {
    key_ = {colours_[r], by_rail_ ? rail_colours_[job_.gpu_of_rank[r].value % rails] : 0,
            layouts_.by_server() ? server_colours_[job_.gpu_of_rank[r].value / rails] : 0};
    const std::span<const CommunicatorId> of = job_.graph.slots(RankId{r});
    for (std::uint32_t s = 0; s < of.size(); ++s) {
      const GroupClass& group = groups_[of[s].index()];
      const auto members = static_cast<Member>(job_.graph.communicators()[of[s].index()].members.size());
      key_.push_back(group.type);
      key_.push_back((calls_.place(RankId{r}, s) + members - group.start) % members % group.period);
    }
    colours_[r] = colours.number(key_);
  }
  const bool finer = colours.size() != classes_;
  classes_ = colours.size();
  return finer;
}

}  // namespace photonrail::folding
