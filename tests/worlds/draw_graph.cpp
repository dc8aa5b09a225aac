#include "worlds/world.hpp"

#include <algorithm>
#include <map>

namespace photonrail::worlds {

namespace {

using Ranks = std::vector<std::uint32_t>;

/// Calls have a global order, and a task waits only for tasks of its rank that were issued before: no order of arrival can
/// deadlock the job itself.
class GraphDrawing {
 public:
  GraphDrawing(Dice& dice, std::uint32_t ranks) : dice_(dice), last_(ranks) {
    graph_ = {
        {"schema", "photonrail.graph/1"}, {"ranks", ranks}, {"communicators", Json::object()}, {"tasks", Json::array()}};
  }

  Json draw() {
    for (std::uint32_t left = dice_.from_to(1, 6); left > 0; --left) {
      if (dice_.one_in(2)) draw_compute();
      if (last_.size() < 2) continue;
      dice_.one_in(3) ? draw_message() : draw_collective();
    }
    if (graph_["tasks"].empty()) draw_compute();
    return graph_;
  }

 private:
  Ranks some_ranks() {
    Ranks chosen;
    for (std::uint32_t r = 0; r < last_.size(); ++r) chosen.push_back(r);
    dice_.shuffle(chosen);
    if (dice_.one_in(2)) chosen.resize(dice_.from_to(2, static_cast<std::uint32_t>(chosen.size())));
    if (!dice_.one_in(4)) std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  // One entry for all of `ranks`; it waits for the last task that all of them have, or for nothing.
  void add(const Ranks& ranks, Json task) {
    const std::string id = "t" + std::to_string(next_++);
    Json entry{{"rank", ranks}, {"id", id}};
    entry.update(task);
    Json after = Json::array();
    for (const std::uint32_t r : ranks) {
      const bool common =
          std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t other) { return last_[other] == last_[r]; });
      if (common && !last_[r].empty() && after.empty() && !dice_.one_in(4)) after.push_back(last_[r]);
    }
    if (!after.empty()) entry["after"] = after;
    for (const std::uint32_t r : ranks) last_[r] = id;
    graph_["tasks"].push_back(entry);
  }

  void draw_compute() {
    Ranks ranks{dice_.from_to(0, static_cast<std::uint32_t>(last_.size()) - 1)};
    if (last_.size() > 1 && dice_.one_in(2)) ranks = some_ranks();
    if (dice_.one_in(6)) return add(ranks, {{"flops", 1e9}, {"memory_bytes", 1000000}});
    add(ranks, {{"compute_us", dice_.pick<double>({0, 1, 3, 50, 200, 1000})}});
  }

  void draw_message() {
    Ranks ends = some_ranks();
    dice_.shuffle(ends);
    ends.resize(2);
    const Json bytes = dice_.pick<std::uint64_t>({0, 1, 4097, 100000, 5 << 20});
    const std::uint32_t tag = dice_.from_to(0, 2);
    add({ends[0]}, {{"send_to", ends[1]}, {"bytes", bytes}, {"tag", tag}});
    add({ends[1]}, {{"receive_from", ends[0]}, {"bytes", bytes}, {"tag", tag}});
  }

  std::string communicator(const Ranks& ranks) {
    const auto [at, fresh] = names_.try_emplace(ranks, "g" + std::to_string(names_.size()));
    if (fresh) {
      Json group{{"ranks", ranks}};
      if (dice_.one_in(3)) group["dimension"] = dice_.pick<std::string>({"tp", "cp", "ep", "dp", "pp", "other"});
      graph_["communicators"][at->second] = group;
    }
    return at->second;
  }

  void draw_collective() {
    const Ranks ranks = names_.empty() || dice_.one_in(3) ? some_ranks() : dice_.pick(known());
    const std::string op = dice_.pick<std::string>({"all_reduce", "all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                                    "reduce", "barrier", "gather", "scatter", "all_to_all", "all_to_all"});
    Json call{{"collective", op}, {"communicator", communicator(ranks)}};
    if (op != "barrier") call["bytes"] = dice_.pick<std::uint64_t>({0, 1, 13, 4097, 100000, 1 << 20, 5 << 20});
    const bool rooted = op == "broadcast" || op == "reduce" || op == "gather" || op == "scatter";
    if (rooted && dice_.one_in(2)) call["root"] = dice_.pick(ranks);
    if (op == "all_to_all" && dice_.one_in(3)) {
      call.erase("bytes");
      call["demand"] = demand(ranks.size());
    }
    add(ranks, call);
  }

  Json demand(std::size_t members) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < members; ++i) {
      Json row = Json::array();
      for (std::size_t j = 0; j < members; ++j) row.push_back(dice_.pick<std::uint64_t>({0, 0, 1, 1000, 1 << 20}));
      rows.push_back(row);
    }
    return rows;
  }

  std::vector<Ranks> known() const {
    std::vector<Ranks> list;
    for (const auto& [ranks, name] : names_) list.push_back(ranks);
    return list;
  }

  Dice& dice_;
  Json graph_;
  std::vector<std::string> last_;  // by rank: the task that it was given last
  std::map<Ranks, std::string> names_;
  std::uint32_t next_ = 0;
};

}  // namespace

Json draw_graph(Dice& dice, std::uint32_t ranks) { return GraphDrawing(dice, ranks).draw(); }

}  // namespace photonrail::worlds
