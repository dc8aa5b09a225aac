#include "rl/generation_engine.hpp"

#include "core/mix64.hpp"
#include "photonrail/error.hpp"

#include <utility>

namespace photonrail::rl {

namespace {

std::uint64_t prefix_key(std::uint64_t prefix, std::uint64_t block) {
  return core::mix64((prefix + 1) * core::kMix64Step ^ (block + 1) * 0xd1342543de82ef95U);
}

}  // namespace

GenerationEngine::GenerationEngine(const serving::EngineSpec& spec, const serving::StepTime& times, std::uint64_t seed)
    : batch_(spec, times, RandomStream(seed, "drafts")) {}

void GenerationEngine::add(const Stretch& stretch) {
  release(stretch.sample);
  serving::Request request;
  request.id = request.content = stretch.sample;
  request.prompt = stretch.context;
  request.output = stretch.tokens;
  const std::uint32_t block = batch_.scheduler().spec().block_tokens;
  for (std::uint32_t b = 0; (b + 1) * block <= stretch.prompt; ++b) {
    request.keys.push_back(prefix_key(stretch.prefix, b));
  }
  if (stretch.brought > 0) {
    inbound_.emplace_back(std::move(request), stretch.brought);
  } else {
    batch_.scheduler().enqueue(std::move(request));
  }
}

void GenerationEngine::release(std::uint64_t sample) {
  const auto kept = kept_.find(sample);
  if (kept == kept_.end()) return;
  batch_.scheduler().release(kept->second);
  kept_.erase(kept);
}

std::size_t GenerationEngine::samples() const {
  const serving::Scheduler& scheduler = batch_.scheduler();
  return scheduler.running().size() + scheduler.waiting() + inbound_.size();
}

// First come, first served. All of the KV has come, so that none of it is looked for here.
void GenerationEngine::bring() {
  while (!inbound_.empty()) {
    const auto& [request, computed] = inbound_.front();
    const auto reserved = batch_.scheduler().reserve(request, computed, 1);
    if (!reserved) return;
    batch_.scheduler().deliver(reserved->slot);
    inbound_.pop_front();
  }
}

std::optional<Duration> GenerationEngine::begin_run(Time now, const serving::RunLimit& limit) {
  PHOTONRAIL_CHECK(!open_);
  bring();
  const serving::BatchRun& run = batch_.run(now, limit);
  if (run.steps == 0) return std::nullopt;
  open_ = true;
  tokens_ = run.tokens;
  done_.clear();
  for (const serving::Slot slot : run.finished) {
    done_.push_back(batch_.scheduler().id(slot));
    kept_.emplace(done_.back(), slot);
  }
  return run.time;
}

std::vector<std::uint64_t> GenerationEngine::end_run() {
  PHOTONRAIL_CHECK(open_);
  open_ = false;
  return std::move(done_);
}

}  // namespace photonrail::rl
