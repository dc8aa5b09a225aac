#include "studies/sweep/inputs.hpp"

#include "json/file_text.hpp"

#include <algorithm>
#include <set>
#include <system_error>

namespace photonrail::sweep {

namespace {

namespace fs = std::filesystem;

using config::each_string;

// Size and time of last change; of a file that is gone, those of none.
std::pair<std::uint64_t, std::int64_t> stamp_of(const fs::path& file) {
  std::error_code gone;
  const std::uint64_t bytes = fs::file_size(file, gone);
  if (gone) return {0, 0};
  return {bytes, fs::last_write_time(file, gone).time_since_epoch().count()};
}

}  // namespace

SweepInput input_of(const fs::path& file) {
  json::require_regular(file);  // the points read it again, each for itself
  SweepInput input{file, {}, 0, 0};
  std::tie(input.bytes, input.changed) = stamp_of(file);
  input.hash = config::content_hash(file);
  return input;
}

std::vector<SweepInput> inputs_of(const Sweep& sweep, const Json& base) {
  config::NamedFiles named(sweep.base_directory);
  std::set<fs::path> files;
  const auto note = [&](const std::string& text) {
    for (fs::path& file : named.in(text)) files.insert(std::move(file));
  };
  each_string(base, note);
  std::set<std::string> seen;
  for (const SweepPoint& point : sweep.points) {
    for (const Override& set : point.patch) {
      if (set.value.find('"') == std::string::npos || !seen.insert(set.value).second) continue;
      if (const auto value = json::parse_if_json(set.value)) each_string(*value, note);
    }
  }
  std::vector<SweepInput> inputs;
  for (const fs::path& file : files) inputs.push_back(input_of(file));
  return inputs;
}

std::uint64_t fold(const std::vector<SweepInput>& inputs, std::uint64_t hash) {
  for (const SweepInput& input : inputs) hash = config::fold_file(input.file, input.hash, hash);
  return hash;
}

std::vector<SweepInput> InputsOfPoints::of(const Json& scenario) {
  if (sweep_->inputs.empty()) return {};
  std::set<const SweepInput*> used;  // which stand in one array, so that their addresses are in the order of their paths
  const std::lock_guard lock(mutex_);
  each_string(scenario, [&](const std::string& text) {
    const auto [at, fresh] = known_.try_emplace(text);
    if (fresh) {
      for (const fs::path& file : named_.in(text)) {
        const auto& all = sweep_->inputs;
        const auto found = std::find_if(all.begin(), all.end(), [&](const SweepInput& i) { return i.file == file; });
        if (found != all.end()) at->second.push_back(&*found);
      }
    }
    used.insert(at->second.begin(), at->second.end());
  });
  std::vector<SweepInput> inputs;
  for (const SweepInput* input : used) {
    if (stamp_of(input->file) != std::pair{input->bytes, input->changed}) {
      throw ConfigError(input->file.string(), "has changed since the sweep began",
                        "run the sweep again, into another folder");
    }
    inputs.push_back(*input);
  }
  return inputs;
}

}  // namespace photonrail::sweep
