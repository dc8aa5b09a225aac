// Policies written in Python, and the view that they are shown.
#include "bindings.hpp"

#include "photonrail/error.hpp"

#include <map>
#include <optional>

namespace photonrail::python {

namespace {

/// A view is valid during decide() alone: afterwards its fields raise.
struct View {
  const FabricView* view = nullptr;

  [[nodiscard]] const FabricView& get() const {
    if (view == nullptr) throw std::runtime_error("a view is valid during decide() only: copy what you keep");
    return *view;
  }
};

/// Copies of what a request says, made when it is looked at.
py::dict request_of(const CircuitRequest& r) {
  py::list pairs;
  for (const ServerPair& pair : r.pairs) pairs.append(py::make_tuple(pair.from, pair.to));
  py::list bytes;
  for (const Bytes b : r.bytes) bytes.append(b.count);
  py::dict d;
  d["id"] = r.id.value;
  d["communicator"] = r.communicator.value;
  d["dimension"] = std::string(name(r.dimension));
  d["op"] = std::string(name(r.op));
  d["round"] = r.round;
  d["iteration"] = r.iteration;
  d["pairs"] = pairs;
  d["bytes"] = bytes;
  d["members"] = r.members;
  d["asked"] = r.asked;
  d["since_ps"] = r.since.since_start().count();
  d["complete_ps"] = r.complete.since_start().count();
  d["blocking"] = r.blocking;
  d["expected_ps"] = r.expected.since_start().count();
  d["due_ps"] = r.due.since_start().count();
  return d;
}

py::list requests_of(std::span<const CircuitRequest> requests) {
  py::list list;
  for (const CircuitRequest& r : requests) list.append(request_of(r));
  return list;
}

// A row a port: peer (-1: none), lit, in use, draining, faulty.
py::array_t<std::int64_t> ports_of(const FabricView& view) {
  std::vector<std::int64_t> flat;
  flat.reserve(view.transmit.size() * 5);
  for (const PortView& p : view.transmit) {
    flat.insert(flat.end(), {p.peer.is_none() ? -1 : std::int64_t{p.peer.value}, p.lit, p.in_use, p.draining, p.faulty});
  }
  return array_of(flat).reshape({static_cast<py::ssize_t>(view.transmit.size()), py::ssize_t{5}});
}

/// Ports of a pair that a circuit could use, or joins already.
class PairPorts {
 public:
  explicit PairPorts(const FabricView& view)
      : view_(view), sends_(view.transmit.size(), false), receives_(view.transmit.size(), false) {}

  bool joined(ServerPair pair) {
    for (std::uint32_t i = 0; i < view_.ports_per_gpu; ++i) {
      const PortId from = view_.port(pair.from, i);
      const PortId to = view_.transmit[from.index()].peer;
      if (sends_[from.index()] || to.is_none() || view_.position(to) != pair.to) continue;
      sends_[from.index()] = receives_[to.index()] = true;
      return true;
    }
    return false;
  }

  std::optional<Circuit> free(ServerPair pair) {
    for (std::uint32_t i = 0; i < view_.ports_per_gpu; ++i) {
      for (std::uint32_t j = 0; j < view_.ports_per_gpu; ++j) {
        const Circuit c{view_.port(pair.from, i), view_.port(pair.to, j)};
        if (view_.plane(c.from) != view_.plane(c.to) || taken(c)) continue;
        sends_[c.from.index()] = receives_[c.to.index()] = true;
        return c;
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool taken(const Circuit& c) const {
    const auto busy = [&](PortId from) {
      const PortView& port = view_.transmit[from.index()];
      return port.in_use || port.draining;
    };
    const PortId before = view_.receive[c.to.index()];
    return sends_[c.from.index()] || receives_[c.to.index()] || busy(c.from) || (!before.is_none() && busy(before)) ||
           view_.transmit[c.from.index()].faulty || view_.transmit[c.to.index()].faulty;
  }

  const FabricView& view_;
  std::vector<bool> sends_, receives_;
};

// Circuits that are missing for all pairs to be joined at the same time, on ports that are idle; none when they cannot be.
std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> connect(
    const View& shown, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  PairPorts ports(shown.get());
  std::vector<ServerPair> missing;
  for (const auto& [from, to] : pairs) {
    if (from >= shown.get().positions || to >= shown.get().positions) throw py::index_error("no such position");
    if (!ports.joined({from, to})) missing.push_back({from, to});
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> circuits;
  for (const ServerPair pair : missing) {
    const auto circuit = ports.free(pair);
    if (!circuit) return std::nullopt;
    circuits.emplace_back(circuit->from.value, circuit->to.value);
  }
  return circuits;
}

PortId port_of(py::handle value) { return PortId{value.cast<std::uint32_t>()}; }

void add_circuits(const py::handle& list, CircuitPlan& plan) {
  for (const py::handle entry : list) {
    const auto pair = entry.cast<py::sequence>();
    plan.connect.push_back({port_of(pair[0]), port_of(pair[1])});
  }
}

Step step_of(const py::handle& value) {
  Step step;
  if (!py::isinstance<py::dict>(value)) {
    add_circuits(value, step.plan);
    return step;
  }
  const auto fields = value.cast<py::dict>();
  for (const auto& [key, field] : fields) {
    const auto word = key.cast<std::string>();
    if (word == "connect") {
      add_circuits(field, step.plan);
    } else if (word == "disconnect") {
      for (const py::handle port : field) step.plan.disconnect.push_back(port_of(port));
    } else if (word == "when") {
      static const std::map<std::string, When> kWords{{"now", When::kNow}, {"drained", When::kDrained}, {"at", When::kAt}};
      const auto found = kWords.find(field.cast<std::string>());
      if (found == kWords.end()) throw py::value_error("when is \"now\", \"drained\" or \"at\"");
      step.when = found->second;
    } else if (word == "at_ps") {
      step.at = Time{field.cast<std::int64_t>()};
    } else if (word == "preempt") {
      step.preempt = field.cast<bool>();
    } else {
      throw py::key_error("a step has connect, disconnect, when, at_ps and preempt, and no " + word);
    }
  }
  return step;
}

// None keeps; a list of (from, to) ports connects now; a dict is one step; a dict with "steps" is a whole decision.
Decision decision_of(const py::object& answer) {
  Decision decision;
  if (answer.is_none()) return decision;
  if (!py::isinstance<py::dict>(answer) || !answer.cast<py::dict>().contains("steps")) {
    decision.steps.push_back(step_of(answer));
    return decision;
  }
  const auto fields = answer.cast<py::dict>();
  for (const py::handle step : fields["steps"]) decision.steps.push_back(step_of(step));
  if (fields.contains("ask_again_ps") && !fields["ask_again_ps"].is_none())
    decision.ask_again = Time{fields["ask_again_ps"].cast<std::int64_t>()};
  return decision;
}

class PythonController final : public Controller {
 public:
  explicit PythonController(py::object policy) : policy_(std::move(policy)) {}

  Decision decide(const FabricView& view) override {
    const py::gil_scoped_acquire lock;
    const py::object shown = py::cast(View{&view});
    struct Close {
      const py::object& shown;
      ~Close() { shown.cast<View&>().view = nullptr; }
    } const close{shown};
    return decision_of(policy_.get().attr("decide")(shown));
  }

 private:
  SharedObject policy_;
};

/// The optional words of a policy's class.
struct PolicyWords {
  std::vector<std::string> view;
  bool rank_symmetric = false;
  bool work_conserving = false;
  bool ahead = false;
  bool scheduled = false;
  bool by_pair = false;
};

PolicyNeeds needs_of(const PolicyWords& words) {
  static const std::map<std::string, ViewPart> kParts{
      {"bytes", ViewPart::kBytes},     {"rounds", ViewPart::kRounds},      {"schedule", ViewPart::kSchedule},
      {"traffic", ViewPart::kTraffic}, {"due_times", ViewPart::kDueTimes}, {"task_events", ViewPart::kTaskEvents}};
  PolicyNeeds needs;
  for (const std::string& word : words.view) {
    const auto part = kParts.find(word);
    if (part == kParts.end())
      throw ConfigError("view", "unknown part \"" + word + "\"",
                        "bytes, rounds, schedule, traffic, due_times, task_events");
    needs.view.add(part->second);
  }
  needs.ranks.announce = words.ahead ? Announcement::kAhead : Announcement::kOnDemand;
  needs.ranks.order = words.scheduled ? OperationOrder::kScheduled : OperationOrder::kFree;
  needs.service = words.by_pair ? Service::kByPair : Service::kByRound;
  return needs;
}

void add_policy(Registries& registries, const std::string& name, const std::string& summary, const py::object& make,
                const PolicyWords& words) {
  ControllerFactory factory;
  factory.name = name;
  factory.summary = summary;
  factory.rank_symmetric = words.rank_symmetric;
  factory.work_conserving = words.work_conserving;
  factory.needs = [needs = needs_of(words)](const ControllerSpec&) { return needs; };
  factory.make = [shared = SharedObject(make)](const ControllerSpec&, RailId rail, std::uint32_t gpus,
                                               std::uint32_t ports) {
    const py::gil_scoped_acquire lock;
    return std::unique_ptr<Controller>(std::make_unique<PythonController>(shared.get()(rail.value, gpus, ports)));
  };
  registries.controllers.add(std::move(factory));
}

}  // namespace

void bind_policies(py::module_& module) {
  py::class_<View>(module, "View", "The state of one rail, valid during decide() only.")
      .def_property_readonly("now_ps", [](const View& v) { return v.get().now.since_start().count(); })
      .def_property_readonly("rail", [](const View& v) { return v.get().rail.value; })
      .def_property_readonly(
          "positions", [](const View& v) { return v.get().positions; }, "Servers.")
      .def_property_readonly("ports_per_gpu", [](const View& v) { return v.get().ports_per_gpu; })
      .def_property_readonly(
          "requests", [](const View& v) { return requests_of(v.get().requests); }, "Complete requests, oldest first.")
      .def_property_readonly(
          "partial_requests", [](const View& v) { return requests_of(v.get().partial_requests); }, "Partial requests.")
      .def_property_readonly(
          "ports", [](const View& v) { return ports_of(v.get()); },
          "int64[ports, 5]: peer or -1, lit, in use, draining, faulty.")
      .def_property_readonly("port_gb_per_s", [](const View& v) { return v.get().port_rate.bytes_per_second / 1e9; })
      .def_property_readonly("reconfiguration_ps", [](const View& v) { return v.get().reconfiguration.total().count(); })
      .def(
          "peer",
          [](const View& v, std::uint32_t port) {
            const PortId peer = v.get().transmit[port].peer;
            return peer.is_none() ? std::int64_t{-1} : std::int64_t{peer.value};
          },
          "The receive side that a transmit port points to, or -1.")
      .def("connect", &connect, py::arg("pairs"),
           "The circuits, (from_port, to_port), that are missing for all pairs of positions to be joined at the same time, "
           "on ports "
           "that are idle; [] when all are; None when they cannot be.")
      .def("in_use", [](const View& v, std::uint32_t port) { return v.get().transmit[port].in_use; })
      .def(
          "transmitter",
          [](const View& v, std::uint32_t port) {
            const PortId from = v.get().receive[port];
            return from.is_none() ? std::int64_t{-1} : std::int64_t{from.value};
          },
          "The transmit side that points to a receive port, or -1.");
  py::class_<PolicyWords>(module, "PolicyWords")
      .def(py::init<>())
      .def_readwrite("view", &PolicyWords::view)
      .def_readwrite("rank_symmetric", &PolicyWords::rank_symmetric)
      .def_readwrite("work_conserving", &PolicyWords::work_conserving)
      .def_readwrite("ahead", &PolicyWords::ahead)
      .def_readwrite("scheduled", &PolicyWords::scheduled)
      .def_readwrite("by_pair", &PolicyWords::by_pair);
  py::class_<Registries>(module, "Registries", "The policies and collectives that names stand for.")
      .def(py::init<>())
      .def("add_policy", &add_policy)
      .def("policies", [](const Registries& r) {
        std::vector<std::string> names;
        for (const ControllerFactory& factory : r.controllers.all()) names.push_back(factory.name);
        return names;
      });
}

}  // namespace photonrail::python
