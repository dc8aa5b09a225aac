// A world: a scenario file that may say anything that a scenario can say, drawn from a seed, small more often than large.
#pragma once

#include "worlds/dice.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace photonrail::worlds {

using Json = nlohmann::ordered_json;

struct World {
  std::uint64_t seed = 0;
  Json scenario;  ///< photonrail.scenario/1, complete: it names no other file
};

/// The same number gives the same world: odd ones an ordinary world, even ones a child of two (plan.hpp). Most worlds are
/// valid; those that are not must be refused in an orderly way.
[[nodiscard]] World draw_world(std::uint64_t number);
[[nodiscard]] World draw_ordinary(std::uint64_t number);

/// The scenario file of the world, which `photonrail run` repeats.
[[nodiscard]] std::string to_text(const World& world);
/// A world from a scenario file. Throws what the JSON parser throws.
[[nodiscard]] World read_world(const std::filesystem::path& file);

/// What the parts of a world have to fit.
struct Extent {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t ports = 1;
  bool optical = false;

  [[nodiscard]] std::uint32_t gpus() const { return servers * gpus_per_server; }
};

/// Cluster, controller, placement, workload and run of a plain world (draw_plain.cpp).
[[nodiscard]] Json draw_plain(Dice& dice);
/// The cluster, and its extent.
[[nodiscard]] Json draw_cluster(Dice& dice, Extent& extent);
void draw_hardware(Dice& dice, const Extent& extent, Json& scenario);
void draw_tiers(Dice& dice, const Extent& extent, Json& cluster);  ///< uplinks and sites
[[nodiscard]] Json gpu_of_another_model();                         ///< an entry of /cluster/unlike_gpus for server 1
/// Links between the GPUs of a server in place of a crossbar: a torus, a mesh or a ring.
void draw_links(Dice& dice, Json& cluster);
void draw_link_faults(Dice& dice, Json& cluster);
/// NICs that are slow for a time, or fail on electrical rails.
void draw_slow_nics(Dice& dice, const Extent& extent, Json& cluster);
/// What light loses on its way through the switch, and what a transceiver bridges; often a mesh for a crossbar.
void draw_light(Dice& dice, const Extent& extent, Json& cluster);
[[nodiscard]] Json draw_server_fault(Dice& dice, const Extent& extent);
/// A policy in any of its settings, and the control plane; `many_jobs`: ranks differ from job to job.
[[nodiscard]] Json draw_controller(Dice& dice, const Extent& extent);
/// A job on as many GPUs as `extent` has; `ranks` is how many of them it uses.
[[nodiscard]] Json draw_workload(Dice& dice, const Extent& extent, std::uint32_t& ranks);
/// More of a training job: parts of its model, exchanges beside computation, and its operators one by one.
void draw_training_parts(Dice& dice, Json& training);
/// Collectives and messages of a few ranks in an order that cannot deadlock, as photonrail.graph/1.
[[nodiscard]] Json draw_graph(Dice& dice, std::uint32_t ranks);

/// Keys that stand alone, one by one (draw_options.cpp).
void draw_options(std::uint64_t seed, Json& scenario);
/// A ring of links with a GPU that is bypassed, and a torus that is twisted.
void draw_bypass(Dice& dice, Json& scenario);
void draw_twist(Dice& dice, Json& scenario);

/// A checkpoint: bytes that the ranks save in a step, and their place.
[[nodiscard]] Json draw_checkpoint(Dice& dice);
/// Several things that go wrong at once.
void draw_troubles(Dice& dice, const Extent& extent, Json& scenario);

/// Times, rates and sizes that fit each other, so that much happens at one instant.
void draw_whole(Dice& dice, Json& scenario);

/// More servers, often on electrical rails, and jobs with many unlike messages at once.
void draw_crowd(Dice& dice, Json& scenario);

/// A time, biased to none and to round numbers, in microseconds.
[[nodiscard]] double draw_us(Dice& dice);
/// A time in microseconds as a scenario gives it: a number, or a distribution.
[[nodiscard]] Json draw_delay_us(Dice& dice);

}  // namespace photonrail::worlds
