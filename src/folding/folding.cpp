#include "folding/folding.hpp"

#include "execution/plan_cache.hpp"
#include "folding/colour_refinement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace photonrail {

namespace {

void require(bool holds, const char* why) {
  if (!holds) throw FoldingFailed{why};
}

void require_plain(const RailSpec& rail) {
  const OpticalSwitchSpec& optical = rail.optical;
  require(optical.reconfiguration.kind == DelayDistribution::Kind::kConstant,
          "reconfiguration delays are drawn at random for each rail");
  require(optical.darkness == DarkScope::kPorts, "a switch that re-points is dark as a whole");
  require(optical.batching == Duration{} && optical.command_gap == Duration{}, "commands wait for others at the switch");
  require(rail.pods.servers == 0, "circuits between pods differ from those within one");
  require(rail.faults.empty(), "some ports fail or are stuck");
}

void require_plain(const ControlPlaneSpec& control) {
  require(control.root_service == Duration{}, "requests queue at the root one after another");
  require(control.messages.reliable(), "messages of the control plane are lost or late");
  require(control.restarts.empty(), "controllers are restarted");
  require(control.shims.empty(), "the shims of some ranks differ");
}

/// What ties ranks together that the classes know nothing of, or treats them differently.
void require_plain(const ClusterSpec& cluster, const ControllerSpec& controller, const ControllerFactory& factory) {
  if (cluster.rail.kind == RailKind::kElectrical) {
    require(!cluster.plant().two_tier(), "electrical rails of two tiers: messages share uplinks");
    return;
  }
  require(factory.symmetric, "the controller may treat equal ranks differently");
  const PolicyNeeds needs = factory.needs_of(controller);
  require(!needs.per_pair && needs.hops == 0, "the controller serves pairs one by one, or forwards");
  require_plain(cluster.rail);
  require_plain(controller.control);
  require(controller.service == Duration{0}, "requests queue at the controller one after another");
  require(!cluster.rail.forwarding, "messages may be forwarded over other GPUs");
  require(cluster.rail.on_dark == OnDark::kError, "circuits in use may be darkened");
}

/// A GPU sends to one GPU of a class at the most, and receives from one: what makes a circuit between classes one of each.
class CircuitPartners {
 public:
  CircuitPartners(const Scenario& scenario, PlanCache& plans, const ColourRefinement& symmetry)
      : scenario_(scenario), plans_(plans), symmetry_(symmetry) {}

  void check() {
    const std::vector<Communicator>& communicators = scenario_.graph.communicators();
    for (std::size_t c = 0; c < communicators.size(); ++c) {
      const std::span<const RankId> members = communicators[c].members;
      if (server(members.front()) == server(members.back())) continue;  // all in one server
      for (const auto& [from, to] : pairs(CommunicatorId{c})) {
        note(members[from], members[to]);
      }
    }
    require_unique(sends_);
    require_unique(receives_);
  }

 private:
  struct Partner {
    RankId rank;
    std::uint32_t other_class;
    RankId other;
    friend auto operator<=>(const Partner&, const Partner&) = default;
  };

  [[nodiscard]] std::uint32_t server(RankId r) const {
    return scenario_.gpu_of_rank[r.index()].value / scenario_.cluster.gpus_per_server;
  }

  void note(RankId from, RankId to) {
    const auto classes = symmetry_.class_of_rank();
    sends_.push_back({from, classes[to.index()], to});
    receives_.push_back({to, classes[from.index()], from});
  }

  // All pairs of all calls on a communicator, found once for each type.
  const std::vector<MemberPair>& pairs(CommunicatorId c) {
    const auto [entry, fresh] = pairs_.try_emplace(symmetry_.groups()[c.index()].type);
    if (!fresh) return entry->second;
    std::set<MemberPair> all;
    for (const CollectiveCall& call : symmetry_.calls(c)) {
      const std::unique_ptr<const SendPlan> plan = plans_.expand(call);
      for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
        const std::vector<MemberPair> pairs = plan->pairs(round);
        require_matching(pairs);
        all.insert(pairs.begin(), pairs.end());
      }
    }
    entry->second.assign(all.begin(), all.end());
    return entry->second;
  }

  static void require_matching(std::vector<MemberPair> pairs) {
    const auto twice = [](const MemberPair& a, const MemberPair& b) { return a.first == b.first; };
    bool matching = std::adjacent_find(pairs.begin(), pairs.end(), twice) == pairs.end();
    for (MemberPair& pair : pairs) std::swap(pair.first, pair.second);
    std::sort(pairs.begin(), pairs.end());
    matching = matching && std::adjacent_find(pairs.begin(), pairs.end(), twice) == pairs.end();
    require(matching, "an operation wants circuits from one GPU to several at once");
  }

  static void require_unique(std::vector<Partner>& partners) {
    std::sort(partners.begin(), partners.end());
    for (std::size_t i = 1; i < partners.size(); ++i) {
      const Partner& a = partners[i - 1];
      const Partner& b = partners[i];
      require(a.rank != b.rank || a.other_class != b.other_class || a.other == b.other,
              "a rank has circuits to several ranks that nothing tells apart");
    }
  }

  const Scenario& scenario_;
  PlanCache& plans_;
  const ColourRefinement& symmetry_;
  std::map<std::uint32_t, std::vector<MemberPair>> pairs_;
  std::vector<Partner> sends_;
  std::vector<Partner> receives_;
};

/// Puts the smaller job together.
class Folder {
 public:
  Folder(const Scenario& scenario, const ColourRefinement& symmetry) : scenario_(scenario), symmetry_(symmetry) {
    classes_.resize(symmetry.classes(), RankId::none());
    for (std::size_t r = scenario.graph.ranks(); r-- > 0;) classes_[symmetry.class_of_rank()[r]] = RankId{r};
  }

  Folding fold(bool optical) {
    Folding folding;
    folding.class_of_rank.assign(symmetry_.class_of_rank().begin(), symmetry_.class_of_rank().end());
    std::vector<Communicator> communicators = fold_groups(folding.roster);
    folding.graph = scenario_.graph.part(classes_, std::move(communicators), fold_slots(folding.roster));
    fold_plant(optical, folding);
    return folding;
  }

 private:
  std::vector<Communicator> fold_groups(MemberPlacement& roster) {
    const std::vector<Communicator>& whole = scenario_.graph.communicators();
    first_of_type_.assign(symmetry_.types(), CommunicatorId::none());
    roster.copies.assign(symmetry_.types(), 0);
    for (std::size_t c = whole.size(); c-- > 0;) {
      const std::uint32_t type = symmetry_.groups()[c].type;
      first_of_type_[type] = CommunicatorId{c};
      ++roster.copies[type];
    }
    std::vector<Communicator> folded;
    for (const CommunicatorId c : first_of_type_) {
      const Communicator& communicator = whole[c.index()];
      const GroupClass group = symmetry_.groups()[c.index()];
      const std::size_t members = communicator.members.size();
      Communicator& part =
          folded.emplace_back(Communicator{communicator.name, {}, communicator.dimension, communicator.point_to_point});
      for (std::size_t m = 0; m < members; ++m) {
        const RankId rank = communicator.members[(group.start + m) % members];
        roster.gpus.push_back(scenario_.gpu_of_rank[rank.index()]);
        if (m < group.period) part.members.push_back(RankId{symmetry_.class_of_rank()[rank.index()]});
      }
      roster.offsets.push_back(roster.gpus.size());
      if (!part.point_to_point) require_distinct(part.members);
    }
    return folded;
  }

  // Two operations of a rank that nothing tells apart would be one that it takes part in twice.
  static void require_distinct(std::vector<RankId> members) {
    std::sort(members.begin(), members.end());
    require(std::adjacent_find(members.begin(), members.end()) == members.end(),
            "a rank is in two groups that nothing tells apart");
  }

  std::vector<std::vector<CommunicatorId>> fold_slots(MemberPlacement& roster) {
    std::vector<std::vector<CommunicatorId>> slots(classes_.size());
    roster.places.resize(classes_.size());
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      const std::span<const CommunicatorId> of = scenario_.graph.slots(classes_[k]);
      for (std::uint32_t s = 0; s < of.size(); ++s) {
        const GroupClass& group = symmetry_.groups()[of[s].index()];
        const auto members = static_cast<Member>(scenario_.graph.communicators()[of[s].index()].members.size());
        slots[k].push_back(CommunicatorId{group.type});
        roster.places[k].push_back((symmetry_.place(classes_[k], s) + members - group.start) % members % group.period);
      }
    }
    return slots;
  }

  // Each class is a server of its rail. Electrical rails have nothing that ties their GPUs together: one rail will do.
  void fold_plant(bool optical, Folding& folding) const {
    FoldedPlant& plant = folding.plant;
    const std::uint32_t rails = scenario_.cluster.gpus_per_server;
    std::map<std::uint32_t, std::uint32_t> number;              // colour of a rail -> rail of the plant
    std::vector<std::uint32_t> servers;                         // by rail of the plant
    std::vector<std::pair<std::uint32_t, std::uint32_t>> seat;  // by class: server and rail of the plant
    for (const RankId rank : classes_) {
      const std::uint32_t rail = scenario_.gpu_of_rank[rank.index()].value % rails;
      const auto [entry, fresh] = number.try_emplace(optical ? symmetry_.rail_colours()[rail] : 0, servers.size());
      if (fresh) servers.push_back(0);
      seat.emplace_back(servers[entry->second]++, entry->second);
    }
    plant.gpus_per_server = static_cast<std::uint32_t>(servers.size());
    plant.servers = *std::max_element(servers.begin(), servers.end());
    plant.stands_for.assign(std::size_t{plant.servers} * plant.gpus_per_server, 0);
    for (std::size_t r = 0; r < scenario_.graph.ranks(); ++r) {
      const auto [server, rail] = seat[symmetry_.class_of_rank()[r]];
      const GpuId image{std::size_t{server} * plant.gpus_per_server + rail};
      plant.image.emplace(scenario_.gpu_of_rank[r].value, image);
      ++plant.stands_for[image.index()];
    }
    for (std::uint32_t rail = 0; optical && rail < rails; ++rail) {
      const auto found = number.find(symmetry_.rail_colours()[rail]);
      folding.rail_image.push_back(found == number.end() ? RailId::none() : RailId{found->second});
    }
  }

  const Scenario& scenario_;
  const ColourRefinement& symmetry_;
  std::vector<RankId> classes_;  // the lowest rank of each
  std::vector<CommunicatorId> first_of_type_;
};

}  // namespace

Folding fold(const Scenario& scenario, const ClusterSpec& cluster, const ControllerSpec& controller,
             const Registries& registries) {
  require_plain(cluster, controller, registries.controllers.find(controller.name));
  const bool optical = cluster.rail.kind == RailKind::kOptical;
  PlanCache plans(scenario.collectives, RunSpec{}, registries.collectives, nullptr);
  const ColourRefinement symmetry(scenario, plans, optical);
  if (optical) CircuitPartners(scenario, plans, symmetry).check();
  return Folder(scenario, symmetry).fold(optical);
}

}  // namespace photonrail
