// photonrail.graph/1: a task graph as JSON.
#include "config/limits.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "formats/input_file.hpp"
#include "json/file_kind.hpp"
#include "json/in_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace photonrail {

namespace {

using json::Json;
using json::JsonReader;

constexpr std::string_view kGraphSchema = "photonrail.graph/1";
namespace fields = photonrail::fields;
using fields::Field;
using fields::Section;
using fields::Shape;

constexpr Shape kRanks = fields::whole_shape(1, 1U << 20);  // each has a program of its own
constexpr Shape kFlops = fields::number_shape(0.0, 1e21);
constexpr Shape kBytes = fields::whole_shape(0, 0x1p50);  // 1 PiB
constexpr Shape kTag = fields::whole_shape(0, 4294967295.0);
constexpr Shape kText = fields::text_shape();
constexpr Shape kRankList = fields::list_shape(config::kRankShape);
constexpr Shape kRanksOrAll = fields::either(kRankList, kText);
constexpr Shape kRankOrAll = fields::either(kText, config::kRankShape);

constexpr Field kCommunicatorFields[] = {
    fields::known("ranks", kRanksOrAll, "Two or more ranks, or `\"all\"`.").must(),
    fields::known("dimension", kText, "`tp`, `cp`, `ep`, `dp`, `pp` or `other`.").or_else("inferred from the placement"),
};
constexpr Section kCommunicator{kCommunicatorFields};

constexpr Field kTaskFields[] = {
    fields::known("rank", fields::either(kRankList, kRankOrAll), "The rank or ranks that have this task, or `\"all\"`.")
        .must(),
    fields::known("id", kText, "For `after`; unique on a rank.").or_else("none"),
    fields::known("name", kText, "For people.").or_else("the id"),
    fields::known("after", fields::list_shape(kText),
                  "Tasks of the same rank that must be done, wherever they are written, by their ids.")
        .or_else("`[]`"),
    fields::known("collective", fields::text_shape(config::op_words), "A collective of the communicator.")
        .only_if("!compute_us&!flops&!memory_bytes&!send_to&!receive_from")
        .or_else("of these five kinds exactly one"),
    fields::known("communicator", kText, "Its name.").only_if("collective").must(),
    fields::known("bytes", kBytes, "Its size, which a barrier has not; or of the message.")
        .only_if("!compute_us&!flops&!memory_bytes&!demand")
        .must_later("!collective=barrier"),
    fields::known("root", config::kRankShape, "The root of a collective.")
        .only_if("collective&!demand")
        .or_else("the first of the communicator"),
    fields::known("compute_us", fields::number_shape(0.0, 1e12), "A computation of a fixed time."),
    fields::known("flops", kFlops, "A computation by the GPU model, alone or with `memory_bytes`."),
    fields::known("memory_bytes", kBytes, "The bytes of memory that it moves."),
    fields::known("send_to", config::kRankShape, "A message to this rank."),
    fields::known("tag", kTag, "Tells messages of a pair of ranks apart.").or_else("0"),
    fields::known("receive_from", config::kRankShape, "A message from this rank."),
    fields::known("demand", config::kDemandShape,
                  "All-to-all, in place of `bytes`: row = sender, in order of the communicator's ranks.")
        .only_if("collective=all_to_all"),
};
constexpr Section kTask{kTaskFields};
constexpr Shape kTaskShape = fields::object_shape(kTask);
constexpr Shape kCommunicatorShape = fields::object_shape(kCommunicator);

constexpr Field kGraphFields[] = {
    fields::known("schema", kText, "`photonrail.graph/1`.").must(),
    fields::known("ranks", kRanks, "How many.").must(),
    fields::known("communicators", fields::map_shape(kCommunicatorShape), "Groups of ranks by name.").or_else("none"),
    fields::known("tasks", fields::list_shape(kTaskShape), "In the order of issue.").must(),
};

// A task as it is written: for one rank or many.
struct Entry {
  JsonReader at;
  std::vector<RankId> ranks;
  std::string id;
  std::string name;
  std::vector<JsonReader> after;
  std::uint32_t demand = 0;  // its number, when it has been read
  Bytes mean_input{};        // ... and what a member sends on average
};

class GraphReader {
 public:
  explicit GraphReader(std::uint32_t ranks) : ranks_(ranks), builder_(ranks), ids_(ranks), next_(ranks, 0) {
    for (std::uint32_t r = 0; r < ranks; ++r) builder_.add_program();  // program r is that of rank r
  }

  void read_communicators(const JsonReader& section) {
    for (auto& [name, value] : section.members()) {
      JsonReader reader = value;
      const JsonReader list = reader.child("ranks");
      std::vector<RankId> members = read_ranks(list);
      if (members.size() < 2) list.fail("a communicator needs two ranks");
      count(list, members.size(), memberships_, config::kMaxMemberships, "memberships of ranks in communicators");
      Dimension dimension = Dimension::kOther;
      if (const auto v = reader.optional("dimension")) dimension = read_dimension(*v);
      reader.finish();
      groups_.emplace(name, GroupOf{builder_.add_communicator(name, members, dimension), members});
    }
  }

  void read_tasks(const JsonReader& section) {
    std::vector<Entry> entries;
    for (const JsonReader& task : section.elements()) entries.push_back(read_entry(task));
    for (Entry& e : entries) {  // after all ids are known: a task may wait for one that is written below it
      for (const RankId rank : e.ranks) add(e, rank);
    }
  }

  TaskGraph build() && {
    for (std::size_t r = 0; r < ranks_; ++r) builder_.assign(RankId{r}, ProgramId{r});
    return std::move(builder_).build();
  }

 private:
  static void count(const JsonReader& at, std::uint64_t more, std::uint64_t& sum, std::uint64_t most, const char* what) {
    sum += more;
    if (sum > most) at.fail("here the graph has more than " + std::to_string(most) + " " + what);
  }

  struct GroupOf {
    CommunicatorId communicator;
    std::vector<RankId> members;  // ascending
  };

  static Dimension read_dimension(const JsonReader& value) {
    const std::string word = value.string();
    if (const auto dimension = dimension_from(word)) return *dimension;
    value.fail("unknown dimension \"" + word + "\"", "tp, cp, ep, dp, pp, other, kv or refit");
  }

  RankId read_rank(const JsonReader& value) const { return RankId{config::read_index(value, ranks_)}; }

  // A list of ranks or "all"; ascending.
  std::vector<RankId> read_ranks(const JsonReader& value) const {
    std::vector<RankId> ranks;
    if (value.is_string()) {
      if (value.string() != "all") value.fail("must be a list of ranks or \"all\"");
      for (std::uint32_t r = 0; r < ranks_; ++r) ranks.emplace_back(r);
      return ranks;
    }
    for (const JsonReader& element : value.elements()) ranks.push_back(read_rank(element));
    std::sort(ranks.begin(), ranks.end());
    if (ranks.empty()) value.fail("needs a rank");
    if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end()) value.fail("has a rank twice");
    return ranks;
  }

  Entry read_entry(const JsonReader& task) {
    Entry e{.at = task, .ranks = {}, .id = {}, .name = {}, .after = {}, .demand = 0, .mean_input = {}};
    const JsonReader rank_or_ranks = e.at.child("rank");
    const bool is_one = !rank_or_ranks.is_array() && !rank_or_ranks.is_string();
    e.ranks = is_one ? std::vector{read_rank(rank_or_ranks)} : read_ranks(rank_or_ranks);
    const auto id = e.at.optional("id");
    if (id) e.id = id->string();
    const auto name = e.at.optional("name");
    e.name = name ? name->string() : e.id;
    if (const auto after = e.at.optional("after")) e.after = after->elements();
    count(task, e.ranks.size(), tasks_, config::kMaxTasks, "tasks, those of each rank counted");
    count(task, e.ranks.size() * e.after.size(), dependencies_, config::kMaxDependencies, "waits of tasks for tasks");
    for (const RankId rank : e.ranks) {
      const TaskId task_id{next_[rank.index()]++};
      if (!id || ids_[rank.index()].emplace(e.id, task_id).second) continue;
      id->fail("rank " + std::to_string(rank.value) + " has a task \"" + e.id + "\" already");
    }
    return e;
  }

  std::vector<TaskId> predecessors(const Entry& e, RankId rank) const {
    std::vector<TaskId> after;
    const auto& ids = ids_[rank.index()];
    for (const JsonReader& word : e.after) {
      const auto found = ids.find(word.string());
      if (found == ids.end()) word.fail("rank " + std::to_string(rank.value) + " has no task \"" + word.string() + "\"");
      after.push_back(found->second);
    }
    return after;
  }

  void add(Entry& e, RankId rank) {
    const int kinds = e.at.has("compute_us") + (e.at.has("flops") || e.at.has("memory_bytes")) + e.at.has("collective") +
                      e.at.has("send_to") + e.at.has("receive_from");
    if (kinds != 1) e.at.fail("needs exactly one of compute_us, flops and memory_bytes, collective, send_to, receive_from");
    const auto after = predecessors(e, rank);
    if (e.at.has("collective")) {
      add_collective(e, rank, after);
    } else if (e.at.has("send_to") || e.at.has("receive_from")) {
      add_message(e, rank, after);
    } else {
      add_compute(e, rank, after);
    }
    e.at.finish();
  }

  void add_compute(Entry& e, RankId rank, const std::vector<TaskId>& after) {
    if (const auto time = e.at.optional("compute_us")) {
      builder_.add_delay(ProgramId{rank.index()}, time->in_picoseconds(1e6), e.name, after);
      return;
    }
    const auto flops = e.at.optional("flops");
    const auto memory = e.at.optional("memory_bytes");
    builder_.add_compute(ProgramId{rank.index()}, flops ? number_of(*flops, kFlops) : 0.0,
                         memory ? read_bytes(*memory) : Bytes{}, e.name, after);
  }

  static Bytes read_bytes(const JsonReader& value) { return {static_cast<std::int64_t>(whole_of(value, kBytes))}; }

  void add_collective(Entry& e, RankId rank, const std::vector<TaskId>& after) {
    const JsonReader word = e.at.child("collective");
    const auto op = collective_op_from(word.string());
    if (!op || *op == CollectiveOp::kSend) {
      word.fail("unknown collective \"" + word.string() + "\"", collectives_like(word.string()));
    }
    const JsonReader named = e.at.child("communicator");
    const auto group = groups_.find(named.string());
    if (group == groups_.end()) {
      named.fail("there is no communicator \"" + named.string() + "\"", groups_like(named.string()));
    }
    const auto& members = group->second.members;
    if (!std::binary_search(members.begin(), members.end(), rank)) {
      named.fail("rank " + std::to_string(rank.value) + " is not in communicator \"" + group->first + "\"");
    }
    if (const auto demand = e.at.optional("demand")) {
      if (*op != CollectiveOp::kAllToAll) demand->fail("only an all-to-all has one");
      e.at.refuse("bytes", "the demand says how many", "remove one of the two");
      e.at.refuse("root", "an all-to-all has no root", "remove it");
      add_all_to_all(e, rank, group->second, *demand, after);
      return;
    }
    const auto size = e.at.optional("bytes");
    if (!size && *op != CollectiveOp::kBarrier) e.at.missing("bytes", {});
    Member root = 0;
    if (const auto v = e.at.optional("root")) root = read_root(*v, members);
    builder_.add_collective(ProgramId{rank.index()}, group->second.communicator, *op, size ? read_bytes(*size) : Bytes{},
                            e.name, after, root);
  }

  void add_all_to_all(Entry& e, RankId rank, const GroupOf& group, const JsonReader& value,
                      const std::vector<TaskId>& after) {
    if (e.demand == 0) {  // read once for all ranks of the entry
      const TrafficMatrix demand = config::read_demand(value);
      e.demand = demands_->add(demand);
      e.mean_input = {demand.wire_bytes().count / demand.members()};
      builder_.set_demands(demands_);
    }
    builder_.add_all_to_all(ProgramId{rank.index()}, group.communicator, e.demand, e.mean_input, e.name, after);
  }

  Member read_root(const JsonReader& value, const std::vector<RankId>& members) const {
    const auto at = std::find(members.begin(), members.end(), read_rank(value));
    if (at == members.end()) value.fail("the root must be a rank of the communicator");
    return static_cast<Member>(at - members.begin());
  }

  static std::string collectives_like(const std::string& word) {
    std::vector<std::string> names;
    for (int i = 0; i < static_cast<int>(CollectiveOp::kSend); ++i) names.emplace_back(name(static_cast<CollectiveOp>(i)));
    return suggest(word, names);
  }

  std::string groups_like(const std::string& word) const {
    std::vector<std::string> names;
    for (const auto& [name, group] : groups_) names.push_back(name);
    return suggest(word, names);
  }

  void add_message(Entry& e, RankId rank, const std::vector<TaskId>& after) {
    const bool sends = e.at.has("send_to");
    const JsonReader peer = e.at.child(sends ? "send_to" : "receive_from");
    const RankId other = read_rank(peer);
    if (other == rank) peer.fail("rank " + std::to_string(rank.value) + " cannot send to itself");
    const Bytes bytes = read_bytes(e.at.child("bytes"));
    std::uint32_t tag = 0;
    if (const auto v = e.at.optional("tag")) tag = static_cast<std::uint32_t>(whole_of(*v, kTag));
    const auto link = sends ? builder_.link(rank, other, Dimension::kOther) : builder_.link(other, rank, Dimension::kOther);
    const auto put = sends ? &TaskGraphBuilder::add_send : &TaskGraphBuilder::add_receive;
    (builder_.*put)(ProgramId{rank.index()}, link, bytes, tag, e.name, after);
  }

  std::uint32_t ranks_;
  std::uint64_t tasks_ = 0, dependencies_ = 0, memberships_ = 0;  // so far
  TaskGraphBuilder builder_;
  std::shared_ptr<DemandTable> demands_ = std::make_shared<DemandTable>();
  std::map<std::string, GroupOf> groups_;
  std::vector<std::map<std::string, TaskId>> ids_;  // by rank
  std::vector<std::size_t> next_;                   // by rank: how many tasks so far
};

}  // namespace

constexpr Section config::kGraphSection{kGraphFields};

TaskGraph config::read_graph(JsonReader top) {
  json::require_schema(top, kGraphSchema);
  GraphReader reader(static_cast<std::uint32_t>(whole_of(top.child("ranks"), kRanks)));
  const auto communicators = top.optional("communicators");
  const auto tasks = top.child("tasks");
  top.finish();
  if (communicators) reader.read_communicators(*communicators);
  reader.read_tasks(tasks);
  return std::move(reader).build();
}

TaskGraph read_task_graph(const std::filesystem::path& file) {
  return json::in_file(formats::read_file(file), file.string(),
                       [&](const Json& root) { return config::read_graph(JsonReader(root)); });
}

}  // namespace photonrail
