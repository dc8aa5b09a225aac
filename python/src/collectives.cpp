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
    const py::gil_scoped_acquire lock;
    return algorithm_.get().attr("supports")(std::string(photonrail::name(op)), members).cast<bool>();
  }

  // The answer is (chunk_count, sends); a send is a dict with from, to, chunk, chunks, round, reduce and after (positions
  // of earlier sends). Its bytes are those of its chunks.
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    const py::gil_scoped_acquire lock;
    const auto answer = algorithm_.get().attr("plan")(call_of(call)).cast<py::tuple>();
    const auto chunk_count = answer[0].cast<std::uint32_t>();
    SendPlanBuilder builder(call.members, chunk_count);
    std::vector<SendIndex> indices;
    for (const py::handle entry : answer[1]) {
      const auto fields = entry.cast<py::dict>();
      const auto number = [&](const char* key, std::uint32_t otherwise) {
        return fields.contains(key) ? fields[key].cast<std::uint32_t>() : otherwise;
      };
      Send send;
      send.from = fields["from"].cast<Member>();
      send.to = fields["to"].cast<Member>();
      send.first_chunk = number("chunk", 0);
      send.chunks = number("chunks", 1);
      send.round = number("round", 0);
      send.reduce = fields.contains("reduce") && fields["reduce"].cast<bool>();
      for (std::uint32_t c = 0; c < send.chunks; ++c) send.bytes += chunk_bytes(call, chunk_count, send.first_chunk + c);
      std::vector<SendIndex> after;
      if (fields.contains("after")) {
        for (const py::handle position : fields["after"]) after.push_back(indices.at(position.cast<std::size_t>()));
      }
      indices.push_back(builder.add(send, after));
    }
    return std::move(builder).build();
  }

 private:
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
  const auto plan = known.collectives.find(algorithm).expand(call);
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
