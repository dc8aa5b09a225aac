// Mixture-of-experts traffic: which tokens choose which experts, the bytes that dispatch and combine move for them, and
// whole layers: dispatch, the experts' computation and combine, one after another or as one pipeline.
#pragma once

#include "photonrail/collective/traffic_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace photonrail {

enum class RouterKind : std::uint8_t { kUniform, kZipf, kDirichlet, kWeights };
/// A row of RouterSpec::weights is of a layer, or of a member.
enum class WeightRows : std::uint8_t { kLayers, kMembers };

/// Describes how the choices of the tokens spread over the routed experts. The popularity of an expert is its share of all
/// choices; it is a property of a layer and the same for every group and micro-batch, but for `source_spread`.
struct RouterSpec {
  RouterKind kind = RouterKind::kUniform;
  double exponent = 1.0;       ///< Zipf: the r-th most popular expert has weight r^-exponent; 0 or more
  double concentration = 1.0;  ///< symmetric Dirichlet, of each expert: towards 0 one takes all, large is even
  /// Zipf and Dirichlet: every layer has a draw of its own. Otherwise all have the same; Zipf's then makes expert 0 the
  /// most popular, expert 1 the second and so on.
  bool fresh_layers = false;
  /// kWeights: relative popularities, a number for each expert in every row. Layer (or member) i has row i modulo rows.
  std::vector<std::vector<double>> weights{};
  WeightRows weight_rows = WeightRows::kLayers;

  // Drift: the logarithm of every expert's popularity makes a random walk. Deviations of one step; 0: none.
  double layer_drift = 0.0;      ///< from layer to layer
  double iteration_drift = 0.0;  ///< from iteration to iteration, in each layer apart
  /// Deviation of the logarithm by which every member's tokens differ from the rest, anew in each micro-batch.
  double source_spread = 0.0;

  friend bool operator==(const RouterSpec&, const RouterSpec&) = default;
};

/// The mixture-of-experts layers of a job with expert parallelism. Expert e lives on member e / (experts / members).
struct MoeSpec {
  RouterSpec router{};
  Member members = 2;                ///< expert-parallel ranks of a group
  std::uint32_t experts = 8;         ///< routed ones, a multiple of members; shared experts make no traffic
  std::uint32_t top_k = 2;           ///< experts that a token chooses, all different
  std::uint64_t tokens = 0;          ///< of one member in one micro-batch, at most 2^32
  std::uint32_t hidden = 1;          ///< elements of a token's vector
  std::uint32_t dispatch_bytes = 2;  ///< of an element on its way to the expert
  std::uint32_t combine_bytes = 2;   ///< ... and back
  /// A member sends an expert at most ceil(capacity_factor x top_k x tokens / experts) tokens and drops the others (GShard,
  /// arXiv 2006.16668, section 2.2). 0: dropless.
  double capacity_factor = 0.0;
  bool padded = false;  ///< always send the whole capacity
  std::uint32_t layers = 1;
  std::uint32_t micro_batches = 1;

  /// Tokens; the greatest number where dropless.
  [[nodiscard]] std::uint64_t capacity() const;
  /// Throws ConfigError whose `where` is the field, "router.exponent".
  void validate() const;

  friend bool operator==(const MoeSpec&, const MoeSpec&) = default;
};

/// The two exchanges of a layer. The gradient of combine moves as dispatch does, that of dispatch as combine does.
enum class MoeExchange : std::uint8_t { kDispatch, kCombine };

/// Which call of a layer on which group.
struct MoeCall {
  CommunicatorId communicator{};
  std::uint32_t layer = 0;
  std::uint32_t micro_batch = 0;
  std::uint32_t iteration = 0;
  std::uint64_t seed = 1;
};

/// The choices of a group's tokens in one layer: from each member (row) to each expert (column).
struct Routing {
  Member members = 0;
  std::uint32_t experts = 0;
  std::vector<std::uint64_t> chosen;  ///< token copies; a row sums to tokens x top_k
  std::vector<std::uint64_t> sent;    ///< without what is dropped, with padding

  [[nodiscard]] std::size_t cell(Member from, std::uint32_t expert) const { return std::size_t{from} * experts + expert; }
};

/// The demands of a job's MoE layers, computed when they are asked for. The choices are expected numbers, rounded to whole
/// tokens by largest remainder (ties to the lower expert): randomness is in the popularities, not in single tokens. No
/// token chooses an expert twice, so that an expert gets at most every token of a member; what is beyond goes to the
/// others.
///
/// Leaves out: one copy for several experts of one member (node-limited routing), balancing losses and biases that react
/// to the load, choices of the expert (expert choice), and the metadata of the exchange.
class MoeTraffic final : public TrafficSource {
 public:
  /// Throws ConfigError (see MoeSpec::validate()).
  explicit MoeTraffic(MoeSpec spec);

  [[nodiscard]] const MoeSpec& spec() const { return spec_; }
  /// The number of the demand. REQUIRES: layer and micro-batch exist.
  [[nodiscard]] std::uint32_t number(std::uint32_t layer, std::uint32_t micro_batch, MoeExchange exchange) const;
  [[nodiscard]] Routing routing(const MoeCall& call) const;
  /// Returns what a member would send and keep if all were even: a size for people (TaskGraphBuilder::add_all_to_all).
  [[nodiscard]] Bytes typical_input(MoeExchange exchange) const;

  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override;
  [[nodiscard]] bool drifts() const override;
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override;

 private:
  MoeSpec spec_;
};

/// Describes how a receiver learns that the bytes of a message to another server have arrived: by a signal behind them.
/// What keeps the signal behind them differs (Perseus, arXiv 2605.00686). Messages within a server need none of it.
enum class FencePolicy : std::uint8_t {
  kNone,             ///< the message says it itself
  kEachMessage,      ///< coupled: message, fence, signal, one after another through the sender's only queue
  kEachDestination,  ///< decoupled: all messages to a destination, one fence, their signals
  kNic               ///< the NIC orders them: nothing waits but the signal
};

struct MoeLayerSpec {
  MoeSpec traffic{};
  std::uint32_t ffn = 1;            ///< width of an expert's hidden layer
  bool gated = false;               ///< two matrices up (SwiGLU) instead of one
  std::uint32_t tile_rows = 128;    ///< tokens of a tile (FlashMoE, arXiv 2506.04667)
  std::uint32_t tile_columns = 64;  ///< elements of a token in a tile
  std::uint32_t processors = 131;   ///< of a GPU that compute tiles: multiprocessors, without one that administers
  FencePolicy fences = FencePolicy::kNone;
  Duration fence{};  ///< from the arrival of the last byte until the sender's fence is over

  /// Throws ConfigError whose `where` is the field, "traffic.experts".
  void validate() const;

  friend bool operator==(const MoeLayerSpec&, const MoeLayerSpec&) = default;
};

/// The exchanges of such layers, as MoeTraffic has them, and beside them each layer as one operation: the pipeline of
/// FlashMoE. A member sends one message for each expert, and 8 bytes where no token chose it. It becomes tiles of the first
/// matrix when it arrives, a row of tiles of the second when that row of the first is complete, and the row goes back.
///
/// A layer that is done exchange by exchange computes the same tiles, and each matrix as a whole: flops().
///
/// Leaves out: the gate and the weighted sum of combine, the copy into the message's buffer, messages of single tiles
/// within a server, rows of several messages in one tile, the backward pass, and what tiles and other kernels of the GPU
/// take from each other.
class MoeLayers final : public TrafficSource {
 public:
  /// Throws ConfigError (see MoeLayerSpec::validate()).
  explicit MoeLayers(MoeLayerSpec spec);

  [[nodiscard]] const MoeLayerSpec& spec() const { return spec_; }
  [[nodiscard]] const MoeTraffic& traffic() const { return traffic_; }
  /// The number of a layer in one piece; the numbers of its exchanges are those of traffic().
  /// REQUIRES: layer and micro-batch exist.
  [[nodiscard]] std::uint32_t number(std::uint32_t layer, std::uint32_t micro_batch) const;

  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override;
  [[nodiscard]] bool drifts() const override { return traffic_.drifts(); }
  /// Returns the matrix of a whole layer: both exchanges.
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override;
  /// Null for an exchange.
  [[nodiscard]] std::unique_ptr<const SendPlan> plan(const DemandQuery& query,
                                                     std::span<const std::uint32_t> servers) const override;
  /// Of all tiles on the member, in whole rounds of its processors: those of the first matrix, then those of the second.
  [[nodiscard]] double flops(const DemandQuery& query, Member member) const override;

 private:
  [[nodiscard]] std::uint32_t exchanges() const;
  [[nodiscard]] Routing routing(const DemandQuery& query) const;

  MoeLayerSpec spec_;
  MoeTraffic traffic_;
};

}  // namespace photonrail
