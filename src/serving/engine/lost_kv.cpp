// All KV of an engine is lost at once, as where new weights make it worthless.
#include "serving/engine/scheduler.hpp"

namespace photonrail::serving {

void KvBlocks::forget_contents() {
  first_with_.clear();
  for (Block& block : blocks_) {
    block.known = false;
    block.same = kEnd;
  }
}

// The order of the running requests stays: the last of them goes to the front of the queue first.
void Scheduler::lose_kv() {
  while (!running_.empty()) preempt(running_.size() - 1);
  step_.clear();
  for (const Place& place : waiting_) {
    Known& known = known_[std::get<Slot>(place)];
    blocks_.release(known.held);
    if (known.computed > 0) known.lost = known.computed;
    known.again = known.again || known.computed > 0;
    known.computed = known.filled = 0;
    known.swapped = false;
  }
  swapped_.blocks = 0;
  blocks_.forget_contents();
}

}  // namespace photonrail::serving
