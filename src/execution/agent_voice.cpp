#include "execution/agent_voice.hpp"

#include "execution/launched_graphs.hpp"
#include "photonrail/error.hpp"

#include <exception>
#include <new>
#include <string>

namespace photonrail::execution {

namespace {

constexpr std::uint64_t kMaxToldAtOneInstant = std::uint64_t{1} << 22;

}  // namespace

void AgentVoice::tell_all() {
  if (telling_) return;
  telling_ = true;
  while (!waiting_.empty()) {
    const Told told = waiting_.front();
    waiting_.pop_front();
    cause_ = told.cause;
    tell(told.event);
  }
  telling_ = false;
  cause_ = {};
}

void AgentVoice::tell(const WorkEvent& event) {
  told_ = event.now == last_ ? told_ + 1 : 1;
  last_ = event.now;
  // Written only where it is said: the text of a number takes as long as a step of an engine that serves requests.
  const auto now = [&event] { return std::to_string(to_seconds(event.now)) + " s"; };
  if (told_ > kMaxToldAtOneInstant) {
    throw DeadlockError({"the workload was told of " + std::to_string(kMaxToldAtOneInstant) + " ends at " + now() +
                         ", and time does not pass"});
  }
  try {
    agent_.on(event, sink_);
  } catch (const Error&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail_workload("its agent failed at " + now() + ": " + error.what());
  } catch (...) {
    fail_workload("its agent threw something that is no std::exception at " + now());
  }
}

}  // namespace photonrail::execution
