#include "studies/plan/space.hpp"

#include "config/scenario_parts.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/cost.hpp"
#include "studies/plan/rail_facts.hpp"
#include "studies/plan/step_key.hpp"
#include "workload/training/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace photonrail::plan {

namespace {

using json::Json;

constexpr std::uint64_t kMaxCombinations = 1'000'000;
constexpr const char* kAtObjective = "/objective";
constexpr const char* kAtShapes = "/shapes";

/// Keys that the shape, its memory or its bound depend on.
bool is_of_job(const Override& set) {
  constexpr std::array<std::string_view, 8> kOfJob{"/workload",         "/placement",          "/executor",
                                                   "/cluster/nic",      "/cluster/gpu",        "/cluster/servers",
                                                   "/cluster/scale_up", "/cluster/unlike_gpus"};
  return std::any_of(kOfJob.begin(), kOfJob.end(), [&](std::string_view begin) { return set.pointer.starts_with(begin); });
}

std::string shorter(std::string text) {
  constexpr std::size_t kMaxExample = 200;
  if (text.size() > kMaxExample) text = text.substr(0, kMaxExample) + " ...";
  return text;
}

void reject(Rejections& rejections, const std::string& reason, const std::string& example, std::uint64_t count = 1) {
  Rejections::Reason& of = rejections.of[reason];
  if (of.count == 0) of.example = shorter(example);
  of.count += count;
}

void give_shape(const ShapeNumbers& shape, const ShapeSpace& space, std::uint32_t dp, TrainingSpec& spec) {
  ParallelismSpec& p = spec.parallelism;
  p.tp = shape.tp;
  p.cp = shape.cp;
  p.pp = shape.pp;
  p.ep = shape.ep;
  p.dp = dp;
  p.virtual_stages = shape.virtual_stages;
  p.fsdp = space.sharding[shape.sharding] == "fsdp";
  p.zero1 = space.sharding[shape.sharding] == "zero1";
  spec.micro_batch = shape.micro_batch;
  const std::string& again = space.recompute[shape.recompute];
  spec.recompute = again == "full" ? Recompute::kFull : again == "selective" ? Recompute::kSelective : Recompute::kNone;
  if (shape.virtual_stages > 1 && spec.schedule != PipelineSchedule::kBreadthFirst)
    spec.schedule = PipelineSchedule::kInterleaved;
  if (shape.virtual_stages == 1 && spec.schedule == PipelineSchedule::kInterleaved)
    spec.schedule = PipelineSchedule::kOneFOneB;
}

std::string memory_example(double needed, double has) {
  const auto gigabytes = [](double bytes) { return std::to_string(static_cast<std::int64_t>(bytes / 1e9 + 0.5)) + " GB"; };
  return "a GPU would hold " + gigabytes(needed) + ", and has " + gigabytes(has);
}

}  // namespace

Space::Space(const Plan& plan, const Registries& known) : plan_(plan), known_(known) {
  for (const PlanAxis& axis : plan.axes) {
    const bool of_job = std::any_of(axis.values.begin(), axis.values.end(), [](const PlanValue& value) {
      return std::any_of(value.patch.begin(), value.patch.end(), is_of_job);
    });
    changes_job_.push_back(of_job);
    std::uint64_t& count = of_job ? job_count_ : other_count_;
    count *= axis.values.size();
    if (count > kMaxCombinations)
      throw ConfigError(plan.file.string() + ": /axes", "make more than a million combinations", "fewer values");
  }
  needs_bill_ = std::any_of(plan.objectives.begin(), plan.objectives.end(), reads_bill);
  const Json root = json::parse_json(plan.base, plan.file.string());
  for (std::uint32_t values = 0; values < job_count_; ++values) {
    Json scenario = root;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
      if (changes_job_[a]) config::apply_overrides(scenario, plan.axes[a].values[value_of(a, values, 0)].patch);
    }
    Base base;
    try {
      base = base_of(scenario);
      check_objectives(base);
    } catch (const ConfigError& e) {
      if (e.where() == kAtObjective || e.where() == kAtShapes) throw e.inside(plan_.file.string());
      base.refused = e;
    }
    bases_.push_back(std::move(base));
  }
  if (std::all_of(bases_.begin(), bases_.end(), [](const Base& base) { return base.refused.has_value(); }))
    throw bases_.front().refused->inside(plan_.file.string());
}

// Where shapes are not searched, what is no training job has no bound.
Space::Base Space::base_of(const Json& scenario) const {
  Base base;
  json::JsonReader top(scenario);
  base.cluster = config::read_cluster(top.child("cluster"), plan_.base_directory);
  base.gpus = static_cast<double>(base.cluster.servers) * base.cluster.gpus_per_server;
  base.facts.in_order = json::find_at(scenario, "/placement/rank_to_gpu") == nullptr;
  if (const auto executor = top.optional("executor")) {
    base.facts.one_at_a_time = config::read_executor(*executor).concurrent == ConcurrentCollectives::kInTurn;
  }
  base.facts.rings = rings_of(top.optional("collectives"), plan_.base_directory);
  base.facts.orders = orders_;
  const bool trains = json::find_at(scenario, "/workload/training") != nullptr;
  if (trains) base.spec = config::read_training_spec_of_file(scenario, plan_.base_directory);
  base.serves = json::find_at(scenario, "/workload/serving/slo") != nullptr;
  base.loops = json::find_at(scenario, "/workload/serving/requests/concurrency") != nullptr;
  return base;
}

void Space::check_objectives(const Base& base) const {
  if (plan_.shapes && !base.spec) throw ConfigError(kAtShapes, "are those of a training job", "remove them");
  const auto any = [&](bool (*counts)(PlanObjective)) {
    return std::any_of(plan_.objectives.begin(), plan_.objectives.end(), counts);
  };
  if (!base.spec && any(counts_tokens))
    throw ConfigError(kAtObjective, "there are no tokens: the workload is no training job", "\"step\"");
  if (!base.serves && any(counts_requests)) {
    throw ConfigError(kAtObjective, "there are no requests within limits",
                      "a base with \"serving\" and its \"slo\", or \"step\"");
  }
  if (base.loops && any(counts_requests)) {
    throw ConfigError(kAtObjective, "there is no rate of requests: \"concurrency\" is a closed loop",
                      "\"arrivals\" or a trace");
  }
}

Measured Space::known(const JobCandidate& job, std::optional<std::uint64_t> run) const {
  const Base& base = bases_[job.job_values];
  Measured known;
  known.gpus = base.gpus;
  if (base.spec) known.tokens = static_cast<double>(base.spec->global_batch) * base.spec->sequence;
  if (!needs_bill_) return known;
  NetworkBill of;
  if (run) {
    of = bill(job, *run);
  } else {
    const std::scoped_lock lock(mutex_);
    const auto [least, fresh] = least_bills_.try_emplace(job.job_values);
    for (std::uint64_t r = 0; fresh && r < other_count_; ++r) {
      const auto [at, is_new] = bills_.try_emplace({job.job_values, r});
      if (is_new) at->second = bill_of(plan_, axis_patch(job.job_values, r));
      const auto take = [&](double NetworkBill::*part) {
        const double value = at->second.*part;
        least->second.*part = r == 0 ? value : std::min(least->second.*part, value);
      };
      take(&NetworkBill::usd);
      take(&NetworkBill::power_w);
    }
    of = least->second;
  }
  known.usd = of.usd;
  known.power_w = of.power_w;
  return known;
}

// GPUs draw at least nothing, and the network draws its power all the time.
std::vector<double> Space::bounds(const JobCandidate& job, std::optional<std::uint64_t> run) const {
  Measured least = known(job, run);
  least.step_s = job.bound_s;
  least.energy_j = least.power_w * least.step_s;
  least.draws_w = least.power_w;
  least.requests_per_s = job.served.requests_per_s;
  least.answers_per_s = job.served.answers_per_s;
  // A candidate whose bound is reached may differ from it in its last bits: it is not excluded by one as good.
  constexpr double kOfRounding = 1.0 - 1e-12;
  std::vector<double> list = plan::values(plan_, least);
  for (double& value : list) value *= kOfRounding;
  return list;
}

std::vector<double> Space::bounds_on_rails(const JobCandidate& job, std::uint64_t run) const {
  const Base& base = bases_[job.job_values];
  const std::vector<Override> changes = patch(job, run);
  Json scenario = json::parse_json(plan_.base, plan_.file.string());
  config::apply_overrides(scenario, changes);
  const ClusterSpec cluster = config::read_cluster(json::JsonReader(scenario).child("cluster"), plan_.base_directory);
  StepBound::Facts facts = base.facts;
  facts.switching = least_switching(cluster);
  if (!base.spec || !base.cluster.unlike.empty() || facts.switching == Duration{}) return bounds(job, run);
  const std::pair key{step_key(plan_, changes, true), facts.switching.count()};
  std::optional<double> switched;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto at = switched_.find(key); at != switched_.end()) switched = at->second;
  }
  if (!switched) {
    switched = to_seconds(StepBound(base.cluster, facts).closer(spec_of(job)));
    const std::scoped_lock lock(mutex_);
    switched_.emplace(key, *switched);
  }
  JobCandidate on_rails = job;
  on_rails.bound_s = std::max(job.bound_s, *switched);
  return bounds(on_rails, run);
}

NetworkBill Space::bill(const JobCandidate& job, std::uint64_t run) const {
  const std::scoped_lock lock(mutex_);
  const auto [at, fresh] = bills_.try_emplace({job.job_values, run});
  if (fresh) at->second = bill_of(plan_, axis_patch(job.job_values, run));
  return at->second;
}

NetworkBill bill_of(const Plan& plan, const std::vector<Override>& patch) {
  Json scenario = json::parse_json(plan.base, plan.file.string());
  config::apply_overrides(scenario, patch);
  NetworkBill of;
  try {
    json::JsonReader top(scenario);
    const ClusterSpec cluster = config::read_cluster(top.child("cluster"), plan.base_directory);
    const Pricing pricing = config::read_cost(top.optional("cost"), plan.base_directory, cluster);
    const Bill bill = bill_of_materials(fabric_of(cluster, pricing.rule), network_shape(cluster), pricing);
    of.usd = bill.usd();
    of.power_w = bill.power_w();
  } catch (const ConfigError& e) {
    of.problem = e.what();
  }
  return of;
}

std::uint32_t Space::dp(const JobCandidate& job) const {
  const ShapeNumbers& s = job.shape;
  return static_cast<std::uint32_t>(bases_[job.job_values].gpus / (static_cast<double>(s.tp) * s.cp * s.pp));
}

void Space::examine(const Base& base, const TrainingSpec& spec, StepBound& bound, JobCandidate& job, Rejections& rejections,
                    std::vector<JobCandidate>& jobs) const {
  try {
    spec.validate();
  } catch (const ConfigError& e) {
    return reject(rejections, e.where(), e.problem());
  }
  double needed = 0.0;
  for (const StageMemory& stage : workload::memory_of_stages(spec)) needed = std::max(needed, stage.total());
  const double has = base.cluster.gpu.memory_gb * 1e9;
  if (has > 0.0 && needed > has) {
    reject(rejections, "memory of a GPU", memory_example(needed, has));
    if (rejections.least_excess > 0.0 && needed / has - 1.0 >= rejections.least_excess) return;
    rejections.least_excess = needed / has - 1.0;
    rejections.nearest = (plan_.shapes ? shape_label(job) : plan_.name) + ": " + memory_example(needed, has);
    return;
  }
  job.bound_s = !base.cluster.unlike.empty() ? 0.0 : to_seconds(bound.of(spec));
  job.bound = bounds(job, std::nullopt).front();
  const ParallelismSpec& p = spec.parallelism;
  job.work = static_cast<double>(spec.micro_batches()) * p.virtual_stages * p.pp * p.cp * p.ep;
  jobs.push_back(job);
}

void Space::add_jobs(std::uint32_t job_values, Rejections& rejections, std::vector<JobCandidate>& jobs) const {
  const Base& base = bases_[job_values];
  if (base.refused) return reject(rejections, base.refused->where(), base.refused->problem(), shapes());
  JobCandidate job;
  job.job_values = job_values;
  job.number = job_values * shapes();
  if (!base.spec) {
    job.bound = bounds(job, std::nullopt).front();
    jobs.push_back(job);
    return;
  }
  StepBound bound(base.cluster, base.facts);
  if (!plan_.shapes) return examine(base, *base.spec, bound, job, rejections, jobs);
  TrainingSpec spec = *base.spec;
  for (std::uint64_t i = 0; i < shapes(); ++i) {
    job.shape = shape(i);
    job.number = job_values * shapes() + i;
    const double ranks = static_cast<double>(job.shape.tp) * job.shape.cp * job.shape.pp;
    if (base.gpus / ranks != std::floor(base.gpus / ranks)) {
      reject(rejections, "GPUs are not divided", "tp x cp x pp = " + std::to_string(static_cast<std::int64_t>(ranks)));
      continue;
    }
    spec.schedule = base.spec->schedule;
    give_shape(job.shape, *plan_.shapes, dp(job), spec);
    examine(base, spec, bound, job, rejections, jobs);
  }
}

std::vector<JobCandidate> Space::jobs(Rejections& rejections) const {
  std::vector<JobCandidate> jobs;
  for (std::uint32_t values = 0; values < job_count_; ++values) add_jobs(values, rejections, jobs);
  return jobs;
}

TrainingSpec Space::spec_of(const JobCandidate& job) const {
  TrainingSpec spec = *bases_[job.job_values].spec;
  if (plan_.shapes) give_shape(job.shape, *plan_.shapes, dp(job), spec);
  return spec;
}

void Space::raise_bound(JobCandidate& job) const {
  const Base& base = bases_[job.job_values];
  if (base.serves) {
    job.served = bound_of_served(
        parse_scenario(plan_.base, plan_.base_directory, plan_.name, axis_patch(job.job_values, 0), known_));
    job.bound = bounds(job, std::nullopt).front();
  }
  if (!base.spec || !base.cluster.unlike.empty()) return;
  // Placements in which a job is the same have one bound.
  const std::string key = step_key(plan_, patch(job, 0), true);
  const auto known = [&] {
    const std::scoped_lock lock(mutex_);
    const auto at = closer_.find(key);
    return at == closer_.end() ? std::nullopt : std::optional(at->second);
  }();
  const double closer = known ? *known : to_seconds(StepBound(base.cluster, base.facts).closer(spec_of(job)));
  if (!known) {
    const std::scoped_lock lock(mutex_);
    closer_.emplace(key, closer);
  }
  job.bound_s = std::max(job.bound_s, closer);
  job.bound = bounds(job, std::nullopt).front();
}

std::uint64_t Space::shapes() const {
  if (!plan_.shapes) return 1;
  const ShapeSpace& s = *plan_.shapes;
  std::uint64_t count = s.sharding.size() * s.recompute.size();
  for (const auto* list : {&s.tp, &s.cp, &s.pp, &s.ep, &s.virtual_stages, &s.micro_batch}) count *= list->size();
  return count;
}

ShapeNumbers Space::shape(std::uint64_t index) const {
  const ShapeSpace& s = *plan_.shapes;
  const auto next = [&index](std::size_t size) {
    const auto at = static_cast<std::uint32_t>(index % size);
    index /= size;
    return at;
  };
  ShapeNumbers shape;
  shape.recompute = next(s.recompute.size());
  shape.sharding = next(s.sharding.size());
  shape.micro_batch = s.micro_batch[next(s.micro_batch.size())];
  shape.virtual_stages = s.virtual_stages[next(s.virtual_stages.size())];
  shape.ep = s.ep[next(s.ep.size())];
  shape.cp = s.cp[next(s.cp.size())];
  shape.pp = s.pp[next(s.pp.size())];
  shape.tp = s.tp[next(s.tp.size())];
  return shape;
}

std::uint32_t Space::value_of(std::size_t axis, std::uint32_t job_values, std::uint64_t run) const {
  std::uint64_t rest = changes_job_[axis] ? job_values : run;
  for (std::size_t a = plan_.axes.size(); a-- > axis + 1;) {
    if (changes_job_[a] == changes_job_[axis]) rest /= plan_.axes[a].values.size();
  }
  return static_cast<std::uint32_t>(rest % plan_.axes[axis].values.size());
}

void Space::add_shape(const JobCandidate& job, std::vector<Override>& patch) const {
  const ShapeNumbers& shape = job.shape;
  const ShapeSpace& space = *plan_.shapes;
  const std::string at = "/workload/training/";
  const auto set = [&](const std::string& key, const std::string& value) { patch.push_back({at + key, value}); };
  const auto number = [&](const std::string& key, std::uint32_t value) {
    set("parallelism/" + key, std::to_string(value));
  };
  number("tp", shape.tp);
  number("cp", shape.cp);
  number("pp", shape.pp);
  number("ep", shape.ep);
  number("dp", dp(job));
  number("virtual_stages", shape.virtual_stages);
  set("parallelism/fsdp", space.sharding[shape.sharding] == "fsdp" ? "true" : "false");
  set("parallelism/zero1", space.sharding[shape.sharding] == "zero1" ? "true" : "false");
  set("micro_batch", std::to_string(shape.micro_batch));
  set("recompute", "\"" + space.recompute[shape.recompute] + "\"");
  const PipelineSchedule schedule = spec_of(job).schedule;
  if (schedule != bases_[job.job_values].spec->schedule) set("schedule", Json(std::string(name(schedule))).dump());
}

// Electrical rails have no controller, whatever an axis says of it.
std::vector<Override> Space::axis_patch(std::uint32_t job_values, std::uint64_t run) const {
  std::vector<Override> patch;
  for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
    const PlanValue& value = plan_.axes[a].values[value_of(a, job_values, run)];
    patch.insert(patch.end(), value.patch.begin(), value.patch.end());
  }
  const bool controls =
      std::any_of(patch.begin(), patch.end(), [](const Override& set) { return set.pointer.starts_with("/controller"); });
  if (!controls) return patch;
  Json scenario = json::parse_json(plan_.base, plan_.file.string());
  config::apply_overrides(scenario, patch);
  try {
    const ClusterSpec cluster = config::read_cluster(json::JsonReader(scenario).child("cluster"), plan_.base_directory);
    if (cluster.rail.kind == RailKind::kElectrical)
      patch.push_back({"/controller", Json{{"name", std::string(kNoPolicy)}}.dump()});
  } catch (const ConfigError&) {
    return patch;  // its run says what cannot be
  }
  return patch;
}

std::vector<Override> Space::patch(const JobCandidate& job, std::uint64_t run) const {
  std::vector<Override> patch = axis_patch(job.job_values, run);
  if (plan_.shapes) add_shape(job, patch);
  return patch;
}

std::vector<std::pair<std::string, std::string>> Space::values(const JobCandidate& job, std::uint64_t run) const {
  std::vector<std::pair<std::string, std::string>> values;
  if (plan_.shapes) {
    const ShapeSpace& space = *plan_.shapes;
    const ShapeNumbers& s = job.shape;
    for (const auto& [name, value] : {std::pair{"tp", s.tp},
                                      {"cp", s.cp},
                                      {"pp", s.pp},
                                      {"ep", s.ep},
                                      {"virtual_stages", s.virtual_stages},
                                      {"micro_batch", s.micro_batch}})
      values.emplace_back(name, std::to_string(value));
    values.emplace_back("sharding", space.sharding[s.sharding]);
    values.emplace_back("recompute", space.recompute[s.recompute]);
  }
  for (std::size_t a = 0; a < plan_.axes.size(); ++a)
    values.emplace_back(plan_.axes[a].name, plan_.axes[a].values[value_of(a, job.job_values, run)].label);
  return values;
}

std::vector<std::uint32_t> Space::value_numbers(const JobCandidate& job, std::uint64_t run) const {
  std::vector<std::uint32_t> numbers;
  const ShapeNumbers& s = job.shape;
  if (plan_.shapes) numbers = {s.tp, s.cp, s.pp, s.ep, s.virtual_stages, s.micro_batch, s.sharding, s.recompute};
  for (std::size_t a = 0; a < plan_.axes.size(); ++a) numbers.push_back(value_of(a, job.job_values, run));
  return numbers;
}

// A choice that all candidates have alike is not said.
std::string Space::shape_label(const JobCandidate& job) const {
  const ShapeSpace& s = *plan_.shapes;
  const ShapeNumbers& shape = job.shape;
  std::string text =
      "tp " + std::to_string(shape.tp) + ", pp " + std::to_string(shape.pp) + ", dp " + std::to_string(dp(job));
  const auto add = [&](std::size_t values, const std::string& word) {
    if (values > 1) text += ", " + word;
  };
  add(s.cp.size(), "cp " + std::to_string(shape.cp));
  add(s.ep.size(), "ep " + std::to_string(shape.ep));
  add(s.virtual_stages.size(), "vp " + std::to_string(shape.virtual_stages));
  add(s.micro_batch.size(), "micro-batch " + std::to_string(shape.micro_batch));
  add(s.sharding.size(), s.sharding[shape.sharding] == "none" ? "not sharded" : s.sharding[shape.sharding]);
  const std::string& again = s.recompute[shape.recompute];
  add(s.recompute.size(), (again == "none" ? "no" : again) + " recomputation");
  return text;
}

std::vector<std::string> Space::labels(const JobCandidate& job, std::uint64_t run) const {
  std::vector<std::string> labels;
  if (plan_.shapes) labels.push_back(shape_label(job));
  for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
    const std::vector<PlanValue>& values = plan_.axes[a].values;
    if (values.size() > 1) labels.push_back(values[value_of(a, job.job_values, run)].label);
  }
  if (labels.empty()) labels.push_back(plan_.name);
  return labels;
}

}  // namespace photonrail::plan
