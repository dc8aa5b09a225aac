#include "worlds/graft.hpp"

#include "worlds/words.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::worlds {

namespace {

constexpr const char* kJob = "jobs";

void list_branches(const Json& value, std::vector<std::string>& path, std::vector<Branch>& list) {
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    path.push_back(key);
    list.push_back({path, inner});
    list_branches(inner, path, list);
    path.pop_back();
  }
}

// The scenario as though its first job were alone: the sections of the job are the file's, its other keys are below "jobs".
Json flattened(const Json& scenario) {
  Json flat = scenario;
  if (!scenario.contains(kJob)) return flat;
  flat.erase(kJob);
  for (const auto& [key, value] : scenario[kJob][0].items()) {
    if (is_of_jobs(key)) {
      flat[key] = value;
    } else {
      flat[kJob][key] = value;
    }
  }
  return flat;
}

// What the file says of its job becomes the first of several.
void make_jobs(Json& scenario) {
  if (scenario.contains(kJob)) return;
  Json job = Json::object();
  for (const char* const section : {"workload", "placement", "stragglers"}) {
    if (!scenario.contains(section)) continue;
    job[section] = std::move(scenario[section]);
    scenario.erase(section);
  }
  scenario[kJob] = Json::array({job});
}

// "delay_us" takes the place of "delay_ms".
void erase_other_units(Json& object, const std::string& key) {
  std::vector<std::string> others;
  for (const auto& [other, value] : object.items()) {
    if (other != key && without_unit(other) == without_unit(key)) others.push_back(other);
  }
  for (const std::string& other : others) object.erase(other);
}

void put(Json& at, const Branch& branch, std::size_t first, bool add) {
  Json* place = &at;
  for (std::size_t i = first; i < branch.path.size(); ++i) {
    if (!place->is_object()) *place = Json::object();
    erase_other_units(*place, branch.path[i]);
    place = &(*place)[branch.path[i]];
  }
  if (!add || !place->is_array() || !branch.value.is_array()) {
    *place = branch.value;
    return;
  }
  for (const Json& element : branch.value) place->push_back(element);
}

}  // namespace

bool has_word(const Branch& branch, const std::string& word) {
  if (!word.starts_with(word_at(branch.path))) return false;
  Json whole = branch.value;
  for (auto key = branch.path.rbegin(); key != branch.path.rend(); ++key) whole = Json{{*key, std::move(whole)}};
  return words_of(whole).contains(word);
}

std::vector<Branch> branches_of(const Json& scenario) {
  std::vector<Branch> list;
  std::vector<std::string> path;
  list_branches(flattened(scenario), path, list);
  std::erase_if(list, [](const Branch& branch) {
    return branch.path[0] == "schema" || branch.path[0] == "name" || (branch.path.size() == 1 && branch.path[0] == kJob);
  });
  return list;
}

Json graft(const Json& scenario, const Branch& branch, bool add) {
  Json grown = scenario;
  const std::string& section = branch.path[0];
  if (section == kJob) {
    make_jobs(grown);
    put(grown[kJob][0], branch, 1, add);
  } else if (grown.contains(kJob) && is_of_jobs(section) && !grown.contains(section)) {
    put(grown[kJob][0], branch, 0, add);
  } else {
    put(grown, branch, 0, add);
  }
  return grown;
}

}  // namespace photonrail::worlds
