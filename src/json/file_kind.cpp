#include "json/file_kind.hpp"

#include <array>
#include <string>
#include <utility>

namespace photonrail::json {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kUses{{
    {"photonrail.scenario/1", "a scenario is for `photonrail run`, `validate`, `cost` and `calibrate`"},
    {"photonrail.sweep/1", "a sweep is for `photonrail sweep`"},
    {"photonrail.sweep_results/1", "this is of a folder of results: `photonrail sweep status` or `report` with its path"},
    {"photonrail.result/1", "a result is for `photonrail report` and `compare`"},
    {"photonrail.model/1", "a model is named by a scenario, at /workload/training/model"},
    {"photonrail.graph/1", "a task graph is named by a scenario, at /workload/graph"},
    {"photonrail.catalogue/1", "prices are named by a scenario, at /cost/catalogue, or by --catalogue"},
    {"photonrail.topology/1", "a topology is for `photonrail collective synthesize`"},
    {"photonrail.sketch/1", "a sketch is for `photonrail collective synthesize --sketch`"},
    {"photonrail.slurm/1", "a profile is for `photonrail sweep --profile`"},
    {"photonrail.allocation/1", "slices of a pod are for `photonrail allocate`"},
    {"photonrail.plan/1", "free choices are for `photonrail plan`"},
    {"photonrail.rows/1", "measured steps are for `photonrail calibrate --rows`"},
    {"photonrail.trace/1", "a timeline is for ui.perfetto.dev"},
}};

// Which command reads a file without a schema, by a key that such files of another program have.
std::string use_of(const JsonReader& top) {
  if (top.has("scheduling-policy") || top.has("all-reduce-implementation"))
    return "ASTRA-sim's files are for `photonrail import astra FOLDER` and `run --astra`";
  if (top.has("architectures") || top.has("model_type"))
    return "a model of HuggingFace is for `photonrail import hf FOLDER`";
  return "";
}

}  // namespace

void require_schema(JsonReader& top, std::string_view wanted) {
  const std::string other = use_of(top);
  const JsonReader value = top.child("schema", "\"" + std::string(wanted) + "\"" + (other.empty() ? "" : "; " + other));
  const std::string found = value.string();
  if (found == wanted) return;
  std::string hint = "this reader knows " + std::string(wanted);
  for (const auto& [schema, use] : kUses) {
    if (schema == found) hint += "; " + std::string(use);
  }
  value.fail("unknown schema \"" + found + "\"", hint);
}

}  // namespace photonrail::json
