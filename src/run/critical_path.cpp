#include "run/critical_path.hpp"

#include "execution/mean.hpp"
#include "run/computation_class.hpp"
#include "run/operation_places.hpp"
#include "run/path_walk.hpp"
#include "run/peer_waits.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace photonrail {

std::string_view name(Place place) {
  switch (place) {
    case Place::kScaleUp:
      return "scale_up";
    case Place::kPort:
      return "port";
    case Place::kLeafUplink:
      return "leaf_uplink";
    case Place::kPodUplink:
      return "pod_uplink";
    case Place::kSiteLink:
      return "site_link";
    case Place::kLatency:
      break;
  }
  return "latency";
}

std::string_view name(WaitCause cause) {
  static constexpr std::array<std::string_view, kWaitCauseCount> kNames{
      "straggler", "uneven experts", "pipeline bubble", "data of peers", "late circuits", "lane", "other"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string PathPart::label() const {
  const auto word = [](const std::optional<Dimension>& d) { return d ? std::string(name(*d)) : std::string("begin"); };
  switch (kind) {
    case Kind::kComputation:
      return what.empty() ? "computation" : "computation: " + what;
    case Kind::kCommunication:
      return word(dimension) + " over " + std::string(name(*place));
    case Kind::kCircuits:
      return "circuits: " + word(before) + " -> " + word(dimension);
    case Kind::kLane:
      return "lane: " + word(dimension);
    case Kind::kUnexplained:
      break;
  }
  return "unexplained";
}

PeerWaits CriticalPath::mean_waits() const {
  PeerWaits means{};
  for (std::size_t c = 0; c < means.size() && !waits.empty(); ++c) {
    execution::Mean mean(waits.size());
    for (const PeerWaits& of_rank : waits) mean.add(of_rank[c]);
    means[c] = mean.value();
  }
  return means;
}

Duration CriticalPath::total() const {
  return std::accumulate(parts.begin(), parts.end(), Duration{},
                         [](Duration sum, const PathPart& part) { return sum + part.time; });
}

namespace run {

namespace {

constexpr const char* kLateStart = "late start of a rank";

using PathKey =
    std::tuple<PathPart::Kind, std::string, std::optional<Dimension>, std::optional<Dimension>, std::optional<Place>>;

struct PathSums {
  std::map<PathKey, PathPart> parts;

  void add(PathPart part) {
    const auto [at, fresh] = parts.try_emplace({part.kind, part.what, part.dimension, part.before, part.place}, part);
    if (fresh) return;
    at->second.time += part.time;
    at->second.stretches += part.stretches;
  }
};

/// The use of a capacity by operations on the path.
struct PathUse {
  double busy_s = 0.0;
  double seconds = 0.0;
  Duration time{};
  Place place = Place::kLatency;

  void add(const OperationPlaces::Found& found, Duration length) {
    busy_s += found.utilisation * to_seconds(length);
    seconds += to_seconds(length);
    time += length;
    place = found.place;
  }
};

void add_computation(const execution::RunHistory& history, const Stretch& stretch, PathSums& sums) {
  const auto add = [&](std::string what, Duration time) {
    sums.add({.kind = PathPart::Kind::kComputation, .what = std::move(what), .time = time, .stretches = 1});
  };
  if (stretch.record == Stretch::kNone) return add(kLateStart, stretch.time());
  const execution::ComputationRecord& record = history.computations()[stretch.record];
  const Program& program = history.graph().program(record.rank);
  const std::span<const Program::Share> shares = program.shares(record.task);
  const std::string own = computation_class(program.name(record.task));
  if (shares.empty() || own == kOptimizer) return add(own, stretch.time());
  // Each class ends where its share of all so far does, so that nothing is lost by rounding.
  Duration before{};
  double sum = 0.0;
  for (const Program::Share& of : shares) {
    sum += of.share;
    const bool last = &of == &shares.back();
    const Duration until =
        last ? stretch.time() : Duration{static_cast<std::int64_t>(sum * static_cast<double>(stretch.time().count()))};
    if (until > before) add(of.what, until - before);
    before = std::max(before, until);
  }
}

CriticalPath path_of(const PathSources& sources, const std::vector<Stretch>& stretches) {
  PathSums sums;
  std::vector<std::uint32_t> asked;
  for (const Stretch& stretch : stretches) {
    if (stretch.kind == PathPart::Kind::kCommunication) asked.push_back(stretch.record);
  }
  const OperationPlaces places(sources.history, sources.loads, sources.fabric, asked);
  std::map<fabric::Place, PathUse> uses;
  for (const Stretch& stretch : stretches) {
    if (stretch.kind == PathPart::Kind::kComputation) {
      add_computation(sources.history, stretch, sums);
      continue;
    }
    PathPart part{.kind = stretch.kind, .dimension = stretch.dimension, .before = stretch.before, .time = stretch.time()};
    part.stretches = 1;
    if (stretch.kind == PathPart::Kind::kCommunication) {
      const OperationPlaces::Found found = places.find(stretch.record, stretch.time());
      part.place = found.place;
      if (found.place != Place::kLatency) uses[found.capacity].add(found, stretch.time());
    }
    sums.add(std::move(part));
  }
  CriticalPath path;
  for (const auto& [key, part] : sums.parts) path.parts.push_back(part);
  std::stable_sort(path.parts.begin(), path.parts.end(),
                   [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  const auto most = std::max_element(uses.begin(), uses.end(),
                                     [](const auto& a, const auto& b) { return a.second.busy_s < b.second.busy_s; });
  if (most != uses.end()) {
    const PathUse& use = most->second;
    path.busiest = {use.place, places.name_of(most->first), use.busy_s / use.seconds, use.time};
  }
  return path;
}

}  // namespace

CriticalPath critical_path(const PathSources& sources, Time end) {
  const std::size_t groups = sources.history.graph().communicators().size();
  std::vector<bool> on_rails(groups);
  for (std::size_t c = 0; c < groups; ++c) on_rails[c] = sources.operations.crosses(CommunicatorId{c});
  PathWalk walk(sources.history, std::move(on_rails));
  CriticalPath path = path_of(sources, walk.from_end(end));
  path.waits = peer_waits(sources.history, walk, sources.peer_waits, end);
  return path;
}

}  // namespace run

}  // namespace photonrail
