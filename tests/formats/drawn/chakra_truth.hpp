// A drawn job as its Chakra trace has it.
#pragma once

#include "formats/drawn/chakra_file.hpp"
#include "formats/drawn/graph.hpp"
#include "formats/drawn/tree.hpp"
#include "photonrail/formats/trace.hpp"

namespace photonrail::test::drawn {

struct ChakraGroup {
  std::string name;
  std::vector<std::uint32_t> members;
  bool in_file = false;
  std::vector<std::uint32_t> in_trace_of;  ///< ranks whose metadata define it
  bool contradicted = false;               ///< their metadata name other members, and the file goes before
};

struct ChakraTask {
  std::uint64_t id = 0;
  int type = chakra_type::kCompute;
  std::string name;
  bool on_cpu = false;
  std::optional<std::uint64_t> micros, exact;
  std::optional<double> operations;
  std::optional<std::uint64_t> tensor;
  std::optional<std::uint64_t> comm_type, size;
  std::optional<std::size_t> group;   ///< none: all ranks
  std::optional<std::uint32_t> root;  ///< a rank
  std::uint32_t from = 0, to = 0;     ///< ranks, of a message
  std::uint32_t tag = 0;
  std::vector<std::uint64_t> data, control;  ///< ids, also of itself and of nodes that are not there
};

struct ChakraTruth {
  std::uint32_t element_bytes = 0;  ///< 0: sizes are bytes
  bool trace_time = false;
  std::vector<ChakraGroup> groups;
  std::map<std::string, Dimension> dimensions;
  std::vector<std::vector<ChakraTask>> ranks;  ///< in ascending id
  std::vector<bool> versions;
};

/// Draws a job: what its tasks say first, then what they wait for.
class ChakraDrawer {
 public:
  explicit ChakraDrawer(std::uint64_t seed) : draw_(seed, "chakra/truth") {}

  ChakraTruth draw() {
    count_ = static_cast<std::uint32_t>(draw_.from_to(1, 6));
    truth_.ranks.resize(count_);
    if (draw_.one_in(3)) truth_.element_bytes = static_cast<std::uint32_t>(draw_.from_to(1, 8));
    truth_.trace_time = draw_.one_in(2);
    for (std::uint32_t r = 0; r < count_; ++r) truth_.versions.push_back(!draw_.one_in(6));
    const bool alike = draw_.one_in(3);
    if (alike) std::fill(truth_.versions.begin(), truth_.versions.end(), truth_.versions.front());
    alike ? draw_alike() : draw_freely();
    draw_dimensions();
    return std::move(truth_);
  }

 private:
  ChakraTask computation() {
    ChakraTask task;
    task.type = draw_.pick<int>({chakra_type::kCompute, chakra_type::kCompute, chakra_type::kCompute,
                                 chakra_type::kMemoryLoad, chakra_type::kMemoryStore, chakra_type::kMetadata});
    task.name = draw_.one_in(4) ? "" : name_text(draw_);
    task.on_cpu = draw_.one_in(4);
    if (task.type == chakra_type::kMetadata) return task;
    if (draw_.one_in(2)) task.micros = draw_.magnitude(1'000'000'000);
    if (draw_.one_in(4)) task.exact = draw_.magnitude(1'000'000'000'000'000);
    if (draw_.one_in(2))
      task.operations =
          static_cast<double>(draw_.magnitude(1'000'000'000'000'000)) / draw_.pick<double>({1, 1, 2, 1024, 1000});
    if (draw_.one_in(2)) task.tensor = draw_.magnitude(100'000'000'000);
    return task;
  }

  void collective(ChakraTask& task) {
    task.type = chakra_type::kCollective;
    task.name = name_text(draw_);
    task.on_cpu = draw_.one_in(5);
    task.comm_type = draw_.below(10);
    if (*task.comm_type != 9 || draw_.one_in(2)) task.size = draw_.magnitude(10'000'000'000);
  }

  /// Adds to a rank with an id behind its last.
  void add(std::uint32_t rank, ChakraTask task) {
    std::vector<ChakraTask>& tasks = truth_.ranks[rank];
    task.id = tasks.empty() ? draw_.below(3) : tasks.back().id + draw_.pick<std::uint64_t>({1, 1, 2, 17, 1'000'000'007});
    tasks.push_back(std::move(task));
  }

  std::size_t add_group(const std::string& name, std::vector<std::uint32_t> members) {
    ChakraGroup group{name, std::move(members), draw_.one_in(2), {}, false};
    for (std::uint32_t r = 0; r < count_; ++r) {
      if (draw_.one_in(3)) group.in_trace_of.push_back(r);
    }
    if (!group.in_file && group.in_trace_of.empty())
      group.in_trace_of.push_back(static_cast<std::uint32_t>(draw_.below(count_)));
    // "world", and "0" of all ranks, say who they are.
    group.contradicted = group.in_file && name != "world" && name != "0" && draw_.one_in(3);
    truth_.groups.push_back(std::move(group));
    return truth_.groups.size() - 1;
  }

  [[nodiscard]] std::vector<std::uint32_t> everyone() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t r = 0; r < count_; ++r) all.push_back(r);
    return all;
  }

  void draw_freely() {
    for (std::uint64_t g = draw_.below(4); g > 0; --g) {
      auto members = draw_.some_of(everyone(), draw_.from_to(1, count_));
      std::sort(members.begin(), members.end());
      add_group(
          draw_.pick<std::string>({std::to_string(g), "tp." + std::to_string(g), name_text(draw_) + std::to_string(g)}),
          members);
    }
    if (draw_.one_in(6)) add_group("world", everyone());
    if (draw_.one_in(6)) add_group("0", draw_.one_in(2) ? everyone() : draw_.some_of(everyone(), 1));
    for (std::uint64_t e = draw_.from_to(1, 16); e > 0; --e) draw_event();
    for (std::uint32_t r = 0; r < count_; ++r) {
      if (truth_.ranks[r].empty()) add(r, computation());
      draw_dependencies(draw_, truth_.ranks[r]);
    }
  }

  void draw_event() {
    const auto rank = static_cast<std::uint32_t>(draw_.below(count_));
    const auto kind = draw_.below(8);
    ChakraTask task;
    if (kind < 3) return add(rank, computation());
    if (kind == 3) {  // of the host, without a type
      task.type = chakra_type::kCollective;
      task.name = "record_param_comms";
      task.on_cpu = true;
      return add(rank, task);
    }
    if (kind < 6) {
      collective(task);
      if (!truth_.groups.empty() && draw_.one_in(2)) task.group = draw_.below(truth_.groups.size());
      const auto members = task.group ? truth_.groups[*task.group].members : everyone();
      if (draw_.one_in(2)) task.root = draw_.pick(members);
      for (const std::uint32_t member : members) add(member, task);
      return;
    }
    if (count_ < 2) return;
    task.from = rank;
    task.to = static_cast<std::uint32_t>((rank + draw_.from_to(1, count_ - 1)) % count_);
    add_message(task);
  }

  void add_message(ChakraTask task) {
    task.tag = static_cast<std::uint32_t>(draw_.one_in(2) ? draw_.below(2) : draw_.magnitude(UINT32_MAX));
    task.size = draw_.magnitude(10'000'000'000);
    task.type = chakra_type::kSend;
    task.name = name_text(draw_);
    add(task.from, task);
    task.type = chakra_type::kReceive;
    add(task.to, task);
  }

  /// Every rank runs the same program in groups of its own: what readers share between ranks.
  void draw_alike() {
    const std::uint32_t side = count_ % 2 == 0 ? 2 : count_;
    std::vector<std::size_t> group_of(count_);
    for (std::uint32_t g = 0; g < count_ / side; ++g) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t m = 0; m < side; ++m) members.push_back(g * side + m);
      const std::size_t group = add_group("dp." + std::to_string(g), members);
      for (const std::uint32_t m : members) group_of[m] = group;
    }
    std::uint64_t id = draw_.below(3);
    const std::string same = name_text(draw_);
    for (std::uint64_t e = draw_.from_to(1, 10); e > 0; --e, id += draw_.from_to(1, 3)) {
      ChakraTask task = computation();
      const bool calls = draw_.one_in(2);
      if (calls) collective(task);
      const auto root = static_cast<std::uint32_t>(draw_.below(side));
      const bool rooted = calls && draw_.one_in(2);
      const bool of_world = calls && draw_.one_in(4);
      for (std::uint32_t r = 0; r < count_; ++r) {
        task.id = id;
        if (calls && !of_world) task.group = group_of[r];
        if (rooted) task.root = of_world ? root : truth_.groups[group_of[r]].members[root];
        truth_.ranks[r].push_back(task);
      }
    }
    if (count_ > 1 && draw_.one_in(2)) add_ring(id);
    Draw after = draw_;  // the same for every rank
    for (std::vector<ChakraTask>& tasks : truth_.ranks) {
      Draw own = after;
      draw_dependencies(own, tasks);
    }
  }

  /// Each rank sends to the next.
  void add_ring(std::uint64_t id) {
    const std::uint64_t size = draw_.magnitude(1'000'000);
    for (std::uint32_t r = 0; r < count_; ++r) {
      ChakraTask task;
      task.size = size;
      task.name = "ring";
      task.id = id;
      task.type = chakra_type::kSend;
      task.from = r;
      task.to = (r + 1) % count_;
      truth_.ranks[r].push_back(task);
      task.id = id + 1;
      task.type = chakra_type::kReceive;
      task.from = (r + count_ - 1) % count_;
      task.to = r;
      truth_.ranks[r].push_back(task);
    }
  }

  /// On earlier nodes; some on later ones, on itself, and on nodes that are not there.
  static void draw_dependencies(Draw& draw, std::vector<ChakraTask>& tasks) {
    const bool later = draw.one_in(4);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (std::uint64_t d = t == 0 ? 0 : draw.below(4); d > 0; --d) {
        (draw.one_in(2) ? tasks[t].data : tasks[t].control).push_back(tasks[draw.below(t)].id);
      }
      if (later && draw.one_in(3)) tasks[t].control.push_back(draw.pick(tasks).id);
      if (draw.one_in(12)) tasks[t].data.push_back(tasks[t].id);
      if (draw.one_in(12)) (draw.one_in(2) ? tasks[t].data : tasks[t].control).push_back(tasks.back().id + 5);
    }
  }

  void draw_dimensions() {
    if (draw_.one_in(2)) return;
    const std::vector<Dimension> all{Dimension::kTp, Dimension::kCp, Dimension::kEp,
                                     Dimension::kDp, Dimension::kPp, Dimension::kOther};
    for (const ChakraGroup& group : truth_.groups) {
      if (draw_.one_in(2)) truth_.dimensions[group.name] = draw_.pick(all);
    }
    if (draw_.one_in(2)) truth_.dimensions["p2p"] = draw_.pick(all);
  }

  Draw draw_;
  std::uint32_t count_ = 0;
  ChakraTruth truth_;
};

inline ChakraTruth draw_chakra(std::uint64_t seed) { return ChakraDrawer(seed).draw(); }

/// The node that a file has of a task.
inline ChakraNode node_of(const ChakraTruth& truth, const ChakraTask& task, Draw& style) {
  ChakraNode node{.id = task.id,
                  .type = task.type,
                  .name = task.name,
                  .micros = task.micros,
                  .data = task.data,
                  .control = task.control};
  node.operations = task.operations;
  const auto put = [&](const std::string& key, std::optional<std::uint64_t> value) {
    if (value) node.numbers[key] = *value;
  };
  if (task.on_cpu || style.one_in(2)) node.numbers["is_cpu_op"] = task.on_cpu ? 1 : 0;
  put("photonrail_duration_ps", task.exact);
  put("tensor_size", task.tensor);
  put("comm_type", task.comm_type);
  put("comm_size", task.size);
  put(style.one_in(2) ? "root_rank" : "comm_root", task.root);
  if (task.type == chakra_type::kSend || task.type == chakra_type::kReceive) {
    const bool sends = task.type == chakra_type::kSend;
    if (!sends || style.one_in(2)) node.numbers["comm_src"] = task.from;
    if (sends || style.one_in(2)) node.numbers["comm_dst"] = task.to;
    if (task.tag != 0 || style.one_in(2)) node.numbers["comm_tag"] = task.tag;
  }
  const auto has_zero =
      std::any_of(truth.groups.begin(), truth.groups.end(), [](const ChakraGroup& g) { return g.name == "0"; });
  if (task.group) {
    const std::string& name = truth.groups[*task.group].name;
    const bool digits = name.find_first_not_of("0123456789") == std::string::npos;
    if (digits && style.one_in(2))
      node.numbers["pg_name"] = std::stoull(name);
    else
      node.texts["pg_name"] = name;
  } else if (task.comm_type && style.one_in(2)) {
    node.texts["pg_name"] = has_zero ? "" : style.pick<std::string>({"", "0"});
  }
  return node;
}

inline Tree tree_of_ranks(const std::vector<std::uint32_t>& members) {
  std::vector<Tree> elements;
  for (const std::uint32_t member : members) elements.push_back(plain(std::uint64_t{member}));
  return list(elements);
}

/// The list of groups that the metadata of a rank have; empty: none.
inline std::string groups_in_trace(Draw& style, const ChakraTruth& truth, std::uint32_t rank) {
  std::vector<Tree> entries;
  for (const ChakraGroup& group : truth.groups) {
    if (std::find(group.in_trace_of.begin(), group.in_trace_of.end(), rank) == group.in_trace_of.end()) continue;
    std::vector<std::uint32_t> members = group.members;
    if (group.contradicted) members = {rank};
    style.shuffle(members);
    const bool empty =
        group.members.size() == truth.ranks.size() && !group.contradicted && style.one_in(2);  // all, to PyTorch
    Tree entry =
        map({{"pg_name", text(group.name)}, {"ranks", tree_of_ranks(empty ? std::vector<std::uint32_t>{} : members)}});
    if (style.one_in(2)) entry.set("backend_config", text("cuda:nccl"));
    if (style.one_in(2)) entry.set("group_size", plain(std::uint64_t{group.members.size()}));
    entries.push_back(entry);
  }
  return entries.empty() ? "" : JsonText(style).of(list(entries));
}

/// The file of groups; empty: none.
inline std::string groups_file(Draw& style, const ChakraTruth& truth) {
  Tree groups = map();
  for (const ChakraGroup& group : truth.groups) {
    std::vector<std::uint32_t> members = group.members;
    style.shuffle(members);
    if (group.in_file) groups.set(group.name, tree_of_ranks(members));
  }
  return groups.members.empty() ? "" : JsonText(style).of(groups);
}

}  // namespace photonrail::test::drawn
