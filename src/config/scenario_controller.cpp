// The "controller" section: its policy, and the keys of that policy.
#include "config/parameters.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "control/matrix_circuits.hpp"
#include "core/counted.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/simulate.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::config {

namespace {

using control::RailPorts;
using control::ShareMatrix;
using fields::Field;
using fields::Reading;
using fields::Shape;

constexpr Field kCircuitFields[] = {
    fields::count<&StaticCircuit::from>("from", 0, 4294967294.0, "The GPU that sends.").must(),
    fields::count<&StaticCircuit::to>("to", 0, 4294967294.0, "The GPU that receives.").must(),
    fields::count<&StaticCircuit::from_port>("from_port", 0, 4294967294.0, "A port of its NIC.").or_else("0"),
    fields::count<&StaticCircuit::to_port>("to_port", 0, 4294967294.0, "A port of its NIC.").or_else("0"),
};
constexpr Section kCircuit{kCircuitFields};
constexpr Field kCircuits =
    fields::parts<kCircuit, &ControllerSpec::circuits>("circuits", "The circuits that are lit.").or_else("by `matrix`");

/// Servers are those of the cluster.
struct MatrixContext : fields::Context {
  explicit MatrixContext(std::uint32_t of) : servers(of) {}
  std::uint32_t servers;
};

constexpr Shape kMatrixServer = fields::whole_shape(0, 4294967294.0);
constexpr Shape kShare = fields::number_shape(0.0, 1e9);
constexpr Shape kShareRow = fields::list_shape(kShare);

template <std::vector<std::uint32_t> ShareMatrix::*Servers>
void read_side(const Reading& at) {
  into<ShareMatrix>(at).*Servers = read_servers(at.value, context_of<MatrixContext>(at).servers);
}

void read_shares(const Reading& at) {
  for (const JsonReader& line : at.value.elements()) {
    std::vector<double>& row = into<ShareMatrix>(at).shares.emplace_back();
    for (const JsonReader& share : line.elements()) row.push_back(number_of(share, kShare));
  }
}

// Without shares all are equal; no server sends to itself.
void check_matrix(const Reading& at) {
  auto& [from, to, shares] = into<ShareMatrix>(at);
  for (auto* const side : {&from, &to}) {
    if (!side->empty()) continue;
    side->resize(context_of<MatrixContext>(at).servers);
    std::iota(side->begin(), side->end(), 0U);
  }
  if (shares.empty()) shares.assign(from.size(), std::vector<double>(to.size(), 1.0));
  bool wide = shares.size() == from.size();
  for (const std::vector<double>& row : shares) wide = wide && row.size() == to.size();
  if (!wide) {
    at.section.fail_at("shares", "is no row for each server of \"from\" with a number for each of \"to\"",
                       core::counted(from.size(), "row") + " of " + core::counted(to.size(), "number"));
  }
  double most = 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t j = 0; j < to.size(); ++j) {
      if (from[i] == to[j]) shares[i][j] = 0.0;
      most = std::max(most, shares[i][j]);
    }
  }
  if (most <= 0.0) at.section.fail("joins no server to another one", "give two servers a share above 0");
}

constexpr Field kMatrixFields[] = {
    fields::own("from", fields::list_shape(kMatrixServer), read_side<&ShareMatrix::from>, "Servers that send.")
        .or_else("all"),
    fields::own("to", fields::list_shape(kMatrixServer), read_side<&ShareMatrix::to>, "Servers that receive.")
        .or_else("all"),
    fields::own("shares", fields::list_shape(kShareRow), read_shares,
                "A row for each server that sends: a number for each that receives.")
        .or_else("all equal"),
};
constexpr Section kMatrix{kMatrixFields, check_matrix};
constexpr Field kMatrixKey =
    fields::known(
        "matrix", fields::object_shape(kMatrix),
        "Circuits by shares of what servers send: each pair with a share gets one on every rail, further ports go "
        "to the pairs with the largest share a circuit.")
        .or_else("`circuits`");

// The circuits of every rail.
void split_by_matrix(const JsonReader& at, const ClusterSpec& cluster, ControllerSpec& spec) {
  const MatrixContext context(cluster.servers);
  ShareMatrix matrix;
  JsonReader section = at;
  fields::read(section, kMatrix, &matrix, &context);
  const RailPorts ports{cluster.servers, cluster.nic.ports, cluster.rail.planes};
  if (ports.planes == 0 || ports.of_server % ports.planes != 0) return;  // refused where the cluster is checked
  const CircuitPlan plan = control::circuits_by_shares(matrix, ports);
  for (const Circuit circuit : plan.connect) {
    const std::uint32_t from = circuit.from.value / ports.of_server;
    const std::uint32_t to = circuit.to.value / ports.of_server;
    for (std::uint32_t rail = 0; rail < cluster.gpus_per_server; ++rail) {
      spec.circuits.push_back({GpuId{from * cluster.gpus_per_server + rail}, GpuId{to * cluster.gpus_per_server + rail},
                               circuit.from.value % ports.of_server, circuit.to.value % ports.of_server});
    }
  }
  const bool forwards = cluster.rail.forwarding;
  const std::optional<ServerPair> apart = control::without_way(matrix, plan, ports, forwards);
  if (!apart) return;
  at.fail(
      "leaves no port for a circuit from server " + std::to_string(apart->from) + " to server " +
          std::to_string(apart->to) + (forwards ? ", and no way over other servers" : ""),
      std::string("more \"ports\" of /cluster/nic, or a share of 0") + (forwards ? "" : ", or \"forwarding\" of the rail"));
}

bool has_key(const ControllerFactory& factory, std::string_view key) {
  if (key == "circuits" || key == "matrix") return factory.takes_circuits;
  const std::string_view stem = json::stem_of_duration(key);
  return std::any_of(factory.parameters.begin(), factory.parameters.end(), [&](const ControllerParameter& parameter) {
    return parameter.key == (parameter.kind == ControllerParameter::Kind::kDuration ? stem : key);
  });
}

// A key of other controllers is refused by name, rather than called unknown.
void refuse_elsewhere(const JsonReader& section, const ControllerFactory& factory, const ControllerRegistry& known) {
  for (const auto& [key, value] : section.json().members()) {
    if (has_key(factory, key)) continue;
    std::vector<std::string> owners;
    for (const ControllerFactory& other : known.all()) {
      if (has_key(other, key)) owners.push_back(other.name);
    }
    if (owners.empty()) continue;
    std::string names = owners.front();
    for (std::size_t i = 1; i < owners.size(); ++i) names += ", " + owners[i];
    section.refuse(key, "the " + factory.name + " controller has no such key",
                   "only " + names + (owners.size() == 1 ? " has it" : " have it"));
  }
}

// For a hint.
std::string example(const ControllerRegistry& known) {
  const ControllerFactory* factory = known.first_that_decides();
  return factory == nullptr ? "its name" : "for example {\"name\": \"" + factory->name + "\"}";
}

constexpr Field kGivenCircuits[] = {kCircuits.must_if("!matrix"), kMatrixKey};
constexpr Section kOwnCircuits{kGivenCircuits};

void read_circuits(JsonReader& section, const ClusterSpec& cluster, ControllerSpec& spec) {
  fields::read_open(section, kOwnCircuits, &spec);
  const std::optional<JsonReader> matrix = section.optional("matrix");
  if (!matrix) return;
  if (section.optional("circuits")) section.refuse("matrix", "has no effect beside \"circuits\"", "remove one of the two");
  split_by_matrix(*matrix, cluster, spec);
}

// "circuits" too, where a policy takes them.
std::vector<Field> policy_fields(const Registries& known, std::deque<std::string>& texts) {
  ParameterFields all(texts);
  for (const ControllerFactory& factory : known.controllers.all()) {
    if (factory.takes_circuits) all.add(kCircuits.must_if("!matrix"), factory.name, {});
    if (factory.takes_circuits) all.add(kMatrixKey, factory.name, {});
    all.add(factory.parameters, factory.name);
  }
  return all.take();
}

std::vector<std::string> controller_words(const Registries& known) {
  std::vector<std::string> names;
  for (const ControllerFactory& factory : known.controllers.all()) names.push_back(factory.name);
  return names;
}

constexpr Field kControllerFields[] = {
    fields::known("name", fields::text_shape(controller_words),
                  "`photonrail list controllers`; `electrical` is for electrical rails, the others are for optical ones.")
        .must(),
    fields::include<kControlPlaneSection>().only_if("!name=electrical"),
};
constexpr Alias kControllerAliases[] = {{"circuits[]", "circuits/[]"},
                                        {"circuits[].from", "circuits/[]/from"},
                                        {"circuits[].from_port", "circuits/[]/from_port"},
                                        {"circuits[].to", "circuits/[]/to"},
                                        {"circuits[].to_port", "circuits/[]/to_port"},
                                        {"parameters.slot", "slot", "us"},
                                        {"parameters.*", "*"}};

}  // namespace

constexpr Section kControllerSection{kControllerFields, nullptr, kControllerAliases, policy_fields};

ControllerSpec read_controller(std::optional<JsonReader> section, const ClusterSpec& cluster,
                               const std::filesystem::path& directory, const ControllerRegistry& known) {
  ControllerSpec spec;
  if (!section) {
    if (cluster.rail.kind == RailKind::kElectrical) return spec;
    throw ConfigError("/controller", "missing: optical rails need a controller", example(known));
  }
  const JsonReader name = section->child("name");
  spec.name = name.lookup([&](const std::string& word) { return known.find(word).name; });
  const ControllerFactory& factory = known.find(spec.name);
  refuse_elsewhere(*section, factory, known);
  if (factory.takes_circuits) read_circuits(*section, cluster, spec);
  if (spec.name != kNoPolicy) read_control_plane(*section, directory, factory, spec);
  read_parameters(*section, factory.parameters, spec.parameters);
  section->finish();
  return spec;
}

}  // namespace photonrail::config
