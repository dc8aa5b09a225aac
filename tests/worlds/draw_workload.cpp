#include "photonrail/collective.hpp"
#include "worlds/world.hpp"

#include <algorithm>

namespace photonrail::worlds {

namespace {

std::vector<std::uint32_t> divisors(std::uint32_t n) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t d = 1; d <= n; ++d) {
    if (n % d == 0) list.push_back(d);
  }
  return list;
}

Json draw_router(Dice& dice) {
  const std::string kind = dice.pick<std::string>({"uniform", "zipf", "dirichlet"});
  if (dice.one_in(4)) return kind;
  Json router{{"kind", kind}};
  if (kind == "zipf") router["exponent"] = dice.pick<double>({0, 1, 3});
  if (kind == "dirichlet") router["concentration"] = dice.pick<double>({0.1, 1});
  if (dice.one_in(3)) router["source_spread"] = 1;
  return router;
}

Json draw_experts(Dice& dice, std::uint32_t ranks) {
  const std::uint32_t experts = ranks * dice.from_to(1, 3);
  Json moe{{"experts", experts},
           {"top_k", dice.from_to(1, std::min(experts, 3u))},
           {"tokens", dice.pick<std::uint32_t>({1, 16, 1000})},
           {"hidden", dice.pick<std::uint32_t>({1, 64, 1024})},
           {"router", draw_router(dice)}};
  if (dice.one_in(4)) moe["capacity_factor"] = dice.pick<double>({0.5, 1, 2});
  return moe;
}

std::string draw_algorithm(Dice& dice, CollectiveOp op, std::uint32_t ranks) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  std::vector<std::string> names{"auto"};
  for (const auto& algorithm : registry.all()) {
    if (algorithm->supports(op, ranks)) names.emplace_back(algorithm->name());
  }
  return dice.pick(names);
}

CollectiveOp draw_op(Dice& dice) {
  using enum CollectiveOp;
  return dice.pick<CollectiveOp>({kAllReduce, kAllReduce, kAllGather, kReduceScatter, kBroadcast, kReduce, kGather,
                                  kScatter, kBarrier, kAllToAll, kAllToAll});
}

Json draw_layout(Dice& dice, std::uint32_t ranks) {
  const std::uint32_t pp = dice.one_in(3) ? dice.pick(divisors(ranks)) : 1;
  const std::uint32_t tp = dice.pick(divisors(ranks / pp));
  Json layout{{"ranks", ranks}, {"pp", pp}, {"tp", tp}};
  if (ranks / pp % 2 == 0 && dice.one_in(2)) layout["ep"] = 2;
  if (dice.one_in(3)) layout["etp"] = layout.contains("ep") ? 1 : tp;
  return layout;
}

Json draw_refit(Dice& dice, std::uint32_t gpus, std::uint32_t& ranks) {
  const bool colocated = dice.one_in(4);
  const std::uint32_t training = colocated ? gpus : dice.from_to(1, gpus - 1);
  const std::uint32_t left = colocated ? gpus : gpus - training;
  const std::uint32_t engine = dice.from_to(1, left);
  const std::uint32_t engines = dice.from_to(1, left / engine);
  ranks = colocated ? gpus : training + engines * engine;
  Json refit{{"model", dice.pick<std::string>({"llama3_8b", "qwen3_30b_a3b"})},
             {"training", draw_layout(dice, training)},
             {"engine", draw_layout(dice, engine)},
             {"engines", engines},
             {"by", dice.pick<std::string>({"funnel", "ring", "ring_per_rail", "sharded", "sharded_matchings"})}};
  if (colocated) refit["colocated"] = true;
  if (dice.one_in(3)) refit["precision"] = dice.pick<std::string>({"bf16", "fp16", "fp32", "fp8"});
  if (dice.one_in(4)) refit["share"] = 0.01;
  if (dice.one_in(2)) refit["pieces"] = dice.from_to(1, 9);
  return refit;
}

Json draw_collective(Dice& dice, std::uint32_t gpus, std::uint32_t& ranks) {
  ranks = dice.one_in(2) ? gpus : dice.from_to(2, gpus);
  const CollectiveOp op = draw_op(dice);
  Json call{{"op", std::string(name(op))}, {"ranks", ranks}};
  if (dice.one_in(2)) call["algorithm"] = draw_algorithm(dice, op, ranks);
  if (dice.one_in(4)) call["repeat"] = dice.from_to(2, 3);
  if (dice.one_in(5)) call["arrival_delay_us"] = {{std::to_string(dice.from_to(0, ranks - 1)), draw_us(dice)}};
  using enum CollectiveOp;
  if ((op == kBroadcast || op == kReduce || op == kGather || op == kScatter) && dice.one_in(2)) {
    call["root"] = dice.from_to(0, ranks - 1);
  }
  if (op == kAllToAll && gpus >= 2 && dice.one_in(3)) {
    call["refit"] = draw_refit(dice, gpus, ranks);
    call.erase("ranks");
    call.erase("arrival_delay_us");
  } else if (op == kAllToAll && dice.one_in(2)) {
    call["moe"] = draw_experts(dice, ranks);
  } else if (op != kBarrier) {
    call["bytes"] = dice.pick<std::uint64_t>({1, 13, 1000, 65536, 1000000, 1000000, 8 << 20});
  }
  return call;
}

Json draw_moe_layer(Dice& dice, std::uint32_t gpus, std::uint32_t& ranks) {
  ranks = dice.one_in(2) ? gpus : dice.from_to(2, gpus);
  Json layer = draw_experts(dice, ranks);
  layer["tokens"] = dice.pick<std::uint32_t>({1, 16, 200});
  layer["ffn"] = dice.pick<std::uint32_t>({1, 128});
  layer["execution"] = dice.one_in(2) ? "bulk" : "pipelined";
  layer["ranks"] = ranks;
  if (dice.one_in(3)) layer["layers"] = 2;
  if (layer["execution"] == "pipelined" && dice.one_in(2)) {
    layer["fences"] = dice.pick<std::string>({"none", "each_message", "each_destination", "nic"});
    layer["fence_us"] = draw_us(dice);
  }
  return layer;
}

void draw_options(Dice& dice, std::uint32_t dp, bool fsdp, Json& training) {
  if (dice.one_in(2)) training["recompute"] = dice.pick<std::string>({"none", "selective", "full"});
  if (dice.one_in(4)) training["sequence_parallel"] = false;
  if (dice.one_in(4)) training["average_loss"] = true;
  if (dice.one_in(4)) training["gradients"] = {{"overlap", dice.one_in(2)}, {"clip", dice.one_in(2)}};
  if (fsdp && dice.one_in(3))
    training["fsdp"] = {{"prefetch", dice.from_to(0, 2)}, {"reshard_after_forward", dice.one_in(2)}};
  if (!fsdp && dp > 1 && dice.one_in(3)) training["parallelism"]["zero1"] = true;
  if (training.contains("sequence_parallel") && dice.one_in(2)) training["scatter_messages"] = true;
}

Json draw_training(Dice& dice, std::uint32_t gpus, std::uint32_t& ranks) {
  ranks = dice.one_in(3) ? dice.from_to(1, gpus) : gpus;
  const std::uint32_t tp = dice.pick(divisors(ranks));
  const std::uint32_t pp = dice.pick(divisors(ranks / tp));
  const std::uint32_t cp = dice.one_in(3) ? dice.pick(divisors(ranks / tp / pp)) : 1;
  const std::uint32_t dp = ranks / tp / pp / cp;
  const std::string wish =
      dice.pick<std::string>({"1f1b", "1f1b", "gpipe", "interleaved", "bfs", "zb_h1", "zb_h2", "dualpipe"});
  const bool impossible = (wish == "dualpipe" && pp % 2 == 1) || (wish == "interleaved" && pp == 1);
  const std::string schedule = impossible && !dice.one_in(20) ? "1f1b" : wish;
  const bool chunked = schedule == "interleaved" || (schedule == "bfs" && dice.one_in(2));
  const std::uint32_t chunks = chunked ? 2 : 1;
  const std::uint32_t micro = schedule == "dualpipe" ? 2 * pp : pp * dice.from_to(1, 2);
  const std::uint32_t stages = pp * chunks * (schedule == "dualpipe" ? 2 : 1);
  Json model{{"layers", stages * dice.from_to(1, 2)},
             {"hidden", 16 * tp},
             {"ffn", 32 * tp},
             {"heads", 2 * tp},
             {"kv_heads", tp},
             {"vocabulary", 64 * tp}};
  Json parallelism{{"tp", tp}, {"pp", pp}, {"dp", dp}, {"cp", cp}};
  if (chunks > 1) parallelism["virtual_stages"] = chunks;
  const bool fsdp = dp * cp > 1 && dice.one_in(3);
  if (fsdp) parallelism["fsdp"] = true;
  if (dp > 1 && !dice.one_in(4)) {
    model["moe"] = {{"experts", dp * 2}, {"top_k", dice.from_to(1, 2)}, {"ffn", 32}};
    parallelism["ep"] = dp;
  }
  Json training{
      {"model", model}, {"sequence", 16 * cp * tp * 2}, {"global_batch", dp * micro}, {"parallelism", parallelism}};
  training["schedule"] = schedule;
  draw_options(dice, dp, fsdp, training);
  return training;
}

}  // namespace

Json draw_workload(Dice& dice, const Extent& extent, std::uint32_t& ranks) {
  const std::uint32_t gpus = extent.gpus();
  const std::uint32_t kind = gpus < 2 ? 9 : dice.from_to(0, 9);
  if (kind < 4) return {{"collective", draw_collective(dice, gpus, ranks)}};
  if (kind < 5) return {{"moe_layer", draw_moe_layer(dice, gpus, ranks)}};
  if (kind < 8) {
    ranks = dice.one_in(3) ? dice.from_to(2, gpus) : gpus;
    return {{"graph", draw_graph(dice, ranks)}};
  }
  return {{"training", draw_training(dice, gpus, ranks)}};
}

}  // namespace photonrail::worlds
