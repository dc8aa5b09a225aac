#include "studies/sweep/slurm.hpp"
#include "json/in_file.hpp"

#include "config/json_reader.hpp"
#include "formats/input_file.hpp"
#include "photonrail/report.hpp"
#include "studies/record_log.hpp"
#include "studies/sweep/run_sweep.hpp"
#include "studies/sweep/shell_text.hpp"

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
constexpr const char* kPartitionExample = "letters, digits and _-.+@: of its name, with commas between several";
constexpr const char* kTimeExample = "minutes, \"1:30:00\", \"2-12:00:00\" or \"UNLIMITED\"";

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

constexpr const char* kJobsHead = R"({"schema":"photonrail.slurm_jobs/1"})";

std::filesystem::path jobs_file(const std::filesystem::path& directory) { return directory / "slurm" / "jobs.jsonl"; }

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

std::vector<std::string> command_of(const SlurmArray& array, const SlurmProfile& profile) {
  std::vector<std::string> words{array.program.string()};
  const auto add = [&words](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  const auto path = [](const std::filesystem::path& file) { return absolute(file).lexically_normal().string(); };
  for (const std::filesystem::path& plugin : array.plugins) add({"--plugin", plugin.string()});
  add(array.before);
  add({array.verb, path(array.file)});
  for (const std::string& set : array.set) add({"--set", set});
  add({"--out", path(array.directory), "--jobs", std::to_string(profile.cpus_per_task)});
  add(array.behind);
  return words;
}

std::string script_of(const SlurmArray& array, const SlurmProfile& profile, std::uint64_t tasks) {
  std::ostringstream text;
  text << "#!/bin/bash\n# Submitted by photonrail " << array.verb
       << " --launcher slurm; each task runs the points of its shard that are missing.\n";
  text << "#SBATCH --job-name=photonrail-" << array.verb << "\n#SBATCH --array=1-" << tasks
       << "\n#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  text << "#SBATCH --cpus-per-task=" << profile.cpus_per_task << '\n';
  if (!profile.partition.empty()) text << "#SBATCH --partition=" << profile.partition << '\n';
  if (!profile.time.empty()) text << "#SBATCH --time=" << profile.time << '\n';
  for (const std::string& option : profile.options) text << "#SBATCH " << option << '\n';
  text << "shards=" << tasks << "\ncommand=(";
  const std::vector<std::string> command = command_of(array, profile);
  for (std::size_t w = 0; w < command.size(); ++w) text << (w > 0 ? " " : "") << shell_word(command[w]);
  text << ")\n" << kBody;
  return text.str();
}

std::string submit(const std::filesystem::path& script) {
  const auto logs = script.parent_path() / "%A_%a.log";
  const Output said =
      shell("sbatch --parsable --output=" + shell_word(slurm_path(logs.string())) + " " + shell_word(script.string()));
  if (said.status == 127)
    throw ConfigError("--launcher slurm", "there is no sbatch here", "run it where Slurm is, or --launcher local");
  if (said.status != 0) {
    throw ConfigError("--launcher slurm", "sbatch refused the job: " + said.text,
                      "see " + script.string() + ", --partition, --time, --profile");
  }
  const std::string last = said.text.substr(said.text.rfind('\n') + 1);
  const std::string id = last.substr(0, last.find(';'));  // "id;cluster"
  if (!is_slurm_job(id)) {
    throw ConfigError("--launcher slurm", "sbatch did not print the number of a job: " + said.text,
                      "see " + script.string() + "; it may have been submitted");
  }
  return id;
}

std::string state_of(const std::string& id) {
  const Output said = shell("squeue --noheader --array --format=%T --job=" + shell_word(id));
  if (said.status == 127) return "unknown, there is no squeue here";
  std::map<std::string, int> tasks;
  std::istringstream lines(said.status == 0 ? said.text : "");  // of a job that is long gone it knows nothing
  for (std::string line; std::getline(lines, line);) ++tasks[line];
  std::string text;
  for (const auto& [state, count] : tasks) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  return text.empty() ? "ended" : text;
}

// The text of a key of the profile; an empty one of "partition" and "time" is the cluster's default.
std::string checked(const json::JsonReader& value, std::string (*problem)(std::string_view), const char* example) {
  std::string text = value.string();
  if (text.empty() && problem != sbatch_option_problem) return text;
  if (const std::string what = problem(text); !what.empty()) value.fail(what, example);
  return text;
}

// Options of the command line come into a profile without its reader.
void require_valid(const SlurmProfile& profile) {
  const auto require = [](const char* option, const std::string& text, const std::string& problem, const char* example) {
    if (!text.empty() && !problem.empty()) throw ConfigError(option, problem, example);
  };
  require("--partition", profile.partition, partition_problem(profile.partition), kPartitionExample);
  require("--time", profile.time, time_limit_problem(profile.time), kTimeExample);
  for (const std::string& option : profile.options)
    require("options", option, sbatch_option_problem(option), "--account=x");
}

}  // namespace

std::vector<std::string> slurm_state(const std::filesystem::path& directory) {
  std::vector<std::string> lines;
  const auto tell = [&](const std::string& id) {
    if (is_slurm_job(id)) lines.push_back("job " + id + ": " + state_of(id));
  };
  std::ifstream jobs(directory / "slurm" / "jobs");  // of versions before there was a log
  for (std::string id; std::getline(jobs, id);) tell(id);
  for (std::string& damage : studies::read_log(jobs_file(directory), kJobsHead, [&](const studies::LogLine& line) {
         const auto job = json::parse_if_json(line.text);
         const json::Json* const id = job ? job->find("job") : nullptr;
         if (id != nullptr && id->is_string()) tell(id->string());
         return id != nullptr || line.number == 1;
       }))
    lines.push_back(std::move(damage));
  return lines;
}

SlurmProfile read_slurm_profile(const std::filesystem::path& file) {
  return json::in_file(formats::read_file(file), file.string(), [&](const json::Json& root) {
    json::JsonReader top(root);
    const auto schema = top.child("schema", "\"" + std::string(kTaskSchema) + "\"");
    if (schema.string() != kTaskSchema) schema.fail("unknown schema", "this reader knows " + std::string(kTaskSchema));
    SlurmProfile profile;
    if (const auto v = top.optional("partition")) profile.partition = checked(*v, partition_problem, kPartitionExample);
    if (const auto v = top.optional("time")) profile.time = checked(*v, time_limit_problem, kTimeExample);
    if (const auto v = top.optional("points_per_task")) profile.points_per_task = v->count(1, 1'000'000);
    if (const auto v = top.optional("cpus_per_task")) profile.cpus_per_task = v->count(1, 4096);
    if (const auto v = top.optional("options")) {
      for (const auto& option : v->elements())
        profile.options.push_back(checked(option, sbatch_option_problem, "for example \"--account=x\""));
    }
    top.finish();
    return profile;
  });
}

SlurmJob submit_to_slurm(const Sweep& sweep, const SweepOptions& options, const SlurmProfile& profile,
                         const std::filesystem::path& program, const Registries& known) {
  require_valid(profile);
  if (prepare_for_shards(sweep, options, known) == 0) return {};
  SlurmArray array{"sweep", program,           {}, {"--work-limit", "none"}, sweep.file,
                   {},      options.directory, {}, sweep.points.size()};
  for (const SweepInput& plugin : sweep.plugins) array.plugins.push_back(plugin.file);
  for (const Override& set : sweep.set) array.set.push_back(set.pointer + "=" + set.value);
  if (options.memory_bytes > 0) array.behind = {"--memory", std::to_string(options.memory_bytes)};
  if (options.run_infeasible) array.behind.emplace_back("--run-infeasible");
  return submit_array(array, profile);
}

SlurmJob submit_array(const SlurmArray& array, const SlurmProfile& profile) {
  require_valid(profile);
  const std::uint64_t each =
      profile.points_per_task > 0 ? profile.points_per_task : (array.points + kTasksByDefault - 1) / kTasksByDefault;
  SlurmJob job;
  job.tasks = static_cast<std::uint32_t>((array.points + each - 1) / each);
  job.script = absolute(array.directory).lexically_normal() / "slurm" / "job.sh";
  std::error_code error;
  create_directories(job.script.parent_path(), error);
  write_file(job.script, script_of(array, profile, job.tasks));
  job.id = submit(job.script);
  studies::RecordLog(jobs_file(array.directory), kJobsHead).add(json::Json{{"job", job.id}}.dump());
  return job;
}

}  // namespace photonrail::sweep
