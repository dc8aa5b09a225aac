// The command line: the parser of the command, and those commands that end soon and write below their folder only.
#include "fuzz/entry.hpp"

#include "commands.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace photonrail::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxArguments = 100;
constexpr double kMaxPorts = 36;  // of a photonic mesh: the search takes 2 s there, and 40 s for 42

/// What is printed meanwhile is dropped.
class SilentStreams {
 public:
  SilentStreams() : out_(std::cout.rdbuf(dropped_.rdbuf())), err_(std::cerr.rdbuf(dropped_.rdbuf())) {}
  SilentStreams(const SilentStreams&) = delete;
  SilentStreams& operator=(const SilentStreams&) = delete;
  ~SilentStreams() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }

 private:
  std::ostringstream dropped_;
  std::streambuf* out_;
  std::streambuf* err_;
};

/// The folder as the one that relative paths begin at.
class CurrentFolder {
 public:
  explicit CurrentFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;
  ~CurrentFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

// A path leads nowhere else: of '/' only those after a digit remain (--shard 1/2). Values of --set are only read.
std::string kept_inside(std::string argument) {
  for (std::size_t i = 0; i < argument.size(); ++i) {
    const bool after_digit = i > 0 && std::isdigit(static_cast<unsigned char>(argument[i - 1])) != 0;
    if (argument[i] == '/' && !after_digit) argument[i] = '_';
    if (argument[i] == '.' && i > 0 && argument[i - 1] == '.') argument[i] = '_';
  }
  return argument;
}

std::vector<std::string> arguments_of(std::string_view data) {
  std::vector<std::string> arguments;
  std::istringstream lines{std::string(data)};
  for (std::string line; arguments.size() < kMaxArguments && std::getline(lines, line);) {
    line = line.substr(0, line.find('\0'));
    const bool set = line.starts_with("--set=") || (!arguments.empty() && arguments.back() == "--set");
    arguments.push_back(set ? line : kept_inside(line));
  }
  return arguments;
}

bool has_number_above(const std::vector<std::string>& arguments, double limit) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [limit](const std::string& argument) { return std::strtod(argument.c_str(), nullptr) > limit; });
}

// Others simulate, search or start programs.
bool ends_soon(const std::vector<std::string>& arguments) {
  const auto has = [&](const char* word) { return std::find(arguments.begin(), arguments.end(), word) != arguments.end(); };
  if (arguments.empty()) return false;
  const std::string& first = arguments.front();
  if (first == "sweep")
    return arguments.size() > 1 && (has("--dry-run") || arguments[1] == "status" || arguments[1] == "merge");
  if (first == "collective") return has("info") || has("export");
  if (first == "pip-switch") return !has_number_above(arguments, kMaxPorts);
  const std::array soon{"validate", "list", "trace", "cost", "compare", "card"};
  return std::find(soon.begin(), soon.end(), first) != soon.end();
}

void put_files(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  write(folder / "base.json", kScenario);
  write(folder / "sweep.json", R"({"schema": "photonrail.sweep/1", "base": "base.json", "axes": [
      {"pointer": "/cluster/nic/port_gb_per_s", "values": [10, 20]}], "seeds": [1, 2]})");
  write(folder / "a.csv", "point,step_s\n0,1\n");
}

// Errors that name what they are about, in words of the project.
void check(const std::exception& error, const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  const std::string text = error.what();
  const bool differs =
      (first == "compare" || first == "allocate") && dynamic_cast<const command::CommandError*>(&error) != nullptr;
  if (command::exit_status(error) == 1 && !differs) throw std::logic_error("exit status 1: " + text);
  if (text.empty()) throw std::logic_error("an error without a text");
  std::string input;
  for (const std::string& argument : arguments) input += argument + "\n";
  for (const char* raw : {"json.exception", "basic_string", "stoi", "vector::", "map::at", "std::"}) {
    if (is_raw(text, raw, input)) throw std::logic_error("a raw message: " + text);
  }
}

// A refusal has to say `named`.
void parse_or_act(const std::vector<std::string>& arguments, const fs::path& folder, command::Act act,
                  const std::string& named = "") {
  std::vector<const char*> argv{"photonrail"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const CurrentFolder current(folder);
  const SilentStreams silent;
  try {
    command::parse_and_act(static_cast<int>(argv.size()), argv.data(), {}, act);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    const bool refusal = dynamic_cast<const ConfigError*>(&error) != nullptr;
    if (refusal && std::string_view(error.what()).find(named) == std::string_view::npos)
      throw std::logic_error("does not name " + named + ": " + error.what());
    check(error, arguments);
  }
}

}  // namespace

void act(const std::vector<std::string>& arguments, const fs::path& folder) {
  const auto is_file = [](const std::string& argument) { return argument.ends_with(".json"); };
  parse_or_act(arguments, folder, command::Act::kRun, *std::find_if(arguments.begin(), arguments.end(), is_file));
}

void read_command(std::string_view data, const fs::path& folder) {
  const std::vector<std::string> arguments = arguments_of(data);
  if (!ends_soon(arguments)) return parse_or_act(arguments, folder, command::Act::kParse);
  put_files(folder / "command");
  parse_or_act(arguments, folder / "command", command::Act::kRun);
}

std::vector<std::string> command_seeds(const fs::path&) {
  return {"validate\nbase.json\n--set\n/cluster/servers=3\n--graphviz\ng.dot",
          "run\nbase.json\n--out\nd\n--trace\n--ccl-bench\n--quiet\n--set=/run/seed=2",
          "sweep\nsweep.json\n--dry-run\n--jobs\n2\n--memory\n8GB\n--shard\n1/2\n--set\n/why=x",
          "sweep\nsweep.json\n--point\n1\n--trace\n--out\no\n--retry-failed\n--launcher\nlocal",
          "sweep\nsweep.json\n--launcher\nslurm\n--profile\np\n--partition\nq\n--time\n1:00\n--points-per-task\n5",
          "sweep\nstatus\no",
          "sweep\nmerge\no",
          "list\ncollectives\n--explain\n--op\nall_to_all\n--bytes\n1000\n--ranks\n8\n--ranks-per-server\n2\n--ports\n2\n"
          "--reconfiguration-ms\n1.5",
          "list\ncontrollers",
          "trace\ninfo\nbase.json\n--set\n/workload/collective/ranks=2",
          "trace\nexport\nbase.json\n--prefix\nt",
          "trace\ninfo\n--prefix\nt\n--groups\nt.json",
          "calibrate\nbase.json\n--step-s\n1.5\n--source\nx\n-o\nc.json",
          "cost\nbase.json\n--catalogue\nh200_400g\n--rule\nphysical\n--json",
          "cost\n--gpus\n512,1024\n--json",
          "compare\na.csv\na.csv\n--tolerance\n0.1",
          "card\nexport\nbase.json\n-o\nc.yaml",
          "card\nimport\nc.yaml\n-o\nx.json",
          "collective\nexport\n--op\nall_reduce\n--algorithm\nring\n--ranks\n4\n--chunks\n2\n--bytes\n1000\n-o\np.xml",
          "collective\ninfo\np.xml",
          "collective\nsynthesize\nt.json\n--op\nall_gather\n--sketch\ns\n--seed\n3\n--tries\n2",
          "report\no\n--format\nsvg\n--metric\nstep_s\n--against\nx\n--series\ny\n--baseline\n1\n-o\nf",
          "pip-switch\n--ports\n8\n--mesh\n5x5\n--json\n-o\nm.svg\n--matching\n1",
          "serve\nbase.json\n--find-rate\n--set\n/workload/serving/slo/share=0.9",
          "plan\n--model\nllama3_8b\n--gpus\n64\n--limit\n1s\n--jobs\n1",
          "goodput\nbase.json\n--seeds\n2\n--jobs\n1\n--out\ng\n--work-limit\n1s",
          "allocate\nbase.json\n--out\na",
          "explain\nbase.json\n--json",
          "import\nhf\nmodel\n--servers\n2\n--gpu\nh100\n-o\nx.json",
          "--version",
          "--help"};
}

}  // namespace photonrail::fuzz
