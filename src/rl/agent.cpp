#include "rl/agent.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::rl {

namespace {

/// A timer says what it is for in the lowest bits of its token.
enum TimerKind : std::uint64_t { kAnswered, kScored, kFails, kIsBack };
constexpr int kTimerBits = 2;
/// Tokens of runs: the kind, the engine, its failures before.
constexpr int kKindBits = 3;
constexpr int kEngineBits = 24;

std::uint64_t timer(TimerKind kind, std::uint64_t of) { return of << kTimerBits | kind; }

std::vector<RankId> rank_range(std::uint32_t first, std::uint32_t count) {
  std::vector<RankId> ranks;
  for (std::uint32_t r = first; r < first + count; ++r) ranks.emplace_back(r);
  return ranks;
}

void add(serving::BatchTotals& sum, const serving::BatchTotals& totals) {
  sum.prompt_tokens += totals.prompt_tokens;
  sum.cached_tokens += totals.cached_tokens;
  sum.preemptions += totals.preemptions;
  sum.recomputed_tokens += totals.recomputed_tokens;
}

}  // namespace

std::shared_ptr<const TaskGraph> refit_graph(const RlSpec& spec) {
  const auto traffic = std::make_shared<const collective::RefitTraffic>(refit_spec(spec));
  const std::uint32_t ranks = traffic->spec().members();
  TaskGraphBuilder builder(ranks);
  builder.set_demands(traffic);
  const CommunicatorId group = builder.add_communicator("refit", rank_range(0, ranks), Dimension::kRefit);
  const ProgramId p = builder.add_program();
  builder.add_all_to_all(p, 0, 1, Bytes{traffic->spec().bytes().count / ranks}, "refit");
  for (std::uint32_t r = 0; r < ranks; ++r) builder.assign(RankId{r}, p, {group});
  return std::make_shared<const TaskGraph>(std::move(builder).build());
}

RlAgent::RlAgent(RlSpec spec, std::shared_ptr<const TaskGraph> refit)
    : spec_(std::move(spec)),
      batching_(batching_of(spec_)),
      offload_bytes_(offload_bytes(spec_)),
      schedule_(spec_.mode),
      rollouts_(spec_),
      recorder_(spec_),
      tools_(spec_.tools ? std::make_unique<ToolCache>(*spec_.tools, spec_.seed) : nullptr),
      training_(spec_.training),
      refit_(std::move(refit)) {
  engines_.reserve(spec_.generation.engines);
  for (std::uint32_t e = 0; e < spec_.generation.engines; ++e)
    engines_.push_back({.generation = new_engine(e), .number = e});
  // All engines look at what a failure leaves to them.
  for (const EngineFailure& failure : spec_.generation.failures) {
    for (Engine& engine : engines_) engine.changes.insert(failure.at);
  }
}

GenerationEngine RlAgent::new_engine(std::uint32_t number) const {
  return {batching_, *spec_.generation.times, spec_.seed + number};
}

RlResult RlAgent::result() const {
  RlResult result = recorder_.result();
  serving::BatchTotals totals = totals_;
  for (const Engine& engine : engines_) add(totals, engine.generation.totals());
  result.prompt_tokens = totals.prompt_tokens;
  result.cached_tokens = totals.cached_tokens;
  result.preemptions = totals.preemptions;
  result.recomputed_tokens = totals.recomputed_tokens;
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
  std::uint32_t at_tools = 0;
  std::uint32_t down = 0;
  for (const Engine& engine : engines_) {
    at_tools += engine.at_tools;
    down += engine.up ? 0 : 1;
  }
  return {"training step " + std::to_string(schedule_.version() + 1) + " of " + std::to_string(spec_.mode.steps) + ": " +
          core::counted(schedule_.in_flight(), "response") + " in flight, " + std::to_string(schedule_.queued()) +
          " complete, of the " + std::to_string(spec_.mode.batch) + " that it needs; " +
          core::counted(at_tools, "response") + " at tools" +
          (down > 0 ? "; " + std::to_string(down) + " of " + core::counted(engines_.size(), "engine") + " failed" : "")};
}

void RlAgent::on(const WorkEvent& event, WorkSink& sink) {
  if (event.kind == WorkEvent::Kind::kBegin) {
    for (std::size_t f = 0; f < spec_.generation.failures.size(); ++f) {
      sink.wake_at(spec_.generation.failures[f].at, timer(kFails, f));
    }
  }
  if (event.kind == WorkEvent::Kind::kLaunchDone) launched(event, sink);
  if (event.kind == WorkEvent::Kind::kTimer) told(event, sink);
  act(sink);
  start_engines(sink);
}

void RlAgent::told(const WorkEvent& event, WorkSink& sink) {
  const std::uint64_t of = event.token >> kTimerBits;
  switch (event.token & ((1u << kTimerBits) - 1)) {
    case kAnswered:
      return answer(of, sink.now());
    case kScored:
      schedule_.complete(of);
      rollouts_.of(of).completed = sink.now();
      return;
    case kFails: {
      const EngineFailure& failure = spec_.generation.failures[of];
      return fail(engines_[failure.engine], failure, sink);
    }
    default:
      engines_[of].up = true;
      place_lost();
  }
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

std::vector<RlAgent::Engine*> RlAgent::idlest_first() {
  std::vector<Engine*> order;
  for (Engine& engine : engines_) {
    if (engine.up) order.push_back(&engine);
  }
  const auto load = [](const Engine* e) { return e->generation.samples() + e->at_tools; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return load(a) < load(b); });
  return order;
}

// In contiguous parts, so that the responses of a prompt share an engine; single ones to where the fewest are.
void RlAgent::begin_samples(std::uint64_t samples, WorkSink& sink) {
  const std::vector<Engine*> order = idlest_first();
  if (order.empty()) return;
  const std::uint64_t parts = std::min<std::uint64_t>(samples, order.size());
  std::uint64_t sample = schedule_.begin(samples);
  for (std::uint64_t part = 0; part < parts; ++part) {
    Engine& engine = *order[part];
    const auto count = static_cast<std::uint64_t>(share({static_cast<std::int64_t>(samples)}, parts, part).count);
    for (std::uint64_t i = 0; i < count; ++i, ++sample) {
      rollouts_.begin(engine.number, schedule_.engine_version(), sink.now());
      engine.generation.add(rollouts_.stretch(sample));
    }
  }
}

void RlAgent::start_engines(WorkSink& sink) {
  if (schedule_.refitting() || schedule_.may_refit()) return;  // in-flight samples pause
  const std::uint32_t ranks = spec_.generation.engine.ranks;
  for (Engine& engine : engines_) {
    if (engine.generation.busy() || !engine.up) continue;
    engine.changes.erase(engine.changes.begin(), engine.changes.upper_bound(sink.now()));
    serving::RunLimit limit;
    if (!engine.changes.empty()) limit.until = *engine.changes.begin();
    // Where new samples may come at any time, runs are short.
    if (spec_.mode.partial) limit.max_steps = spec_.generation.longest_run;
    const auto time = engine.generation.begin_run(sink.now(), limit);
    recorder_.engine(engine.number, time.has_value(), engine.at_tools > 0, sink.now());
    if (!time) continue;
    compute(spec_.first_engine() + engine.number * ranks, ranks, *time, kGenerate, sink,
            std::uint64_t{engine.failures} << kEngineBits | engine.number);
  }
}

void RlAgent::compute(std::uint32_t first, std::uint32_t ranks, Duration time, Kind kind, WorkSink& sink,
                      std::uint64_t token) {
  sink.compute(rank_range(first, ranks), time, {kind, token << kKindBits | kind},
               kind == kOffload || kind == kReload ? Stream::kHost : Stream::kGpu);
}

void RlAgent::launched(const WorkEvent& event, WorkSink& sink) {
  const std::uint64_t token = event.token >> kKindBits;
  switch (event.token & ((1u << kKindBits) - 1)) {
    case kGenerate: {
      const auto engine = static_cast<std::uint32_t>(token & ((1u << kEngineBits) - 1));
      if (engines_[engine].failures == token >> kEngineBits) end_run(engine, sink);
      return;
    }
    case kOffload:
      return prepare(sink);
    case kLogProbabilities:
      return train_next(sink);
    case kTrain:
      recorder_.optimizer_step();
      return train_next(sink);
    case kReload:
      return schedule_.trained();
    default:
      schedule_.refitted();
      recorder_.refit_ends(sink.now());
      for (Engine& engine : engines_) {
        if (spec_.refit.kv_after == KvAfter::kRecomputed) engine.generation.recompute();
      }
  }
}

void RlAgent::end_run(std::uint32_t engine, WorkSink& sink) {
  for (const std::uint64_t sample : engines_[engine].generation.end_run()) {
    if (rollouts_.advance(sample)) {
      engines_[engine].generation.release(sample);
      if (tools_) tools_->end(sample);
      score(sample, sink);
    } else {
      call_tool(sample, sink);
    }
  }
}

// The worker that is free first takes it.
void RlAgent::score(std::uint64_t sample, WorkSink& sink) {
  Time from = sink.now();
  if (spec_.rewards.workers > 0 && reward_ends_.size() >= spec_.rewards.workers) {
    from = std::max(from, reward_ends_.top());
    reward_ends_.pop();
  }
  const Time end = from + spec_.rewards.response;
  if (spec_.rewards.workers > 0) reward_ends_.push(end);
  sink.wake_at(end, timer(kScored, sample));
}

// KV that is swapped leaves while the tool runs, and comes back after it.
void RlAgent::call_tool(std::uint64_t sample, WorkSink& sink) {
  Engine& engine = engines_[rollouts_.of(sample).engine];
  ++engine.at_tools;
  Time at = tools_->call(sample, rollouts_.prompt(sample), sink.now()).at;
  if (spec_.waiting_kv != WaitingKv::kStays) engine.generation.release(sample);
  if (spec_.waiting_kv == WaitingKv::kSwapped) {
    const double bytes = kv_bytes(spec_) * rollouts_.context(sample);
    const Duration move = transfer_time(Bytes{static_cast<std::int64_t>(bytes)}, spec_.swap_rate);
    at = std::max(at, sink.now() + move) + move;
  }
  rollouts_.of(sample).answer_due = at;
  engine.changes.insert(at);
  sink.wake_at(at, timer(kAnswered, sample));
}

// An answer to a sample that has been made again since is no answer.
void RlAgent::answer(std::uint64_t sample, Time now) {
  Rollout& rollout = rollouts_.of(sample);
  if (rollout.answer_due != now) return;
  rollout.answer_due = Time::never();
  Engine& engine = engines_[rollout.engine];
  --engine.at_tools;
  Stretch stretch = rollouts_.stretch(sample);
  // The last token before the call has no KV yet.
  if (spec_.waiting_kv == WaitingKv::kSwapped) stretch.brought = stretch.context - spec_.tools->result_tokens - 1;
  engine.generation.add(stretch);
}

// Others make what it had from the beginning. Complete responses have left it.
void RlAgent::fail(Engine& engine, const EngineFailure& failure, WorkSink& sink) {
  if (!engine.up) return;
  engine.up = false;
  ++engine.failures;
  engine.at_tools = 0;
  add(totals_, engine.generation.totals());
  engine.generation = new_engine(engine.number);
  recorder_.engine(engine.number, false, false, sink.now());
  std::uint64_t lost = 0;
  for (std::uint64_t sample = 0; sample < rollouts_.count(); ++sample) {
    Rollout& rollout = rollouts_.of(sample);
    if (rollout.engine != engine.number || rollout.done == rollout.total) continue;
    rollout.answer_due = Time::never();
    if (tools_) tools_->end(sample);
    lost_.push_back(sample);
    ++lost;
  }
  recorder_.made_again(lost);
  if (failure.lasts) sink.wake_at(sink.now() + *failure.lasts, timer(kIsBack, engine.number));
  place_lost();
}

// One after another to where the fewest are.
void RlAgent::place_lost() {
  for (const std::uint64_t sample : std::exchange(lost_, {})) {
    const std::vector<Engine*> order = idlest_first();
    if (order.empty()) {
      lost_.push_back(sample);
      continue;
    }
    rollouts_.again(sample, order.front()->number, schedule_.engine_version());
    schedule_.again(sample);
    order.front()->generation.add(rollouts_.stretch(sample));
  }
}

void RlAgent::train(WorkSink& sink) {
  const TakenBatch taken = schedule_.train();
  std::vector<std::uint32_t> tokens;
  for (const std::uint64_t sample : taken.samples) tokens.push_back(spec_.prompts.tokens + rollouts_.of(sample).total);
  training_.take(tokens);
  recorder_.takes(taken, rollouts_, sink.now());
  if (offload_time() > Duration{}) return compute(0, spec_.ranks(), offload_time(), kOffload, sink);
  prepare(sink);
}

void RlAgent::prepare(WorkSink& sink) {
  if (spec_.other > Duration{}) return compute(0, spec_.training.ranks(), spec_.other, kLogProbabilities, sink);
  train_next(sink);
}

void RlAgent::train_next(WorkSink& sink) {
  const auto next = training_.next();
  if (!next) return trained(sink);
  if (next->trains) recorder_.training_begins(sink.now());
  const Kind kind = next->trains ? kTrain : kLogProbabilities;
  sink.launch({next->graph, rank_range(0, spec_.training.ranks())}, {kind, kind});
}

void RlAgent::trained(WorkSink& sink) {
  recorder_.training_ends(sink.now());
  if (offload_time() > Duration{}) return compute(0, spec_.ranks(), offload_time(), kReload, sink);
  schedule_.trained();
}

bool RlAgent::engines_stand() const {
  return std::none_of(engines_.begin(), engines_.end(), [](const Engine& e) { return e.generation.busy(); });
}

Duration RlAgent::offload_time() const {
  return round_up_picoseconds(offload_bytes_ / spec_.offload.rate.bytes_per_second * 1e12);
}

}  // namespace photonrail::rl
