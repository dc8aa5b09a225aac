#include "rl/agent.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace photonrail::rl {

namespace {

constexpr std::uint64_t kNoPrompt = std::numeric_limits<std::uint64_t>::max();

/// What a timer is for: the lowest bit of its token.
constexpr std::uint64_t kToolTimer = 0;
constexpr std::uint64_t kRewardTimer = 1;

std::vector<RankId> rank_range(std::uint32_t first, std::uint32_t count) {
  std::vector<RankId> ranks;
  for (std::uint32_t r = first; r < first + count; ++r) ranks.emplace_back(r);
  return ranks;
}

}  // namespace

std::shared_ptr<const TaskGraph> refit_graph(const RlSpec& spec) {
  const auto traffic = std::make_shared<const collective::RefitTraffic>(refit_spec(spec));
  const std::uint32_t ranks = traffic->spec().members();
  TaskGraphBuilder builder(ranks);
  builder.set_demands(traffic);
  const CommunicatorId group = builder.add_communicator("refit", rank_range(0, ranks), Dimension::kOther);
  const ProgramId p = builder.add_program();
  builder.add_all_to_all(p, 0, 1, Bytes{traffic->spec().bytes().count / ranks}, "refit");
  for (std::uint32_t r = 0; r < ranks; ++r) builder.assign(RankId{r}, p, {group});
  return std::make_shared<const TaskGraph>(std::move(builder).build());
}

RlAgent::RlAgent(RlSpec spec, std::shared_ptr<const TaskGraph> refit)
    : spec_(std::move(spec)),
      cost_(spec_),
      schedule_(spec_.mode),
      rollouts_(spec_),
      recorder_(spec_),
      tools_(spec_.tools ? std::make_unique<ToolCache>(*spec_.tools, spec_.seed) : nullptr),
      prompt_of_(spec_.generation.engines, kNoPrompt),
      at_tools_(spec_.generation.engines),
      refit_(std::move(refit)) {
  // Samples come to an engine that runs only between two runs: where samples may come, runs are short.
  const bool steady = !spec_.tools && !spec_.mode.partial;
  const GenerationLimits limits{spec_.generation.max_sequences, kv_tokens(spec_),
                                steady ? 0u : spec_.generation.longest_run};
  engines_.assign(spec_.generation.engines, GenerationEngine(cost_, limits));
}

RlResult RlAgent::result() const {
  RlResult result = recorder_.result();
  if (tools_) {
    result.tool_calls = tools_->calls();
    result.tool_hits = tools_->hits();
    result.hits_by_depth = tools_->by_depth();
  }
  return result;
}

std::vector<std::string> RlAgent::kinds() const {
  return {"generate", "offload", "log_probabilities", "train", "reload", "refit"};
}

std::vector<std::string> RlAgent::waiting() const {
  return {"training step " + std::to_string(schedule_.version() + 1) + " of " + std::to_string(spec_.mode.steps) + ": " +
          core::counted(schedule_.in_flight(), "response") + " in flight, " + std::to_string(schedule_.queued()) +
          " complete, of the " + std::to_string(spec_.mode.batch) + " that it needs; " +
          core::counted(std::accumulate(at_tools_.begin(), at_tools_.end(), 0u), "response") + " at tools"};
}

void RlAgent::on(const WorkEvent& event, WorkSink& sink) {
  if (event.kind == WorkEvent::Kind::kLaunchDone) launched(event, sink);
  if (event.kind == WorkEvent::Kind::kTimer) {
    const std::uint64_t sample = event.token >> 1;
    if ((event.token & 1) == kRewardTimer) {
      schedule_.complete(sample);
      rollouts_.of(sample).completed = sink.now();
    } else {
      answer(sample);
    }
  }
  act(sink);
  start_engines(sink);
}

// A refit goes before training and training before new samples, so that they have the newest weights.
void RlAgent::act(WorkSink& sink) {
  if (schedule_.may_refit() && engines_stand()) {
    schedule_.refit();
    recorder_.refit_begins(sink.now());
    const std::uint32_t ranks = static_cast<std::uint32_t>(refit_->ranks());
    sink.launch({refit_, rank_range(0, ranks)}, {kRefit, kRefit});
  }
  if (schedule_.may_train()) train(sink);
  if (const std::uint64_t samples = schedule_.may_begin(); samples > 0) begin_samples(samples, sink);
}

// In contiguous parts, so that the responses of a prompt share an engine; single ones to where the fewest are.
void RlAgent::begin_samples(std::uint64_t samples, WorkSink& sink) {
  std::vector<std::uint32_t> order(engines_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto load = [this](std::uint32_t e) { return engines_[e].running() + engines_[e].waiting() + at_tools_[e]; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return load(a) < load(b); });
  const std::uint64_t parts = std::min<std::uint64_t>(samples, order.size());
  std::uint64_t sample = schedule_.begin(samples);
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint32_t engine = order[part];
    const auto count = static_cast<std::uint64_t>(share({static_cast<std::int64_t>(samples)}, parts, part).count);
    for (std::uint64_t i = 0; i < count; ++i, ++sample) {
      const bool shared = std::exchange(prompt_of_[engine], rollouts_.prompt(sample)) == rollouts_.prompt(sample);
      rollouts_.begin(engine, sink.now());
      engines_[engine].add(rollouts_.stretch(sample, shared ? 0.0 : spec_.prompts.tokens));
    }
  }
}

void RlAgent::start_engines(WorkSink& sink) {
  if (schedule_.refitting() || schedule_.may_refit()) return;  // in-flight samples pause
  const std::uint32_t ranks = spec_.generation.engine.ranks;
  for (std::uint32_t e = 0; e < engines_.size(); ++e) {
    if (engines_[e].busy()) continue;
    const auto time = engines_[e].begin_run();
    recorder_.engine(e, time.has_value(), at_tools_[e] > 0, sink.now());
    if (time) compute(spec_.first_engine() + e * ranks, ranks, *time, kGenerate, sink, e);
  }
}

void RlAgent::compute(std::uint32_t first, std::uint32_t ranks, Duration time, Kind kind, WorkSink& sink,
                      std::uint64_t token) {
  sink.compute(rank_range(first, ranks), time, {kind, token << 3 | kind},
               kind == kOffload || kind == kReload ? Stream::kHost : Stream::kGpu);
}

void RlAgent::launched(const WorkEvent& event, WorkSink& sink) {
  const std::uint32_t training = spec_.training.layout.ranks;
  switch (event.token & 7) {
    case kGenerate:
      return end_run(static_cast<std::uint32_t>(event.token >> 3), sink);
    case kOffload:
      return compute(0, training, log_probability_time(spec_, tokens_) + spec_.other, kLogProbabilities, sink);
    case kLogProbabilities:
      recorder_.training_begins(sink.now());
      return compute(0, training, training_time(spec_, tokens_), kTrain, sink);
    case kTrain:
      recorder_.training_ends(sink.now());
      if (offload_time() > Duration{}) return compute(0, spec_.ranks(), offload_time(), kReload, sink);
      return schedule_.trained();
    case kReload:
      return schedule_.trained();
    default:
      schedule_.refitted();
      recorder_.refit_ends(sink.now());
      for (GenerationEngine& engine : engines_) {
        if (spec_.refit.kv_after == KvAfter::kRecomputed) engine.recompute();
      }
      // Prefixes of prompts were computed with other weights.
      std::fill(prompt_of_.begin(), prompt_of_.end(), kNoPrompt);
  }
}

void RlAgent::end_run(std::uint32_t engine, WorkSink& sink) {
  for (const std::uint64_t sample : engines_[engine].end_run()) {
    if (rollouts_.advance(sample)) {
      if (tools_) tools_->end(sample);
      score(sample, sink);
    } else {
      call_tool(sample, sink);
    }
  }
}

// By the worker that is free first.
void RlAgent::score(std::uint64_t sample, WorkSink& sink) {
  Time from = sink.now();
  if (spec_.rewards.workers > 0 && reward_ends_.size() >= spec_.rewards.workers) {
    from = std::max(from, reward_ends_.top());
    reward_ends_.pop();
  }
  const Time end = from + spec_.rewards.response;
  if (spec_.rewards.workers > 0) reward_ends_.push(end);
  sink.wake_at(end, sample << 1 | kRewardTimer);
}

void RlAgent::call_tool(std::uint64_t sample, WorkSink& sink) {
  const std::uint32_t engine = rollouts_.of(sample).engine;
  ++at_tools_[engine];
  if (spec_.waiting_kv == WaitingKv::kStays) engines_[engine].keep(rollouts_.room(sample));
  sink.wake_at(tools_->call(sample, rollouts_.prompt(sample), sink.now()).at, sample << 1 | kToolTimer);
}

void RlAgent::answer(std::uint64_t sample) {
  const std::uint32_t engine = rollouts_.of(sample).engine;
  --at_tools_[engine];
  const bool stays = spec_.waiting_kv == WaitingKv::kStays;
  if (stays) engines_[engine].drop(rollouts_.room(sample));
  engines_[engine].add(rollouts_.stretch(sample, stays ? spec_.tools->result_tokens : rollouts_.context(sample)));
}

void RlAgent::train(WorkSink& sink) {
  const TakenBatch taken = schedule_.train();
  tokens_ = static_cast<double>(taken.samples.size()) * spec_.prompts.tokens;
  for (const std::uint64_t sample : taken.samples) tokens_ += rollouts_.of(sample).total;
  recorder_.takes(taken, rollouts_, sink.now());
  const std::uint32_t training = spec_.training.layout.ranks;
  if (offload_time() > Duration{}) return compute(0, spec_.ranks(), offload_time(), kOffload, sink);
  compute(0, training, log_probability_time(spec_, tokens_) + spec_.other, kLogProbabilities, sink);
}

bool RlAgent::engines_stand() const {
  return std::none_of(engines_.begin(), engines_.end(), [](const GenerationEngine& e) { return e.busy(); });
}

Duration RlAgent::offload_time() const {
  return spec_.mode.shared ? round_up_picoseconds(spec_.offload.bytes / spec_.offload.rate.bytes_per_second * 1e12)
                           : Duration{};
}

}  // namespace photonrail::rl
