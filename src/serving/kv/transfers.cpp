#include "serving/kv/transfers.hpp"

#include "photonrail/task_graph.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace photonrail::serving {

std::uint64_t Transfers::bytes(std::uint32_t tokens) const {
  return static_cast<std::uint64_t>(std::llround(spec_.bytes_per_token * tokens));
}

namespace {

// Ranks are joined in order; where one side has more of them, several of it send to, or hear from, one of the other.
template <class Use>
void each_share(std::uint64_t bytes, const EngineRun& from, const EngineRun& to, Use&& use) {
  const std::size_t count = std::max(from.ranks().size(), to.ranks().size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t share = bytes * (i + 1) / count - bytes * i / count;
    if (share > 0) use(from.ranks()[i * from.ranks().size() / count], to.ranks()[i * to.ranks().size() / count], share);
  }
}

std::shared_ptr<const TaskGraph> message(Bytes bytes) {
  TaskGraphBuilder builder(2);
  const CommunicatorId link = builder.link(RankId{0U}, RankId{1U}, Dimension::kKv);
  const ProgramId sends = builder.add_program();
  const ProgramId receives = builder.add_program();
  builder.add_send(sends, link, bytes, 0);
  builder.add_receive(receives, link, bytes, 0);
  builder.assign(RankId{0U}, sends);
  builder.assign(RankId{1U}, receives);
  return std::make_shared<const TaskGraph>(std::move(builder).build());
}

}  // namespace

void Transfers::post(KvTransfer& transfer, std::uint64_t bytes, const EngineRun& from, const EngineRun& to,
                     std::uint64_t token, WorkSink& sink) {
  const LaunchLabel label{static_cast<std::uint32_t>(ServingLaunch::kKv), token};
  each_share(bytes, from, to, [&](RankId sender, RankId receiver, std::uint64_t share) {
    sink.send(sender, receiver, Bytes{static_cast<std::int64_t>(share)}, label, Dimension::kKv);
    ++transfer.messages;
  });
  sent_ += bytes;
}

Transfers::Announced Transfers::announce(std::uint64_t all, bool only_early, const EngineRun& from, const EngineRun& to,
                                         std::uint64_t token, WorkSink& sink) const {
  Announced announced{{}, only_early ? early(all) : all, all};
  std::shared_ptr<const TaskGraph> graph;
  std::uint64_t of = 0;
  each_share(announced.bytes, from, to, [&](RankId sender, RankId receiver, std::uint64_t share) {
    if (std::exchange(of, share) != share) graph = message(Bytes{static_cast<std::int64_t>(share)});
    const LaunchId launch = sink.open({graph, {sender, receiver}}, {static_cast<std::uint32_t>(ServingLaunch::kKv), token});
    for (const RankId rank : {sender, receiver}) sink.announce(launch, rank);
    announced.messages.push_back({launch, sender, receiver});
  });
  return announced;
}

void Transfers::enter(KvTransfer& transfer, const Announced& announced, WorkSink& sink) {
  for (const Announced::Message& message : announced.messages) {
    for (const RankId rank : {message.from, message.to}) sink.enter(message.launch, rank);
    ++transfer.messages;
  }
  transfer.unsent -= announced.bytes;
  sent_ += announced.bytes;
}

Duration Transfers::alone(std::uint64_t bytes, const EngineRun& from, const EngineRun& to) const {
  const std::size_t fewest = std::min(from.ranks().size(), to.ranks().size());
  const std::uint64_t each = (bytes + fewest - 1) / fewest;
  return spec_.latency + transfer_time(Bytes{static_cast<std::int64_t>(each)}, spec_.rate);
}

}  // namespace photonrail::serving
