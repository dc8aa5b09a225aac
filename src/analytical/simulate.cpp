// A job under the rules of ASTRA-sim's analytical back ends (MIT): those of its public sources, written anew.
#include "analytical/collectives.hpp"
#include "analytical/links.hpp"
#include "analytical/rank_events.hpp"
#include "analytical/tasks.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/analytical.hpp"

namespace photonrail {

namespace analytical {

namespace {

/// The object graph of one run.
class Machine final : public RankCalls {
 public:
  Machine(const AnalyticalJob& job, AnalyticalBackend backend)
      : links_(job.network, backend, clock_, engine::Action::to<&Machine::arrived>(*this)),
        collectives_(job, clock_, links_, *this),
        tasks_(job, clock_, links_, collectives_, *this),
        events_(job.ranks.size(), clock_, *this) {}

  AnalyticalResult run() {
    tasks_.begin();
    clock_.run();
    tasks_.check_finished();
    return {tasks_.finish_ns(), tasks_.exposed_ns(), links_.messages(), clock_.events()};
  }

  void after(std::uint32_t rank, std::uint64_t nanoseconds, const RankEvent& event) override {
    events_.after(rank, nanoseconds, event);
  }
  void collective_over(std::uint32_t rank, std::uint32_t task) override { tasks_.over(rank, task); }

 private:
  void on_event(std::uint32_t rank, const RankEvent& event) {
    if (event.chunk != nullptr) return collectives_.handled(event);
    tasks_.over(rank, event.task);
  }
  void arrived(std::uint64_t message) {
    if ((message & kOfACollective) != 0) return collectives_.arrived(message & ~kOfACollective);
    tasks_.arrived(message);
  }

  Clock clock_;
  Links links_;
  Collectives collectives_;
  Tasks tasks_;
  RankEvents<RankEvent, Machine, &Machine::on_event> events_;
};

}  // namespace

}  // namespace analytical

AnalyticalResult simulate_analytical(const AnalyticalJob& job, AnalyticalBackend backend) {
  job.validate();
  return analytical::Machine(job, backend).run();
}

}  // namespace photonrail
