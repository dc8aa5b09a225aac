// Scenarios, runs, and what observers see.
#include "bindings.hpp"

#include "photonrail/config.hpp"
#include "photonrail/report.hpp"
#include "photonrail/study/work.hpp"

namespace photonrail::python {

namespace {

/// Ends a run when the user pressed Ctrl-C.
class InterruptObserver final : public Observer {
 public:
  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void progress(std::uint64_t, std::uint64_t, Time) override {
    const Locked lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
};

/// Hands the events of a run to a Python object, those of the names that it has.
class PythonObserver final : public Observer {
 public:
  explicit PythonObserver(const py::object& observer)
      : observer_(observer),
        computes_(py::hasattr(observer, "compute")),
        operates_(py::hasattr(observer, "operation")),
        circuits_(py::hasattr(observer, "circuit")),
        iterates_(py::hasattr(observer, "iteration")),
        progresses_(py::hasattr(observer, "progress")),
        ends_(py::hasattr(observer, "end")) {
    if (!needs_every_rank() && !progresses_ && !ends_)
      throw py::type_error("the observer " + py::repr(observer).cast<std::string>() +
                           " has none of compute, operation, circuit, iteration, progress and end");
  }

  [[nodiscard]] bool needs_every_rank() const override { return computes_ || operates_ || circuits_ || iterates_; }
  void compute(const ComputeEvent& e) override {
    if (computes_)
      call("compute", e.rank.value, e.task.value, e.start.since_start().count(), e.finish.since_start().count());
  }
  void operation(const OperationEvent& e) override {
    static constexpr const char* kStates[] = {"arrived", "waiting_for_circuits", "running", "done"};
    if (operates_)
      call("operation", e.at.since_start().count(), e.sequence, e.rank.value, e.task.value, std::string(name(e.op)),
           kStates[static_cast<std::size_t>(e.state)]);
  }
  void circuit(const CircuitEvent& e) override {
    static constexpr const char* kStates[] = {"switching", "lit", "dark"};
    if (circuits_)
      call("circuit", e.at.since_start().count(), e.rail.value, e.circuit.from.value, e.circuit.to.value,
           kStates[static_cast<std::size_t>(e.state)]);
  }
  void iteration(RankId rank, std::uint32_t finished, Time at) override {
    if (iterates_) call("iteration", rank.value, finished, at.since_start().count());
  }
  void progress(std::uint64_t done, std::uint64_t of, Time at) override {
    if (progresses_) call("progress", done, of, at.since_start().count());
  }
  void end(Time makespan) override {
    if (ends_) call("end", makespan.since_start().count());
  }

 private:
  template <class... Values>
  void call(const char* method, Values&&... values) {
    const Locked lock;
    observer_.get().attr(method)(std::forward<Values>(values)...);
  }

  SharedObject observer_;
  bool computes_, operates_, circuits_, iterates_, progresses_, ends_;
};

/// Keeps all events as columns, for arrays.
class Timeline final : public Observer {
 public:
  void compute(const ComputeEvent& e) override {
    ranks_.push_back(e.rank.value);
    tasks_.push_back(e.task.value);
    starts_.push_back(e.start.since_start().count());
    finishes_.push_back(e.finish.since_start().count());
  }
  void operation(const OperationEvent& e) override {
    operation_ranks_.push_back(e.rank.value);
    operation_times_.push_back(e.at.since_start().count());
    operations_.push_back(e.sequence);
    operation_states_.push_back(static_cast<std::uint8_t>(e.state));
    operation_kinds_.push_back(static_cast<std::uint8_t>(e.op));
  }
  void circuit(const CircuitEvent& e) override {
    rails_.push_back(e.rail.value);
    from_.push_back(e.circuit.from.value);
    to_.push_back(e.circuit.to.value);
    circuit_times_.push_back(e.at.since_start().count());
    circuit_states_.push_back(static_cast<std::uint8_t>(e.state));
  }

  [[nodiscard]] py::dict computes() const {
    return columns("rank", array_of(ranks_), "task", array_of(tasks_), "start_ps", array_of(starts_), "finish_ps",
                   array_of(finishes_));
  }
  [[nodiscard]] py::dict operations() const {
    py::dict all = columns("rank", array_of(operation_ranks_), "at_ps", array_of(operation_times_), "operation",
                           array_of(operations_), "state", array_of(operation_states_));
    all["op"] = array_of(operation_kinds_);
    return all;
  }
  [[nodiscard]] py::dict circuits() const {
    py::dict all =
        columns("rail", array_of(rails_), "from", array_of(from_), "to", array_of(to_), "at_ps", array_of(circuit_times_));
    all["state"] = array_of(circuit_states_);
    return all;
  }

 private:
  static py::dict columns(const char* a, py::object x, const char* b, py::object y, const char* c, py::object z,
                          const char* d, py::object w) {
    py::dict all;
    all[a] = std::move(x);
    all[b] = std::move(y);
    all[c] = std::move(z);
    all[d] = std::move(w);
    return all;
  }

  std::vector<std::uint32_t> ranks_, tasks_, operation_ranks_, operations_, rails_, from_, to_;
  std::vector<std::int64_t> starts_, finishes_, operation_times_, circuit_times_;
  std::vector<std::uint8_t> operation_states_, operation_kinds_, circuit_states_;
};

RunResult run(const Scenario& scenario, const std::vector<py::object>& observers, Timeline* timeline,
              const Registries& known) {
  std::vector<std::unique_ptr<Observer>> own;
  own.push_back(std::make_unique<InterruptObserver>());
  for (const py::object& observer : observers) own.push_back(std::make_unique<PythonObserver>(observer));
  std::vector<Observer*> all;
  for (const auto& observer : own) all.push_back(observer.get());
  if (timeline != nullptr) all.push_back(timeline);
  const Unlocked unlock;
  return simulate(scenario, all, known);
}

// A row a rank: compute, exposed communication, reconfiguration wait, peer wait, detection.
py::array_t<std::int64_t> rank_times(const RunResult& result) {
  std::vector<std::int64_t> flat;
  for (const RankTime& t : result.ranks) {
    for (const Duration d : {t.compute, t.exposed_communication, t.reconfiguration_wait, t.peer_wait, t.detection})
      flat.push_back(d.count());
  }
  return array_of(flat).reshape({static_cast<py::ssize_t>(result.ranks.size()), py::ssize_t{5}});
}

// A column each, a row a served request that ended; times in picoseconds, -1 for what did not happen.
py::dict served_requests(const RunResult& result) {
  py::dict columns;
  if (!result.serving) return columns;
  const auto add = [&](const char* name, auto&& of) {
    std::vector<std::int64_t> column;
    for (const ServedRequest& row : result.serving->requests) column.push_back(static_cast<std::int64_t>(of(row)));
    columns[name] = array_of(column);
  };
  const auto time = [&](const char* name, Time ServedRequest::*at) {
    add(name, [at](const ServedRequest& row) { return row.*at == Time::never() ? -1 : (row.*at).since_start().count(); });
  };
  add("number", [](const ServedRequest& row) { return row.number; });
  add("prompt_tokens", [](const ServedRequest& row) { return row.prompt; });
  add("output_tokens", [](const ServedRequest& row) { return row.output; });
  add("cached_tokens", [](const ServedRequest& row) { return row.cached; });
  add("preemptions", [](const ServedRequest& row) { return row.preemptions; });
  add("restarts", [](const ServedRequest& row) { return row.restarts; });
  add("prefill_engine", [](const ServedRequest& row) { return row.prefill_engine; });
  add("decode_engine", [](const ServedRequest& row) { return row.decode_engine; });
  time("arrival", &ServedRequest::arrival);
  time("scheduled", &ServedRequest::scheduled);
  time("prefilled", &ServedRequest::prefilled);
  time("sent", &ServedRequest::sent);
  time("delivered", &ServedRequest::delivered);
  time("decoding", &ServedRequest::decoding);
  time("first", &ServedRequest::first);
  time("last", &ServedRequest::last);
  return columns;
}

std::vector<Override> overrides_of(const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<Override> overrides;
  for (const auto& [pointer, value] : set) overrides.push_back({pointer, value});
  return overrides;
}

}  // namespace

void bind_runs(py::module_& module) {
  using Set = std::vector<std::pair<std::string, std::string>>;
  py::class_<Scenario>(module, "Scenario", "Everything a run depends on, read and checked.")
      .def_readonly("name", &Scenario::name)
      .def_readonly("why", &Scenario::why)
      .def_property_readonly("ranks", [](const Scenario& s) { return s.graph.ranks(); })
      .def_property_readonly("warnings", &Scenario::warnings)
      .def_property_readonly("infeasible", &Scenario::infeasible)
      .def_property_readonly("peak_memory_bytes", &Scenario::peak_memory_bytes)
      .def_property_readonly("seed", [](const Scenario& s) { return s.run.seed; })
      .def(
          "expected_s", [](const Scenario& s, const Registries& known) { return work_of(s, known).seconds(); },
          py::arg("registries"));
  module.def(
      "read_scenario",
      [](const std::filesystem::path& file, const Set& set, const Registries& known) {
        return read_scenario(file, overrides_of(set), known);
      },
      py::arg("file"), py::arg("set"), py::arg("registries"));
  module.def(
      "parse_scenario",
      [](const std::string& text, const std::filesystem::path& directory, const std::string& name, const Set& set,
         const Registries& known) { return parse_scenario(text, directory, name, overrides_of(set), known); },
      py::arg("text"), py::arg("directory"), py::arg("name"), py::arg("set"), py::arg("registries"));
  py::class_<Timeline>(module, "Timeline", "All events of a run, as columns.")
      .def(py::init<>())
      .def("computes", &Timeline::computes)
      .def("operations", &Timeline::operations)
      .def("circuits", &Timeline::circuits);
  py::class_<RunResult>(module, "RunResult")
      .def_readonly("name", &RunResult::name)
      .def_property_readonly("makespan_ps", [](const RunResult& r) { return r.makespan.count(); })
      .def_property_readonly("step_ps", [](const RunResult& r) { return r.step_time().count(); })
      .def_property_readonly("iterations_ps",
                             [](const RunResult& r) {
                               std::vector<std::int64_t> list;
                               for (const Duration d : r.iterations) list.push_back(d.count());
                               return array_of(list);
                             })
      .def("rank_times_ps", &rank_times)
      .def("served_requests_ps", &served_requests)
      .def("json", [](const RunResult& r) { return to_json(r); });
  module.def("simulate", &run, py::arg("scenario"), py::arg("observers"), py::arg("timeline").none(true),
             py::arg("registries"));
}

}  // namespace photonrail::python
