#include "photonrail/testing/tiny_job.hpp"

#include <utility>

namespace photonrail::testing {

TinyJob::TinyJob(std::size_t ranks, std::uint32_t gpus_per_server) : builder_(ranks), last_(ranks, TaskId::none()) {
  for (std::size_t r = 0; r < ranks; ++r) programs_.push_back(builder_.add_program());
  scenario.cluster.servers = static_cast<std::uint32_t>(ranks) / gpus_per_server;
  scenario.cluster.gpus_per_server = gpus_per_server;
  scenario.run.fidelity = Fidelity::kExact;
  for (std::size_t r = 0; r < ranks; ++r) scenario.gpu_of_rank.push_back(GpuId{r});
}

TinyJob& TinyJob::optical(Duration delay, const std::string& controller) {
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(delay);
  scenario.controller.name = controller;
  return *this;
}

CommunicatorId TinyJob::group(const std::vector<std::size_t>& members, Dimension d) {
  std::vector<RankId> ranks;
  std::string name;
  for (const std::size_t m : members) {
    ranks.push_back(RankId{m});
    name += (name.empty() ? "" : "-") + std::to_string(m);
  }
  return builder_.add_communicator(name, std::move(ranks), d);
}

TinyJob& TinyJob::compute(std::size_t rank, Duration time) {
  return done(rank, builder_.add_delay(programs_[rank], time, "compute", last(rank)));
}

TinyJob& TinyJob::collective(CommunicatorId group, const std::vector<std::size_t>& members, CollectiveOp op,
                             std::int64_t bytes) {
  for (const std::size_t rank : members) {
    done(rank, builder_.add_collective(programs_[rank], group, op, Bytes{bytes}, "collective", last(rank)));
  }
  return *this;
}

TinyJob& TinyJob::all_to_all(CommunicatorId group, const std::vector<std::size_t>& members, std::uint32_t demand) {
  for (const std::size_t rank : members) {
    done(rank, builder_.add_all_to_all(programs_[rank], group, demand, Bytes{1}, "all-to-all", last(rank)));
  }
  return *this;
}

TinyJob& TinyJob::demands(std::shared_ptr<const TrafficSource> source) {
  builder_.set_demands(std::move(source));
  return *this;
}

TinyJob& TinyJob::send(std::size_t from, std::size_t to, std::int64_t bytes, std::uint32_t tag) {
  const CommunicatorId link = builder_.link(RankId{from}, RankId{to}, Dimension::kPp);
  return done(from, builder_.add_send(programs_[from], link, Bytes{bytes}, tag, "send", last(from)));
}

TinyJob& TinyJob::receive(std::size_t from, std::size_t to, std::int64_t bytes, std::uint32_t tag) {
  const CommunicatorId link = builder_.link(RankId{from}, RankId{to}, Dimension::kPp);
  return done(to, builder_.add_receive(programs_[to], link, Bytes{bytes}, tag, "receive", last(to)));
}

TinyJob& TinyJob::detach(std::size_t rank) {
  last_[rank] = TaskId::none();
  return *this;
}

TinyJob& TinyJob::build() {
  for (std::size_t r = 0; r < programs_.size(); ++r) builder_.assign(RankId{r}, programs_[r]);
  scenario.graph = std::move(builder_).build();
  return *this;
}

RunResult TinyJob::run(std::span<Observer* const> observers) { return run(observers, Registries{}); }

RunResult TinyJob::run(std::span<Observer* const> observers, const Registries& known) {
  if (scenario.graph.ranks() == 0) build();
  return simulate(scenario, observers, known);
}

std::vector<TaskId> TinyJob::last(std::size_t rank) const {
  return last_[rank].is_none() ? std::vector<TaskId>{} : std::vector<TaskId>{last_[rank]};
}

TinyJob& TinyJob::done(std::size_t rank, TaskId task) {
  last_[rank] = task;
  return *this;
}

}  // namespace photonrail::testing
