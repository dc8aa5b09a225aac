#include "formats/chakra/rank_traces.hpp"

#include "formats/chakra/files.hpp"
#include "formats/parallel.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace photonrail::formats::chakra {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(const Trace& trace) {
  std::uint64_t hash = trace.nodes.size();
  for (const TraceNode& n : trace.nodes) {
    hash = mixed(hash, n.id * 16 + static_cast<std::uint64_t>(n.type));
    hash = mixed(hash, n.present);
    for (const std::uint64_t number : n.numbers) hash = mixed(hash, number);
  }
  return mixed(hash, std::hash<std::string>()(trace.text));
}

bool same_nodes(const Trace& a, const Trace& b) {
  return a.has_version == b.has_version && a.text == b.text && a.data_dependencies == b.data_dependencies &&
         a.control_dependencies == b.control_dependencies && a.nodes == b.nodes;
}

/// The place of a value in a table of few, which grows by it.
template <class Value, class Key>
std::uint32_t place_in(std::vector<Value>& table, std::map<Value, std::uint32_t, std::less<>>& places, const Key& value) {
  const auto known = places.find(value);
  if (known != places.end()) return known->second;
  const auto place = static_cast<std::uint32_t>(table.size());
  table.emplace_back(value);
  places.emplace(value, place);
  return place;
}

/// Moves what differs between ranks out of the nodes.
RankTrace split(Trace trace) {
  RankTrace rank;
  std::map<std::string, std::uint32_t, std::less<>> group_places;
  std::map<std::uint64_t, std::uint32_t, std::less<>> rank_places;
  std::string names;
  names.reserve(trace.text.size());
  for (TraceNode& n : trace.nodes) {
    const std::string_view name = trace.name(n);
    const std::string_view group = trace.group(n);
    n.name = {static_cast<std::uint32_t>(names.size()), n.name.count};
    names += name;
    if (!group.empty())
      n.group = {place_in(rank.groups, group_places, group), 1};
    else
      n.group = {};
    for (const Number which : {Number::kCommSource, Number::kCommDestination, Number::kRootRank}) {
      if (const auto number = n.number(which)) n.set(which, place_in(rank.ranks, rank_places, *number));
    }
  }
  names.shrink_to_fit();
  trace.text = std::move(names);
  rank.texts = std::exchange(trace.groups, {});
  rank.nodes = std::make_shared<const Trace>(std::move(trace));
  return rank;
}

/// Parsers that no thread uses at present.
class Parsers {
 public:
  TraceParser take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    TraceParser parser = std::move(free_.back());
    free_.pop_back();
    return parser;
  }
  void give_back(TraceParser parser) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(parser));
  }

 private:
  std::mutex mutex_;
  std::vector<TraceParser> free_;
};

/// One of each kind of trace, for all threads.
class Shapes {
 public:
  /// Replaces the nodes by those of an equal trace that is known, if there is one.
  void share(RankTrace& rank) {
    const std::uint64_t hash = hash_of(*rank.nodes);
    const std::lock_guard lock(mutex_);
    const auto [first, last] = known_.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& entry) { return same_nodes(*entry.second, *rank.nodes); });
    if (same != last) {
      rank.nodes = same->second;
    } else {
      known_.emplace(hash, rank.nodes);
    }
  }

 private:
  std::mutex mutex_;
  std::multimap<std::uint64_t, std::shared_ptr<const Trace>> known_;
};

}  // namespace

std::vector<RankTrace> read_rank_traces(const std::vector<std::filesystem::path>& files) {
  std::vector<RankTrace> ranks(files.size());
  Shapes shapes;
  Parsers parsers;
  for_each_index(files.size(), [&](std::size_t i) {
    TraceParser parser = parsers.take();
    ranks[i] = split(read_trace(files[i], parser));
    parsers.give_back(std::move(parser));
    shapes.share(ranks[i]);
  });
  return ranks;
}

}  // namespace photonrail::formats::chakra
