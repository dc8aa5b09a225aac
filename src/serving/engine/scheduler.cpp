#include "serving/engine/scheduler.hpp"

#include "photonrail/error.hpp"
#include "serving/engine/decided_steps.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace photonrail::serving {

namespace {

std::uint32_t blocks_for(std::uint64_t tokens, std::uint32_t block_tokens) {
  return static_cast<std::uint32_t>((tokens + block_tokens - 1) / block_tokens);
}

bool drafts(const EngineSpec& spec, const Running& running) {
  return spec.speculation.drafts > 0 && running.computed + 1 == running.reached && running.reached > running.prompt;
}

}  // namespace

std::uint32_t wanted(const EngineSpec& spec, const Running& running) {
  std::uint32_t tokens = running.reached - running.computed;
  if (drafts(spec, running)) tokens += std::min(spec.speculation.drafts, running.last - running.reached - 1);
  if (spec.long_prefill > 0) tokens = std::min(tokens, spec.long_prefill);
  return tokens;
}

Scheduler::Scheduler(const EngineSpec& spec, bool keeps_finished, RandomStream draws)
    : spec_(spec), apart_{keeps_finished}, blocks_(spec.blocks, spec.prefix_caching), draws_(draws) {
  PHOTONRAIL_CHECK(spec.max_sequences > 0 && spec.token_budget > 0 && spec.block_tokens > 0);
}

bool Scheduler::fits(const Request& request) const {
  return blocks_for(request.kv_tokens(), spec_.block_tokens) <= blocks_.total();
}

Slot Scheduler::make(Request request) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<Slot>(known_.size()));
    known_.emplace_back();
  }
  const Slot slot = unused_.back();
  unused_.pop_back();
  Known& known = known_[slot];
  known.reached = request.prompt + request.generated;
  known.computed = known.filled = known.lost = 0;
  known.swapped = known.again = known.apart = false;
  known.last_token = Time::never();
  known.longest_gap = {};
  known.sequence = sequences_.next++;
  known.request = std::move(request);
  return slot;
}

std::int64_t Scheduler::Known::rank(QueueOrder order) const {
  switch (order) {
    case QueueOrder::kPriority:
      return request.priority;
    case QueueOrder::kShortest:
      return request.prompt;
    case QueueOrder::kArrival:
      break;
  }
  return 0;
}

Slot Scheduler::enqueue(Request request) {
  PHOTONRAIL_CHECK(fits(request));
  const Slot slot = make(std::move(request));
  const Known& known = known_[slot];
  waiting_.emplace(known.rank(spec_.order), known.sequence, slot);
  return slot;
}

std::optional<Scheduler::Reserved> Scheduler::reserve(Request request, std::uint32_t computed, std::uint32_t there) {
  const std::uint32_t hits = blocks_.hits(request.contents(spec_), std::min(computed, there - 1) / spec_.block_tokens);
  HeldBlocks held;
  if (!blocks_.admit(held, request.contents(spec_), hits, blocks_for(computed, spec_.block_tokens), 0)) return std::nullopt;
  const Slot slot = make(std::move(request));
  Known& known = known_[slot];
  known.computed = computed;
  known.held = std::move(held);
  known.filled = hits;
  apart_.set(known, true);
  return Reserved{slot, hits * spec_.block_tokens};
}

// What came can be found from now on.
void Scheduler::deliver(Slot slot) {
  Known& known = known_[slot];
  apart_.set(known, false);
  const std::uint32_t full = known.computed / spec_.block_tokens;
  blocks_.fill(known.held, known.request.contents(spec_), known.filled, full);
  known.filled = full;
  known.sequence = sequences_.next++;
  waiting_.emplace(known.rank(spec_.order), known.sequence, slot);
}

std::uint32_t Scheduler::cached_tokens(const Request& request) const {
  return blocks_.hits(request.contents(spec_), (request.prompt + request.generated - 1) / spec_.block_tokens) *
         spec_.block_tokens;
}

void Scheduler::release(Slot slot) {
  apart_.set(known_[slot], false);
  blocks_.release(known_[slot].held);
  unused_.push_back(slot);
}

Scheduler::Progress Scheduler::progress(Slot slot) const {
  const Known& known = known_[slot];
  for (const Running& running : running_) {
    if (running.slot == slot) return {running.reached - known.request.prompt, running.last_token, running.longest_gap};
  }
  return {known.reached - known.request.prompt, known.last_token, known.longest_gap};
}

const Step& Scheduler::next() {
  const bool had_prompts = step_.prefills > 0;
  step_.clear();
  if (spec_.policy) {
    if (has_work()) DecidedSteps(*this).next();
    return step_;
  }
  if (spec_.slice_tokens > 0) end_slices();
  const bool alone = spec_.intake.prompts_alone;
  sequences_.intake.look(spec_.intake, sequences_.next, !running_.empty(), had_prompts);
  std::size_t preempted = 0;
  const auto ran = [&](Part part) {  // false: for want of blocks
    budget_ = spec_.token_budget;
    apart_.stall_step = false;
    run_batch(part);
    const bool lacks = apart_.stall_step || step_.preempted.size() > preempted;
    step_.lacks_blocks = step_.lacks_blocks || lacks;
    return !lacks;
  };
  const auto known = [this](const Place& place) { return sequences_.intake.knows(std::get<1>(place)); };
  const auto first_known = [&] { return std::find_if(waiting_.begin(), waiting_.end(), known); };
  const auto holds_back = [&] {
    if (spec_.intake.wait_steps == 0 || running_.empty() || first_known() == waiting_.end()) return false;
    std::uint64_t tokens = step_.tokens();
    for (const Place& place : waiting_) tokens += known(place) ? known_[std::get<Slot>(place)].reached : 0;
    return sequences_.intake.holds_back(spec_.intake, tokens, spec_.token_budget);
  };
  // A step in which everything that ran was preempted admits nothing; the one after it does.
  do {
    preempted = step_.preempted.size();
    if (ran(alone ? Part::kPrompts : Part::kAll) && !holds_back()) {
      for (auto place = first_known(); place != waiting_.end() && running_.size() < spec_.max_sequences && budget_ > 0;
           place = first_known()) {
        if (admit(std::get<Slot>(*place), budget_)) continue;
        step_.lacks_blocks = true;
        break;
      }
    }
    if (alone && step_.empty() && step_.preempted.size() == preempted) ran(Part::kDecodes);
    if (step_.empty() && running_.empty() && step_.preempted.size() == preempted) give_up_delivered(false);
  } while (step_.empty() && !apart_.stall_step && step_.preempted.size() > preempted);
  return step_;
}

// KV that was delivered for requests that wait is in the way of one that could run: the last of them loses its, and will
// compute it again. `first`: so may the first of them.
bool Scheduler::give_up_delivered(bool first) {
  for (auto place = waiting_.rbegin(); place != waiting_.rend(); ++place) {
    const Slot slot = std::get<Slot>(*place);
    Known& known = known_[slot];
    if (known.held.count == 0 || (!first && std::next(place) == waiting_.rend())) continue;
    blocks_.release(known.held);
    known.lost = known.computed;
    known.computed = 0;
    known.again = true;
    step_.preempted.push_back(slot);
    return true;
  }
  return false;
}

void Step::clear() {
  sequences = prefills = prefill_tokens = decodes = decode_tokens = longest_cached = swapped_out = swapped_in = 0;
  prefill_reads = decode_cached = 0;
  lacks_blocks = false;
  admitted.clear();
  preempted.clear();
}

void Scheduler::run_batch(Part part) {
  for (std::size_t i = 0; i < running_.size(); ++i) running_[i].now = 0;
  for (std::size_t i = 0; i < running_.size() && budget_ > 0; ++i) {
    const bool is_prompt = running_[i].computed + 1 < running_[i].reached || running_[i].reached == running_[i].prompt;
    if (part != Part::kAll && is_prompt != (part == Part::kPrompts)) continue;
    const std::uint32_t tokens = std::min(wanted(spec_, running_[i]), budget_);
    if (running_[i].computed + tokens > running_[i].capacity && !make_room(i, tokens)) break;
    count(running_[i], tokens, 1);
  }
}

// Preempts until the request has blocks for `tokens` more, or is preempted itself: then false. So it is where only prompts
// whose KV is to go, or is on its way here, have blocks beside it: it keeps its own meanwhile, as it would lack them again.
bool Scheduler::make_room(std::size_t& index, std::uint32_t tokens) {
  const std::uint32_t blocks = blocks_for(running_[index].computed + tokens, spec_.block_tokens);
  const auto before = [this](const Running& a, const Running& b) {
    const Known& first = known_[a.slot];
    const Known& second = known_[b.slot];
    return std::pair(first.rank(spec_.order), first.sequence) < std::pair(second.rank(spec_.order), second.sequence);
  };
  while (!blocks_.grow(known_[running_[index].slot].held, blocks)) {
    std::size_t last = running_.size() - 1;
    if (spec_.order != QueueOrder::kArrival) {
      last = static_cast<std::size_t>(std::max_element(running_.begin(), running_.end(), before) - running_.begin());
    }
    if (running_.size() == 1 && give_up_delivered(true)) continue;
    if (running_.size() == 1 && apart_.count > 0) {
      apart_.stall_step = true;
      return false;
    }
    const bool itself = last == index;
    if (last < index) {  // its tokens of this step return to the budget
      count(running_[last], running_[last].now, -1);
      --index;
    }
    preempt(last);
    if (itself) return false;
  }
  running_[index].capacity = blocks * spec_.block_tokens;
  return true;
}

// Those whose slices are over make room for as many as wait, the first of them first.
void Scheduler::end_slices() {
  std::size_t waiting = waiting_.size();
  for (std::size_t i = 0; i < running_.size() && waiting > 0;) {
    if (running_[i].reached < running_[i].until) {
      ++i;
      continue;
    }
    preempt(i, true);
    --waiting;
  }
}

void Scheduler::set_swap_room(std::uint64_t blocks) {
  swapped_.room = blocks;
  for (auto place = waiting_.rbegin(); place != waiting_.rend() && swapped_.blocks > swapped_.room; ++place) {
    Known& known = known_[std::get<Slot>(*place)];
    if (!known.swapped) continue;
    swapped_.blocks -= blocks_for(known.computed, spec_.block_tokens);
    known.swapped = false;
    known.computed = 0;
  }
}

void Scheduler::preempt(std::size_t index, bool slice_over) {
  const Running& running = running_[index];
  Known& known = known_[running.slot];
  known.reached = running.reached;
  known.last_token = running.last_token;
  known.longest_gap = running.longest_gap;
  const std::uint32_t blocks = blocks_for(running.computed, spec_.block_tokens);
  known.swapped =
      spec_.preemption == Preemption::kSwap && running.computed > 0 && swapped_.blocks + blocks <= swapped_.room;
  known.lost = running.computed;
  known.computed = known.swapped ? running.computed : 0;
  if (known.swapped) {
    step_.swapped_out += blocks;
    swapped_.blocks += blocks;
  }
  known.filled = 0;
  known.again = true;
  blocks_.release(known.held);
  if (slice_over) {
    known.sequence = sequences_.next++;
  } else if (spec_.order == QueueOrder::kArrival) {
    known.sequence = --sequences_.front;
  }
  waiting_.emplace(known.rank(spec_.order), known.sequence, running.slot);
  step_.preempted.push_back(running.slot);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
}

// Adds the request's tokens to the step, or takes them out. A chunk of one token is a decode to the kernels.
void Scheduler::count(Running& running, std::uint32_t tokens, int sign) {
  if (tokens == 0) return;
  const auto add = [sign](auto& sum, auto value) {
    using Sum = std::remove_reference_t<decltype(sum)>;
    sum = sign > 0 ? static_cast<Sum>(sum + value) : static_cast<Sum>(sum - value);
  };
  add(step_.sequences, 1U);
  budget_ = sign > 0 ? budget_ - tokens : budget_ + tokens;
  running.now = sign > 0 ? tokens : 0;
  if (tokens == 1 || drafts(spec_, running)) {
    add(step_.decodes, 1U);
    add(step_.decode_tokens, tokens);
    add(step_.decode_cached, running.computed);
    step_.longest_cached = std::max(step_.longest_cached, running.computed);
  } else {
    add(step_.prefills, 1U);
    add(step_.prefill_tokens, tokens);
    add(step_.prefill_reads, std::uint64_t{tokens} * running.computed);
  }
  if (sign < 0 || !spec_.prefix_caching) return;
  // Blocks that the step fills can be found by requests of the same step: their kernels write before they read.
  const std::uint32_t sure = running.computed + (drafts(spec_, running) ? 1 : running.now);
  if (sure < running.full_at) return;
  Known& known = known_[running.slot];
  const std::uint32_t full = sure / spec_.block_tokens;
  blocks_.fill(known.held, known.request.contents(spec_), known.filled, full);
  known.filled = full;
  running.full_at = (full + 1) * spec_.block_tokens;
}

bool Scheduler::admit(Slot slot, std::uint32_t most_tokens, std::uint32_t most_found) {
  Known& known = known_[slot];
  std::uint32_t computed = 0;
  std::uint32_t tokens = most_tokens;
  if (!give_blocks(known, most_found, computed, tokens)) return false;
  waiting_.erase({known.rank(spec_.order), known.sequence, slot});
  Running running;
  running.slot = slot;
  running.computed = computed;
  running.reached = known.reached;
  running.prompt = known.request.prompt;
  running.last = known.request.prompt + known.request.output;
  running.until = known.reached + spec_.slice_tokens;
  running.capacity = known.held.count * spec_.block_tokens;
  running.last_token = known.last_token;
  running.longest_gap = known.longest_gap;
  running.full_at = (known.filled + 1) * spec_.block_tokens;
  running_.push_back(running);
  count(running_.back(), tokens, 1);
  return true;
}

// Blocks for the first chunk of a request, of at most `tokens`, or for more where the rule says so.
bool Scheduler::give_blocks(Known& known, std::uint32_t most_found, std::uint32_t& computed, std::uint32_t& tokens) {
  const bool here = known.held.count > 0;  // it was delivered
  std::uint32_t hits = 0;
  if (!here && !known.swapped) {
    hits = blocks_.hits(known.request.contents(spec_), std::min(known.reached - 1, most_found) / spec_.block_tokens);
    computed = hits * spec_.block_tokens;
  } else {
    computed = known.computed;
  }
  tokens = std::min(known.reached - computed, tokens);
  if (spec_.long_prefill > 0) tokens = std::min(tokens, spec_.long_prefill);
  std::uint64_t all = std::uint64_t{computed} + tokens;
  std::uint64_t spare = 0;
  if (spec_.admission == Admission::kPrompt) {
    all = std::max<std::uint64_t>(all, known.reached);
    if (!running_.empty()) spare = blocks_.total() / 100;
  } else if (spec_.admission == Admission::kPromptAndOutput) {
    all = known.request.kv_tokens();
  }
  const std::uint32_t blocks = blocks_for(all, spec_.block_tokens);
  if (here ? !blocks_.grow(known.held, blocks)
           : !blocks_.admit(known.held, known.request.contents(spec_), hits, blocks, spare)) {
    return false;
  }
  if (known.swapped) {
    const std::uint32_t back = blocks_for(computed, spec_.block_tokens);
    step_.swapped_in += back;
    swapped_.blocks -= back;
  }
  known.swapped = false;
  if (!here) known.filled = hits;
  std::uint32_t left = here ? 0 : known.reached - computed;
  if (known.again) left = known.lost - std::min(known.lost, computed);
  step_.admitted.push_back({static_cast<Slot>(&known - known_.data()), hits * spec_.block_tokens, left, known.again});
  return true;
}

const StepEnd& Scheduler::finish(Time end) {
  end_.first.clear();
  end_.gaps.clear();
  end_.finished.clear();
  end_.regular = end_.joined = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running& running = running_[i];
    if (running.now > 0) {
      if (drafts(spec_, running)) {
        std::uint32_t accepted = 1;
        while (accepted < running.now && draws_.uniform() < spec_.speculation.acceptance) ++accepted;
        running.computed += accepted;
        emit(running, accepted, end);
      } else {
        running.computed += running.now;
        if (running.computed == running.reached) emit(running, 1, end);
      }
    }
    if (running.reached == running.last) {
      end_.finished.push_back({running.slot, running.longest_gap});
      if (apart_.finished) {
        apart_.set(known_[running.slot], true);
      } else {
        release(running.slot);
      }
    } else {
      if (kept != i) running_[kept] = running;
      ++kept;
    }
  }
  running_.resize(kept);
  previous_end_ = end;
  return end_;
}

void Scheduler::emit(Running& running, std::uint32_t tokens, Time end) {
  preempted_in_vain_ = 0;
  running.reached += tokens;
  if (running.last_token == Time::never()) {
    end_.first.push_back(running.slot);
  } else {
    const Duration gap = end - running.last_token;
    running.longest_gap = std::max(running.longest_gap, gap);
    if (running.last_token == previous_end_) {
      ++end_.regular;
    } else {
      end_.gaps.push_back(gap);
    }
  }
  end_.joined += tokens - 1;
  running.last_token = end;
}

}  // namespace photonrail::serving
