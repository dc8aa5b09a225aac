// Policies written in Python, and the view that they are shown.
#include "bindings.hpp"

#include "parameters.hpp"
#include "photonrail/error.hpp"

#include <map>
#include <optional>

namespace photonrail::python {

namespace {

/// A view is valid during decide() alone: afterwards its fields raise.
struct View {
  const FabricView* view = nullptr;
  ViewParts parts{};  ///< that the policy asked for

  [[nodiscard]] const FabricView& get() const {
    if (view == nullptr) throw std::runtime_error("a view is valid during decide() only: copy what you keep");
    return *view;
  }
};

/// Copies of what a request says, made when it is looked at.
py::dict request_of(const CircuitRequest& r, ViewParts parts) {
  py::list pairs;
  for (const ServerPair& pair : r.pairs) pairs.append(py::make_tuple(pair.from, pair.to));
  py::dict d;
  d["id"] = r.id.value;
  d["communicator"] = r.communicator.value;
  d["dimension"] = std::string(name(r.dimension));
  d["op"] = std::string(name(r.op));
  d["round"] = r.round;
  d["iteration"] = r.iteration;
  d["pairs"] = pairs;
  if (parts.has(ViewPart::kBytes)) {
    py::list bytes;
    for (const Bytes b : r.bytes) bytes.append(b.count);
    d["bytes"] = bytes;
  }
  d["members"] = r.members;
  d["asked"] = r.asked;
  d["since_ps"] = r.since.since_start().count();
  d["complete_ps"] = r.complete.since_start().count();
  d["blocking"] = r.blocking;
  if (parts.has(ViewPart::kDueTimes)) {
    d["expected_ps"] = r.expected.since_start().count();
    d["due_ps"] = r.due.since_start().count();
  }
  return d;
}

py::list requests_of(std::span<const CircuitRequest> requests, ViewParts parts) {
  py::list list;
  for (const CircuitRequest& r : requests) list.append(request_of(r, parts));
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
std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> connect(const View& shown, const py::object& pairs) {
  PairPorts ports(shown.get());
  std::vector<ServerPair> missing;
  for (const py::object& pair : given_list(pairs, "connect(): pairs")) {
    const auto [from, to] = given_pair(pair, "connect(): a pair", "(from, to) of positions");
    for (const std::uint32_t p : {from, to}) {
      if (p >= shown.get().positions)
        throw py::index_error("connect(): there is no position " + std::to_string(p) + "; the rail has " +
                              std::to_string(shown.get().positions));
    }
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

// The port of that number, which a view of the rail has.
std::uint32_t port_in(const FabricView& view, const char* method, const py::object& number) {
  const std::uint32_t port = given_count(number, std::string(method) + "(): port");
  if (port >= view.transmit.size())
    throw py::index_error(std::string(method) + "(): there is no port " + std::to_string(port) + "; the rail has " +
                          std::to_string(view.transmit.size()));
  return port;
}

void add_circuits(const py::handle& list, CircuitPlan& plan) {
  for (const py::object& entry : given_list(list, "what decide() connects")) {
    const auto [from, to] = given_pair(entry, "a circuit of decide()", "(from_port, to_port)");
    plan.connect.push_back({PortId{from}, PortId{to}});
  }
}

When when_of(const py::handle& value) {
  static const std::map<std::string, When> kWords{{"now", When::kNow}, {"drained", When::kDrained}, {"at", When::kAt}};
  const char* const wanted = "\"now\", \"drained\" or \"at\"";
  const auto found = kWords.find(given<std::string>(value, "\"when\" of decide()", wanted));
  if (found == kWords.end()) throw py::value_error(std::string("when is ") + wanted);
  return found->second;
}

Time instant_of(const py::handle& value, const char* what) {
  return Time{given<std::int64_t>(value, what, "a whole number of picoseconds")};
}

Step step_of(const py::handle& value) {
  Step step;
  if (!py::isinstance<py::dict>(value)) {
    add_circuits(value, step.plan);
    return step;
  }
  for (const auto& [key, field] : value.cast<py::dict>()) {
    const auto word = given<std::string>(key, "a key of decide()", "a word");
    if (word == "connect") {
      add_circuits(field, step.plan);
    } else if (word == "disconnect") {
      for (const py::object& port : given_list(field, "\"disconnect\" of decide()"))
        step.plan.disconnect.push_back(PortId{given_count(port, "a port of \"disconnect\"")});
    } else if (word == "when") {
      step.when = when_of(field);
    } else if (word == "at_ps") {
      step.at = instant_of(field, "\"at_ps\" of decide()");
    } else if (word == "preempt") {
      step.preempt = given<bool>(field, "\"preempt\" of decide()", "True or False");
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
  for (const auto& [key, field] : answer.cast<py::dict>()) {
    const auto word = given<std::string>(key, "a key of decide()", "a word");
    if (word == "steps") {
      for (const py::object& step : given_list(field, "\"steps\" of decide()")) decision.steps.push_back(step_of(step));
    } else if (word != "ask_again_ps") {
      throw py::key_error("a decision has steps and ask_again_ps, and no " + word);
    } else if (!field.is_none()) {
      decision.ask_again = instant_of(field, "\"ask_again_ps\" of decide()");
    }
  }
  return decision;
}

class PythonController final : public Controller {
 public:
  PythonController(py::object policy, ViewParts parts) : policy_(std::move(policy)), parts_(parts) {}

  Decision decide(const FabricView& view) override {
    const Locked lock;
    const py::object shown = py::cast(View{&view, parts_});
    struct Close {
      const py::object& shown;
      ~Close() { shown.cast<View&>().view = nullptr; }
    } const close{shown};
    return decision_of(policy_.get().attr("decide")(shown));
  }

 private:
  SharedObject policy_;
  ViewParts parts_;
};

/// The optional words of a policy's class.
struct PolicyWords {
  std::vector<std::string> view;
  bool rank_symmetric = false;
  bool work_conserving = false;
  bool ahead = false;
  bool scheduled = false;
  bool by_pair = false;
  std::vector<std::pair<std::string, py::object>> parameters;  ///< key and default
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
  const PolicyNeeds needs = needs_of(words);
  ViewParts parts = needs.view;
  parts.add(ViewPart::kBytes, needs.by_pair());  // a send waits with its bytes
  factory.needs = [needs](const ControllerSpec&) { return needs; };
  for (const auto& [key, initial] : words.parameters) factory.parameters.push_back(parameter_of(key, initial));
  factory.make = [shared = SharedObject(make), parts, parameters = factory.parameters](
                     const ControllerSpec& spec, RailId rail, std::uint32_t gpus, std::uint32_t ports) {
    const Locked lock;
    const py::dict arguments = arguments_of(parameters, spec.parameters);
    return std::unique_ptr<Controller>(
        std::make_unique<PythonController>(shared.get()(rail.value, gpus, ports, **arguments), parts));
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
          "requests", [](const View& v) { return requests_of(v.get().requests, v.parts); },
          "Complete requests, oldest first.")
      .def_property_readonly(
          "partial_requests", [](const View& v) { return requests_of(v.get().partial_requests, v.parts); },
          "Partial requests.")
      .def_property_readonly(
          "ports", [](const View& v) { return ports_of(v.get()); },
          "int64[ports, 5]: peer or -1, lit, in use, draining, faulty.")
      .def_property_readonly("port_gb_per_s", [](const View& v) { return v.get().port_rate.bytes_per_second / 1e9; })
      .def_property_readonly("reconfiguration_ps", [](const View& v) { return v.get().reconfiguration.total().count(); })
      .def(
          "peer",
          [](const View& v, const py::object& port) {
            const PortId peer = v.get().transmit[port_in(v.get(), "peer", port)].peer;
            return peer.is_none() ? std::int64_t{-1} : std::int64_t{peer.value};
          },
          "The receive side that a transmit port points to, or -1.")
      .def("connect", &connect, py::arg("pairs"),
           "The circuits, (from_port, to_port), that are missing for all pairs of positions to be joined at the same time, "
           "on ports "
           "that are idle; [] when all are; None when they cannot be.")
      .def("in_use",
           [](const View& v, const py::object& port) { return v.get().transmit[port_in(v.get(), "in_use", port)].in_use; })
      .def(
          "transmitter",
          [](const View& v, const py::object& port) {
            const PortId from = v.get().receive[port_in(v.get(), "transmitter", port)];
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
      .def_readwrite("by_pair", &PolicyWords::by_pair)
      .def_readwrite("parameters", &PolicyWords::parameters);
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
