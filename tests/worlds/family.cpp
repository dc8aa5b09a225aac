#include "worlds/family.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <typeinfo>

namespace photonrail::worlds {

const std::vector<Family>& families() {
  static const std::vector<Family> table{
      {"scenario", "scenarios that are run", draw_world, judge},
      {"agents", "work that is decided while it runs", draw_agents, judge},
      {"goodput", "months of a job", draw_goodput, judge_goodput},
      {"plan", "plans of few candidates", draw_plan_of_job, judge_plan},
      {"allocation", "studies of slices", draw_allocation, judge_allocation},
  };
  return table;
}

const Family& family(const std::string& name) {
  std::string known;
  for (const Family& one : families()) {
    if (one.name == name) return one;
    known += " " + one.name;
  }
  throw std::runtime_error("there is no family " + name + "; known:" + known);
}

Verdict ending_of(const std::function<void(Verdict&)>& act) {
  Verdict verdict;
  try {
    act(verdict);
    ++verdict.runs;
  } catch (const ConfigError& error) {
    verdict.ending = Ending::kRefused;
    verdict.detail = error.what();
    if (error.where().empty() && error.hint().empty()) verdict.symptom = "refusal_without_place";
  } catch (const DeadlockError& error) {
    verdict.ending = Ending::kStuck;
    verdict.detail = error.what();
  } catch (const InternalError& error) {
    verdict.symptom = "internal_check";
    verdict.detail = error.what();
  } catch (const std::bad_alloc&) {
    verdict.symptom = "memory";
    verdict.detail = "out of memory";
  } catch (const std::exception& error) {
    verdict.symptom = "raw_exception";
    verdict.detail = std::string(typeid(error).name()) + ": " + error.what();
  }
  return verdict;
}

}  // namespace photonrail::worlds
