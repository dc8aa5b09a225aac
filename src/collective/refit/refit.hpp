// A refit: the weights of a model that was trained go to the engines that generate with it, from one division over ranks to
// another. As an all-to-all of a job it is a source of traffic with plans of its own.
#pragma once

#include "collective/refit/weight_map.hpp"
#include "photonrail/collective/send_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::collective {

enum class RefitWay : std::uint8_t {
  kFunnel,           ///< one training rank collects all weights and sends each engine rank its shard
  kRing,             ///< all weights pass from rank to rank over one rail, as a broadcast of NCCL
  kRingPerRail,      ///< each rail carries its part of all weights from server to server; a gather inside the server
  kSharded,          ///< each engine rank gets its shards from ranks that hold them, all at once
  kShardedMatchings  ///< the same in rounds, in each of which a NIC sends to one NIC and receives from one
};

struct RefitSpec {
  std::vector<WeightUnit> units{};  ///< in bytes on the wire: of the precision that is sent, of a delta what changed
  WeightLayout training{};
  WeightLayout engine{};  ///< of one engine
  Member engines = 1;
  bool colocated = false;  ///< the engines' ranks are those of training from member 0; else members behind them
  RefitWay way = RefitWay::kRingPerRail;
  std::uint32_t pieces = 64;  ///< that what a rail carries is cut into, so that hops follow each other

  [[nodiscard]] Member engine_ranks() const { return engines * engine.ranks; }
  [[nodiscard]] Member members() const {
    return colocated ? std::max(training.ranks, engine_ranks()) : training.ranks + engine_ranks();
  }
  [[nodiscard]] Bytes bytes() const;  ///< of one copy of the model
  /// Throws ConfigError whose `where` is the field, "training.tp".
  void validate() const;
};

/// A plan with what its chunks are, for proofs.
struct RefitPlan {
  struct Chunk {
    Bytes bytes{};
    std::size_t shard = 0;  ///< of `shards`
  };
  std::unique_ptr<const SendPlan> plan;
  std::vector<Chunk> chunks;
  std::vector<WeightShard> shards;
};

/// `servers`: that of each member; its members lie on rails 0, 1, 2 ... in ascending order. `stage`: the weights of this
/// pipeline stage of training alone. REQUIRES: spec is valid, a server for each member.
[[nodiscard]] RefitPlan plan_refit(const RefitSpec& spec, std::span<const std::uint32_t> servers,
                                   std::optional<std::uint32_t> stage = {});

/// A job's refits, with the plan above in place of an algorithm's: demand number 1, and 2 + s for the weights of stage s.
///
/// Leaves out: the conversion between precisions and the packing of tensors, which take time on the GPU, and messages that
/// are as small as single tensors.
class RefitTraffic final : public TrafficSource {
 public:
  /// Throws ConfigError (see RefitSpec::validate()).
  explicit RefitTraffic(RefitSpec spec);

  [[nodiscard]] const RefitSpec& spec() const { return spec_; }
  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override;
  [[nodiscard]] bool drifts() const override { return false; }
  /// Returns what each engine rank needs of whom, once.
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override;
  [[nodiscard]] std::unique_ptr<const SendPlan> plan(const DemandQuery& query,
                                                     std::span<const std::uint32_t> servers) const override;

 private:
  [[nodiscard]] static std::optional<std::uint32_t> stage_of(const DemandQuery& query) {
    return query.number == 1 ? std::nullopt : std::optional(query.number - 2);
  }

  RefitSpec spec_;
};

}  // namespace photonrail::collective
