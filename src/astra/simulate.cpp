// A job under the rules of ASTRA-sim's analytical back ends (MIT): those of its public sources, written anew.
#include "astra/collectives.hpp"
#include "astra/links.hpp"
#include "astra/phases.hpp"
#include "astra/rank_events.hpp"
#include "astra/tasks.hpp"
#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/astra.hpp"

#include <algorithm>
#include <tuple>

namespace photonrail {

namespace astra {

namespace {

/// The object graph of one run.
class Machine final : public RankCalls {
 public:
  Machine(const AnalyticalJob& job, AnalyticalBackend backend, bool repeat = false)
      : links_(job.network, backend, clock_, engine::Action::to<&Machine::arrived>(*this)),
        collectives_(job, clock_, links_, *this, repeat),
        tasks_(job, clock_, links_, collectives_, *this),
        events_(job.ranks.size(), clock_, *this) {}

  AnalyticalResult run() {
    tasks_.begin();
    clock_.run();
    tasks_.check_finished();
    return {tasks_.finish_ns(), tasks_.exposed_ns(), links_.messages() + collectives_.repeated_messages(), clock_.events()};
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

bool same_work(const AnalyticalTask& a, const AnalyticalTask& b) {
  const auto work = [](const AnalyticalTask& t) {
    return std::tie(t.kind, t.on_cpu, t.op, t.group, t.bytes, t.dimensions, t.priority, t.flops, t.memory_bytes,
                    t.recorded_ns, t.after);
  };
  return work(a) == work(b);
}

// Checks the memory: what every rank keeps of each of its chunks is taken when a collective begins.
void check_memory(const AnalyticalJob& job) {
  constexpr std::uint64_t kMostCounters = std::uint64_t{1} << 29;
  std::uint64_t of_a_chunk = 32;  // as many counters as its state is worth
  for (const auto* list :
       {&job.system.all_reduce, &job.system.all_gather, &job.system.reduce_scatter, &job.system.all_to_all}) {
    for (std::size_t d = 0; d < list->size() && d < job.network.size(); ++d) {
      if ((*list)[d].algorithm != AnalyticalAlgorithm::kDirect) continue;
      of_a_chunk =
          std::max<std::uint64_t>(of_a_chunk, (*list)[d].whole_network ? job.rank_count() : job.network[d].members);
    }
  }
  if (job.ranks.size() * std::uint64_t{job.system.chunks} <= kMostCounters / of_a_chunk) return;
  throw ConfigError("system.chunks",
                    core::counted(job.system.chunks, "chunk") + " on " + core::counted(job.ranks.size(), "rank") +
                        " are more than the memory holds",
                    "fewer chunks (preferred-dataset-splits)");
}

// Returns what is simulated of a job, message by message. Of a collective of a group, a ring's.
double messages_of(const AnalyticalJob& job) {
  double messages = 0.0;
  for (const auto& tasks : job.ranks) {
    for (const AnalyticalTask& task : tasks) {
      if (task.kind != AnalyticalTask::Kind::kCollective) continue;
      double of_a_chunk = task.group == 0 ? 0.0 : 2.0 * static_cast<double>(job.groups[task.group - 1].size());
      if (task.group == 0) {
        const auto phases = phases_of(task.op, std::max<std::uint64_t>(1, task.bytes / job.system.chunks),
                                      topology_of(job, task.op), task.dimensions, job.system.hierarchical_all_reduce);
        for (const Phase& phase : phases) of_a_chunk += phase.messages;
      }
      messages += of_a_chunk * job.system.chunks;
    }
    if (messages > 1e18) break;
  }
  return messages;
}

// A job that would not end is refused before it begins.
void check_work(const AnalyticalJob& job) {
  constexpr double kMostMessages = 1e10;
  constexpr double kMessagesPerHour = 1.8e10;  // about: 5 million a second
  const double messages = messages_of(job);
  if (messages <= kMostMessages) return;
  throw ConfigError("system.chunks",
                    core::counted(job.system.chunks, "chunk") + " are about " +
                        core::counted(static_cast<std::uint64_t>(messages), "message") + " to simulate, some " +
                        std::to_string(static_cast<std::uint64_t>(messages / kMessagesPerHour) + 1) +
                        " hours; the limit is 10000000000",
                    "fewer chunks (preferred-dataset-splits), or photonrail's own simulation: photonrail import astra");
}

// Returns true when each link carries messages of one rank alone: those to a neighbour, or links that two ranks have to
// themselves. Where several share one, what is sent at the same instant is in an order that tells ranks apart.
bool links_have_one_user(const AnalyticalJob& job, const AnalyticalImplementations& how) {
  for (std::size_t d = 0; d < how.size() && d < job.network.size(); ++d) {
    if (how[d].whole_network && job.network.size() > 1) return false;
    const bool to_neighbours = how[d].algorithm == AnalyticalAlgorithm::kRing;
    if (!to_neighbours && job.network[d].shape != AnalyticalShape::kFullyConnected) return false;
  }
  return true;
}

// Returns true when one rank can stand for all: each does the same, with all, by algorithms in which every place is like
// the others.
bool alike(const AnalyticalJob& job, AnalyticalBackend backend) {
  const auto symmetric = [&](const AnalyticalTask& t) {
    if (t.kind == AnalyticalTask::Kind::kSend || t.kind == AnalyticalTask::Kind::kReceive) return false;
    if (t.kind != AnalyticalTask::Kind::kCollective) return true;
    const auto& how = implementations(job.system, t.op);
    if (backend == AnalyticalBackend::kCongestionAware && !links_have_one_user(job, how)) return false;
    return (t.group == 0 || job.groups[t.group - 1].size() == job.ranks.size()) &&
           std::none_of(how.begin(), how.end(),
                        [](const auto& h) { return h.algorithm == AnalyticalAlgorithm::kDoubleBinaryTree; });
  };
  const auto& first = job.ranks.front();
  return std::all_of(first.begin(), first.end(), symmetric) &&
         std::all_of(job.ranks.begin(), job.ranks.end(), [&](const auto& tasks) {
           return std::equal(tasks.begin(), tasks.end(), first.begin(), first.end(), same_work);
         });
}

}  // namespace

}  // namespace astra

AnalyticalResult simulate_analytical(const AnalyticalJob& job, AnalyticalBackend backend) {
  job.validate();
  if (!astra::alike(job, backend)) {
    astra::check_memory(job);
    astra::check_work(job);
    return astra::Machine(job, backend).run();
  }
  AnalyticalJob folded = job;
  folded.ranks.resize(1);
  astra::check_memory(folded);
  const bool repeat = astra::all_chunks_alike(folded, backend);
  if (!repeat) astra::check_work(folded);
  AnalyticalResult result = astra::Machine(folded, backend, repeat).run();
  result.finish_ns.resize(job.ranks.size(), result.finish_ns.front());
  result.exposed_ns.resize(job.ranks.size(), result.exposed_ns.front());
  result.messages *= job.ranks.size();
  return result;
}

}  // namespace photonrail
