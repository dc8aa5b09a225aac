// Times of an engine's kernels as a profiler measured them, and steps from them: each kernel at all tokens of the step,
// times the number of layers; attention by its four sizes. Between points the times are linear.
#pragma once

#include "photonrail/units.hpp"
#include "serving/engine/step_time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::serving {

/// A time through points, linear between them and beyond the last, and never below 0; constant before the first.
class Curve {
 public:
  Curve() = default;
  /// REQUIRES: at least one point, all at different places.
  explicit Curve(std::vector<std::pair<double, double>> points);
  /// REQUIRES: not empty.
  [[nodiscard]] double at(double x) const;
  [[nodiscard]] bool empty() const { return points_.empty(); }

 private:
  std::vector<std::pair<double, double>> points_;  // ascending
};

/// What a row of the table of attention is measured for: one chunk of a prompt beside decodes, each of which may be absent.
struct AttentionSizes {
  double chunk = 0;         ///< tokens
  double chunk_cached = 0;  ///< ... before them
  double decodes = 0;
  double decode_cached = 0;  ///< of each
};

/// Measured attention. Sizes between points are linear in each direction, and beyond the last point too. What was measured
/// of one number of decodes and one chunk may be other points than of another: profiles are unions of grids.
class AttentionTable {
 public:
  struct Row {
    AttentionSizes sizes;
    double us = 0;
  };
  AttentionTable() = default;
  /// REQUIRES: no sizes twice.
  explicit AttentionTable(const std::vector<Row>& rows);
  [[nodiscard]] double us(const AttentionSizes& sizes) const;
  [[nodiscard]] bool has_chunks() const { return chunks_ != kNone; }
  [[nodiscard]] bool has_decodes() const { return decodes_ != kNone; }  ///< without a chunk beside them

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  /// Points of one size, and for each what was measured of the next size; of the last size the times.
  struct Node {
    std::vector<double> axis;
    std::vector<std::uint32_t> child;
    std::vector<double> us;
  };
  using Key = std::array<double, 4>;  // decodes, chunk, cached of the chunk, cached of each decode
  std::uint32_t grow(const std::map<Key, double>& rows, const Key& from, std::size_t depth);
  [[nodiscard]] double at(std::uint32_t node, const Key& sizes, std::size_t depth) const;

  std::vector<Node> nodes_;
  std::uint32_t decodes_ = kNone;  // the root of what has no chunk
  std::uint32_t chunks_ = kNone;   // ... of what has one
  double least_chunk_ = 0.0;
  bool mixed_ = false;  // chunks were measured beside decodes; else the two add up
};

/// Everything that one profile has.
struct KernelTables {
  std::map<std::string, Curve> dense;         ///< by kernel: microseconds of tokens
  std::map<std::string, Curve> per_sequence;  ///< ... of sequences
  AttentionTable attention;
  std::map<double, Curve> experts;  ///< by tokens: microseconds of experts that are used; empty: a dense model
  bool prompts_apart = false;       ///< a chunk of `attention` is of one prompt, else of all prompts of a step
};

/// What a profile does not say of the engine.
struct KernelModel {
  std::uint32_t layers = 32;
  std::uint32_t hidden = 4096;
  std::uint32_t tp = 1;
  std::uint32_t experts = 0;
  std::uint32_t top_k = 1;
  Duration reduce{};                ///< fixed time of an all-reduce of the engine's GPUs, two a layer
  Bandwidth reduce_rate{16e9};      ///< ... and its bytes, of all tokens in bf16, over this
  Curve measured_reduce{};          ///< microseconds of bytes, in place of both where it is not empty
  std::uint32_t max_tokens = 8192;  ///< of a step
  std::uint32_t graph_tokens = 0;   ///< steps of at most so many run as CUDA graphs, with their tokens padded
  Duration eager_layer{};           ///< a layer of other steps takes at least this, as the host launches its kernels
  HostTimes host{};
};

class KernelStepTime final : public StepTime {
 public:
  /// Throws ConfigError, by the name of the file of the profile: the tables lack a kernel or a shape.
  KernelStepTime(KernelTables tables, const KernelModel& model);
  [[nodiscard]] Duration of(const Step& step) const override;
  /// Without attention.
  [[nodiscard]] double least_s_per_token(std::uint32_t most) const override;

 private:
  [[nodiscard]] double dense_us(std::uint32_t tokens) const;
  [[nodiscard]] double reduce_us(std::uint32_t tokens) const;
  [[nodiscard]] double attention_us(const Step& step) const;
  [[nodiscard]] double experts_us(std::uint32_t tokens) const;

  KernelTables tables_;
  KernelModel model_;
  std::vector<double> dense_;  // by tokens
};

}  // namespace photonrail::serving
