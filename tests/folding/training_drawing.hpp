// Training jobs drawn at random with all that may fold, or looks as if it might: for laws on folded and unfolded runs.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/simulate.hpp"
#include "run/drawing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {

/// The policies of optical rails that treat equal ranks equally, or equal rails: every one of the registry.
inline std::vector<std::string> equivariant_policies(bool of_ranks) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  std::vector<std::string> names;
  for (const ControllerFactory& factory : registry.all()) {
    const bool rails_alone = factory.rail_symmetric && !factory.rank_symmetric;
    if (factory.name != kNoPolicy && (of_ranks ? factory.rank_symmetric : rails_alone)) names.push_back(factory.name);
  }
  return names;
}

class TrainingDrawing {
 public:
  using Json = nlohmann::json;
  /// What a drawn job has, so that a test can say how often each was met, and folded.
  using Features = std::set<std::string>;

  /// What the drawn jobs run on.
  enum class Drawn {
    kAll,
    kEqualRails,  ///< groups of tensor parallelism fill servers, under a policy that treats equal rails equally
  };

  explicit TrainingDrawing(std::uint64_t seed, Drawn drawn = Drawn::kAll) : dice_(seed), drawn_(drawn) {
    const bool many = dice_.one_in(6);
    if (many) features_.insert("many steps");
    draw_shape(many ? 16 : dice_.one_in(4) ? 64 : 32);
    draw_cluster();
    draw_collectives();
    scenario_["schema"] = "photonrail.scenario/1";
    scenario_["name"] = "drawn";
    scenario_["run"] = {{"fidelity", dice_.one_in(3) ? "exact" : "stream"},
                        {"iterations", many ? dice_.from_to(25, 36) : dice_.from_to(1, 2)},
                        {"spread_seeds", 0}};
    if (optical_) scenario_["controller"] = drawn_controller();
    if (drawn_ == Drawn::kAll && dice_.one_in(5)) {
      draw_jobs();
    } else {
      draw_job(scenario_);
    }
    draw_troubles();
  }

  [[nodiscard]] Scenario scenario(bool folding) {
    scenario_["run"]["folding"] = folding;
    return parse_scenario(scenario_.dump(), ".");
  }
  [[nodiscard]] const Features& features() const { return features_; }
  [[nodiscard]] std::string text() const { return scenario_.dump(); }

 private:
  void draw_shape(std::uint32_t most_ranks) {
    tp_ = drawn_ == Drawn::kAll ? dice_.pick<std::uint32_t>({1, 1, 2, 4}) : dice_.pick<std::uint32_t>({2, 4});
    cp_ = dice_.pick<std::uint32_t>({1, 1, 2, 4});
    pp_ = dice_.pick<std::uint32_t>({1, 2, 2, 4});
    dp_ = dice_.pick<std::uint32_t>({1, 2, 3, 4, 5, 6, 8});
    while (ranks() > most_ranks) {
      std::uint32_t& largest =
          std::max({std::ref(tp_), std::ref(cp_), std::ref(pp_), std::ref(dp_)}, std::less<std::uint32_t>()).get();
      largest /= 2;
    }
    if (ranks() < 4) dp_ *= 4;
    servers_ = ranks() / tp_;
    if (drawn_ == Drawn::kAll) {
      const std::uint32_t of_server = dice_.pick<std::uint32_t>({2, 4, 8});
      servers_ = ranks() % of_server == 0 ? std::max(2U, ranks() / of_server) : ranks();
    }
    if (cp_ > 1) features_.insert("cp");
    if (servers_ % 2 == 1) features_.insert("odd servers");
  }
  [[nodiscard]] std::uint32_t ranks() const { return tp_ * cp_ * pp_ * dp_; }

  void draw_cluster() {
    Json& cluster = scenario_["cluster"];
    cluster = {
        {"servers", servers_},
        {"gpus_per_server", ranks() / servers_},
        {"gpu", {{"peak_tflops", 900}, {"memory_gb_per_s", 3000}}},
        {"scale_up", {{"latency_ns", dice_.pick<double>({0, 936.25})}}},
        {"nic", {{"port_gb_per_s", dice_.pick<double>({50, 33.3})}, {"latency_ns", dice_.pick<double>({0, 936.25})}}}};
    if (dice_.one_in(4)) {
      features_.insert("ports");
      cluster["nic"]["ports"] = 2;
    }
    optical_ = drawn_ == Drawn::kEqualRails || !dice_.one_in(3);
    Json& rail = cluster["rail"];
    if (optical_) {
      rail = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", dice_.pick<double>({0, 0.02, 1, 10})}}}};
      if (cluster["nic"].contains("ports") && dice_.one_in(2)) rail["planes"] = 2;
      if (drawn_ == Drawn::kAll && dice_.one_in(12)) {
        features_.insert("pods");
        rail["pods"] = {{"servers", dice_.from_to(1, servers_ - 1)}, {"joined_by", "electrical"}};
      }
      return;
    }
    rail["kind"] = "electrical";
    if (dice_.one_in(3)) return;
    features_.insert("tiers");
    rail["radix"] = dice_.pick<std::uint32_t>({4, 8, 16});
    rail["oversubscription"] = dice_.pick<double>({1, 1, 1, 3});
    if (dice_.one_in(8)) rail["tier_latency_ns"] = 500;
  }

  void draw_collectives() {
    if (!dice_.one_in(4)) return;
    features_.insert("other collectives");
    Json& by = scenario_["collectives"];
    by["all_reduce"] =
        dice_.pick<std::string>({"ring", "hierarchical", "direct", "ring_bidirectional", "double_binary_tree"});
    by["all_gather"] = dice_.pick<std::string>({"ring", "hierarchical", "direct", "bruck"});
    by["reduce_scatter"] = dice_.pick<std::string>({"ring", "hierarchical", "direct"});
    by["all_to_all"] = dice_.pick<std::string>({"pairwise", "direct", "hierarchical", "one_factorisation"});
  }

  // Each policy by its defaults, or with one of its words and flags changed.
  Json drawn_controller() {
    const std::vector<std::string> by_ranks = equivariant_policies(true);
    const std::vector<std::string> by_rails = equivariant_policies(false);
    const std::string policy = dice_.pick(drawn_ == Drawn::kAll && !dice_.one_in(3) ? by_ranks : by_rails);
    const ControllerRegistry registry = ControllerRegistry::builtin();
    features_.insert(policy);
    Json controller{{"name", policy}};
    for (const ControllerParameter& parameter : registry.find(policy).parameters) {
      if (!dice_.one_in(3)) continue;
      if (parameter.kind == ControllerParameter::Kind::kFlag) controller[parameter.key] = dice_.one_in(2);
      if (!parameter.words.empty()) controller[parameter.key] = dice_.pick(parameter.words);
    }
    if (dice_.one_in(3)) controller["request_us"] = 5;
    if (dice_.one_in(3)) controller["command_us"] = 1;
    return controller;
  }

  void draw_job(Json& job) {
    const std::uint32_t micro = pp_ * dice_.from_to(1, features_.contains("many steps") ? 1 : 2);
    Json parallelism{{"tp", tp_}, {"cp", cp_}, {"pp", pp_}, {"dp", dp_}};
    Json model{{"layers", pp_ * dice_.from_to(1, 2)},
               {"hidden", 64 * tp_},
               {"ffn", 128 * tp_},
               {"heads", 8 * tp_},
               {"kv_heads", 4 * tp_},
               {"vocabulary", 256 * tp_}};
    Json training{{"sequence", 32 * cp_ * tp_},
                  {"global_batch", dp_ * micro},
                  {"schedule", dice_.pick<std::string>({"1f1b", "1f1b", "1f1b", "gpipe", "zb_h1"})}};
    if (dp_ > 1 && dice_.one_in(2)) {
      features_.insert("experts");
      const std::uint32_t ep = dp_ % 2 == 1 || dice_.one_in(2) ? dp_ : 2;
      model["moe"] = {{"experts", 2 * ep}, {"top_k", dice_.from_to(1, 2)}, {"ffn", 32}};
      parallelism["ep"] = ep;
      if (dice_.one_in(8)) {
        features_.insert("uneven demands");
        training["moe"]["router"] = {{"kind", "zipf"}, {"exponent", 0.6}, {"source_spread", dice_.pick<double>({0, 0.2})}};
      }
    } else if (dp_ * cp_ > 1 && dice_.one_in(2)) {
      parallelism["fsdp"] = true;
    } else if (dp_ * cp_ > 1 && dice_.one_in(3)) {
      parallelism["zero1"] = true;
    }
    if (dice_.one_in(4)) training["gradients"]["clip"] = true;
    if (!parallelism.contains("ep") && dice_.one_in(4)) training["sequence_parallel"] = false;
    training["model"] = std::move(model);
    training["parallelism"] = std::move(parallelism);
    job["workload"]["training"] = std::move(training);
    if (drawn_ == Drawn::kAll && dice_.one_in(2)) {
      std::vector<std::string> order{"tp", "cp", "dp", "pp"};
      dice_.shuffle(order);
      job["placement"] = {{"order", order}};
    }
    draw_stragglers(job);
  }

  // One rank; or a stage, so that its ranks are slow, or late, alike.
  void draw_stragglers(Json& job) {
    if (!dice_.one_in(4)) return;
    std::vector<std::uint32_t> whom{dice_.from_to(0, ranks() - 1)};
    if (dice_.one_in(2)) {
      whom.resize(ranks() / pp_);
      std::iota(whom.begin(), whom.end(), ranks() / pp_ * dice_.from_to(0, pp_ - 1));
    }
    Json straggler{{"ranks", whom}};
    if (dice_.one_in(3)) {
      features_.insert("late ranks");
      straggler["delay_us"] = dice_.one_in(2) ? Json(20) : Json{20, 0, 70};
    } else {
      features_.insert("slow GPUs");
      straggler["slowdown"] = dice_.pick<double>({1.5, 3});
    }
    job["stragglers"] = Json::array({straggler});
  }

  // As many servers again for each further job, side by side or in turn; the pods and tiers are those of all.
  void draw_jobs() {
    features_.insert("jobs");
    const std::uint32_t count = dice_.from_to(2, 3);
    scenario_["cluster"]["servers"] = count * servers_;
    if (optical_ && dice_.one_in(2)) {
      features_.insert("pods");
      scenario_["cluster"]["rail"]["pods"] = {{"servers", servers_ * dice_.from_to(1, count - 1)}};
      scenario_["cluster"]["rail"]["pods"]["joined_by"] = dice_.one_in(2) ? "electrical" : "optical";
    }
    const bool alike = dice_.one_in(2);
    const bool in_turn = dice_.one_in(4);
    const bool later = dice_.one_in(4);
    for (std::uint32_t j = 0; j < count; ++j) {
      Json job;
      if (alike && j > 0) {
        job = scenario_["jobs"][0];
      } else {
        draw_job(job);
        if (optical_ && dice_.one_in(4)) {
          features_.insert("jobs of unlike controllers");
          job["controller"] = drawn_controller();
        }
      }
      if (later) job["start_s"] = 1e-5 * j;
      job["servers"] = Json::array();
      for (std::uint32_t s = 0; s < servers_; ++s) job["servers"].push_back(in_turn ? s * count + j : j * servers_ + s);
      scenario_["jobs"].push_back(job);
    }
    if (later) features_.insert("jobs that begin later");
    if (in_turn) features_.insert("jobs on servers in turn");
  }

  // What makes servers, ports or rails unlike.
  void draw_troubles() {
    Json& cluster = scenario_["cluster"];
    const std::uint32_t servers = cluster["servers"];
    if (dice_.one_in(10)) {
      features_.insert("unlike GPUs");
      std::vector<std::uint32_t> some{dice_.from_to(0, servers - 1)};
      if (dice_.one_in(2)) {
        some.resize(servers / 2);
        std::iota(some.begin(), some.end(), 0);
      }
      cluster["unlike_gpus"] = Json::array({{{"servers", some}, {"speed", dice_.pick<double>({0.5, 2})}}});
    }
    if (dice_.one_in(20)) {
      features_.insert("faults");
      Json fault{{"kind", "slow"}, {"rate", 0.5}};
      if (!dice_.one_in(3)) fault["server"] = dice_.from_to(0, servers - 1);
      if (!dice_.one_in(3)) fault["rail"] = dice_.from_to(0, cluster["gpus_per_server"].get<std::uint32_t>() - 1);
      if (dice_.one_in(3)) fault["at_ms"] = 0.01;
      cluster["rail"]["faults"] = Json::array({fault});
    }
    if (!cluster["rail"].contains("pods") && dice_.one_in(30)) {
      features_.insert("sites");
      cluster["sites"] = {{"servers", {1, servers - 1}},
                          {"links", Json::array({{{"between", {0, 1}}, {"gb_per_s", 20}, {"latency_us", 5}}})}};
    }
  }

  Dice dice_;
  Drawn drawn_;
  Json scenario_;
  Features features_;
  std::uint32_t tp_ = 1;
  std::uint32_t cp_ = 1;
  std::uint32_t pp_ = 1;
  std::uint32_t dp_ = 1;
  std::uint32_t servers_ = 1;
  bool optical_ = false;
};

}  // namespace photonrail::test
