// Scenarios from a folder of Hugging Face's or of ASTRA-sim: what it does not say is guessed, and each guess is told.
#include "commands.hpp"
#include "config/huggingface.hpp"
#include "core/counted.hpp"
#include "format_commands.hpp"
#include "formats/chakra/files.hpp"
#include "help_commands.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::command {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostServers = 2048;

// Returns the one file of the folder whose name has `part` and ends as one of `endings`.
fs::path file_with(const fs::path& folder, const std::string& part, const std::vector<std::string>& endings) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    const bool ends = std::find(endings.begin(), endings.end(), path.extension().string()) != endings.end();
    if (ends && path.filename().string().find(part) != std::string::npos) found.push_back(path);
  }
  if (found.size() > 1)
    throw ConfigError(folder.string(), "has " + core::counted(found.size(), "file") + " called *" + part + "*",
                      "name them by options: photonrail import astra --help");
  return found.empty() ? fs::path{} : found.front();
}

void require(const fs::path& file, const fs::path& folder, const char* what, const char* option) {
  if (file.empty())
    throw ConfigError(folder.string(), "has no " + std::string(what), std::string("name it with ") + option);
}

constexpr const char* kModel = "the folder of a model of Hugging Face, or its config.json";

void check_model(const fs::path& from) {
  std::error_code error;
  if (!fs::exists(from, error)) throw ConfigError(from.string(), "is not there", kModel);
  const fs::path file = fs::is_directory(from, error) ? from / "config.json" : from;
  if (!fs::exists(file, error)) throw ConfigError(from.string(), "has no config.json", kModel);
  if (!config::is_huggingface(file))
    throw ConfigError(file.string(), "has no \"model_type\", as a model of Hugging Face has", kModel);
}

// What follows `before` in the text of a scenario, up to `end`.
std::string said(const std::string& text, const std::string& before, const std::string& end) {
  const std::size_t from = text.find(before) + before.size();
  return text.substr(from, text.find_first_of(end, from) - from);
}

// "tp 8, pp 1, dp 25, fsdp".
std::string shape_of(const std::string& text) {
  std::string shape;
  for (const char c : said(text, "\"parallelism\": { ", "}")) {
    if (c != '"' && c != ':') shape += c;
  }
  const std::size_t flag = shape.find(" true");
  return flag == std::string::npos ? shape : shape.substr(0, flag);
}

}  // namespace

void import_astra_folder(AstraCommandOptions options, const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw ConfigError(folder.string(), "is no folder", "a folder with ASTRA-sim's files, or each of them by its option");
  AstraOptions& files = options.files;
  if (files.system.empty()) files.system = file_with(folder, "system", {".json"});
  if (files.network.empty()) files.network = file_with(folder, "network", {".yml", ".yaml"});
  if (files.remote_memory.empty()) files.remote_memory = file_with(folder, "memory", {".json"});
  if (files.comm_groups.empty()) files.comm_groups = file_with(folder, "group", {".json"});
  if (files.workload.empty()) {
    const auto traces = formats::chakra::traces_in(folder);
    if (traces.size() == 1) files.workload = folder / traces.begin()->first;
    if (traces.size() > 1)
      throw ConfigError(folder.string(), "has " + core::counted(traces.size(), "trace"), "name one with --workload");
  }
  require(files.system, folder, "*system*.json", "--system");
  require(files.network, folder, "*network*.yml", "--network");
  require(files.workload, folder, "PREFIX.RANK.et", "--workload");
  astra_import(options);
  const Scenario read = read_scenario(options.out);
  std::cout << "guessed, by the names of files:\n  system " << files.system.filename().string() << ", network "
            << files.network.filename().string() << ", workload " << files.workload.filename().string() << '\n';
  if (!files.comm_groups.empty()) std::cout << "  groups " << files.comm_groups.filename().string() << '\n';
  const std::uint32_t gpus = read.cluster.gpus_per_server;
  std::cout << "  " << core::counted(read.cluster.servers, "server") << " of " << core::counted(gpus, "GPU")
            << (gpus == 1 ? ", as the network has one dimension" : ", the network's innermost dimension")
            << " (/cluster)\n  rank r is GPU r (/placement); dimensions by places, strides and operations\n"
            << "  rails in place of ASTRA-sim's rules: photonrail run --astra keeps to them, by\n"
            << "  default those of its congestion-unaware back end (--backend)\n";
}

void import_hf(const ImportHfOptions& options, const Registries& known) {
  InitOptions init;
  init.model = options.from.string();
  init.gpu = options.gpu;
  if (const ControllerFactory* policy = known.controllers.first_that_decides()) init.controller = policy->name;
  check_model(options.from);
  std::string text;
  std::optional<Scenario> read;
  // This takes the fewest servers that hold the model with its optimizer.
  for (init.servers = options.servers > 0 ? options.servers : 1; init.servers <= kMostServers; init.servers *= 2) {
    text = commented_scenario(init, known);
    read = parse_scenario(text, ".", options.out.string(), {}, known);
    if (options.servers > 0 || read->infeasible().empty()) break;
  }
  if (init.servers > kMostServers)
    throw ConfigError(options.from.string(), "does not fit " + std::to_string(8 * kMostServers) + " GPUs",
                      "--servers says how many there are");
  write_file(options.out, text);
  std::cout << "wrote " << options.out.string() << ": training on " << core::counted(read->graph.ranks(), "rank")
            << "\nguessed:\n";
  if (options.servers == 0)
    std::cout << "  " << core::counted(init.servers, "server") << ", the fewest on which it fits (--servers)\n";
  std::cout << "  8 GPUs a server, " << init.gpu << ", 450 GB/s inside it, a NIC of 50 GB/s a GPU (/cluster)\n"
            << "  " << shape_of(text) << "; " << said(text, "\"global_batch\": ", " ") << " sequences of "
            << said(text, "\"sequence\": ", ",") << " tokens a step (/workload/training)\n"
            << "  optical rails of " << init.switches
            << (text.find("\"pods\"") == std::string::npos ? "" : " in pods, as one is too small for a rail")
            << " (/cluster/rail)\n  controller " << init.controller << " (/controller), two steps (/run)\n";
}

}  // namespace photonrail::command
