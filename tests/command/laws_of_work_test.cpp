// Laws of work: the processor's time that each verb of the command takes is bounded by what its files and options ask for.
// Each is asked for some things, and for four times as many.
#include "command/command.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"
#include "support/source_dir.hpp"

#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

constexpr double kStart = 0.4;  // seconds of the processor: the command begins, on a busy machine

/// A verb that is asked for some things. It may take so many seconds for each beside its start.
struct Law {
  std::string verb;
  double things;
  double seconds_each;
  std::function<std::string(double times)> ask;  ///< writes files with `times` as many things, and returns the command line
};

class LawsOfWork : public Command {
 protected:
  [[nodiscard]] std::vector<Law> of_runs() const;
  [[nodiscard]] std::vector<Law> of_studies() const;
  [[nodiscard]] std::vector<Law> of_files() const;
  [[nodiscard]] std::vector<Law> of_collectives() const;

  void ran(const std::string& arguments) const {
    const Outcome done = run(arguments);
    ASSERT_EQ(done.status, 0) << arguments << '\n' << done.err;
  }
  [[nodiscard]] double seconds_of(const std::string& arguments) const {
    const double before = processor_seconds(true);
    ran(arguments);
    return processor_seconds(true) - before;
  }
  void check(const Law& law) const {
    const double once = seconds_of(law.ask(1.0));
    const double often = seconds_of(law.ask(kTimes));
    EXPECT_LE(once, kStart + law.things * law.seconds_each) << law.verb;
    EXPECT_LE(often, kStart + kTimes * law.things * law.seconds_each) << law.verb;
    if (law.things > 0.0) {
      EXPECT_LE(often, kStart + 2 * kTimes * once) << law.verb;
    }
  }

  static constexpr double kTimes = 4.0;
};

/// An all-reduce of which every send is simulated, by ranks that are late by draws.
json late_ranks(double steps) {
  json scenario = tiny("late");
  scenario["cluster"]["servers"] = 32;
  scenario["workload"]["collective"]["ranks"] = 32;
  scenario["stragglers"] = {{{"ranks", "random"}, {"delay_us", 1}}};
  scenario["run"] = {{"iterations", std::lround(steps)}, {"fidelity", "exact"}};
  return scenario;
}

json replicas(double count) {
  json scenario = tiny("replicas");
  scenario["cluster"]["servers"] = 2 * std::lround(count);
  scenario["cluster"]["gpus_per_server"] = 8;
  scenario["workload"] = {{"training",
                           {{"model", "llama3_8b"},
                            {"sequence", 2048},
                            {"global_batch", 8 * std::lround(count)},
                            {"parallelism", {{"tp", 8}, {"pp", 2}, {"dp", std::lround(count)}}}}}};
  return scenario;
}

json sizes(double points) {
  json values = json::array();
  for (int i = 1; i <= std::lround(points); ++i) values.push_back(1000 * i);
  return {{"schema", "photonrail.sweep/1"},
          {"base", tiny("base")},
          {"axes", {{{"name", "bytes"}, {"pointer", "/workload/collective/bytes"}, {"values", values}}}}};
}

json months(double seeds) {
  return {{"schema", "photonrail.scenario/1"},
          {"reliability",
           {{"step_s", 1},
            {"job", {{"servers", 1000}}},
            {"days", 30},
            {"seeds", std::lround(seeds)},
            {"failures", {{{"of", "server"}, {"mtbf_h", 10'000}, {"repair_h", 10}}}},
            {"recovery", {{{"action", "wait"}}}}}}};
}

json pod(double jobs) {
  return {{"schema", "photonrail.allocation/1"},
          {"pod", {{"torus", {8, 8, 8}}}},
          {"policies", {"firstfit"}},
          {"orders", {"fifo"}},
          {"jobs",
           {{"drawn",
             {{"count", std::lround(jobs)},
              {"slices", {{{"shape", {4, 4, 4}}, {"share", 1}}, {{"shape", {2, 2, 4}}, {"share", 1}}}},
              {"mean_interarrival_s", 90},
              {"mean_duration_s", 600}}}}}};
}

json ring_of(double nodes) {
  json links = json::array();
  for (int node = 0; node < std::lround(nodes); ++node)
    links.push_back({{"from", node}, {"to", (node + 1) % std::lround(nodes)}, {"gb_per_s", 50}, {"both_ways", true}});
  return {{"schema", "photonrail.topology/1"}, {"nodes", std::lround(nodes)}, {"links", links}};
}

std::vector<Law> LawsOfWork::of_runs() const {
  return {{"run", 200 * 32 * 62, 1e-6,  // sends
           [this](double times) {
             write("run.json", late_ranks(200 * times));
             return "run run.json --quiet";
           }},
          {"serve", 1000, 300e-6,  // requests
           [](double times) {
             return "serve " PHOTONRAIL_SOURCE_DIR
                    "/configs/serving/quickstart.json --quiet --set /workload/serving/requests/count=" +
                    std::to_string(std::lround(1000 * times));
           }},
          {"validate", 16 * 16, 1e-3,  // ranks
           [this](double times) {
             write("training.json", replicas(16 * times));
             return "validate training.json";
           }},
          {"trace", 16 * 16, 1e-3,
           [this](double times) {
             write("training.json", replicas(16 * times));
             return "trace info training.json";
           }},
          {"trace", 2 * 16, 30e-3,  // ranks that have a file
           [this](double times) {
             write("training.json", replicas(2 * times));
             return "trace export training.json --prefix trace";
           }},
          {"calibrate", 50, 15e-3,  // steps
           [this](double times) {
             json job = replicas(2);
             job["cluster"]["gpu"] = "h100";
             job["run"] = {{"iterations", std::lround(50 * times)}};
             write("calibrated.json", job);
             return "calibrate calibrated.json --step-s 5";
           }},
          {"fuzz", 50, 20e-3,  // jobs
           [](double times) { return "fuzz opus --cases " + std::to_string(std::lround(50 * times)); }}};
}

std::vector<Law> LawsOfWork::of_studies() const {
  return {{"sweep", 20, 30e-3,  // points
           [this](double times) {
             write("sweep.json", sizes(20 * times));
             fs::remove_all(folder_ / "points");
             return "sweep sweep.json --out points --quiet --jobs 1";
           }},
          {"plan", 20, 30e-3,  // candidates, none of which a bound excludes
           [this](double times) {
             json plan = sizes(20 * times);
             plan["schema"] = "photonrail.plan/1";
             write("plan.json", plan);
             return "plan plan.json --jobs 1 --limit 1h";
           }},
          {"report", 20, 50e-3,
           [this](double times) {
             write("sweep.json", sizes(20 * times));
             fs::remove_all(folder_ / "points");
             ran("sweep sweep.json --out points --quiet");
             return "report points";
           }},
          {"explain", 32, 10e-3,  // ranks
           [this](double times) {
             write("explained.json", replicas(2 * times));
             return "explain explained.json";
           }},
          {"compare", 64, 5e-3,  // ranks
           [this](double times) {
             write("a.json", replicas(4 * times));
             ran("run a.json --quiet --out a");
             return "compare a a";
           }},
          {"goodput", 100 * 72, 50e-6,  // failures
           [this](double times) {
             write("months.json", months(100 * times));
             return "goodput months.json --jobs 1";
           }},
          {"allocate", 500, 1e-3,  // jobs
           [this](double times) {
             write("pod.json", pod(500 * times));
             return "allocate pod.json";
           }},
          {"cost", 10, 20e-3,  // clusters
           [](double times) {
             std::string line = "cost --gpus 1024";
             for (int i = 1; i < std::lround(10 * times); ++i) line += ' ' + std::to_string(1024 * i);
             return line;
           }}};
}

std::vector<Law> LawsOfWork::of_files() const {
  return {{"card", 0, 0,
           [this](double times) {
             write("training.json", replicas(2 * times));
             return "card export training.json -o card.yaml";
           }},
          {"export", 64, 5e-3,  // GPUs
           [this](double times) {
             write("training.json", replicas(4 * times));
             return "export infragraph training.json -o infra.json";
           }},
          {"import", 64, 5e-3,
           [this](double times) {
             write("training.json", replicas(4 * times));
             ran("export infragraph training.json -o infra.json");
             return "import infragraph infra.json -o again.json";
           }},
          {"operators", 1, 2.0, [](double) { return "operators check h100"; }},  // tables of one GPU
          {"init", 0, 0, [](double) { return "init"; }},
          {"list", 0, 0,
           [](double times) { return "list collectives --explain --ranks " + std::to_string(std::lround(64 * times)); }},
          {"schema", 0, 0, [](double) { return "schema scenario"; }},
          {"completion", 0, 0, [](double) { return "completion bash"; }},
          {"man", 0, 0, [](double) { return "man"; }}};
}

std::vector<Law> LawsOfWork::of_collectives() const {
  const auto exported = [](double times) {  // sends grow with the square of the ranks
    return "collective export --op all_to_all --algorithm pairwise -o plan.xml --ranks " +
           std::to_string(std::lround(64 * std::sqrt(times)));
  };
  return {
      {"collective", 64 * 64, 30e-6, exported},
      {"collective", 64 * 64, 30e-6,
       [this, exported](double times) {
         ran(exported(times));
         return "collective info plan.xml";
       }},
      {"collective", 20, 10e-3,  // searches
       [this](double times) {
         write("ring.json", ring_of(8));
         return "collective synthesize ring.json --op all_gather -o ring.xml --tries " +
                std::to_string(std::lround(20 * times));
       }},
      {"pip-switch", 64, 10e-3,  // pairs of ports
       [](double times) { return "pip-switch --mesh 9x9 --ports " + std::to_string(std::lround(8 * std::sqrt(times))); }}};
}

/// The verbs that the command lists.
std::set<std::string> verbs_of(const std::string& help) {
  std::set<std::string> verbs;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    const bool goes_on = line.starts_with("   ");
    if (std::string verb; !goes_on && words >> verb) verbs.insert(verb);
  }
  return verbs;
}

TEST_F(LawsOfWork, BoundTheTimeOfEveryVerb) {
  if (PHOTONRAIL_SANITIZED == 1) GTEST_SKIP() << "times are those of the build without sanitizers";
  std::set<std::string> without_law = verbs_of(run("--help").out);
  EXPECT_GT(without_law.size(), 15u);
  for (const auto& laws : {of_runs(), of_studies(), of_files(), of_collectives()}) {
    for (const Law& law : laws) {
      check(law);
      without_law.erase(law.verb);
    }
  }
  for (const std::string& verb : without_law) ADD_FAILURE() << verb << " has no law of work";
}

}  // namespace
}  // namespace photonrail::test
