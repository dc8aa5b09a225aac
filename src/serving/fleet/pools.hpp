// What serves requests: pools of engines, how requests are divided among them, and how KV goes from one to another.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"
#include "serving/engine/engine_spec.hpp"
#include "serving/engine/step_time.hpp"
#include "serving/requests/arrivals.hpp"
#include "serving/requests/metrics.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::serving {

enum class PoolRole : std::uint8_t {
  kMixed,    ///< prompts and answers
  kPrefill,  ///< prompts, whose KV goes to an engine that decodes
  kDecode
};

/// Where an engine is: its first rank's server, and the pod of that.
struct EnginePlace {
  std::uint32_t server = 0;
  std::uint32_t pod = 0;
};

/// Engines of a pool start and stop with its load: requests that have not ended, for each engine that takes some.
struct ScalingSpec {
  std::uint32_t least = 1;  ///< engines that are always there; the run begins with them
  double up = 32.0;         ///< above this load an engine starts: it loads its weights from the first that has them
  double down = 4.0;        ///< below this load the last engine takes no more requests, and stops when it has none
  Duration cool_down{};     ///< from one decision to the next
  Duration start{};         ///< from the end of loading until it takes requests
  Bytes weights{};          ///< of each rank
};

/// Operations of a step as traffic of the job; nothing: their times are in StepTime.
struct StepFlows {
  double reduced = 0.0;    ///< bytes of tensors a token that the ranks of an engine all-reduce, in all layers together
  double exchanged = 0.0;  ///< bytes a token that ranks of engines which step together send to experts, and back
  double forwarded = 0.0;  ///< bytes a token from a stage to the next

  [[nodiscard]] bool any() const { return reduced > 0.0 || exchanged > 0.0; }
};

/// Where the KV of preempted requests goes with Preemption::kSwap, as traffic that steps wait for: to the host, over a link
/// that GPUs with neighbouring numbers share, or to the GPUs of engines that lend blocks, as messages between ranks, over
/// the scale-up fabric or the rails.
struct OffloadSpec {
  std::optional<std::uint32_t> donor_pool{};  ///< none: the host
  std::uint64_t blocks = 1U << 20;            ///< of an engine, at most
  double keep = 0.1;                          ///< of its blocks that a donor keeps free when it lends
  Bandwidth link{64e9};                       ///< host: of the link, each direction
  std::uint32_t gpus_per_link = 1;            ///< host: that share it
};

/// Engines that are alike.
struct PoolSpec {
  std::string name = "engines";
  PoolRole role = PoolRole::kMixed;
  EngineSpec engine{};
  std::vector<std::vector<RankId>> engines{};  ///< the ranks of each
  std::shared_ptr<const StepTime> times{};
  std::vector<EnginePlace> places{};  ///< of each; none: all are in one
  std::uint32_t together = 1;         ///< so many engines, one after another, step together, as long as the slowest of them
  std::uint32_t stages = 1;  ///< of each engine, whose ranks are in their order; a step goes through one after another
  std::uint32_t slots = 1;   ///< so many engines, one after another, have the same ranks
  StepFlows flows{};
  std::optional<ScalingSpec> scaling{};
  double block_bytes = 0.0;  ///< of a KV block, on all ranks together
  std::optional<OffloadSpec> offload{};
};

/// An engine stops, and all that it has is lost.
struct EngineFailure {
  std::uint32_t pool = 0;
  std::uint32_t engine = 0;  ///< of the pool
  Time at{};
  std::optional<Duration> lasts{};  ///< then it takes requests again; none: for good
  Duration detection{};             ///< until its requests begin again elsewhere; routers send it requests until then
};

enum class RoutePolicy : std::uint8_t {
  kRoundRobin,
  kRandom,
  kLeastRequests,  ///< fewest requests that have not ended
  kLeastBlocks,    ///< fewest blocks held
  kPrefix,         ///< longest prefix found, unless twice as many requests and four more are there as on the idlest
  kNearest,  ///< fewest switches from the engine that has the KV, among those with blocks and a place; then as kLeastBlocks
  kSticky    ///< where the last KV of the same engine went, as long as it has blocks and a place; else as kLeastBlocks
};

/// What a router knows of an engine.
struct EngineSignal {
  std::uint64_t held_blocks = 0;
  std::uint64_t free_blocks = 0;
  std::uint32_t requests = 0;
  std::uint32_t places = 0;    ///< requests that it runs at once
  std::uint32_t cached = 0;    ///< tokens of the request that it has
  std::uint32_t distance = 0;  ///< 0: in the same server, 1: in the same pod, 2: farther
};

/// The request to be routed.
struct RouteQuestion {
  std::uint64_t blocks = 0;            ///< that its prompt needs
  std::uint64_t turn = 0;              ///< counts the answers of the router
  std::uint64_t draw = 0;              ///< a random number
  std::optional<std::size_t> pointed;  ///< where the last KV of the same engine went
};

/// Chooses one of the engines; of equals the first. REQUIRES: there are some.
[[nodiscard]] std::size_t route(RoutePolicy policy, std::span<const EngineSignal> engines, const RouteQuestion& question);

struct RoutingSpec {
  RoutePolicy arrivals = RoutePolicy::kLeastRequests;
  RoutePolicy decode = RoutePolicy::kLeastBlocks;
  Duration signal_age{};          ///< blocks are known as they were at the last multiple of it; requests always exactly
  std::uint32_t max_waiting = 0;  ///< an engine that has so many waiting refuses more; 0: none is refused
};

struct TransferSpec {
  enum class When : std::uint8_t {
    kAtEnd,        ///< the whole KV when the prompt is computed
    kLayerByLayer  ///< that of all layers but the last from the beginning of the prompt's last chunk on
  };
  enum class Order : std::uint8_t {
    kFair,  ///< all at once, which share the links
    kFifo   ///< one after another from each engine
  };
  When when = When::kAtEnd;
  Order order = Order::kFair;
  bool open_at_prefill = false;         ///< its ranks announce it when the prompt's prefill begins, with its engine chosen
  bool first_token_at_prefill = false;  ///< else the decode engine computes the prompt's last token again, and sends it
  double bytes_per_token = 0.0;         ///< that leave the engine, all its ranks together
  std::uint32_t layers = 1;
  Duration latency{};    ///< of a message with the network to itself
  Bandwidth rate{50e9};  ///< ... of one rank
};

/// A search for the greatest rate of arrivals at which the share of SloSpec is kept: doubled or halved until it lies
/// between two, and then halved, in the logarithm.
struct RateSearchSpec {
  double within = 0.02;  ///< it ends where the two are so near, as a share
  std::uint32_t most_runs = 40;
};

struct ServingSpec {
  RequestSpec requests{};
  std::vector<PoolSpec> pools{};
  std::vector<EngineFailure> failures{};  ///< by time
  RoutingSpec routing{};
  TransferSpec transfer{};
  std::optional<SloSpec> slo{};
  std::optional<RateSearchSpec> find_rate{};
  std::uint64_t warm_up = 0;
  std::optional<Time> horizon{};  ///< the run ends then, with requests that are not finished
  Duration request_host{};        ///< from the arrival until the engine's queue has the request
  std::uint64_t seed = 1;

  [[nodiscard]] bool apart() const;  ///< prefill and decode are
};

}  // namespace photonrail::serving
