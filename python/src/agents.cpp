// Agents of workloads and schedulers of engines that are written in Python.
#include "bindings.hpp"

#include "parameters.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/agent_kit.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

namespace photonrail::python {

namespace {

// "ValueError: no such step (mine.py(12): on)": the error and the line of the user's that raised it, without its traceback.
std::string words_of(const py::error_already_set& error) {
  std::istringstream lines(error.what());
  std::string text;
  std::getline(lines, text);
  std::string line;
  while (line != "At:" && std::getline(lines, line)) continue;
  while (std::getline(lines, line)) {
    if (line.find("_checked.py(") != std::string::npos) continue;  // of the module, which passes on what is called
    return text + " (" + line.substr(std::min(line.size(), line.find_first_not_of(' '))) + ")";
  }
  return text;
}

// What Python raises reaches C++ as text, so that errors name the part: "the agent mine: on() failed: ValueError: ...".
template <class Call>
auto called(Call&& call) {
  const Locked lock;
  try {
    return call();
  } catch (const py::error_already_set& error) {
    throw std::runtime_error(words_of(error));
  }
}

template <class Value>
using Table = std::vector<std::pair<const char*, Value>>;

template <class Value>
Value meaning(const Table<Value>& table, const std::string& word, const char* what) {
  std::string known;
  for (const auto& [name, value] : table) {
    if (word == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw py::value_error(std::string(what) + " is \"" + word + "\"; one of " + known);
}

Dimension dimension_of(const std::string& word) {
  static const Table<Dimension> kTable{{"tp", Dimension::kTp}, {"cp", Dimension::kCp},      {"ep", Dimension::kEp},
                                       {"dp", Dimension::kDp}, {"pp", Dimension::kPp},      {"other", Dimension::kOther},
                                       {"kv", Dimension::kKv}, {"refit", Dimension::kRefit}};
  return meaning(kTable, word, "dimension");
}

CollectiveOp op_of(const std::string& word) {
  const std::optional<CollectiveOp> op = collective_op_from(word);
  if (!op) throw py::value_error("there is no collective \"" + word + "\"");
  return *op;
}

std::vector<RankId> ranks_of(const py::object& list) {
  std::vector<RankId> ranks;
  for (const py::object& rank : given_list(list, "ranks")) ranks.emplace_back(given_count(rank, "a rank"));
  return ranks;
}

Bytes bytes_of(std::int64_t count) {
  if (count < 0) throw py::value_error("bytes are " + std::to_string(count) + "; they must not be negative");
  return Bytes{count};
}

/// What an agent launches with, valid during on() alone.
struct AgentSink {
  WorkSink* sink = nullptr;

  [[nodiscard]] WorkSink& get() const {
    if (sink == nullptr) throw std::runtime_error("a sink is valid during on() only");
    return *sink;
  }
};

/// A step of the scenario, which Python hands back.
struct JobStep {
  std::shared_ptr<const TaskGraph> graph;
};

/// What an agent is made with.
struct AgentJob {
  AgentSpec spec;
  std::size_t ranks = 0;
  std::uint64_t seed = 0;
};

const char* kind_of(const WorkEvent& event) {
  static constexpr const char* kKinds[] = {"begin", "timer", "rank_done", "launch_done", "announced"};
  return kKinds[static_cast<std::size_t>(event.kind)];
}

class PythonAgent final : public WorkloadAgent {
 public:
  explicit PythonAgent(py::object agent) : agent_(std::move(agent)) {
    for (const char* method : {"on", "finished"}) {
      if (!py::hasattr(agent_.get(), method))
        throw py::type_error("it has no " + std::string(method) + "(self" + (*method == 'o' ? ", event, sink)" : ")"));
    }
    hears_ranks_ = says("hears_ranks");
    announces_ = says("announces");
  }

  void on(const WorkEvent& event, WorkSink& sink) override {
    called([&] {
      const py::object shown = py::cast(AgentSink{&sink});
      struct Close {
        const py::object& shown;
        ~Close() { shown.cast<AgentSink&>().sink = nullptr; }
      } const close{shown};
      agent_.get().attr("on")(py::cast(event), shown);
    });
  }
  [[nodiscard]] bool finished() const override {
    return called([&] {
      const py::object answer = agent_.get().attr("finished")();
      if (!py::isinstance<py::bool_>(answer))
        throw py::type_error("what finished() returned is " + py::repr(answer).cast<std::string>() +
                             "; it must be True or False");
      return answer.cast<bool>();
    });
  }
  [[nodiscard]] std::vector<std::string> waiting() const override { return lines("waiting", {}); }
  [[nodiscard]] std::vector<std::string> kinds() const override { return lines("kinds", {"launch"}); }
  [[nodiscard]] bool hears_ranks() const override { return hears_ranks_; }
  [[nodiscard]] bool announces() const override { return announces_; }

 private:
  [[nodiscard]] bool says(const char* word) const {
    return py::hasattr(agent_.get(), word) && given<bool>(agent_.get().attr(word), word, "True or False");
  }
  // Of a method, or of a list.
  [[nodiscard]] std::vector<std::string> lines(const char* name, std::vector<std::string> otherwise) const {
    return called([&] {
      if (!py::hasattr(agent_.get(), name)) return otherwise;
      py::object value = agent_.get().attr(name);
      if (PyCallable_Check(value.ptr()) != 0) value = value();
      return given<std::vector<std::string>>(value, name, "a list of words");
    });
  }

  SharedObject agent_;
  bool hears_ranks_ = false;
  bool announces_ = false;
};

void add_agent(Registries& registries, const std::string& name, const std::string& summary, const py::object& make,
               const std::vector<std::pair<std::string, py::object>>& parameters, bool needs_step, bool takes_times) {
  AgentFactory factory;
  factory.name = name;
  factory.summary = summary;
  factory.needs_step = needs_step;
  factory.takes_times = takes_times;
  for (const auto& [key, initial] : parameters) factory.parameters.push_back(parameter_of(key, initial));
  factory.make = [shared = SharedObject(make), all = factory.parameters](const AgentSpec& spec, std::size_t ranks,
                                                                         std::uint64_t seed) {
    return called([&]() -> std::unique_ptr<WorkloadAgent> {
      const py::dict arguments = arguments_of(all, spec.parameters);
      return std::make_unique<PythonAgent>(shared.get()(py::cast(AgentJob{spec, ranks, seed}), **arguments));
    });
  };
  registries.agents.add(std::move(factory));
}

py::dict view_of(const RequestView& request) {
  py::dict d;
  d["prompt"] = request.prompt;
  d["generated"] = request.generated;
  d["output"] = request.output;
  d["computed"] = request.computed;
  d["wanted"] = request.wanted();
  d["blocks"] = request.blocks;
  d["shared"] = request.shared;
  d["frees"] = request.frees();
  d["priority"] = request.priority;
  d["preempted"] = request.preempted;
  return d;
}

py::dict view_of(const EngineView& view) {
  py::dict d;
  for (const auto& [key, requests] : {std::pair{"running", view.running}, std::pair{"waiting", view.waiting}}) {
    py::list list;
    for (const RequestView& request : requests) list.append(view_of(request));
    d[key] = list;
  }
  d["free_blocks"] = view.free_blocks;
  d["total_blocks"] = view.total_blocks;
  d["block_tokens"] = view.block_tokens;
  d["token_budget"] = view.token_budget;
  d["max_sequences"] = view.max_sequences;
  d["longest_prefill"] = view.longest_prefill;
  return d;
}

// A dict with preempt, a list of requests, and run and admit, lists of (request, tokens).
StepDecision step_decision_of(const py::object& answer) {
  StepDecision decision;
  if (!py::isinstance<py::dict>(answer))
    throw py::type_error("what decide() returned is " + py::repr(answer).cast<std::string>() +
                         "; it must be a dict with preempt, run and admit");
  for (const auto& [key, value] : answer.cast<py::dict>()) {
    const auto word = given<std::string>(key, "a key of decide()", "a word");
    if (word == "preempt") {
      for (const py::object& request : given_list(value, "\"preempt\""))
        decision.preempt.push_back(given_count(request, "a request of \"preempt\""));
    } else if (word == "run" || word == "admit") {
      for (const py::object& share : given_list(value, "\"" + word + "\"")) {
        const auto [request, tokens] = given_pair(share, "a share of \"" + word + "\"", "(request, tokens)");
        (word == "run" ? decision.run : decision.admit).push_back({request, tokens});
      }
    } else {
      throw py::key_error("a decision has preempt, run and admit, and no " + word);
    }
  }
  return decision;
}

class PythonScheduler final : public SchedulingPolicy {
 public:
  PythonScheduler(std::string name, py::object policy) : name_(std::move(name)), policy_(std::move(policy)) {
    if (!py::hasattr(policy_.get(), "decide")) throw py::type_error("it has no decide(self, view)");
  }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    return called([&] { return step_decision_of(policy_.get().attr("decide")(view_of(view))); });
  }

 private:
  std::string name_;
  SharedObject policy_;
};

void add_scheduler(Registries& registries, const std::string& name, const std::string& summary, const py::object& make) {
  registries.schedulers.add({name, summary, [name, shared = SharedObject(make)] {
                               return called([&]() -> std::shared_ptr<const SchedulingPolicy> {
                                 return std::make_shared<PythonScheduler>(name, shared.get()());
                               });
                             }});
}

// The first law that the agent breaks on drawn clusters, or "".
std::string agent_problem_of(const Registries& known, const std::string& agent, std::size_t ranks, std::uint32_t cases,
                             std::uint64_t seed, const std::vector<std::string>& policies, std::uint64_t most_events) {
  const Unlocked unlock;
  const AgentFactory& factory = known.agents.find(agent);
  AgentSpec spec;
  spec.name = agent;
  spec.most_events = most_events;
  return testing::fuzz_agent(*named_workload(factory, spec), ranks, cases, seed, policies);
}

std::string scheduler_problem_of(const Registries& known, const std::string& scheduler, std::uint32_t cases,
                                 std::uint64_t seed) {
  const Unlocked unlock;
  return testing::scheduler_problem(*known.schedulers.make(scheduler), cases, seed);
}

void bind_sink(py::module_& module) {
  py::class_<AgentSink>(module, "WorkSink", "Takes what an agent launches, valid during on() only.")
      .def_property_readonly("now_ps", [](const AgentSink& s) { return s.get().now().since_start().count(); })
      .def_property_readonly("ranks", [](const AgentSink& s) { return s.get().ranks(); })
      .def(
          "launch",
          [](const AgentSink& s, const JobStep& step, const py::object& ranks, std::uint32_t kind, std::uint64_t token) {
            return s.get().launch({step.graph, ranks_of(ranks)}, {kind, token}).value;
          },
          py::arg("step"), py::arg("ranks"), py::arg("kind") = 0, py::arg("token") = 0)
      .def(
          "open",
          [](const AgentSink& s, const JobStep& step, const py::object& ranks, std::uint32_t kind, std::uint64_t token) {
            return s.get().open({step.graph, ranks_of(ranks)}, {kind, token}).value;
          },
          py::arg("step"), py::arg("ranks"), py::arg("kind") = 0, py::arg("token") = 0)
      .def(
          "enter",
          [](const AgentSink& s, std::uint32_t launch, std::uint32_t rank) {
            s.get().enter(LaunchId{launch}, RankId{rank});
          },
          py::arg("launch"), py::arg("rank"))
      .def(
          "announce",
          [](const AgentSink& s, std::uint32_t launch, std::uint32_t rank) {
            s.get().announce(LaunchId{launch}, RankId{rank});
          },
          py::arg("launch"), py::arg("rank"))
      .def(
          "compute",
          [](const AgentSink& s, const py::object& ranks, std::int64_t time_ps, std::uint32_t kind, std::uint64_t token) {
            return s.get().compute(ranks_of(ranks), Duration{time_ps}, {kind, token}).value;
          },
          py::arg("ranks"), py::arg("time_ps"), py::arg("kind") = 0, py::arg("token") = 0)
      .def(
          "collective",
          [](const AgentSink& s, const py::object& ranks, const std::string& op, std::int64_t bytes,
             const std::string& dimension, std::uint32_t kind, std::uint64_t token) {
            return s.get()
                .collective(ranks_of(ranks), op_of(op), bytes_of(bytes), dimension_of(dimension), {kind, token})
                .value;
          },
          py::arg("ranks"), py::arg("op"), py::arg("bytes"), py::arg("dimension") = "dp", py::arg("kind") = 0,
          py::arg("token") = 0)
      .def(
          "send",
          [](const AgentSink& s, std::uint32_t from, std::uint32_t to, std::int64_t bytes, const std::string& dimension,
             std::uint32_t kind, std::uint64_t token) {
            return s.get().send(RankId{from}, RankId{to}, bytes_of(bytes), {kind, token}, dimension_of(dimension)).value;
          },
          py::arg("from_rank"), py::arg("to_rank"), py::arg("bytes"), py::arg("dimension") = "pp", py::arg("kind") = 0,
          py::arg("token") = 0)
      .def(
          "wake_at",
          [](const AgentSink& s, std::int64_t at_ps, std::uint64_t token) { s.get().wake_at(Time{at_ps}, token); },
          py::arg("at_ps"), py::arg("token") = 0);
}

}  // namespace

void bind_agents(py::module_& module) {
  py::class_<JobStep>(module, "Step", "The job beside an agent, which it launches.")
      .def_property_readonly("ranks", [](const JobStep& s) { return s.graph->ranks(); });
  py::class_<AgentJob>(module, "AgentJob", "What an agent is made with.")
      .def_property_readonly("ranks", [](const AgentJob& j) { return j.ranks; })
      .def_property_readonly("seed", [](const AgentJob& j) { return j.seed; })
      .def_property_readonly(
          "step", [](const AgentJob& j) { return j.spec.step ? py::cast(JobStep{j.spec.step}) : py::object(py::none()); })
      .def_property_readonly("times_ps", [](const AgentJob& j) {
        std::vector<std::int64_t> times;
        for (const Time at : j.spec.times) times.push_back(at.since_start().count());
        return times;
      });
  py::class_<WorkEvent>(module, "WorkEvent", "What an agent is told: something ended, or a time has come.")
      .def_property_readonly("kind", &kind_of)
      .def_property_readonly("now_ps", [](const WorkEvent& e) { return e.now.since_start().count(); })
      .def_property_readonly("launch", [](const WorkEvent& e) { return e.launch.value; })
      .def_property_readonly("rank", [](const WorkEvent& e) { return e.rank.value; })
      .def_property_readonly("token", [](const WorkEvent& e) { return e.token; })
      .def_property_readonly("launched_ps", [](const WorkEvent& e) { return e.launched.since_start().count(); });
  bind_sink(module);
  module.def("add_agent", &add_agent);
  module.def("add_scheduler", &add_scheduler);
  module.def("agent_problem", &agent_problem_of);
  module.def("scheduler_problem", &scheduler_problem_of);
}

}  // namespace photonrail::python
