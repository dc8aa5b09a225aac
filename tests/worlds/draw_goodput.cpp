// Months of a job: what fails, what it does, and how it is recovered.
#include "worlds/family.hpp"

namespace photonrail::worlds {

namespace {

// A length of time by any law, of about `mean` in the unit of the key.
Json draw_time(Dice& dice, double mean) {
  switch (dice.from_to(0, 11)) {
    case 0:
      return {{"distribution", "constant"}, {"mean", mean}};
    case 1:
      return {{"distribution", "exponential"}, {"mean", mean}};
    case 2:
      return {{"distribution", "weibull"}, {"mean", mean}, {"shape", dice.pick<double>({0.6, 1, 3})}};
    case 3:
      return {{"distribution", "log_normal"}, {"mean", mean}, {"sigma", dice.pick<double>({0, 0.5, 1.5})}};
    case 4:
      return {{"distribution", "uniform"}, {"least", 0}, {"greatest", 2 * mean}};
    case 5:
      return {{"distribution", "samples"}, {"values", {0, mean, 3 * mean}}};
    default:
      return dice.one_in(4) ? 0.0 : mean;
  }
}

// Under the key with one of its units.
void give_time(Dice& dice, Json& object, const std::string& stem, double mean_s) {
  switch (dice.from_to(0, 2)) {
    case 0:
      object[stem + "_s"] = draw_time(dice, mean_s);
      break;
    case 1:
      object[stem + "_h"] = draw_time(dice, mean_s / 3600);
      break;
    default:
      object[stem + "_d"] = draw_time(dice, mean_s / 86400);
  }
}

void draw_rate(Dice& dice, bool of_servers, Json& failure) {
  const double hours = dice.pick<double>({20, 100, 500, 5000});
  switch (dice.from_to(of_servers ? 0 : 1, 3)) {
    case 0:
      failure["per_1000_server_days"] = 24'000.0 / hours;
      break;
    case 1:
      failure["fit"] = 1e9 / hours;
      break;
    case 2:
      failure["share_per_day"] = 24.0 / hours;
      break;
    default:
      failure["mtbf_h"] = hours;
  }
  if (!dice.one_in(2)) return;
  failure["law"] = dice.pick<Json>({"exponential", "constant", {{"weibull", 0.7}}, {{"log_normal", 0.5}}});
}

// The degradation that fits the part.
void draw_degradation(Dice& dice, const std::string& of, Json& failure) {
  if (of == "plane" || of == "ocs") {
    failure["degrade"] = "plane";
  } else if (of == "port" || of == "transceiver") {
    failure["degrade"] = "port";
  } else if (of == "rail" || of == "job") {
    failure["degrade"] = {{dice.pick<std::string>({"uplinks", "nic_rate"}), 2}};
  } else {
    failure["degrade"] = {
        {dice.pick<std::string>({"compute", "stage_compute", "nic_rate"}), dice.pick<double>({1, 1.5, 4})}};
  }
}

Json draw_failure(Dice& dice, std::size_t number, std::uint32_t servers) {
  Json of =
      dice.pick<std::string>({"gpu", "nic", "port", "transceiver", "server", "ocs", "plane", "rail", "job", "server"});
  if (dice.one_in(6))
    of = dice.one_in(2) ? Json{{"servers", dice.from_to(1, servers)}} : Json{{"parts", dice.from_to(1, 4)}};
  const std::string word = of.is_string() ? of.get<std::string>() : "";
  Json failure{{"of", of}};
  if (dice.one_in(2)) failure["name"] = "failure " + std::to_string(number);
  draw_rate(dice, word == "gpu" || word == "nic" || word == "port" || word == "transceiver" || word == "server", failure);
  if (dice.one_in(2)) failure["effect"] = dice.pick<std::string>({"stop", "slow", "silent"});
  const std::string effect = failure.value("effect", "stop");
  if (effect == "slow" || (effect == "stop" && dice.one_in(6))) draw_degradation(dice, word, failure);
  if (dice.one_in(2)) give_time(dice, failure, "detection", dice.pick<double>({10, 600}));
  if (!dice.one_in(4)) give_time(dice, failure, "repair", dice.pick<double>({60, 7200, 200'000}));
  return failure;
}

Json draw_stages(Dice& dice) {
  Json stages = Json::array();
  for (std::uint32_t left = dice.from_to(0, 2); left > 0; --left) {
    Json stage = Json::object();
    if (dice.one_in(2)) stage["name"] = "stage " + std::to_string(left);
    give_time(dice, stage, "time", dice.pick<double>({1, 30, 900}));
    stages.push_back(stage);
  }
  return stages;
}

Json draw_recovery(Dice& dice, const Json& failures) {
  Json options = Json::array();
  for (const char* action : {"restart", "swap_in_rack", "swap", "move_rack", "drop_replica"}) {
    if (!dice.one_in(2)) continue;
    Json option{{"action", action}, {"stages", draw_stages(dice)}};
    if (dice.one_in(3)) option["name"] = std::string("by ") + action;
    if (dice.one_in(2)) option["rollback"] = dice.one_in(2) ? "step" : "checkpoint";
    if (dice.one_in(3)) option["for_slow"] = dice.one_in(2);
    if (std::string(action) == "drop_replica" && dice.one_in(2)) option["rejoin"] = draw_stages(dice);
    if (dice.one_in(4) && !failures.empty() && failures[0].contains("name")) option["sources"] = {failures[0]["name"]};
    options.push_back(option);
  }
  options.push_back({{"action", "wait"}, {"stages", draw_stages(dice)}});
  return options;
}

void draw_checkpointing(Dice& dice, bool simulated, Json& section) {
  Json checkpoint = Json::object();
  if (dice.one_in(2)) {
    checkpoint["interval"] = dice.pick<std::string>({"young", "daly", "optimal"});
  } else {
    checkpoint["interval_s"] = dice.pick<double>({100, 1800, 20'000});
  }
  if (!simulated && !dice.one_in(5)) checkpoint["stall_s"] = dice.pick<double>({0, 5, 60});
  if (!simulated && dice.one_in(2)) checkpoint["copy_s"] = dice.pick<double>({0, 30, 1000});
  section["checkpoint"] = checkpoint;
}

// The trace names a file of the inputs, so that the file that is drawn stands alone but for its folder.
Json draw_trace(Dice& dice) {
  Json trace{{"file", "faults.csv"}};
  if (dice.one_in(2)) trace["shuffle"] = dice.one_in(2);
  if (dice.one_in(2)) trace["without"] = {"power"};
  if (dice.one_in(2)) give_time(dice, trace, "detection", 30);
  return trace;
}

Json draw_section(Dice& dice, std::uint32_t servers, bool simulated_checkpoint) {
  Json section = Json::object();
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 1; d <= servers; ++d) {
    if (servers % d == 0) divisors.push_back(d);
  }
  Json job = Json::object();
  if (dice.one_in(2)) {
    job["replicas"] = dice.pick(divisors);
    if (dice.one_in(2)) job["min_replicas"] = dice.from_to(1, job["replicas"].get<std::uint32_t>());
  }
  section["job"] = job;
  if (dice.one_in(2)) {
    section["spares"] = {{"servers_per_rack", dice.from_to(0, servers)}, {"per_rack", dice.from_to(0, 2)}};
    if (dice.one_in(2)) section["spares"]["anywhere"] = dice.from_to(0, 3);
  }
  section["days"] = dice.pick<double>({1, 7, 30});
  section["seeds"] = dice.from_to(1, 3);
  if (dice.one_in(3)) section["first_seed"] = dice.from_to(0, 1000);
  if (dice.one_in(4)) section["steps"] = dice.pick<std::uint32_t>({1, 1000, 100'000});
  section["failures"] = Json::array();
  for (std::uint32_t left = dice.from_to(0, 3); left > 0; --left)
    section["failures"].push_back(draw_failure(dice, left, servers));
  if (dice.one_in(6)) section["trace"] = draw_trace(dice);
  if (dice.one_in(4)) section["server_spread"] = dice.pick<double>({0.1, 1, 10});
  if (!dice.one_in(5)) draw_checkpointing(dice, simulated_checkpoint, section);
  if (dice.one_in(3)) section["policy"] = dice.pick<std::string>({"in_order", "least_loss", "repair"});
  if (dice.one_in(3)) section["spare_placement"] = dice.pick<std::string>({"same_rack_first", "fullest_rack"});
  section["recovery"] = draw_recovery(dice, section["failures"]);
  if (dice.one_in(4)) {
    section["maintenance"] = {{"every_d", dice.pick<double>({0.5, 7})}};
    if (!dice.one_in(4)) give_time(dice, section["maintenance"], "lasts", 1800);
  }
  return section;
}

// A job of a rank a server, whose step is simulated as often as the failures make another cluster of it.
Json draw_job(Dice& dice, std::uint32_t servers, bool checkpoint) {
  Json cluster{{"servers", servers}, {"gpus_per_server", 1}, {"nic", {{"ports", 2}, {"port_gb_per_s", 25}}}};
  cluster["gpu"] = {{"peak_tflops", 100}, {"memory_gb_per_s", 1000}};
  Json scenario;
  if (dice.one_in(2)) {
    cluster["rail"] = {{"kind", "optical"}, {"planes", dice.from_to(1, 2)}, {"switch", {{"reconfiguration_ms", 1}}}};
    scenario["controller"] = {{"name", "opus"}};
  } else {
    cluster["rail"] = {{"kind", "electrical"}};
  }
  scenario["cluster"] = cluster;
  if (dice.one_in(2)) {
    scenario["workload"] = {{"collective", {{"op", "all_reduce"}, {"bytes", 1'000'000'000}}}};
  } else {
    scenario["workload"] = {
        {"training",
         {{"model", {{"layers", 2}, {"hidden", 64}, {"ffn", 128}, {"heads", 2}, {"kv_heads", 2}, {"vocabulary", 256}}},
          {"sequence", 64},
          {"global_batch", 4000 * servers},
          {"parallelism", {{"tp", 1}, {"dp", servers}}}}}};
  }
  if (checkpoint) {
    scenario["workload"]["checkpoint"] = {{"to", "own_network"}, {"bytes_per_rank", 1'000'000'000}, {"gb_per_s", 1}};
  }
  return scenario;
}

}  // namespace

World draw_goodput(std::uint64_t seed) {
  Dice dice(seed, "goodput");
  Json scenario{{"schema", "photonrail.scenario/1"}, {"name", "months " + std::to_string(seed)}};
  const bool simulated = dice.one_in(3);
  const std::uint32_t servers = dice.pick<std::uint32_t>({1, 2, 3, 4, 6, 8, 12});
  const bool checkpoint = simulated && dice.one_in(4);
  if (simulated) scenario.update(draw_job(dice, servers, checkpoint));
  scenario["reliability"] = draw_section(dice, servers, checkpoint);
  if (!simulated) {
    scenario["reliability"]["step_s"] = dice.pick<double>({0.02, 1, 7.5, 100, 5000});
    scenario["reliability"]["job"]["servers"] = servers;
    if (dice.one_in(2)) scenario["reliability"]["job"]["gpus_per_server"] = dice.pick<std::uint32_t>({1, 4});
  }
  return {seed, scenario};
}

}  // namespace photonrail::worlds
