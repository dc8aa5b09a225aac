#include "photonrail/study/goodput.hpp"

#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "photonrail/version.hpp"
#include "studies/goodput/folder.hpp"
#include "studies/goodput/known_steps.hpp"
#include "studies/goodput/process/history.hpp"
#include "studies/record_log.hpp"
#include "studies/run_study.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace photonrail {

namespace goodput {

namespace {

using json::Json;

std::string head_of(std::string_view schema, const std::string& hash) {
  return Json{{"schema", schema}, {"hash", hash}, {"photonrail_version", version()}}.dump();
}

std::filesystem::path in_folder(const std::filesystem::path& folder, const std::string& name) {
  return folder.empty() ? std::filesystem::path{} : folder / name;
}

/// Tells how far a call is.
class ProgressTeller {
 public:
  ProgressTeller(const GoodputOptions& options, std::size_t seeds) : tell_(options.progress) { progress_.seeds = seeds; }
  void histories_are_done(std::size_t done) {
    tell([&] { progress_.done = done; });
  }
  void step_is_simulated() {
    tell([&] { ++progress_.simulated; });
  }

 private:
  template <class Change>
  void tell(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    if (tell_) tell_(progress_);
  }

  const std::function<void(const GoodputProgress&)>& tell_;
  std::mutex mutex_;
  GoodputProgress progress_;
};

/// Step times of a scenario, with what the folder and other scenarios have of them.
class StoredSteps {
 public:
  StoredSteps(const GoodputScenario& scenario, const std::filesystem::path& folder, const Registries& known,
              KnownSteps* shared = nullptr, ProgressTeller* teller = nullptr)
      : hash_(scenario.step_hash),
        shared_(scenario.job ? shared : nullptr),
        teller_(teller),
        file_(scenario.job ? in_folder(folder, "steps-" + scenario.step_hash + ".jsonl") : std::filesystem::path{},
              head_of("photonrail.goodput_steps/1", scenario.step_hash)) {
    if (!scenario.job) {
      constant_ = std::make_unique<ConstantSteps>(scenario.spec, scenario.step);
      return;
    }
    simulated_ = std::make_unique<SimulatedSteps>(
        scenario.spec, *scenario.job, scenario.training, known,
        [this](const std::string& text, std::optional<Duration> step) { store(text, step); });
    for (const std::string& line : file_.records()) preset(line);
  }

  /// Before a configuration is asked for: another scenario may have simulated it meanwhile.
  void look_up(const std::string& text) {
    if (shared_ == nullptr) return;
    if (const auto step = shared_->find(hash_, text)) simulated_->preset(text, *step);
  }
  /// The step of the job with the checkpoint in it, on the healthy cluster. Throws DeadlockError.
  [[nodiscard]] Duration with_checkpoint(const SimulatedCheckpoint& checkpoint, const Registries& known) {
    const std::string text = kCheckpoint + checkpoint.hash;
    if (const auto stored = checkpoints_.find(text); stored != checkpoints_.end()) return stored->second;
    const auto shared = shared_ != nullptr ? shared_->find(hash_, text) : std::nullopt;
    if (shared && *shared) return **shared;
    const Duration step = simulate(checkpoint.job, {}, known).step_time();
    store(text, step);
    return step;
  }
  [[nodiscard]] StepTimes& steps() { return simulated_ ? static_cast<StepTimes&>(*simulated_) : *constant_; }
  [[nodiscard]] const std::vector<std::string>& damage() const { return file_.damage(); }
  [[nodiscard]] std::size_t simulated() const { return simulated_ ? simulated_->simulated() : 0; }

 private:
  static constexpr const char* kCheckpoint = "checkpoint ";

  void store(const std::string& text, std::optional<Duration> step) {
    Json line{{"configuration", text}};
    line.insert("step_ps", step ? Json(step->count()) : Json(nullptr));
    file_.add(line.dump());
    if (shared_ != nullptr) shared_->add(hash_, text, step);
    if (teller_ != nullptr) teller_->step_is_simulated();
  }
  void preset(const std::string& line) {
    const auto parsed = json::parse_if_json(line);
    const Json* text = parsed ? parsed->find("configuration") : nullptr;
    const Json* step = parsed ? parsed->find("step_ps") : nullptr;
    if (text == nullptr || !text->is_string() || step == nullptr || !(step->is_null() || step->is_natural())) return;
    if (text->string().starts_with(kCheckpoint)) {
      if (step->is_natural()) checkpoints_[text->string()] = Duration{step->integer()};
      return;
    }
    simulated_->preset(text->string(), step->is_null() ? std::nullopt : std::optional(Duration{step->integer()}));
  }

  std::string hash_;
  KnownSteps* shared_;      // of several scenarios, or null
  ProgressTeller* teller_;  // or null
  studies::RecordLog file_;
  std::unique_ptr<ConstantSteps> constant_;
  std::unique_ptr<SimulatedSteps> simulated_;
  std::map<std::string, Duration> checkpoints_;  // steps with a checkpoint that the file has
};

/// Remembers which configurations one history asked for; what it passes on to locks itself.
class RecordingSteps : public StepTimes {
 public:
  RecordingSteps(StoredSteps& stored, const GoodputSpec& spec) : stored_(&stored), spec_(&spec) {}

  std::optional<Duration> of(const Configuration& configuration) override {
    const std::string text = configuration.text(*spec_);
    if (!seen_.contains(text)) stored_->look_up(text);
    const auto step = stored_->steps().of(configuration);
    seen_[text] = step;
    return step;
  }
  [[nodiscard]] const ConfigurationSteps& seen() const { return seen_; }

 private:
  StoredSteps* stored_;
  const GoodputSpec* spec_;
  ConfigurationSteps seen_;
};

/// The histories of the seeds; a point is a seed.
class Seeds : public studies::Study<RecordedHistory> {
 public:
  Seeds(const GoodputScenario& scenario, StoredSteps& steps, const PolicyTable& policies)
      : spec_(scenario.spec), steps_(steps), policies_(policies) {}

  [[nodiscard]] std::vector<std::string> expand() const override {
    std::vector<std::string> names;
    for (std::uint64_t s = 0; s < spec_.seeds; ++s) names.push_back(std::to_string(spec_.first_seed + s));
    return names;
  }
  /// All alike: run_goodput() is asked for the work of all before it begins.
  [[nodiscard]] studies::Estimate estimate(std::size_t) const override { return {}; }
  [[nodiscard]] RecordedHistory run(std::size_t point, const studies::Stop&) const override {
    RecordingSteps steps(steps_, spec_);
    History history = run_history(spec_, steps, spec_.first_seed + point, policies_);
    return {std::move(history), steps.seen()};
  }
  [[nodiscard]] studies::StudyLog<RecordedHistory> log(const std::filesystem::path& folder, const std::string& hash) const {
    return {in_folder(folder, "seeds.jsonl"), head_of("photonrail.goodput_seeds/1", hash),
            [](std::size_t, const RecordedHistory& recorded) { return history_line(recorded); },
            [this](const std::string& line) -> std::optional<std::pair<std::size_t, RecordedHistory>> {
              auto recorded = history_of_line(line);
              if (!recorded || recorded->history.seed < spec_.first_seed) return std::nullopt;
              const std::uint64_t point = recorded->history.seed - spec_.first_seed;
              return std::pair(point, *std::move(recorded));
            }};
  }

 private:
  const GoodputSpec& spec_;
  StoredSteps& steps_;
  const PolicyTable& policies_;
};

// What the simulated checkpoint costs: the stall is what its steps take longer than they do without it.
void set_checkpoint(const SimulatedCheckpoint& simulated, Duration step, Duration with, Checkpointing& into) {
  const Duration longer = std::max(with - step, Duration{});
  into.stall_s = to_seconds(longer * simulated.over_steps);
  into.copy_s = simulated.asynchronous ? to_seconds(with * simulated.over_steps) : 0.0;
}

class PeriodList : public HistoryObserver {
 public:
  void period(const Period& p) override { periods.push_back(p); }
  std::vector<Period> periods;
};

}  // namespace

std::optional<KnownSteps::Step> KnownSteps::find(const std::string& step_hash, const std::string& configuration) const {
  const std::lock_guard lock(mutex_);
  const auto at = of_.find({step_hash, configuration});
  if (at == of_.end()) return std::nullopt;
  return std::optional<Step>(std::in_place, at->second);
}

void KnownSteps::add(const std::string& step_hash, const std::string& configuration, Step step) {
  const std::lock_guard lock(mutex_);
  of_.emplace(std::pair(step_hash, configuration), step);
}

void KnownSteps::add_healthy(const GoodputScenario& scenario, Duration step) {
  add(scenario.step_hash, Configuration{}.text(scenario.spec), step);
}

}  // namespace goodput

GoodputResult run_goodput(const goodput::GoodputScenario& given, const GoodputOptions& options, const Registries& known,
                          const goodput::PolicyTable& policies) {
  goodput::GoodputScenario scenario = given;
  scenario.spec.validate();
  if (scenario.job) goodput::check_degraded(scenario.spec, *scenario.job, scenario.training);
  goodput::ProgressTeller teller(options, scenario.spec.seeds);
  goodput::StoredSteps stored(scenario, options.steps_directory.empty() ? options.directory : options.steps_directory,
                              known, options.known_steps, &teller);
  goodput::RecordingSteps steps(stored, scenario.spec);
  GoodputResult result;
  const auto healthy = steps.of({});
  if (!healthy) throw DeadlockError({"the job cannot run on the healthy cluster"});
  result.step = *healthy;
  if (scenario.checkpoint) {
    result.checkpoint_step = stored.with_checkpoint(*scenario.checkpoint, known);
    goodput::set_checkpoint(*scenario.checkpoint, result.step, *result.checkpoint_step, scenario.spec.checkpoint);
  }
  std::vector<std::optional<goodput::History>> histories(scenario.spec.seeds);
  goodput::ConfigurationSteps configurations = steps.seen();  // the healthy one
  const goodput::Seeds seeds(scenario, stored, policies);
  studies::Pool pool;
  pool.threads = options.jobs;
  pool.stop = [&] { return options.stop != nullptr && *options.stop; };
  const studies::StudyEnd end = studies::run_study(
      seeds, seeds.log(options.directory, scenario.hash), pool,
      [&](std::size_t seed, goodput::RecordedHistory&& recorded) {
        histories[seed] = std::move(recorded.history);
        configurations.insert(recorded.configurations.begin(), recorded.configurations.end());
      },
      [&](std::size_t done, std::size_t) { teller.histories_are_done(done); });
  for (auto& history : histories) {
    if (history) result.histories.push_back(*std::move(history));
  }
  if (result.histories.empty()) throw ConfigError(scenario.name, "was stopped before the first history was complete");
  result.summary = goodput::summarise(scenario.spec, result.step, result.histories);
  result.summary.name = scenario.name;
  result.summary.configurations = configurations.size();
  for (const auto& [text, step] : configurations) {
    result.configurations.emplace_back(text, step ? to_seconds(*step) : -1.0);
  }
  result.simulated = stored.simulated();
  result.resumed = static_cast<std::uint32_t>(end.resumed);
  for (const auto* damage : {&stored.damage(), &end.damage})
    result.damaged.insert(result.damaged.end(), damage->begin(), damage->end());
  return result;
}

std::vector<goodput::Period> goodput_timeline(const goodput::GoodputScenario& given, const GoodputResult& result,
                                              std::uint64_t seed, const Registries& known,
                                              const goodput::PolicyTable& policies) {
  goodput::GoodputScenario scenario = given;
  if (scenario.checkpoint && result.checkpoint_step) {
    goodput::set_checkpoint(*scenario.checkpoint, result.step, *result.checkpoint_step, scenario.spec.checkpoint);
  }
  goodput::StoredSteps stored(scenario, {}, known);
  goodput::StepTimes* steps = &stored.steps();
  if (auto* simulated = dynamic_cast<goodput::SimulatedSteps*>(steps)) {
    for (const auto& [text, seconds] : result.configurations) {
      simulated->preset(text, seconds < 0.0 ? std::nullopt : std::optional(from_seconds(seconds)));
    }
  }
  goodput::PeriodList list;
  static_cast<void>(goodput::run_history(scenario.spec, *steps, seed, policies, &list));
  return list.periods;
}

}  // namespace photonrail
