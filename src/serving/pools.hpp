// What serves requests: pools of engines, how requests are divided among them, and how KV goes from one to another.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/units.hpp"
#include "serving/arrivals.hpp"
#include "serving/engine_spec.hpp"
#include "serving/metrics.hpp"
#include "serving/step_time.hpp"

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

/// Engines that are alike.
struct PoolSpec {
  std::string name = "engines";
  PoolRole role = PoolRole::kMixed;
  EngineSpec engine{};
  std::vector<std::vector<RankId>> engines{};  ///< the ranks of each
  std::shared_ptr<const StepTime> times{};
};

enum class RoutePolicy : std::uint8_t {
  kRoundRobin,
  kRandom,
  kLeastRequests,  ///< fewest requests that have not ended
  kLeastBlocks,    ///< fewest blocks held
  kPrefix,         ///< longest prefix found, unless twice as many requests and four more are there as on the idlest
  kSticky  ///< where the last KV of the same engine went, as long as it has blocks and a place; else as kLeastBlocks
};

/// What a router knows of an engine.
struct EngineSignal {
  std::uint64_t held_blocks = 0;
  std::uint64_t free_blocks = 0;
  std::uint32_t requests = 0;
  std::uint32_t places = 0;  ///< requests that it runs at once
  std::uint32_t cached = 0;  ///< tokens of the request that it has
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
  bool first_token_at_prefill = false;  ///< else the decode engine computes the prompt's last token again, and sends it
  double bytes_per_token = 0.0;         ///< that leave the engine, all its ranks together
  std::uint32_t layers = 1;
  Duration latency{};    ///< of a message with the network to itself
  Bandwidth rate{50e9};  ///< ... of one rank
};

struct ServingSpec {
  RequestSpec requests{};
  std::vector<PoolSpec> pools{};
  RoutingSpec routing{};
  TransferSpec transfer{};
  std::optional<SloSpec> slo{};
  std::uint64_t warm_up = 0;
  std::optional<Time> horizon{};  ///< the run ends then, with requests that are not finished
  Duration request_host{};        ///< from the arrival until the engine's queue has the request
  std::uint64_t seed = 1;

  [[nodiscard]] bool apart() const;  ///< prefill and decode are
};

}  // namespace photonrail::serving
