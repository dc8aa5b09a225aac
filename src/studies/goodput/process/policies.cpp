// The built-in recovery and spare-placement policies.
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/goodput/policy.hpp"

#include <algorithm>
#include <limits>

namespace photonrail::goodput {

namespace {

bool moves_a_server(RecoveryAction action) {
  return action == RecoveryAction::kSwapInRack || action == RecoveryAction::kSwap || action == RecoveryAction::kMoveRack;
}

// The scenario's order is the preference.
class InOrder : public RecoveryPolicy {
 public:
  std::optional<std::size_t> decide(const RecoveryView& view) const override {
    for (std::size_t i = 0; i < view.options.size(); ++i) {
      if (view.options[i].possible) return i;
    }
    return std::nullopt;
  }
};

// Expected seconds of the whole job: stages, work that is lost, the wait for a repair, and what the missing replica would
// have done until then. The repair of a part that failed is taken at its mean, from now on.
class LeastLoss : public RecoveryPolicy {
 public:
  std::optional<std::size_t> decide(const RecoveryView& view) const override {
    std::optional<std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < view.options.size(); ++i) {
      const OptionView& option = view.options[i];
      if (!option.possible) continue;
      const double loss = loss_of(view, option);
      if (best && loss >= least) continue;
      best = i;
      least = loss;
    }
    return best;
  }

 private:
  static double loss_of(const RecoveryView& view, const OptionView& option) {
    double loss = option.stages_s;
    if (option.rollback == Rollback::kCheckpoint) loss += view.work_at_risk_s;
    if (option.action == RecoveryAction::kWait && view.server_down) loss += view.repair_s;
    if (option.action == RecoveryAction::kDropReplica) loss += view.repair_s / view.all_replicas;
    return loss;
  }
};

// Spares are kept for nothing: what a cluster without them does.
class Repair : public RecoveryPolicy {
 public:
  std::optional<std::size_t> decide(const RecoveryView& view) const override {
    for (std::size_t i = 0; i < view.options.size(); ++i) {
      const OptionView& option = view.options[i];
      if (option.possible && !moves_a_server(option.action) && option.action != RecoveryAction::kDropReplica) return i;
    }
    return std::nullopt;
  }
};

class SameRackFirst : public SparePlacement {
 public:
  std::size_t choose(std::uint32_t rack, std::span<const SpareView> spares) const override {
    for (std::size_t i = 0; i < spares.size(); ++i) {
      if (spares[i].rack == rack) return i;
    }
    return 0;
  }
};

// A spare of the rack that keeps the most, so that later failures find one near them.
class FullestRack : public SparePlacement {
 public:
  std::size_t choose(std::uint32_t, std::span<const SpareView> spares) const override {
    const auto most = std::max_element(spares.begin(), spares.end(), [](const SpareView& a, const SpareView& b) {
      return a.idle_in_rack < b.idle_in_rack;
    });
    return static_cast<std::size_t>(most - spares.begin());
  }
};

template <class Policy>
const Policy& named(const std::vector<NamedPolicy<Policy>>& table, std::string_view name, const core::Field& where) {
  std::vector<std::string> known;
  for (const auto& row : table) {
    if (row.name == name) return *row.policy;
    known.push_back(row.name);
  }
  throw core::FieldError(where, "unknown value \"" + std::string(name) + "\"", suggest(name, known));
}

}  // namespace

std::vector<NamedPolicy<RecoveryPolicy>> PolicyTable::builtin_recovery() {
  return {{"in_order", "the first option of the scenario that is possible", std::make_shared<InOrder>()},
          {"least_loss", "the option with the least expected loss", std::make_shared<LeastLoss>()},
          {"repair", "no spares, no dropped replicas: restart, or wait for the repair", std::make_shared<Repair>()}};
}

std::vector<NamedPolicy<SparePlacement>> PolicyTable::builtin_placement() {
  return {{"same_rack_first", "a spare of the same rack, else the first", std::make_shared<SameRackFirst>()},
          {"fullest_rack", "a spare of the rack with the most idle servers", std::make_shared<FullestRack>()}};
}

const RecoveryPolicy& PolicyTable::recovery_named(std::string_view name) const {
  return named(recovery, name, core::field("reliability.policy"));
}

const SparePlacement& PolicyTable::placement_named(std::string_view name) const {
  return named(placement, name, core::field("reliability.spare_placement"));
}

}  // namespace photonrail::goodput
