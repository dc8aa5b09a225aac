#include "network/departure_agenda.hpp"

namespace photonrail::network {

void DepartureAgenda::remove(CapacityId id) {
  if (entries_[id].position == kNone) return;
  heap_remove(due_, entries_[id].position, placed());
  entries_[id].position = kNone;
}

void DepartureAgenda::set(CapacityId id, Time at) {
  const std::uint32_t position = entries_[id].position;
  if (at == Time::never()) {
    remove(id);
  } else if (position == kNone) {
    heap_insert(due_, Due{at, id}, placed());
  } else {
    due_[position].at = at;
    heap_restore(due_, position, placed());
  }
}

void DepartureAgenda::schedule() {
  const Time next = due_.empty() ? Time::never() : std::max(due_.front().at, engine_.now());
  if (event_ && next == event_at_) return;
  engine_.cancel(event_);
  event_ = {};
  event_at_ = next;
  if (next != Time::never()) event_ = engine_.schedule(next, engine::Phase::kFinish, departure_);
}

}  // namespace photonrail::network
