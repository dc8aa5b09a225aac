// Tells an agent what ended: one event after another, never while it is in a call.
#pragma once

#include "execution/critical_path.hpp"
#include "photonrail/workload/agent.hpp"

#include <cstdint>
#include <deque>

namespace photonrail::execution {

class AgentVoice {
 public:
  /// Both must outlive the object.
  AgentVoice(WorkloadAgent& agent, WorkSink& sink) : agent_(agent), sink_(sink) {}

  void add(const WorkEvent& event, CriticalPathTag cause) { waiting_.push_back({event, cause}); }
  /// Tells all that waits, and what comes meanwhile. Does nothing while the agent is in a call. Throws DeadlockError when
  /// that has no end at one instant, and ConfigError for an exception of the agent that is none of this library.
  void tell_all();
  [[nodiscard]] bool speaks() const { return telling_; }
  /// Of the event that the agent is told of.
  [[nodiscard]] CriticalPathTag cause() const { return cause_; }

 private:
  struct Told {
    WorkEvent event;
    CriticalPathTag cause;
  };
  void tell(const WorkEvent& event);

  WorkloadAgent& agent_;
  WorkSink& sink_;
  std::deque<Told> waiting_;
  CriticalPathTag cause_{};
  bool telling_ = false;
  Time last_{};
  std::uint64_t told_ = 0;  // at that instant
};

}  // namespace photonrail::execution
