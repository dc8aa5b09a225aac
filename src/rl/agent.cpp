#include "rl/agent.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::rl {

namespace {

/// A timer says what it is for in the lowest bits of its token.
enum TimerKind : std::uint64_t { kAnswered, kScored, kFails, kIsBack, kIsHere };
constexpr int kTimerBits = 3;
/// Tokens of runs: the kind, the engine, its failures before.
constexpr int kKindBits = 3;
constexpr int kEngineBits = 24;

std::uint64_t timer(TimerKind kind, std::uint64_t of) { return of << kTimerBits | kind; }

std::vector<RankId> rank_range(std::uint32_t first, std::uint32_t count) {
  std::vector<RankId> ranks;
  for (std::uint32_t r = first; r < first + count; ++r) ranks.emplace_back(r);
  return ranks;
}

/// Of KV of so many tokens that leaves an engine, or comes back.
Duration swap_time(const RlSpec& spec, std::uint32_t tokens) {
  return transfer_time(Bytes{static_cast<std::int64_t>(kv_bytes(spec) * tokens)}, spec.swap_rate);
}

void add(serving::BatchTotals& sum, const serving::BatchTotals& totals) {
  sum.prompt_tokens += totals.prompt_tokens;
  sum.cached_tokens += totals.cached_tokens;
  sum.preemptions += totals.preemptions;
  sum.recomputed_tokens += totals.recomputed_tokens;
}

}  // namespace

RlAgent::RlAgent(RlSpec spec, std::vector<std::shared_ptr<const TaskGraph>> refits)
    : spec_(std::move(spec)),
      batching_(batching_of(spec_)),
      offload_bytes_(offload_bytes(spec_)),
      flows_(spec_),
      schedule_(spec_.mode),
      rollouts_(spec_),
      recorder_(spec_),
      tools_(spec_.tools ? std::make_unique<ToolCache>(*spec_.tools, spec_.seed) : nullptr),
      training_(spec_.training),
      refits_(spec_, std::move(refits)) {
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
  return {"generate", "offload", "log_probabilities", "train", "reload", "refit", "exchange"};
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
  if (event.kind == WorkEvent::Kind::kAnnounced && refits_.waits(event.launch)) recorder_.refit_announced(sink.now());
  if (event.kind == WorkEvent::Kind::kRankDone && event.token == kTrain) refits_.trained(event.rank);
  act(sink);
  start_engines(sink);
  refit_early(sink);
}

void RlAgent::told(const WorkEvent& event, WorkSink& sink) {
  const std::uint64_t of = event.token >> kTimerBits;
  switch (event.token & ((1u << kTimerBits) - 1)) {
    case kAnswered:
    case kIsHere:
      return answer(of, (event.token & ((1u << kTimerBits) - 1)) == kIsHere, sink);
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
    refits_.open({kRefit, kRefit}, sink);
    if (!refits_.begun()) recorder_.refit_begins(sink.now());
    refits_.enter_all(sink);
  }
  if (schedule_.may_train()) train(sink);
  if (const std::uint64_t samples = schedule_.may_begin(); samples > 0) begin_samples(samples, sink);
}

// Engines have nothing to do until the refit. Weights of stages that have trained may reach them while others still train.
void RlAgent::refit_early(WorkSink& sink) {
  if (!refits_.is_open() || !schedule_.waits_for_refit()) return;
  refits_.engines_stand(sink);
  if (!refits_.by_stage()) return;
  const bool begun = refits_.begun();
  refits_.enter_trained(sink);
  if (!begun && refits_.begun()) recorder_.refit_begins(sink.now());
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
    case kGenerate:
      return step_ended(kGenerate, token, sink);
    case kExchange:
      return step_ended(kExchange, token, sink);
    case kOffload:
      return --moves_ > 0 ? void() : prepare(sink);
    case kLogProbabilities:
      return train_next(sink);
    case kTrain:
      recorder_.optimizer_step();
      return train_next(sink);
    case kReload:
      if (--moves_ > 0) return;
      recorder_.reloaded(sink.now());
      return schedule_.trained();
    default:
      if (!refits_.ended()) return;
      schedule_.refitted();
      recorder_.refit_ends(sink.now());
      for (Engine& engine : engines_) {
        if (spec_.refit.kv_after == KvAfter::kRecomputed) engine.generation.recompute();
      }
  }
}

// A run is its computations, and then what they have sent, where that is traffic.
void RlAgent::step_ended(Kind kind, std::uint64_t token, WorkSink& sink) {
  const auto number = static_cast<std::uint32_t>(token & ((1u << kEngineBits) - 1));
  Engine& engine = engines_[number];
  if (engine.failures != token >> kEngineBits) return;
  if (kind == kGenerate) {
    const RankId first{spec_.first_engine() + number * spec_.generation.engine.ranks};
    engine.exchanges =
        flows_.launch(engine.generation.run_tokens(), first, {kExchange, token << kKindBits | kExchange}, sink);
  } else {
    --engine.exchanges;
  }
  if (engine.exchanges == 0) end_run(number, sink);
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

// KV that is swapped leaves while the tool runs, one response after another, and comes back after it.
void RlAgent::call_tool(std::uint64_t sample, WorkSink& sink) {
  Engine& engine = engines_[rollouts_.of(sample).engine];
  ++engine.at_tools;
  Time at = tools_->call(sample, rollouts_.prompt(sample), sink.now()).at;
  if (spec_.waiting_kv != WaitingKv::kStays) engine.generation.release(sample);
  if (spec_.waiting_kv == WaitingKv::kSwapped) {
    engine.swapped_out = std::max(engine.swapped_out, sink.now()) + swap_time(spec_, rollouts_.context(sample));
    at = std::max(at, engine.swapped_out);
  }
  rollouts_.of(sample).answer_due = at;
  engine.changes.insert(at);
  sink.wake_at(at, timer(kAnswered, sample));
}

// An answer to a sample that has been made again since is no answer. `is_here`: its KV is.
void RlAgent::answer(std::uint64_t sample, bool is_here, WorkSink& sink) {
  Rollout& rollout = rollouts_.of(sample);
  if (rollout.answer_due != sink.now()) return;
  Engine& engine = engines_[rollout.engine];
  Stretch stretch = rollouts_.stretch(sample);
  if (spec_.waiting_kv == WaitingKv::kSwapped) {
    // The last token before the call has no KV yet.
    stretch.brought = stretch.context - spec_.tools->result_tokens - 1;
    if (!is_here) {
      engine.swapped_in = std::max(engine.swapped_in, sink.now()) + swap_time(spec_, stretch.brought);
      rollout.answer_due = engine.swapped_in;
      engine.changes.insert(engine.swapped_in);
      return sink.wake_at(engine.swapped_in, timer(kIsHere, sample));
    }
    recorder_.swapped(kv_bytes(spec_) * stretch.brought);
  }
  rollout.answer_due = Time::never();
  --engine.at_tools;
  engine.generation.add(stretch);
}

// Others make what it had from the beginning. Complete responses have left it.
void RlAgent::fail(Engine& engine, const EngineFailure& failure, WorkSink& sink) {
  if (!engine.up) return;
  engine.up = false;
  ++engine.failures;
  engine.at_tools = 0;
  engine.swapped_out = engine.swapped_in = Time{};
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
  if (offload_bytes_ > 0.0) return move_state(kOffload, sink);
  prepare(sink);
}

void RlAgent::prepare(WorkSink& sink) {
  recorder_.prepares(sink.now());
  if (spec_.other > Duration{}) return compute(0, spec_.training.ranks(), spec_.other, kLogProbabilities, sink);
  train_next(sink);
}

void RlAgent::train_next(WorkSink& sink) {
  const auto next = training_.next();
  if (!next) return trained(sink);
  if (next->trains) recorder_.training_begins(sink.now());
  const Kind kind = next->trains ? kTrain : kLogProbabilities;
  sink.launch({next->graph, rank_range(0, spec_.training.ranks())}, {kind, kind});
  if (training_.done()) refits_.open({kRefit, kRefit}, sink);
}

void RlAgent::trained(WorkSink& sink) {
  recorder_.training_ends(sink.now());
  if (offload_bytes_ > 0.0) return move_state(kReload, sink);
  schedule_.trained();
}

bool RlAgent::engines_stand() const {
  return std::none_of(engines_.begin(), engines_.end(), [](const Engine& e) { return e.generation.busy(); });
}

// What training keeps goes to the hosts before it begins, as that of engines comes, and the other way round after it.
void RlAgent::move_state(Kind kind, WorkSink& sink) {
  recorder_.moved(offload_bytes_ * spec_.ranks());
  moves_ = launch_host_moves(spec_.offload, offload_bytes_, spec_.ranks(), {kind, kind}, sink);
}

}  // namespace photonrail::rl
