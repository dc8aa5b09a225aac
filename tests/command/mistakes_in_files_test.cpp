// The mistakes in files, as JSON merge patches (RFC 7386) of good ones.
#include "command/command.hpp"
#include "command/mistakes.hpp"
#include "support/source_dir.hpp"

namespace photonrail::test {

namespace {

const std::vector<Mistake> kMistakesInScenarios = {
    {"a key with a letter too few", R"({"cluster": {"server": 4}})", "unknown key (did you mean servers"},
    {"a key in capitals", R"({"cluster": {"nic": {"PORTS": 2}}})", "did you mean ports?"},
    {"a key with hyphens", R"({"cluster": {"gpus-per-server": 2}})", "did you mean gpus_per_server?"},
    {"a section with a typo", R"({"controler": {"name": "opus"}})", "unknown key (did you mean controller?)"},
    {"a section in the wrong place", R"({"nic": {"ports": 1}})", "/nic: unknown key"},
    {"a rate in Gb/s by its key", R"({"cluster": {"nic": {"port_gbps": 400}}})", "400 Gb/s is 50 GB/s"},
    {"a rate in Gb/s by its value", R"({"cluster": {"nic": {"port_gb_per_s": 400}}})",
     "is it in another unit? 400 Gb/s is 50 GB/s", 0},
    {"a delay without a unit", R"({"cluster": {"rail": {"switch": {"reconfiguration_ms": null, "reconfiguration": 10}}}})",
     "reconfiguration_ms"},
    {"a delay in two units", R"({"cluster": {"rail": {"switch": {"reconfiguration_us": 10}}}})", "given twice"},
    {"a delay in seconds by another name", R"({"cluster": {"rail": {"switch": {"reconfiguration_sec": 10}}}})",
     "unknown key (did you mean reconfiguration_ms?)"},
    {"a delay as text", R"({"cluster": {"rail": {"switch": {"reconfiguration_ms": "10 ms"}}}})",
     "must be a number, not the string \"10 ms\""},
    {"a negative delay", R"({"cluster": {"rail": {"switch": {"reconfiguration_ms": -1}}}})", "must not be negative"},
    {"a count as text", R"({"cluster": {"servers": "4"}})", "must be a number, not the string \"4\""},
    {"a fraction of a server", R"({"cluster": {"servers": 2.5}})", "must be a whole number from 1"},
    {"no server", R"({"cluster": {"servers": 0}})", "must be a whole number from 1"},
    {"a list for a count", R"({"cluster": {"servers": [4]}})", "must be a number, not an array"},
    {"a section as text", R"({"cluster": "big"})", "must be an object, not the string \"big\""},
    {"no cluster", R"({"cluster": null})", "/cluster: "},
    {"no workload", R"({"workload": null})", "/workload: "},
    {"no schema", R"({"schema": null})", "/schema: "},
    {"another version of the schema", R"({"schema": "photonrail.scenario/2"})", "this reader knows photonrail.scenario/1"},
    {"a kind of rail that is none", R"({"cluster": {"rail": {"kind": "photonic"}}})", "known: electrical, optical"},
    {"a kind of rail in capitals", R"({"cluster": {"rail": {"kind": "Optical"}}})", "did you mean optical?"},
    {"a switch that is none", R"({"cluster": {"rail": {"switch": {"preset": "polatis"}}}})",
     "did you mean polatis_6000 or polatis_7000?"},
    {"a switch preset with hyphens", R"({"cluster": {"rail": {"switch": {"preset": "Polatis-6000"}}}})",
     "did you mean polatis_6000"},
    {"a switch on electrical rails", R"({"cluster": {"rail": {"kind": "electrical"}}, "controller": null})",
     "set \"kind\" to \"optical\""},
    {"circuits without a switch", R"({"cluster": {"rail": {"switch": null}}})", "optical rails need a switch"},
    {"a radix on optical rails", R"({"cluster": {"rail": {"radix": 64}}})", "only electrical rails have it"},
    {"optical rails without a controller", R"({"controller": null})", "optical rails need a controller"},
    {"a controller in capitals", R"({"controller": {"name": "Opus"}})", "did you mean opus"},
    {"a controller with a typo", R"({"controller": {"name": "rotr"}})", "did you mean rotor?"},
    {"a controller that is none", R"({"controller": {"name": "magic"}})", "known: electrical, static, opus"},
    {"a controller as text", R"({"controller": "opus"})", "must be an object"},
    {"a mode with a typo", R"({"controller": {"mode": "ondemand"}})", "did you mean on_demand?"},
    {"a mode of another controller", R"({"controller": {"name": "rotor", "mode": "on_demand"}})", "only opus"},
    {"static circuits without circuits", R"({"controller": {"name": "static"}})", "/controller/circuits"},
    {"a collective in NCCL's spelling", R"({"workload": {"collective": {"op": "allreduce"}}})", "did you mean all_reduce"},
    {"an algorithm that is none", R"({"workload": {"collective": {"algorithm": "rings"}}})", "did you mean ring"},
    {"an algorithm that cannot do it", R"({"workload": {"collective": {"op": "all_to_all", "algorithm": "ring"}}})",
     "these can: "},
    {"no bytes", R"({"workload": {"collective": {"bytes": null}}})", "/workload/collective/bytes: missing"},
    {"bytes as text", R"({"workload": {"collective": {"bytes": "1GB"}}})", "must be a number"},
    {"more ranks than GPUs", R"({"workload": {"collective": {"ranks": 16}}})", "set /cluster/servers to 8"},
    {"gpus for ranks", R"({"workload": {"collective": {"gpus": 8}}})", "unknown key"},
    {"two workloads", R"({"workload": {"training": {}}})", "needs exactly one of"},
    {"a workload of no kind", R"({"workload": {"collective": null}})", "needs exactly one of"},
    {"a placement without sizes", R"({"placement": {"order": ["dp", "tp"]}})",
     "add \"rank_order\" and \"sizes\", or use \"rank_to_gpu\""},
    {"a placement of too few ranks", R"({"placement": {"rank_to_gpu": [0, 1]}})", "give one GPU for every rank"},
    {"two ranks on one GPU", R"({"placement": {"rank_to_gpu": [0, 0, 1, 2, 3, 4, 5, 6]}})", "/placement/rank_to_gpu"},
    {"a rank on a GPU that is not there", R"({"placement": {"rank_to_gpu": [0, 1, 2, 3, 4, 5, 6, 8]}})",
     "/placement/rank_to_gpu"},
    {"a trace asked for in the file", R"({"run": {"trace": true}})", "photonrail run --trace"},
    {"a seed below 0", R"({"run": {"seed": -1}})", "must be a whole number from 0"},
    {"no iteration", R"({"run": {"iterations": 0}})", "must be a whole number from 1"},
    {"a flag as text", R"({"run": {"folding": "yes"}})", "must be true or false"},
    {"prices that are none", R"({"cost": {"catalogue": "h200"}})", "h200_400g"},
    {"a straggler that is not late", R"({"stragglers": [{"ranks": [0]}]})", "give it a \"delay_us\" or a \"slowdown\""},
};

}  // namespace

const std::vector<Mistake>& mistakes_in_scenarios() { return kMistakesInScenarios; }

const std::vector<Mistake>& mistakes_in_training_jobs() {
  static const std::vector<Mistake> list{
      {"a model with a typo", R"({"workload": {"training": {"model": "llama3-8b"}}})", "did you mean llama3_8b"},
      {"a model in capitals", R"({"workload": {"training": {"model": "Llama3_70B"}}})", "did you mean llama3_70b"},
      {"a model that is none", R"({"workload": {"training": {"model": "claude"}}})", "known: "},
      {"a model file that is not there", R"({"workload": {"training": {"model": "models/mine.json"}}})",
       "the path of a photonrail.model/1 file"},
      {"a GPU with a typo", R"({"cluster": {"gpu": {"preset": "h20"}}})", "did you mean h200"},
      {"a GPU in capitals", R"({"cluster": {"gpu": {"preset": "H100"}}})", "did you mean h100"},
      {"an efficiency in per cent", R"({"cluster": {"gpu": {"compute_efficiency": 50}}})", "must be at most 1"},
      {"no efficiency", R"({"cluster": {"gpu": {"compute_efficiency": null}}})",
       "compute_efficiency of the GPU is not given", 0},
      {"more ranks than GPUs", R"({"workload": {"training": {"parallelism": {"dp": 8}}}})", "set /cluster/servers to 8"},
      {"tp wider than a server",
       R"({"workload": {"training": {"model": "llama2_7b", "parallelism": {"tp": 16, "dp": 2}}}})",
       "tensor parallelism is wider than a server", 0},
      {"a degree with a long name", R"({"workload": {"training": {"parallelism": {"tensor": 8}}}})", "unknown key"},
      {"heads that tp does not divide", R"({"workload": {"training": {"parallelism": {"tp": 3, "dp": 1}}}})",
       "/workload/training"},
      {"a batch that dp does not divide", R"({"workload": {"training": {"global_batch": 3}}})", "/workload/training"},
      {"no batch", R"({"workload": {"training": {"global_batch": null}}})", "/workload/training/global_batch: missing"},
      {"a schedule with a typo", R"({"workload": {"training": {"schedule": "1F1B"}}})", "did you mean 1f1b"},
      {"a precision that is none", R"({"workload": {"training": {"precision": {"parameters": "float16"}}}})",
       "known: fp8, bf16, fp16, fp32"},
      {"a model that does not fit", R"({"workload": {"training": {"model": "llama3_405b"}}})",
       "the plan does not fit the GPU", 0},
      {"sharding without fsdp", R"({"workload": {"training": {"fsdp": {"prefetch": 1}}}})",
       "set \"parallelism/fsdp\" to true"},
      {"the order of a dimension that is none", R"({"placement": {"order": ["tp", "data"]}})", "/placement/order/1"},
  };
  return list;
}

const std::vector<Mistake>& mistakes_in_sweeps() {
  static const std::vector<Mistake> list{
      {"an axis without values", R"({"axes": [{"pointer": "/cluster/servers"}]})", "needs exactly one of"},
      {"an axis with an empty list", R"({"axes": [{"pointer": "/cluster/servers", "values": []}]})", "at least one value"},
      {"an axis that is no pointer", R"({"axes": [{"pointer": "cluster/servers", "values": [4]}]})",
       "for example /cluster/servers"},
      {"an axis to a key that is none", R"({"axes": [{"pointer": "/cluster/server", "values": [4]}]})",
       "did you mean servers"},
      {"two axes on one pointer",
       R"({"axes": [{"pointer": "/cluster/servers", "values": [4]}, {"pointer": "/cluster/servers", "name": "n", "values": [8]}]})",
       "one parameter for each place"},
      {"two axes on one delay in two units",
       R"({"axes": [{"pointer": "/cluster/rail/switch/link_up_ms", "values": [4]}, {"pointer": "/cluster/rail/switch/link_up_us", "values": [8]}]})",
       "one parameter for each place"},
      {"seeds as an axis", R"({"axes": [{"pointer": "/run/seed", "values": [1, 2]}]})", "use \"seeds\" or \"repetitions\""},
      {"a value of the wrong kind", R"({"axes": [{"pointer": "/cluster/servers", "values": ["many"]}]})",
       "must be a number"},
      {"a range without an end", R"({"axes": [{"pointer": "/cluster/servers", "range": {"from": 1}}]})",
       "/axes/0/range/to: missing"},
      {"a base that is not there", R"({"base": "nowhere.json"})", "nowhere.json"},
      {"a sweep as the base", R"({"base": "sweep.json"})", "a sweep is for `photonrail sweep`"},
      {"no base", R"({"base": null})", "/base: "},
      {"a misspelt key", R"({"axis": []})", "did you mean axes?"},
      {"a condition on a parameter that is none", R"({"exclude": [{"delays": 1}]})", "/exclude/0/delays"},
  };
  return list;
}

namespace {

class FileMistakes : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    opus_ = tiny("opus");
    opus_["cluster"]["gpus_per_server"] = 2;
    opus_["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 10}}}};
    opus_["controller"] = {{"name", "opus"}};
    opus_["workload"]["collective"].erase("ranks");
    training_ = {
        {"schema", "photonrail.scenario/1"},
        {"cluster",
         {{"servers", 4},
          {"gpus_per_server", 8},
          {"gpu", {{"preset", "h200"}, {"compute_efficiency", 0.5}}},
          {"rail", {{"kind", "electrical"}}}}},
        {"workload",
         {{"training",
           {{"model", "llama3_8b"}, {"parallelism", {{"tp", 8}, {"dp", 4}}}, {"sequence", 4096}, {"global_batch", 4}}}}}};
    sweep_ = {{"schema", "photonrail.sweep/1"},
              {"base", "opus.json"},
              {"axes", {{{"pointer", "/cluster/rail/switch/reconfiguration_ms"}, {"values", {1, 10}}}}}};
    write("opus.json", opus_);
    write("sweep.json", sweep_);
  }

  void examine(const json& good, const std::vector<Mistake>& mistakes, const std::string& command) const {
    write("good.json", good);
    EXPECT_EQ(run(command + " good.json").status, 0);
    for (const Mistake& mistake : mistakes) {
      json bad = good;
      bad.merge_patch(json::parse(mistake.change));
      write("bad.json", bad);
      const Outcome outcome = run(command + " bad.json");
      EXPECT_EQ(outcome.status, mistake.status) << mistake.what << ": " << outcome.err;
      EXPECT_THAT(outcome.err, ::testing::HasSubstr(mistake.says)) << mistake.what;
    }
  }

  json opus_, training_, sweep_;
};

TEST_F(FileMistakes, InScenarios) { examine(opus_, mistakes_in_scenarios(), "validate"); }
TEST_F(FileMistakes, InTrainingJobs) { examine(training_, mistakes_in_training_jobs(), "validate"); }
TEST_F(FileMistakes, InSweeps) { examine(sweep_, mistakes_in_sweeps(), "sweep --dry-run"); }

// A whole path begins as a JSON pointer does.
TEST_F(FileMistakes, AFileByItsWholePathIsNamedOnce) {
  const std::string file = (folder_ / "broken.json").string();
  std::ofstream(file) << R"({"schema": 1,,})";
  const std::string trace = R"('{"file": ")" + file + R"("}')";
  const std::string dark = (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput/dark-ports.json").string();
  for (const std::string& arguments : {"run " + file, "validate " + file, "sweep " + file + " --dry-run", "goodput " + file,
                                       "allocate " + file, "goodput " + dark + " --set /reliability/trace=" + trace}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    const std::size_t first = outcome.err.find(file);
    ASSERT_NE(first, std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.err.find(file, first + 1), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace photonrail::test
