// TACCL's algorithm JSON: addresses of chunks sent from rank to rank, in steps.
#include "collective/message_graph.hpp"
#include "core/counted.hpp"
#include "formats/input_file.hpp"
#include "formats/msccl/export.hpp"
#include "formats/msccl/import.hpp"
#include "json/in_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/collective/plan_file.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

namespace photonrail {

using collective::ListedPlan;
using collective::ListedSend;
using collective::make_listed;
using collective::MessageGraph;

namespace {

using json::Json;
using json::JsonReader;

constexpr std::uint32_t kMaxNodes = 65536;
constexpr std::uint32_t kMaxAddress = 1 << 24;
constexpr std::uint64_t kMaxTime = std::uint64_t{1} << 53;

// "Allgather(n=4)", "ReduceScatter", "allreduce_x": letters up to the first that is none, in any case.
CollectiveOp collective(const JsonReader& name) {
  std::string word;
  for (const char c : name.string()) {
    if (c == '_') continue;
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (word == "reducescatter") return CollectiveOp::kReduceScatter;
  if (const auto op = formats::msccl::collective_from(word)) return *op;
  name.fail("unknown collective \"" + word + "\"", "allgather, allreduce, reduce_scatter, alltoall, broadcast, reduce");
}

struct Transfer {
  std::uint32_t address = 0;
  Member from = 0;
  Member to = 0;
  bool reduce = false;
  std::size_t step = 0;
  std::uint64_t time = 0;  ///< orders the sends of a link within a step; not a time of ours
};

class Reader {
 public:
  explicit Reader(const Json& root) : top_(root) {}

  ListedPlan read() {
    if (const JsonReader tag = top_.child("sccl_type", "an algorithm of TACCL says \"algorithm\"");
        tag.string() != "algorithm")
      tag.fail("is not \"algorithm\"");
    JsonReader described = top_.child("collective");
    plan_.op = collective(described.child("name"));
    plan_.members = described.child("nodes").count(2, kMaxNodes);
    number_chunks(top_.child("input_map"));
    const std::vector<JsonReader> steps = top_.child("steps").elements();
    for (std::size_t s = 0; s < steps.size(); ++s) {
      JsonReader step = steps[s];
      for (const JsonReader& send : step.child("sends").elements()) transfers_.push_back(transfer(send, s));
    }
    std::stable_sort(transfers_.begin(), transfers_.end(), [](const Transfer& a, const Transfer& b) {
      return std::tie(a.step, a.time) < std::tie(b.step, b.time);
    });
    list();
    return std::move(plan_);
  }

 private:
  // The chunk of an address follows from where it is in the input of its rank.
  void number_chunks(const JsonReader& map) {
    std::vector<std::vector<std::uint32_t>> input(plan_.members);
    for (const auto& [key, list] : map.members()) {
      const bool digits = !key.empty() && key.size() < 8 && key.find_first_not_of("0123456789") == std::string::npos;
      if (!digits || std::stoul(key) >= plan_.members) list.fail("no such rank");
      for (const JsonReader& address : list.elements()) input[std::stoul(key)].push_back(address.count(0, kMaxAddress));
    }
    const bool gathers = plan_.op == CollectiveOp::kAllGather || plan_.op == CollectiveOp::kAllToAll;
    const std::size_t each = std::max_element(input.begin(), input.end(), shorter)->size();
    if (each == 0) map.fail("is empty");
    for (Member m = 0; m < plan_.members; ++m) {
      if (plan_.op == CollectiveOp::kBroadcast && input[m].empty()) continue;
      if (input[m].size() != each) map.fail("rank " + std::to_string(m) + " has another number of chunks than others");
      if (plan_.op == CollectiveOp::kBroadcast) plan_.root = m;
      for (std::size_t i = 0; i < each; ++i) {
        const auto chunk = static_cast<std::uint32_t>(gathers ? m * each + i : i);
        const auto [at, fresh] = chunk_.try_emplace(input[m][i], chunk);
        if (!fresh && at->second != chunk) map.fail("address " + std::to_string(input[m][i]) + " stands for two chunks");
      }
    }
    plan_.chunk_count = static_cast<std::uint32_t>(gathers ? each * plan_.members : each);
  }
  static bool shorter(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    return a.size() < b.size();
  }

  [[nodiscard]] Transfer transfer(const JsonReader& send, std::size_t step) const {
    const std::vector<JsonReader> fields = send.elements();
    if (fields.size() != 3 && fields.size() != 5 && fields.size() != 6)
      send.fail("must be [address, from, to], with time and link, with the reduction");
    Transfer t{.address = fields[0].count(0, kMaxAddress), .step = step};
    t.from = fields[1].count(0, plan_.members - 1);
    t.to = fields[2].count(0, plan_.members - 1);
    if (t.from == t.to) send.fail("goes from rank " + std::to_string(t.from) + " to itself");
    if (fields.size() > 3) t.time = fields[3].integer(0, kMaxTime);
    if (fields.size() == 6 && fields[5].is_string()) {
      if (fields[5].string() != "rrc") fields[5].fail("unknown reduction", "null or \"rrc\"");
      t.reduce = true;
    }
    if (!chunk_.contains(t.address)) fields[0].fail("no rank has address " + std::to_string(t.address) + " as its input");
    return t;
  }

  // A send waits for what brought its chunk in earlier steps, and follows the one before it on its link.
  void list() {
    struct Lane {
      std::uint32_t number;
      MessageGraph::Node last;
    };
    MessageGraph graph;
    std::map<MemberPair, Lane> lanes;
    std::map<std::pair<Member, std::uint32_t>, std::vector<std::pair<std::size_t, MessageGraph::Node>>> brought;
    for (const Transfer& t : transfers_) {
      const auto leaves = graph.add_node();
      const auto arrives = graph.add_node();
      const auto next = static_cast<std::uint32_t>(lanes.size());
      const auto [lane, fresh] = lanes.try_emplace({t.from, t.to}, Lane{next, leaves});
      if (!fresh) graph.order(std::exchange(lane->second.last, leaves), leaves);
      for (const auto& [step, node] : brought[{t.from, t.address}]) {
        if (step < t.step) graph.order(node, leaves);
      }
      graph.connect(leaves, arrives, lane->second.number);
      brought[{t.to, t.address}].emplace_back(t.step, arrives);
    }
    std::vector<std::uint64_t> rank(graph.nodes());
    std::iota(rank.begin(), rank.end(), 0);
    const auto waits = graph.waits(graph.sequence(rank));
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      ListedSend send{.from = transfers_[i].from, .to = transfers_[i].to};
      send.first_chunk = chunk_.at(transfers_[i].address);
      send.reduce = transfers_[i].reduce;
      send.after = waits[i];
      plan_.sends.push_back(std::move(send));
    }
  }

  JsonReader top_;
  ListedPlan plan_;
  std::map<std::uint32_t, std::uint32_t> chunk_;  ///< by address
  std::vector<Transfer> transfers_;
};

}  // namespace

CollectiveFile read_taccl(const std::filesystem::path& file) {
  return json::in_file(formats::read_file(file), file.string(), [&](const Json& root) {
    ListedPlan plan = Reader(root).read();
    const CollectiveCall call{.op = plan.op, .members = plan.members, .size = Bytes{plan.chunk_count}, .root = plan.root};
    std::string summary = "TACCL: " + std::string(name(plan.op)) + " of " + core::counted(plan.members, "member") + " in " +
                          core::counted(plan.sends.size(), "send");
    CollectiveFile read{make_listed(file.string(), std::move(summary), std::move(plan)), call.op, call.members, call.root};
    static_cast<void>(
        formats::msccl::import(formats::msccl::to_program(call, *read.algorithm->expand(call))));  // proves it
    return read;
  });
}

}  // namespace photonrail
