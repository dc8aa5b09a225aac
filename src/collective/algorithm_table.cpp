#include "collective/algorithm_table.hpp"

#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::collective {

core::Field algorithm_field(CollectiveOp op) { return core::named_field("collectives.algorithm.*", name(op)); }

AlgorithmTable::AlgorithmTable(const CollectiveSpec& spec, const CollectiveRegistry& registry)
    : spec_(spec), registry_(registry) {
  for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
    const CollectiveAlgorithm* known = find(spec.algorithm[op]);
    uses_places_[op] = spec.algorithm[op] == kAutoAlgorithm || (known != nullptr && known->uses_places());
    expects_straggler_[op] = known != nullptr && known->expects_straggler();
  }
}

const CollectiveAlgorithm* AlgorithmTable::find(std::string_view name) const {
  if (const CollectiveAlgorithm* own = spec_.find_own(name)) return own;
  const auto& all = registry_.all();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& algorithm) { return algorithm->name() == name; });
  return found == all.end() ? nullptr : found->get();
}

const CollectiveAlgorithm& AlgorithmTable::algorithm(CollectiveOp op) const {
  const std::string& wanted = spec_.algorithm[index(op)];
  const CollectiveAlgorithm* known = find(wanted);
  return known != nullptr ? *known : registry_.find(wanted);  // which lists what there is
}

const CollectiveAlgorithm& AlgorithmTable::supporting(const CollectiveCall& call) const {
  const CollectiveAlgorithm& algorithm = this->algorithm(call.op);
  if (!algorithm.supports(call.op, call.members)) {
    throw core::FieldError(algorithm_field(call.op),
                           "'" + std::string(algorithm.name()) + "' cannot do " + std::string(name(call.op)) + " among " +
                               core::counted(call.members, "rank"),
                           "choose another algorithm: photonrail list collectives");
  }
  if (call.demand != nullptr && !algorithm.takes_demand()) {
    throw core::FieldError(algorithm_field(call.op),
                           "'" + std::string(algorithm.name()) + "' sends even shares, but the job has uneven demands",
                           "choose one that takes a demand, such as pairwise");
  }
  return algorithm;
}

// The members of an operation with bytes get them by sends alone; of a demand every pair may be zero.
void AlgorithmTable::require_moving(const CollectiveAlgorithm& algorithm, const CollectiveCall& call,
                                    const SendPlan* plan) {
  const auto what = [&] {
    return "the plan of \"" + std::string(algorithm.name()) + "\" for " + std::string(name(call.op)) + " among " +
           std::to_string(call.members);
  };
  if (plan == nullptr) throw ConfigError("", what() + " is not there", "CollectiveAlgorithm::expand() must return one");
  const bool moves = call.members > 1 && call.size > Bytes{} && call.demand == nullptr && call.op != CollectiveOp::kBarrier;
  if (moves && plan->send_count() == 0) throw ConfigError("", what() + " moves nothing", "a plan has sends");
}

std::unique_ptr<const SendPlan> AlgorithmTable::expand(const CollectiveAlgorithm& algorithm, CollectiveCall call) const {
  call.pieces = call.op == CollectiveOp::kSend ? 1 : spec_.chunks;
  try {
    auto plan = algorithm.expand(call);
    require_moving(algorithm, call, plan.get());
    return plan;
  } catch (const ConfigError& error) {
    throw error.where().empty() ? core::FieldError(algorithm_field(call.op), error.problem(), error.hint()) : error;
  }
}

}  // namespace photonrail::collective
