// A transformer by its dimensions: decoder-only, dense or with experts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace photonrail {

/// SwiGLU has three matrices (gate, up, down), the plain ones two (up, down).
enum class MlpKind : std::uint8_t { kSwiGlu, kGelu, kSquaredRelu };
[[nodiscard]] constexpr std::uint32_t matrices(MlpKind kind) { return kind == MlpKind::kSwiGlu ? 3 : 2; }

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries, keys and values come from narrow
/// latents. Widths in elements.
struct LatentAttention {
  std::uint32_t query_rank = 0;  ///< 0: queries come from the hidden state
  std::uint32_t kv_rank = 512;
  std::uint32_t nope_head = 128;  ///< of a query and a key head, without position
  std::uint32_t rope_head = 64;   ///< the part with position; its key is shared by all heads
  std::uint32_t value_head = 128;

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Experts in place of the MLP (Shazeer et al., arXiv 1701.06538): a router sends each token to `top_k` of them.
struct ExpertSpec {
  std::uint32_t experts = 8;
  std::uint32_t top_k = 2;
  std::uint32_t ffn = 0;           ///< of one expert; 0: that of the model
  std::uint32_t shared = 0;        ///< experts that every token passes, as one MLP of `shared` x ffn
  std::uint32_t dense_layers = 0;  ///< the first layers have an MLP
  std::uint32_t every = 1;         ///< of the others, each `every`-th has experts, the last of a group
  std::uint32_t shared_ffn = 0;    ///< width of the MLP of the shared experts; 0: `shared` x ffn
  std::uint32_t latent = 0;        ///< width of a token between down and up projections around the routed experts; 0: none

  friend bool operator==(const ExpertSpec&, const ExpertSpec&) = default;
};

/// A selective state space layer (Mamba-2, Dao and Gu, arXiv 2405.21060), computed chunk by chunk.
struct MambaSpec {
  std::uint32_t heads = 64;
  std::uint32_t head_dim = 64;
  std::uint32_t state = 128;      ///< elements of a head's state for each of head_dim channels
  std::uint32_t groups = 8;       ///< of heads that share the projections B and C
  std::uint32_t convolution = 4;  ///< taps of the causal convolution
  std::uint32_t chunk = 128;      ///< tokens

  friend bool operator==(const MambaSpec&, const MambaSpec&) = default;
};

/// Holds what a layer has: one that mixes tokens, and one that works on each token, either or both.
struct LayerKind {
  bool attention = true;
  bool mamba = false;
  bool mlp = true;
  bool experts = false;
  bool window = false;  ///< its attention is over a sliding window
};

struct ModelSpec {
  std::string name = "custom";
  std::uint32_t layers = 32;
  std::uint32_t hidden = 4096;
  std::uint32_t ffn = 14336;
  std::uint32_t heads = 32;
  std::uint32_t kv_heads = 8;  ///< without latent attention
  std::uint32_t vocabulary = 128256;
  std::uint32_t head_dim = 0;  ///< 0: hidden / heads
  MlpKind mlp = MlpKind::kSwiGlu;
  std::uint32_t positions = 0;   ///< rows of a table of learned positions; 0: none
  bool biases = false;           ///< of every matrix product in a layer
  bool layer_norm = false;       ///< norms have a bias too
  bool query_key_norm = false;   ///< a norm on each head of queries and keys
  bool tied_embeddings = false;  ///< the output projection is the embedding
  std::optional<LatentAttention> latent{};
  std::optional<ExpertSpec> moe{};
  std::uint32_t window = 0;        ///< tokens that a query of a layer with a sliding window sees; 0: none has one
  std::uint32_t window_every = 1;  ///< each so many-th layer has the window, the first of a group
  /// Further tokens that modules at the end predict (multi-token prediction, arXiv 2412.19437, section 2.2): each a
  /// projection of two hidden states to one, a layer, and the head once more.
  std::uint32_t predicted_tokens = 0;
  std::optional<MambaSpec> mamba{};
  /// A letter for each layer: M Mamba, * attention, E experts, - MLP; layers then have one part each. Empty: attention and
  /// MLP or experts in every layer.
  std::string pattern{};

  [[nodiscard]] LayerKind layer_kind(std::uint32_t layer) const;
  [[nodiscard]] std::uint32_t shared_width() const {
    return !moe ? 0 : moe->shared_ffn != 0 ? moe->shared_ffn : moe->shared * expert_ffn();
  }
  [[nodiscard]] std::uint32_t head_width() const { return head_dim != 0 ? head_dim : heads == 0 ? 0 : hidden / heads; }
  [[nodiscard]] std::uint32_t expert_ffn() const { return moe && moe->ffn != 0 ? moe->ffn : ffn; }
  [[nodiscard]] bool has_experts(std::uint32_t layer) const;
  [[nodiscard]] std::uint32_t expert_layers() const;

  [[nodiscard]] double parameters() const;         ///< all weights, each once
  [[nodiscard]] double active_parameters() const;  ///< those that one token passes, the embedding included

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace photonrail
