// Collectives written in Python: a call becomes a list of sends.
#include "bindings.hpp"

#include "photonrail/error.hpp"
#include "photonrail/testing/replay.hpp"

namespace photonrail::python {

namespace {

py::dict call_of(const CollectiveCall& call) {
  py::dict d;
  d["op"] = std::string(name(call.op));
  d["members"] = call.members;
  d["bytes"] = call.size.count;
  d["root"] = call.root;
  d["pieces"] = call.pieces;
  d["ports"] = call.ports;
  return d;
}

class PythonCollective final : public CollectiveAlgorithm {
 public:
  PythonCollective(std::string word, std::string summary, const py::object& algorithm)
      : name_(std::move(word)), summary_(std::move(summary)), algorithm_(algorithm) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view summary() const override { return summary_; }
  [[nodiscard]] bool supports(CollectiveOp op, Member members) const override {
    const Locked lock;
    const py::object answer = algorithm_.get().attr("supports")(std::string(photonrail::name(op)), members);
    return given<bool>(answer, name_ + ": what supports() returned", "True or False");
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    auto plan = plan_of(call);
    if (call.op != CollectiveOp::kSend && call.members <= kMaxReplayed) require_right(call, *plan);
    return plan;
  }

  /// What plan() returned, which need not be right.
  [[nodiscard]] std::unique_ptr<const SendPlan> plan_of(const CollectiveCall& call) const {
    const Locked lock;
    const std::string plan = name_ + ": what plan() returned";
    const std::vector<py::object> answer = given_list(algorithm_.get().attr("plan")(call_of(call)), plan);
    if (answer.size() != 2) throw py::type_error(plan + " must be a pair, (chunk_count, sends)");
    const std::uint32_t chunk_count = given_count(answer[0], plan + ": chunk_count");
    if (chunk_count == 0 && call.size.count > 0) throw py::value_error(plan + ": chunk_count is 0: the plan moves nothing");
    SendPlanBuilder builder(call.members, chunk_count);
    std::vector<SendIndex> indices;
    for (const py::object& entry : given_list(answer[1], plan + ": sends")) {
      const std::string what = name_ + ": send " + std::to_string(indices.size());
      std::vector<SendIndex> after;
      if (!py::isinstance<py::dict>(entry))
        throw py::type_error(what + " is " + py::repr(entry).cast<std::string>() + "; it must be a dict");
      const Send send = send_of(call, chunk_count, entry.cast<py::dict>(), what, indices, after);
      indices.push_back(builder.add(send, after));
    }
    return std::move(builder).build();
  }

 private:
  // A replay costs members x chunks; what a plan of more members does wrong it does among few as well.
  static constexpr Member kMaxReplayed = 64;

  // A send is a dict with from, to, chunk, chunks, round, reduce and after (positions of earlier sends). Its bytes are
  // those of its chunks.
  static Send send_of(const CollectiveCall& call, std::uint32_t chunk_count, const py::dict& fields,
                      const std::string& what, const std::vector<SendIndex>& earlier, std::vector<SendIndex>& after) {
    Send send;
    send.chunks = 1;
    for (const char* key : {"from", "to"}) {
      if (!fields.contains(key)) throw py::key_error(what + " has no \"" + std::string(key) + "\"");
    }
    for (const auto& [key, value] : fields) {
      const auto word = given<std::string>(key, what + ": a key", "a word");
      const std::string field = what + ": " + word;
      if (word == "from" || word == "to") {
        const Member member = given_count(value, field);
        if (member >= call.members)
          throw py::value_error(field + " is " + std::to_string(member) + "; there are members 0 to " +
                                std::to_string(call.members - 1));
        (word == "from" ? send.from : send.to) = member;
      } else if (word == "chunk" || word == "chunks" || word == "round") {
        (word == "chunk" ? send.first_chunk : word == "chunks" ? send.chunks : send.round) = given_count(value, field);
      } else if (word == "reduce") {
        send.reduce = given<bool>(value, field, "True or False");
      } else if (word == "after") {
        for (const py::object& position : given_list(value, field)) {
          const std::uint32_t at = given_count(position, field);
          if (at >= earlier.size())
            throw py::value_error(field + " names send " + std::to_string(at) + "; a send comes after earlier ones only");
          after.push_back(earlier[at]);
        }
      } else {
        throw py::key_error(what + " has from, to, chunk, chunks, round, reduce and after, and no " + word);
      }
    }
    if (send.from == send.to) throw py::value_error(what + " goes from a member to itself");
    if (send.chunks == 0 || send.chunks > chunk_count || send.first_chunk > chunk_count - send.chunks)
      throw py::value_error(what + " has " + std::to_string(send.chunks) + " chunks from chunk " +
                            std::to_string(send.first_chunk) + "; the plan has " + std::to_string(chunk_count));
    for (std::uint32_t c = 0; c < send.chunks; ++c) send.bytes += chunk_bytes(call, chunk_count, send.first_chunk + c);
    return send;
  }

  // Follows the data through the plan once, so that a plan that leaves a member without its result is not simulated.
  void require_right(const CollectiveCall& call, const SendPlan& plan) const {
    const testing::ReplayReport report = testing::replay(call, plan, {.order = testing::ArrivalOrder::kOldestFirst});
    if (!report.correct) {
      throw ConfigError("",
                        "the plan of \"" + name_ + "\" for " + std::string(photonrail::name(call.op)) + " among " +
                            std::to_string(call.members) + " is wrong: " + report.problem,
                        "Registries.replay() examines a plan");
    }
  }

  std::string name_;
  std::string summary_;
  SharedObject algorithm_;
};

// The first problem in any order of arrivals, or "".
std::string replay_problem(const Registries& known, const std::string& algorithm, const std::string& op, Member members,
                           std::int64_t bytes) {
  const auto kind = collective_op_from(op);
  if (!kind) throw ConfigError("op", "unknown operation \"" + op + "\"");
  CollectiveCall call;
  call.op = *kind;
  call.members = members;
  call.size = {bytes};
  const CollectiveAlgorithm& of = known.collectives.find(algorithm);
  const auto* const python = dynamic_cast<const PythonCollective*>(&of);
  if (members < 2 || !of.supports(*kind, members))
    throw ConfigError("members", algorithm + " cannot do " + op + " among " + std::to_string(members) + " members");
  const auto plan = python != nullptr ? python->plan_of(call) : of.expand(call);
  for (const auto order : {testing::ArrivalOrder::kOldestFirst, testing::ArrivalOrder::kNewestFirst,
                           testing::ArrivalOrder::kStarveOne, testing::ArrivalOrder::kRandom}) {
    const testing::ReplayReport report = testing::replay(call, *plan, {.order = order});
    if (!report.correct) return report.problem;
  }
  return {};
}

}  // namespace

void bind_collectives(py::module_& module) {
  module.def("add_collective",
             [](Registries& known, const std::string& name, const std::string& summary, const py::object& algorithm) {
               known.collectives.add(std::make_unique<PythonCollective>(name, summary, algorithm));
             });
  module.def("replay_problem", &replay_problem, py::arg("registries"), py::arg("algorithm"), py::arg("op"),
             py::arg("members"), py::arg("bytes"));
}

}  // namespace photonrail::python
