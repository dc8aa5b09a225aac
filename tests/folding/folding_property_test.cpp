// Jobs drawn at random that look the same from several ranks: folded or not, they end in the same result.
#include "run/drawing.hpp"
#include "support/folded.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace photonrail::test {
namespace {

const int kFirst = static_cast<int>(first_case());
const int kCases = static_cast<int>(test_cases(400));

/// A job of `roles` programs with `copies` ranks each. Calls are made in one global order by all copies alike, so that
/// nothing can deadlock: a collective of all copies of a role, of some roles within a copy, or of some roles and all
/// copies; or sends from a role to another, `shift` copies further.
class SymmetricDrawing {
 public:
  explicit SymmetricDrawing(std::uint64_t seed) : dice_(seed) {
    roles_ = dice_.from_to(1, 4);
    copies_ = dice_.one_in(4) ? dice_.from_to(6, 8) : dice_.from_to(2, 5);
    draw_cluster();
    draw_run();
    write_graph();
  }

  Scenario scenario;

 private:
  [[nodiscard]] std::size_t rank(std::uint32_t role, std::uint32_t copy) const {
    return role_major_ ? std::size_t{role} * copies_ + copy : std::size_t{copy} * roles_ + role;
  }

  void draw_cluster() {
    ClusterSpec& c = scenario.cluster;
    role_major_ = dice_.one_in(2);
    const std::uint32_t layout = dice_.from_to(0, 2);  // one GPU a server; roles of a copy; copies of a role in a server
    c.gpus_per_server = layout == 0 ? 1 : layout == 1 ? roles_ : copies_;
    c.servers = roles_ * copies_ / c.gpus_per_server;
    for (std::uint32_t a = 0; a < (role_major_ ? roles_ : copies_); ++a) {
      for (std::uint32_t b = 0; b < (role_major_ ? copies_ : roles_); ++b) {
        const std::uint32_t role = role_major_ ? a : b;
        const std::uint32_t copy = role_major_ ? b : a;
        scenario.gpu_of_rank.push_back(GpuId{layout == 2 ? role * copies_ + copy : copy * roles_ + role});
      }
    }
    c.nic.ports = dice_.from_to(1, 2);
    c.nic.per_port = Bandwidth::from_gb_per_s(dice_.pick<double>({50, 33.3}));
    c.nic.latency = dice_.pick<Duration>({{}, us(1), Duration{936251}});
    c.nic.message_overhead = dice_.pick<Duration>({{}, Duration{10007}});
    c.scale_up.latency = dice_.pick<Duration>({{}, Duration{500003}});
    c.rail.switch_radix = 64;
    if (dice_.one_in(3)) return;
    c.rail.kind = RailKind::kOptical;
    c.rail.optical.reconfiguration = DelayDistribution::constant(dice_.pick<Duration>({{}, us(2), us(900)}));
    scenario.controller.name = "opus";
    scenario.controller.parameters.set("mode", dice_.one_in(2) ? "provisioned" : "on_demand");
    scenario.controller.parameters.set("order", dice_.one_in(2) ? "scheduled" : "free");
    scenario.controller.request = dice_.pick<Duration>({{}, us(5)});
    scenario.controller.command = dice_.pick<Duration>({{}, us(1)});
  }

  void draw_run() {
    scenario.run.fidelity = dice_.one_in(2) ? Fidelity::kExact : Fidelity::kStream;
    scenario.run.iterations = dice_.one_in(3) ? dice_.from_to(25, 60) : dice_.from_to(1, 2);
    scenario.executor.comm_lanes = dice_.one_in(2) ? CommLanes::kOne : CommLanes::kPerCommunicator;
    scenario.executor.buffered_send = dice_.pick<Bytes>({Bytes{0}, Bytes{4 << 20}});
    scenario.collectives.chunks = dice_.from_to(1, 2);
    if (dice_.one_in(8)) draw_slow_ranks();
  }

  /// A GPU that is slow in every step, or all of a role.
  void draw_slow_ranks() {
    StragglerSpec slow{.whom = StragglerSpec::Whom::kListed, .slowdown = dice_.pick<double>({1.5, 3.0})};
    const std::uint32_t role = dice_.from_to(0, roles_ - 1);
    const std::uint32_t copies = dice_.one_in(2) ? 1 : copies_;
    for (std::uint32_t copy = 0; copy < copies; ++copy) slow.ranks.emplace_back(rank(role, copy));
    std::sort(slow.ranks.begin(), slow.ranks.end());
    scenario.stragglers.push_back(std::move(slow));
  }

  struct RoleProgram {
    ProgramId id;
    std::vector<TaskId> tasks;
    std::uint32_t slots = 0;
  };

  void write_graph() {
    TaskGraphBuilder builder(std::size_t{roles_} * copies_);
    slots_.resize(std::size_t{roles_} * copies_);
    for (std::uint32_t role = 0; role < roles_; ++role) programs_.push_back({builder.add_program(), {}, 0});
    for (std::uint32_t call = dice_.from_to(2, 8); call > 0; --call) {
      for (std::uint32_t role = 0; role < roles_; ++role) draw_compute(builder, role);
      if (calls_.empty() || dice_.one_in(2)) {
        draw_group(builder);
      } else {
        make(builder, dice_.pick(calls_));
      }
    }
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      const std::size_t role = role_major_ ? r / copies_ : r % roles_;
      builder.assign(RankId{r}, programs_[role].id, slots_[r]);
    }
    scenario.graph = std::move(builder).build();
  }

  /// A communicator a copy, or one in all, and the slot that each role has it in.
  struct Group {
    std::vector<std::uint32_t> roles;
    std::vector<std::uint32_t> slots;  // by role of `roles`
    bool send = false;
    std::uint32_t members = 0;
  };

  void draw_group(TaskGraphBuilder& builder) {
    const std::uint32_t kind = dice_.from_to(0, 4);
    const auto dimension = dice_.pick<Dimension>({Dimension::kTp, Dimension::kDp, Dimension::kPp});
    std::vector<std::uint32_t> some;
    for (std::uint32_t role = 0; role < roles_; ++role) {
      if (!dice_.one_in(3)) some.push_back(role);
    }
    if (some.empty()) some.push_back(0);
    if (kind == 0) some = {dice_.pick(some)};
    if (kind >= 3) return draw_send(builder, dimension);
    Group group{some, {}, false, static_cast<std::uint32_t>(some.size()) * (kind == 1 ? 1 : copies_)};
    const std::uint32_t groups = kind == 1 ? copies_ : 1;
    for (std::uint32_t g = 0; g < groups; ++g) {
      std::vector<RankId> members;
      for (std::uint32_t copy = 0; copy < copies_; ++copy) {
        for (const std::uint32_t role : some) {
          if (kind != 1 || copy == g) members.push_back(RankId{rank(role, copy)});
        }
      }
      const CommunicatorId id = builder.add_communicator("g" + std::to_string(number_++), members, dimension);
      for (const RankId member : members) slots_[member.index()].push_back(id);
    }
    for (const std::uint32_t role : some) group.slots.push_back(programs_[role].slots++);
    calls_.push_back(group);
    make(builder, group);
  }

  void draw_send(TaskGraphBuilder& builder, Dimension dimension) {
    const std::uint32_t from = dice_.from_to(0, roles_ - 1);
    const std::uint32_t to = dice_.from_to(0, roles_ - 1);
    const std::uint32_t shift = from == to || dice_.one_in(3) ? 1 : 0;
    if (!sends_.emplace(from, to, shift).second) return;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const RankId sender{rank(from, copy)};
      const RankId receiver{rank(to, (copy + shift) % copies_)};
      slots_[sender.index()].push_back(builder.link(sender, receiver, dimension));
    }
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const RankId sender{rank(from, copy)};
      const RankId receiver{rank(to, (copy + shift) % copies_)};
      slots_[receiver.index()].push_back(builder.link(sender, receiver, dimension));
    }
    Group group{{from, to}, {}, true, 2};
    group.slots.push_back(programs_[from].slots++);
    group.slots.push_back(programs_[to].slots++);
    calls_.push_back(group);
    make(builder, group);
  }

  void make(TaskGraphBuilder& builder, const Group& group) {
    const Bytes size{dice_.pick<std::int64_t>({1 << 20, 720720, 7 << 20, 1000003})};
    if (group.send) {
      RoleProgram& from = programs_[group.roles[0]];
      from.tasks.push_back(builder.add_send(from.id, group.slots[0], size, 0, "", after(group.roles[0])));
      RoleProgram& to = programs_[group.roles[1]];
      // Of a rank that sends to its own kind, the receive must not wait for a send that waits for it.
      const auto before = group.roles[0] == group.roles[1] ? std::vector<TaskId>{} : after(group.roles[1]);
      to.tasks.push_back(builder.add_receive(to.id, group.slots[1], size, 0, "", before));
      return;
    }
    const auto op =
        dice_.pick<CollectiveOp>({CollectiveOp::kAllReduce, CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                  CollectiveOp::kAllToAll, CollectiveOp::kBroadcast});
    const Member root = op == CollectiveOp::kBroadcast ? dice_.from_to(0, group.members - 1) : 0;
    for (std::size_t i = 0; i < group.roles.size(); ++i) {
      RoleProgram& p = programs_[group.roles[i]];
      p.tasks.push_back(builder.add_collective(p.id, group.slots[i], op, size, "", after(group.roles[i]), root));
    }
  }

  void draw_compute(TaskGraphBuilder& builder, std::uint32_t role) {
    if (dice_.one_in(2)) return;
    RoleProgram& p = programs_[role];
    const Duration time = dice_.pick<Duration>({{}, us(3), us(250), Duration{1}});
    p.tasks.push_back(builder.add_delay(p.id, time, "", after(role)));
  }

  std::vector<TaskId> after(std::uint32_t role) {
    const std::vector<TaskId>& before = programs_[role].tasks;
    if (before.empty()) return {};
    std::vector<TaskId> picked;
    for (std::uint32_t i = dice_.from_to(0, 2); i > 0; --i) picked.push_back(dice_.pick(before));
    return picked;
  }

  Dice dice_;
  std::uint32_t roles_ = 1;
  std::uint32_t copies_ = 1;
  bool role_major_ = false;

  std::uint32_t number_ = 0;
  std::vector<RoleProgram> programs_;
  std::vector<std::vector<CommunicatorId>> slots_;
  std::vector<Group> calls_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> sends_;
};

/// The job's result or its error, folded or not.
struct Outcome {
  std::optional<RunResult> result;
  std::string error;
};

Outcome outcome(Scenario scenario, bool folding) {
  scenario.run.folding = folding;
  try {
    return {simulate(scenario), ""};
  } catch (const std::exception& e) {
    return {std::nullopt, e.what()};
  }
}

TEST(FoldingProperty, FoldedAndUnfoldedAreEqual) {
  std::map<std::string, int> off;
  int finished = 0;
  int few_steps = 0;
  for (int seed = kFirst; seed < kFirst + kCases; ++seed) {
    const SymmetricDrawing job(static_cast<std::uint64_t>(seed));
    const Outcome folded = outcome(job.scenario, true);
    const Outcome unfolded = outcome(job.scenario, false);
    EXPECT_EQ(folded.error, unfolded.error) << "case " << seed;
    if (!folded.result || !unfolded.result) continue;
    ++finished;
    ++off[folded.result->folding.off];
    few_steps += ran_few_steps(*folded.result) ? 1 : 0;
    expect_same_results(*folded.result, *unfolded.result);
    if (HasFailure()) {
      ADD_FAILURE() << "case " << seed << ": "
                    << (job.scenario.cluster.rail.kind == RailKind::kOptical ? "optical" : "electrical")
                    << ", off: " << folded.result->folding.off;
      return;
    }
  }
  for (const auto& [why, cases] : off) RecordProperty(why.empty() ? "folded" : why, cases);
  EXPECT_GT(finished, kCases / 2);
  EXPECT_GT(off[""], kCases / 4) << "too few were folded to say anything";
  EXPECT_GT(few_steps, kCases / 10) << "too few had equal steps to say anything";
}

// Two transfers of a rank end at one instant. It asks for the circuits of its next one between them or behind them, by the
// order of events, and its operation has a peer that came long before: what the request waited for is the same in both.
TEST(FoldingProperty, TheCriticalPathOfATieIsTheSame) {
  const Scenario job = SymmetricDrawing(10554).scenario;
  const Outcome folded = outcome(job, true);
  const Outcome unfolded = outcome(job, false);
  ASSERT_TRUE(folded.result && unfolded.result) << folded.error;
  EXPECT_LT(folded.result->folding.classes, folded.result->folding.ranks);
  EXPECT_EQ(folded.result->reconfigurations.critical_path, 2u);
  EXPECT_EQ(unfolded.result->reconfigurations.critical_path, 2u);
}

/// Without the line that says how many steps were run, which is no part of what was chosen.
std::vector<std::string> without_steps(std::vector<std::string> choices) {
  std::erase_if(choices, [](const std::string& line) { return line.starts_with("steps: "); });
  return choices;
}

// A policy that treats equal rails equally, and not equal ranks: whole rails are folded, its rehearsals are of the job
// folded by ranks, and stop when they can no longer be the best. The run with every rank rehearses with every rank, each
// way to the end of the best. Without rehearsals the profile alone is of the job folded by ranks, and all choices are
// equal. With them another way may be taken, which the job folded by ranks knows as the best: then it is as good.
void expect_whole_rails_fold(bool rehearse) {
  int rails = 0;
  int others = 0;
  for (int seed = kFirst; seed < kFirst + kCases; ++seed) {
    SymmetricDrawing job(static_cast<std::uint64_t>(seed));
    if (job.scenario.cluster.rail.kind != RailKind::kOptical) continue;
    job.scenario.controller = ControllerSpec{};
    job.scenario.controller.name = "coalesce";
    job.scenario.controller.parameters.set("rehearse", rehearse ? 1.0 : 0.0);
    const Outcome folded = outcome(job.scenario, true);
    const Outcome unfolded = outcome(job.scenario, false);
    EXPECT_EQ(folded.error, unfolded.error) << "case " << seed;
    if (!folded.result || !unfolded.result) continue;
    if (!rehearse) EXPECT_EQ(without_steps(folded.result->choices), unfolded.result->choices);
    others += without_steps(folded.result->choices) == unfolded.result->choices ? 0 : 1;
    expect_same_results(*folded.result, *unfolded.result);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "case " << seed << ", off: " << folded.result->folding.off;
    const bool by_opus = rehearse && folded.result->choices[0].find(", opus") != std::string::npos;
    if (!by_opus && folded.result->folding.off.empty()) ++rails;
  }
  EXPECT_GT(rails, kCases / 50) << "too few were folded to say anything";
  EXPECT_LE(others, kCases / 100) << "the job folded by ranks does not say which way is the best";
}

TEST(FoldingProperty, WholeRailsUnderAPolicyThatRehearses) { expect_whole_rails_fold(true); }

TEST(FoldingProperty, WholeRailsUnderOneWayOfIt) { expect_whole_rails_fold(false); }

}  // namespace
}  // namespace photonrail::test
