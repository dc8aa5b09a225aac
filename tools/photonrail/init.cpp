// A commented scenario from a few options or questions.
#include "core/counted.hpp"
#include "core/number_in.hpp"
#include "help_commands.hpp"
#include "photonrail/cluster/device.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <unistd.h>

#include <array>
#include <iostream>
#include <numeric>
#include <sstream>
#include <utility>

namespace photonrail::command {

namespace {

/// Describes how the ranks of the job share the model.
struct Split {
  std::uint32_t tp = 1, pp = 1, dp = 1, ep = 1;
  bool fsdp = false;
};

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) all += c;
  }
  return all + "\"";
}

std::string parallelism(const Split& split) {
  std::string text = "{ \"tp\": " + std::to_string(split.tp) + ", \"pp\": " + std::to_string(split.pp) +
                     ", \"dp\": " + std::to_string(split.dp);
  if (split.ep > 1) text += ", \"ep\": " + std::to_string(split.ep);
  return text + (split.fsdp ? ", \"fsdp\": true }" : ", \"zero1\": true }");
}

// A fibre each way of each NIC; 0: one switch holds the rail. In pods each needs as many ports again to the other pods.
std::uint32_t servers_of_pod(const InitOptions& options) {
  const std::uint32_t ports = optical_switch_preset(options.switches).ports;
  if (ports == 0 || ports >= 2 * std::uint64_t{options.servers}) return 0;
  for (std::uint32_t servers = ports / 4; servers > 1; --servers) {
    if (options.servers % servers == 0) return servers;
  }
  return 0;
}

std::string rail_text(const InitOptions& options) {
  if (options.rail == "electrical")
    return "{ \"kind\": \"electrical\" }  // packet switches that join any two ports at the full rate";
  const std::uint32_t pod = servers_of_pod(options);
  const std::string pods =
      pod == 0 ? ""
               : ",\n      // One switch is too small for a rail: pods have switches of their own, joined by more.\n"
                 "      \"pods\": { \"servers\": " +
                     std::to_string(pod) + ", \"joined_by\": \"optical\" }";
  return "{ \"kind\": \"optical\",\n"
         "      // A name of `photonrail list switches`. To vary its delay: --set "
         "/cluster/rail/switch/reconfiguration_ms=10\n"
         "      \"switch\": { \"preset\": " +
         quoted(options.switches) + " }" + pods + " }";
}

std::string controller_text(const InitOptions& options, const Registries& known) {
  if (options.rail == "electrical") return "";
  const bool has_mode = known.controllers.find(options.controller).has("mode");
  const std::string mode = has_mode ? ", \"mode\": \"provisioned\"" : "";
  return "  // Decides which circuits are lit: a name of `photonrail list controllers`" +
         std::string(mode.empty()
                         ? "."
                         : ". on_demand: ranks ask only when they need a\n  // circuit; provisioned: also ahead of it.") +
         "\n  \"controller\": { \"name\": " + quoted(options.controller) + mode + " },\n";
}

std::string text_of(const InitOptions& options, const Split& split, const Registries& known) {
  constexpr std::uint32_t kMicroBatches = 4;  // of each pipeline stage: enough that its bubble is no longer than the work
  const std::uint32_t batch = split.dp * split.pp * kMicroBatches;
  std::ostringstream text;
  text << "// Written by `photonrail init`. All keys with their units: docs/reference, or photonrail schema scenario.\n"
       << "// photonrail run FILE runs it; --set /json/pointer=value changes a value for one run.\n"
       << "{\n  \"schema\": \"photonrail.scenario/1\",\n  \"name\": "
       << quoted(options.model + " on " + core::counted(options.servers * options.gpus_per_server, "GPU") + ", " +
                 options.rail + " rails")
       << ",\n  \"cluster\": {\n    \"servers\": " << options.servers
       << ",\n    \"gpus_per_server\": " << options.gpus_per_server
       << ",\n    // A name of `photonrail list gpus`. The efficiency is the share of the peak that large matrix products "
          "reach;\n"
          "    // `photonrail calibrate` fits it to a measured step.\n"
       << "    \"gpu\": { \"preset\": " << quoted(options.gpu) << ", \"compute_efficiency\": 0.5 },\n"
       << "    \"scale_up\": { \"gb_per_s\": 450 },  // of a GPU, one way, inside its server\n"
       << "    \"nic\": { \"ports\": 1, \"port_gb_per_s\": 50 },  // of a GPU; 50 GB/s are 400 Gb/s\n"
       << "    // Rail r joins the GPUs number r of all servers.\n    \"rail\": " << rail_text(options) << "\n  },\n"
       << controller_text(options, known) << "  \"workload\": {\n    \"training\": {\n"
       << "      \"model\": " << quoted(options.model)
       << ",  // a name of `photonrail list models`, or the path of a file\n"
       << "      // tp x pp x dp = ranks; tp inside a server.\n      \"parallelism\": " << parallelism(split) << ",\n"
       << "      \"sequence\": " << options.sequence << ",  // tokens of a sequence\n"
       << "      \"global_batch\": " << batch << "  // sequences of a step\n    }\n  },\n"
       << "  \"run\": { \"iterations\": 2 }  // steps; the last ones are reported\n}\n";
  return text.str();
}

// Returns true when the model fits the memory of the GPUs. What is no scenario does not.
bool fits(const InitOptions& options, const Split& split, const Registries& known) {
  try {
    return parse_scenario(text_of(options, split, known), ".", "photonrail init", {}, known).infeasible().empty();
  } catch (const ConfigError&) {
    return false;
  }
}

// The path of a model's file, where the name is one: a folder has a config.json of Hugging Face's.
std::filesystem::path model_file(const std::string& model) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(model).lexically_normal();
  if (std::filesystem::is_directory(path, error)) return path / "config.json";
  return std::filesystem::is_regular_file(path, error) ? path : std::filesystem::path{};
}

ModelSpec model_of(const InitOptions& options) {
  const std::filesystem::path file = model_file(options.model);
  return file.empty() ? model_preset(options.model) : read_model(file).spec;
}

Split split_of(const InitOptions& options, std::uint32_t pp) {
  const ModelSpec model = model_of(options);
  const std::uint32_t ranks = options.servers * options.gpus_per_server;
  Split split;
  split.tp = options.tp.value_or(
      std::gcd(options.gpus_per_server, std::gcd(model.heads, model.latent ? model.heads : model.kv_heads)));
  split.pp = pp;
  split.dp = std::max(1U, ranks / std::max(1U, split.tp * split.pp));
  if (model.moe) split.ep = std::gcd(split.dp, model.moe->experts);
  return split;
}

// A dense model has its parameters over data-parallel ranks where it fits so. Else the fewest stages with which it fits;
// parameters over data-parallel ranks where none does; else the fewest.
Split choose_split(const InitOptions& options, const Registries& known) {
  if (options.pp) return split_of(options, *options.pp);
  if (Split dense = split_of(options, 1); dense.ep == 1) {
    dense.fsdp = true;
    if (dense.dp == 1 && !options.tp) {  // one server
      dense.dp = std::exchange(dense.tp, 1);
    }
    if (dense.dp > 1 && fits(options, dense, known)) return dense;
  }
  constexpr std::array<std::uint32_t, 6> kStages{1, 2, 4, 8, 16, 32};
  for (const std::uint32_t pp : kStages) {
    const Split split = split_of(options, pp);
    if (split.tp * split.pp * split.dp == options.servers * options.gpus_per_server && fits(options, split, known))
      return split;
  }
  Split sharded = split_of(options, 1);
  sharded.fsdp = true;
  return fits(options, sharded, known) ? sharded : split_of(options, 1);
}

template <class Value>
void ask(const std::string& question, Value& into) {
  std::cerr << question << " [" << into << "] ";
  std::string line;
  if (!std::getline(std::cin, line) || line.empty()) return;
  if constexpr (std::is_same_v<Value, std::string>) {
    into = line;
  } else {
    const auto value = core::number_in<Value>(line);
    if (!value)
      throw ConfigError("", "\"" + line + "\" is no number", "a whole number, or nothing for " + std::to_string(into));
    into = *value;
  }
}

}  // namespace

// The reader would speak of keys that the options do not have.
void check_switch(const InitOptions& options) {
  if (options.rail == "electrical") return;
  const std::uint64_t needed = 2 * std::uint64_t{options.servers};  // a fibre each way
  const std::uint32_t ports = optical_switch_preset(options.switches).ports;
  if (ports == 0 || ports >= needed || servers_of_pod(options) > 0) return;
  std::string large_enough;
  for (const OpticalSwitchPreset& preset : optical_switch_presets()) {
    if (preset.spec.ports != 0 && preset.spec.ports < needed) continue;
    large_enough += (large_enough.empty() ? "" : ", ") + std::string(preset.key);
  }
  throw ConfigError("--switch " + options.switches,
                    "has " + core::counted(ports, "port") + ", and a rail of " + std::to_string(options.servers) +
                        " servers needs " + std::to_string(needed),
                    "with as many: " + large_enough + "; pods of smaller ones are /cluster/rail/pods of a scenario");
}

std::string commented_scenario(const InitOptions& given, const Registries& known) {
  InitOptions options = given;
  check_switch(options);
  const std::filesystem::path file = model_file(options.model);
  if (!file.empty()) options.model = file.string();
  std::string text = text_of(options, choose_split(options, known), known);
  static_cast<void>(parse_scenario(text, ".", "photonrail init", {}, known));
  return text;
}

void init(InitOptions options, const Registries& known) {
  const ControllerFactory* policy = known.controllers.first_that_decides();
  if (policy != nullptr && options.controller.empty()) options.controller = policy->name;
  if (options.questions) {
    ask("model (photonrail list models)", options.model);
    ask("servers", options.servers);
    ask("GPUs of a server", options.gpus_per_server);
    ask("GPU (photonrail list gpus)", options.gpu);
    ask("rails, optical or electrical", options.rail);
    if (options.rail == "optical") {
      ask("switch (photonrail list switches)", options.switches);
      ask("controller (photonrail list controllers)", options.controller);
    }
  }
  const std::string text = commented_scenario(options, known);
  if (options.file.empty()) {
    std::cout << text;
    return;
  }
  std::error_code error;
  if (std::filesystem::exists(options.file, error))
    throw ConfigError(options.file.string(), "is there already", "another name; nothing was changed");
  write_file(options.file, text);
  std::cout << "wrote " << options.file.string() << "; photonrail run " << options.file.string() << " runs it\n";
}

}  // namespace photonrail::command
