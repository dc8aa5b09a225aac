// Loads on one part alone, without a scenario around it.
#pragma once

#include "engine/engine.hpp"
#include "network/network.hpp"
#include "photonrail/core/random.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::bench {

/// Keeps `pending` events waiting: each that runs schedules one more at a random distance. It touches nothing else, so
/// that the engine is all that is measured.
class Hold {
 public:
  Hold(engine::Engine& engine, std::size_t pending) : engine_(engine) {
    for (std::size_t i = 0; i < pending; ++i) again(i);
  }
  void again(std::uint64_t which) {
    const auto distance = static_cast<std::int64_t>(1 + (random_.next() >> 44));  // up to 2^20 ps
    engine_.schedule(engine_.now() + Duration{distance}, engine::Phase::kFinish,
                     engine::Action::to<&Hold::again>(*this, which));
  }

 private:
  engine::Engine& engine_;
  RandomStream random_{1, "hold"};
};

/// Calls `post(from, to, bytes)` for all to all: 1 MiB each, or a random size up to 2 MiB.
template <class Post>
void all_to_all(std::uint32_t ranks, bool random_sizes, const Post& post) {
  RandomStream random(1, "sizes");
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      const auto size = static_cast<std::int64_t>(random.below(2 << 20));
      if (from != to) post(from, to, Bytes{random_sizes ? size + 1 : 1 << 20});
    }
  }
}

/// The same for rank r to r + 1, r + 2 ..., each 10 to 100 % of 1 MiB.
template <class Post>
void to_each_in_turn(std::uint32_t ranks, const Post& post) {
  RandomStream random(1, "jitter");
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t step = 1; step < ranks; ++step) {
      const double size = (1 << 20) * (1.0 - 0.9 * random.uniform());
      post(from, (from + step) % ranks, Bytes{static_cast<std::int64_t>(size)});
    }
  }
}

/// A non-blocking switch: a transmit and a receive capacity of 50 GB/s a rank.
class Switch : public network::DeliveryListener {
 public:
  explicit Switch(std::uint32_t ranks, double accuracy = 0.0) : ranks_(ranks), network_(engine_, accuracy) {
    network_.attach(*this);
    network_.resize(std::size_t{2} * ranks);
    for (topology::CapacityId i = 0; i < 2 * ranks; ++i) network_.set_rate(i, Bandwidth::from_gb_per_s(50));
  }
  void delivered(std::uint64_t) override { ++deliveries_; }

  void post(std::uint32_t from, std::uint32_t to, Bytes bytes) {
    network::Path path;
    path.add(from);
    path.add(ranks_ + to);
    path.latency = Duration{936'250};
    network_.post(network::Network::kNone, path, bytes, 0);
  }
  /// At one instant.
  void post_all_to_all(bool random_sizes) {
    all_to_all(ranks_, random_sizes, [this](std::uint32_t from, std::uint32_t to, Bytes bytes) { post(from, to, bytes); });
  }
  /// Runs until all is delivered; says how many messages that were.
  std::uint64_t run() {
    engine_.run();
    return deliveries_;
  }
  [[nodiscard]] Time now() const { return engine_.now(); }
  [[nodiscard]] std::uint64_t flows_solved() const { return network_.flows_solved(); }

 private:
  std::uint32_t ranks_;
  engine::Engine engine_;
  network::Network network_;
  std::uint64_t deliveries_ = 0;
};

inline constexpr std::uint32_t kLeaf = 32;  // ranks

/// Leaves of 32 ranks under one non-blocking spine; an uplink carries a quarter of what its ranks can send.
class Tree : public network::DeliveryListener {
 public:
  explicit Tree(std::uint32_t ranks, double accuracy = 0.0) : ranks_(ranks), network_(engine_, accuracy) {
    const std::uint32_t leaves = (ranks + kLeaf - 1) / kLeaf;
    network_.attach(*this);
    network_.resize(std::size_t{2} * (ranks + leaves));
    for (topology::CapacityId i = 0; i < 2 * (ranks + leaves); ++i) {
      network_.set_rate(i, Bandwidth::from_gb_per_s(i < 2 * ranks ? 50 : 50.0 * kLeaf / 4));
    }
  }
  void delivered(std::uint64_t) override { ++deliveries_; }

  /// Those of a rank one after another.
  void post_one_after_another() {
    std::vector<network::Network::ChannelId> channels;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) channels.push_back(network_.open_channel());
    to_each_in_turn(ranks_, [&](std::uint32_t from, std::uint32_t to, Bytes bytes) {
      network_.post(channels[from], path(from, to), bytes, 0);
    });
  }
  /// At one instant, random sizes.
  void post_all_to_all() {
    all_to_all(ranks_, true, [this](std::uint32_t from, std::uint32_t to, Bytes bytes) {
      network_.post(network::Network::kNone, path(from, to), bytes, 0);
    });
  }
  std::uint64_t run() {
    engine_.run();
    return deliveries_;
  }
  [[nodiscard]] Time now() const { return engine_.now(); }

 private:
  [[nodiscard]] network::Path path(std::uint32_t from, std::uint32_t to) const {
    network::Path path;
    path.add(from);
    if (from / kLeaf != to / kLeaf) {
      path.add(2 * ranks_ + 2 * (from / kLeaf));
      path.add(2 * ranks_ + 2 * (to / kLeaf) + 1);
    }
    path.add(ranks_ + to);
    path.latency = Duration{936'250};
    return path;
  }

  std::uint32_t ranks_;
  engine::Engine engine_;
  network::Network network_;
  std::uint64_t deliveries_ = 0;
};

}  // namespace photonrail::bench
