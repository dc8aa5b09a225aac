#include "sweep/slurm.hpp"

#include "config/json_reader.hpp"
#include "formats/input_file.hpp"
#include "photonrail/report.hpp"
#include "sweep/run_sweep.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace photonrail::sweep {

namespace {

constexpr std::string_view kTaskSchema = "photonrail.slurm/1";
constexpr std::uint64_t kTasksByDefault = 64;

// For a shell: in single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

struct Output {
  int status = -1;
  std::string text;  ///< both streams
};

Output shell(const std::string& line) {
  Output output;
  FILE* const pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) output.text.append(piece.data(), n);
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  while (!output.text.empty() && output.text.back() == '\n') output.text.pop_back();
  return output;
}

std::filesystem::path jobs_file(const std::filesystem::path& directory) { return directory / "slurm" / "jobs"; }

// A task that died comes back, twice at most. One that ended with 0, 2 or 3 said all that there is to say, and one that
// was asked to stop shall not come back.
constexpr const char* kBody = R"(
status=0
"${command[@]}" --shard "$SLURM_ARRAY_TASK_ID/$shards" || status=$?
case $status in
  0 | 2 | 3 | 130 | 143) exit $status ;;
esac
if ((${SLURM_RESTART_COUNT:-0} < 2)); then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  sleep 60  # until Slurm ends this run of the task
fi
exit $status
)";

std::string script_of(const Sweep& sweep, const SweepOptions& options, const SlurmProfile& profile,
                      const std::filesystem::path& program, std::uint64_t tasks) {
  const auto folder = absolute(options.directory).lexically_normal();
  std::ostringstream text;
  text << "#!/bin/bash\n# Submitted by photonrail sweep --launcher slurm; each task runs the points of its shard that are "
          "missing.\n";
  text << "#SBATCH --job-name=photonrail-sweep\n#SBATCH --array=1-" << tasks
       << "\n#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text << "#SBATCH --cpus-per-task=" << profile.cpus_per_task << '\n';
  if (!profile.partition.empty()) text << "#SBATCH --partition=" << profile.partition << '\n';
  if (!profile.time.empty()) text << "#SBATCH --time=" << profile.time << '\n';
  for (const std::string& option : profile.options) text << "#SBATCH " << option << '\n';
  text << "shards=" << tasks << "\ncommand=(" << quoted(program.string());
  for (const SweepInput& plugin : sweep.plugins) text << " --plugin " << quoted(plugin.file.string());
  text << " sweep " << quoted(absolute(sweep.file).lexically_normal().string());
  for (const Override& set : sweep.set) text << " --set " << quoted(set.pointer + "=" + set.value);
  text << " --out " << quoted(folder.string()) << " --jobs " << profile.cpus_per_task;
  if (options.memory_bytes > 0) text << " --memory " << options.memory_bytes;
  text << ")\n" << kBody;
  return text.str();
}

std::string submit(const std::filesystem::path& script) {
  const auto logs = script.parent_path() / "%A_%a.log";
  const Output said = shell("sbatch --parsable --output=" + quoted(logs.string()) + " " + quoted(script.string()));
  if (said.status == 127)
    throw ConfigError("--launcher slurm", "there is no sbatch here", "run it where Slurm is, or --launcher local");
  if (said.status != 0) {
    throw ConfigError("--launcher slurm", "sbatch refused the job: " + said.text,
                      "see " + script.string() + ", --partition, --time, --profile");
  }
  const std::string id = said.text.substr(said.text.rfind('\n') + 1);
  return id.substr(0, id.find(';'));  // "id;cluster"
}

std::string state_of(const std::string& id) {
  const Output said = shell("squeue --noheader --array --format=%T --job=" + quoted(id));
  if (said.status == 127) return "unknown, there is no squeue here";
  std::map<std::string, int> tasks;
  std::istringstream lines(said.status == 0 ? said.text : "");  // of a job that is long gone it knows nothing
  for (std::string line; std::getline(lines, line);) ++tasks[line];
  std::string text;
  for (const auto& [state, count] : tasks) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  return text.empty() ? "ended" : text;
}

}  // namespace

std::vector<std::string> slurm_state(const std::filesystem::path& directory) {
  std::vector<std::string> lines;
  std::ifstream jobs(jobs_file(directory));
  for (std::string id; std::getline(jobs, id);) lines.push_back("job " + id + ": " + state_of(id));
  return lines;
}

SlurmProfile read_slurm_profile(const std::filesystem::path& file) {
  const config::Json root = config::parse_json(formats::read_file(file), file.string());
  try {
    config::JsonReader top(root);
    const auto schema = top.child("schema", "\"" + std::string(kTaskSchema) + "\"");
    if (schema.string() != kTaskSchema) schema.fail("unknown schema", "this reader knows " + std::string(kTaskSchema));
    SlurmProfile profile;
    if (const auto v = top.optional("partition")) profile.partition = v->string();
    if (const auto v = top.optional("time")) profile.time = v->string();
    if (const auto v = top.optional("points_per_task")) profile.points_per_task = v->count(1, 1'000'000);
    if (const auto v = top.optional("cpus_per_task")) profile.cpus_per_task = v->count(1, 4096);
    if (const auto v = top.optional("options")) {
      for (const auto& option : v->elements()) {
        if (!option.string().starts_with("--") || option.string().find('\n') != std::string::npos)
          option.fail("is not an option", "for example \"--account=x\"");
        profile.options.push_back(option.string());
      }
    }
    top.finish();
    return profile;
  } catch (const ConfigError& error) {
    throw error.inside(file.string());
  }
}

SlurmJob submit_to_slurm(const Sweep& sweep, const SweepOptions& options, const SlurmProfile& profile,
                         const std::filesystem::path& program, const Registries& known) {
  const std::uint64_t missing = prepare_for_shards(sweep, options, known);
  if (missing == 0) return {};
  const std::uint64_t points = sweep.points.size();
  const std::uint64_t each =
      profile.points_per_task > 0 ? profile.points_per_task : (points + kTasksByDefault - 1) / kTasksByDefault;
  SlurmJob job;
  job.tasks = static_cast<std::uint32_t>((points + each - 1) / each);
  job.script = absolute(options.directory).lexically_normal() / "slurm" / "job.sh";
  std::error_code error;
  create_directories(job.script.parent_path(), error);
  write_file(job.script, script_of(sweep, options, profile, program, job.tasks));
  job.id = submit(job.script);
  std::ofstream(jobs_file(options.directory), std::ios::app) << job.id << '\n';
  return job;
}

}  // namespace photonrail::sweep
