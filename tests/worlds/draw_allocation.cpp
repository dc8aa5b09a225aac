// Studies of slices: pods, policies, streams of jobs, decisions, and the small studies beside them.
#include "photonrail/study/slices/allocator.hpp"
#include "worlds/family.hpp"

namespace photonrail::worlds {

namespace {

using Sides = std::vector<std::uint32_t>;

Json draw_pod(Dice& dice, Sides& torus) {
  const std::uint32_t block = dice.pick<std::uint32_t>({4, 4, 2});
  for (std::uint32_t d = dice.one_in(3) ? 2 : 3; d > 0; --d) torus.push_back(block * dice.from_to(1, 3));
  Json pod{{"torus", torus}};
  if (block != 4 || dice.one_in(2)) pod["block"] = block;
  if (torus.size() == 2 || dice.one_in(3)) pod["server"] = torus.size() == 2 ? Sides{2, 2} : Sides{2, 2, 1};
  if (dice.one_in(3)) pod["fibres"] = dice.pick<std::uint32_t>({0, 4, 16});
  if (dice.one_in(3)) pod["reach"] = dice.from_to(1, 3);
  if (dice.one_in(3)) pod["domain"] = dice.pick<std::uint32_t>({8, 16, 72});
  return pod;
}

Sides draw_shape(Dice& dice, std::size_t dimensions) {
  Sides shape;
  for (std::size_t d = 0; d < dimensions; ++d) shape.push_back(dice.pick<std::uint32_t>({1, 1, 2, 2, 3, 4, 4, 8}));
  return shape;
}

std::vector<std::string> policies() {
  const slices::AllocatorRegistry registry = slices::AllocatorRegistry::builtin();
  std::vector<std::string> names;
  for (const slices::AllocatorFactory& factory : registry.all()) names.push_back(factory.name);
  return names;
}

Json draw_jobs(Dice& dice, const Sides& torus) {
  switch (dice.from_to(0, 7)) {
    case 0:
      return {{"csv", "jobs.csv"}};
    case 1:
    case 2: {
      Json jobs = Json::array();
      for (std::uint32_t left = dice.from_to(1, 12); left > 0; --left) {
        Json job{{"arrival_s", dice.pick<double>({0, 0, 1, 50.5, 400})},
                 {"duration_s", dice.pick<double>({1e-6, 1, 100, 5000})}};
        if (dice.one_in(3)) {
          job["accelerators"] = dice.pick<std::uint32_t>({1, 4, 7, 32});
        } else {
          job["shape"] = draw_shape(dice, torus.size());
        }
        jobs.push_back(job);
      }
      return {{"list", jobs}};
    }
    default: {
      Json drawn{{"count", dice.from_to(1, 40)}};
      if (torus.size() == 3 && dice.one_in(3)) {
        drawn["slices"] = "tpu_v4";
      } else {
        drawn["slices"] = Json::array();
        for (std::uint32_t left = dice.from_to(1, 3); left > 0; --left)
          drawn["slices"].push_back(
              {{"shape", draw_shape(dice, torus.size())}, {"share", dice.pick<double>({1, 0.5, 20})}});
      }
      if (dice.one_in(2)) drawn["mean_interarrival_s"] = dice.pick<double>({0.1, 60, 2000});
      if (dice.one_in(2)) drawn["mean_duration_h"] = dice.pick<double>({0.01, 1});
      return {{"drawn", drawn}};
    }
  }
}

Json draw_failures(Dice& dice) {
  Json failures{{"mean_between_days", dice.pick<double>({1, 20, 500})}, {"mean_repair_h", dice.pick<double>({0.1, 12})}};
  if (dice.one_in(2)) failures["checkpoint_s"] = dice.pick<double>({0, 60, 1800});
  if (dice.one_in(2)) failures["restart_s"] = dice.pick<double>({0, 30});
  if (dice.one_in(3)) failures["spares"] = {{dice.one_in(2) ? "servers_per_rack" : "racks", 1}};
  return failures;
}

void draw_stream(Dice& dice, Json& study) {
  Sides torus;
  study["pod"] = draw_pod(dice, torus);
  std::vector<std::string> names = policies();
  dice.shuffle(names);
  names.resize(dice.from_to(1, 3));
  study["policies"] = names;
  if (!dice.one_in(4)) {
    std::vector<std::string> orders{"fifo", "backfill", "srsf", "irs", "random"};
    dice.shuffle(orders);
    orders.resize(dice.from_to(1, 2));
    study["orders"] = orders;
    if (orders.size() == 1 && orders[0] == "srsf" && dice.one_in(2)) study["preempt"] = true;
  }
  if (dice.one_in(3)) study["impossible"] = dice.one_in(2) ? "skip" : "wait_for_empty";
  if (dice.one_in(4)) study["shared_links"] = true;
  if (dice.one_in(4)) study["fixed_egress"] = true;
  if ((study.contains("shared_links") || study.contains("fixed_egress")) && dice.one_in(3)) study["step"] = "step.json";
  if (dice.one_in(3)) study["reconfiguration_s"] = dice.pick<double>({0.5, 20});
  if (study.contains("orders") && dice.one_in(3)) study["failures"] = draw_failures(dice);
  study["jobs"] = draw_jobs(dice, torus);
}

Json draw_decision(Dice& dice, std::uint32_t number) {
  Sides torus;
  Json decision = draw_pod(dice, torus);
  decision.erase("torus");
  decision["dims"] = torus;
  decision["id"] = "case " + std::to_string(number);
  if (dice.one_in(3)) decision["origin"] = "drawn";
  decision["policy"] = dice.pick(policies());
  if (dice.one_in(3)) {
    decision["accelerators"] = dice.pick<std::uint32_t>({1, 4, 7, 32});
  } else {
    decision["job_shape"] = draw_shape(dice, torus.size());
  }
  std::uint32_t size = 1;
  for (const std::uint32_t side : torus) size *= side;
  const std::uint32_t busy = dice.pick<std::uint32_t>({0, 3, 8});
  std::uint32_t idle = 0;
  std::string map;
  for (std::uint32_t digit = 0; digit < (size + 3) / 4; ++digit) {
    std::uint32_t value = 0;
    for (std::uint32_t bit = 0; bit < 4; ++bit) {
      const bool is_idle = dice.from_to(0, 9) >= busy;
      value = 2 * value + (is_idle ? 1 : 0);
      if (4 * digit + bit < size && is_idle) ++idle;
    }
    map += "0123456789abcdef"[value];
  }
  decision["idle"] = map;
  if (dice.one_in(2)) decision["idle_count"] = idle;
  const Json wanted = decision.value("job_shape", Json());
  std::uint32_t asked = decision.value("accelerators", std::uint32_t{1});
  if (wanted.is_array()) {
    for (const Json& side : wanted) asked *= side.get<std::uint32_t>();
  }
  if (asked > idle) decision["expect"] = {{"decision", "reject"}, {"reason", "resource"}};
  return decision;
}

// Cases whose answers are known: one accelerator of a pod that is idle as a whole is the first; of a chequerboard no two
// neighbours are idle; a policy that is not known refuses everything.
Json draw_known(Dice& dice) {
  Json decision{{"dims", {4, 4}},
                {"server", {2, 2}},
                {"policy", dice.one_in(2) ? "firstfit" : "bestfit"},
                {"job_shape", {1, 1}},
                {"idle", "ffff"}};
  if (dice.one_in(3)) {
    decision["expect"] = {{"decision", "admit"}, {"shape", {1, 1}}, {"nodes", 1}, {"placement", Json::array({{0, 0}})}};
  } else if (dice.one_in(2)) {
    decision["idle"] = "a5a5";
    decision["job_shape"] = {2, 1};
    decision["expect"] = {{"decision", "reject"}, {"reason", "shape"}};
  } else {
    decision["policy"] = "unknown";
    decision["expect"] = {{"decision", "reject"}};
  }
  return decision;
}

void draw_small_studies(Dice& dice, Json& study) {
  if (dice.one_in(3)) {
    study["availability"] = {{"cubes", dice.from_to(1, 64)},
                             {"hosts_per_cube", dice.from_to(1, 16)},
                             {"host_availability", {0.9, 0.999, dice.pick<double>({0, 0.5, 1})}},
                             {"slice_cubes", {1}}};
    if (dice.one_in(2)) study["availability"]["switches_up"] = dice.pick<double>({0, 0.99, 1});
  }
  if (dice.one_in(3)) {
    study["waste"] = {{"faults", "servers.csv"},
                      {"servers", dice.from_to(4, 40)},
                      {"accelerators_per_server", dice.pick<std::uint32_t>({1, 4})},
                      {"groups", {4, 8}},
                      {"domains",
                       {{{"name", "a"}, {"kind", dice.one_in(2) ? "any" : "aligned"}, {"servers", dice.from_to(1, 4)}},
                        {{"name", "b"}, {"kind", dice.one_in(2) ? "ring" : "line"}, {"reach", dice.from_to(1, 3)}}}}};
    if (dice.one_in(2)) study["waste"]["placements"] = dice.from_to(1, 20);
  }
  if (!dice.one_in(2)) return;
  Json circuits{{"collective", dice.one_in(2) ? "direct_all_to_all" : "halving_doubling_all_reduce"},
                {"nodes", dice.pick<std::uint32_t>({2, 4, 8, 16})},
                {"bytes", dice.pick<double>({0, 1000, 1e8})},
                {"gb_per_s", dice.pick<double>({1, 50})}};
  if (dice.one_in(2)) circuits["alpha_us"] = dice.pick<double>({0, 1, 3});
  if (dice.one_in(2)) circuits["hop_ns"] = dice.pick<double>({0, 500});
  if (dice.one_in(2)) circuits["reconfiguration_us"] = dice.pick<double>({0, 10, 1000});
  if (dice.one_in(3)) circuits["max_hops"] = dice.from_to(1, 16);
  study["circuits"] = Json::array({circuits});
}

}  // namespace

World draw_allocation(std::uint64_t seed) {
  Dice dice(seed, "allocation");
  Json study{{"schema", "photonrail.allocation/1"}, {"name", "study " + std::to_string(seed)}};
  if (dice.one_in(8)) study["why"] = "drawn";
  if (dice.one_in(2)) study["run"] = {{"seed", dice.from_to(0, 1000)}};
  const bool stream = !dice.one_in(4);
  if (stream) draw_stream(dice, study);
  if (dice.one_in(3)) {
    study["decisions"] = Json::array();
    for (std::uint32_t left = dice.from_to(1, 4); left > 0; --left) study["decisions"].push_back(draw_decision(dice, left));
    if (dice.one_in(4)) study["decisions"].push_back(draw_known(dice));
    if (dice.one_in(8)) study["decisions"] = {{"file", "decisions.json"}};
  }
  if (!stream || dice.one_in(4)) draw_small_studies(dice, study);
  return {seed, study};
}

}  // namespace photonrail::worlds
