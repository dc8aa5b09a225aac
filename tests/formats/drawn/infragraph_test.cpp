// Drawn infrastructures of InfraGraph: a cluster on rails, its edges in slices or one by one, in YAML or JSON, read back as
// the cluster of a scenario.
#include "formats/drawn/tree.hpp"
#include "photonrail/config.hpp"
#include "support/folder.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace photonrail::test::drawn {
namespace {

/// How the GPUs of a server are joined.
enum class Fabric : std::uint8_t { kNone, kSwitches, kMesh };

struct InfraTruth {
  std::string name;
  std::uint64_t servers = 2;
  std::uint64_t gpus = 2;   ///< of a server
  std::uint64_t ports = 1;  ///< of a GPU
  bool optical = false;
  bool shared = false;  ///< all rails on one switch
  std::uint64_t planes = 1;
  std::optional<std::uint64_t> gbit;  ///< of a port
  std::optional<std::uint64_t> latency_ns;
  Fabric fabric = Fabric::kNone;
  std::uint64_t switches = 1;  ///< of a server
  std::uint64_t link_gbyte = 0;
  std::optional<std::uint64_t> link_latency_ns;
  bool pcie_rate = false;                          ///< GPUs hang on a slower fabric, too
  bool composed = false;                           ///< GPUs are on boards, devices of their own
  std::map<std::string, std::string> annotations;  ///< pointer below /cluster: JSON
};

InfraTruth draw_infra(std::uint64_t seed) {
  Draw draw(seed, "infragraph/truth");
  InfraTruth truth;
  truth.name = name_text(draw);
  truth.servers = draw.from_to(2, 9);
  truth.gpus = draw.from_to(1, 8);
  truth.ports = draw.from_to(1, 3);
  truth.optical = draw.one_in(2);
  truth.shared = truth.gpus > 1 && draw.one_in(4);
  if (truth.optical && !truth.shared && draw.one_in(2)) truth.planes = truth.ports;
  if (!draw.one_in(4)) truth.gbit = draw.from_to(1, 1600);
  if (!draw.one_in(4)) truth.latency_ns = draw.magnitude(1'000'000);
  truth.composed = truth.gpus % 2 == 0 && draw.one_in(5);
  if (!truth.composed && !draw.one_in(4)) {
    truth.fabric = truth.gpus > 1 && draw.one_in(3) ? Fabric::kMesh : Fabric::kSwitches;
    truth.switches = draw.from_to(1, 4);
    truth.link_gbyte = draw.from_to(65, 900);
    if (draw.one_in(2)) truth.link_latency_ns = draw.magnitude(100'000);
    truth.pcie_rate = draw.one_in(3);
  }
  if (truth.optical) {
    truth.annotations["rail/switch/reconfiguration_ms"] = std::to_string(draw.from_to(1, 500));
    truth.annotations["rail/switch/ports"] = std::to_string(draw.from_to(1, 8) * 128);
  }
  if (draw.one_in(2)) truth.annotations["gpu"] = draw.pick<std::string>({"\"h100\"", "\"b200\""});
  if (draw.one_in(3)) truth.annotations["nic/message_overhead_ns"] = std::to_string(draw.from_to(0, 5000));
  return truth;
}

// ---- writing

class InfraWriter {
 public:
  InfraWriter(Draw& style, const InfraTruth& truth) : style_(style), truth_(truth) {
    first_half_ = truth.servers > 1 && style.one_in(2) ? style.from_to(1, truth.servers - 1) : truth.servers;
    nics_ = style.below(3);
    per_switch_ = style.one_in(2);
  }

  Tree tree() {
    Tree inner = map({{"name", text(truth_.name)}, {"devices", list(devices())}, {"instances", list(instances())}});
    inner.set("links", list({link("eth", truth_.gbit, truth_.latency_ns), link("unused", 1, 1)}));
    inner.set("edges", list(edges()));
    if (style_.one_in(2)) inner.set("description", text("drawn"));
    if (truth_.annotations.empty() && style_.one_in(2)) return inner;
    Tree root = map({{"infrastructure", inner}});
    const Tree all = annotations();
    if (!all.members.empty()) root.set("annotations", all);
    return root;
  }

 private:
  static std::string at(const std::string& name, std::uint64_t i) { return name + "[" + std::to_string(i) + "]"; }

  /// begin to end of `count`, in one of the forms of a slice.
  std::string slice(const std::string& name, std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
    std::vector<std::string> forms{name + "[" + std::to_string(begin) + ":" + std::to_string(end) + "]"};
    if (begin + 1 == end) forms.push_back(at(name, begin));
    if (begin == 0 && end == count) forms.push_back(name);
    if (begin == 0) forms.push_back(name + "[:" + std::to_string(end) + "]");
    if (end == count) forms.push_back(name + "[" + std::to_string(begin) + ":]");
    return style_.pick(forms);
  }

  Tree component(const std::string& name, std::uint64_t count, const std::string& kind) {
    Tree one = map({{"name", text(name)}, {"count", plain(count)}});
    if (kind == "optical_circuit_switch" || kind == "ocs" || kind == "OCS" || kind == "packet switch") {
      one.set("choice", text("custom"));
      one.set("custom", map({{"type", text(kind)}}));
    } else {
      one.set("choice", text(kind));
    }
    if (style_.one_in(4)) one.set("description", text("a part"));
    return one;
  }

  /// A link with what is known of it, in any unit.
  Tree link(const std::string& name, std::optional<std::uint64_t> gbit, std::optional<std::uint64_t> ns) {
    Tree one = map({{"name", text(name)}});
    Tree physical = map();
    const auto number = [&](double value) { return plain(number_text(style_, value)); };
    if (gbit) {
      const bool bits = style_.one_in(2);
      const std::string unit = bits ? "gigabits_per_second" : "gigabytes_per_second";
      Tree bandwidth = map({{unit, number(static_cast<double>(*gbit) / (bits ? 1.0 : 8.0))}});
      if (style_.one_in(2)) {
        bandwidth.set("choice", text(unit));
        // What was chosen before may have been left behind.
        if (style_.one_in(3)) bandwidth.set(bits ? "gigabytes_per_second" : "gigabits_per_second", plain(7));
      }
      physical.set("bandwidth", bandwidth);
    } else if (style_.one_in(3)) {
      physical.set("bandwidth",
                   map({{"choice", text("gigatransfers_per_second")}, {"gigatransfers_per_second", plain(32)}}));
    }
    if (ns) {
      const std::size_t unit = style_.below(3);
      const std::string word = std::vector<std::string>{"ns", "us", "ms"}[unit];
      Tree latency = map({{word, number(static_cast<double>(*ns) / std::vector<double>{1.0, 1e3, 1e6}[unit])}});
      if (style_.one_in(2)) latency.set("choice", text(word));
      physical.set("latency", latency);
    }
    if (!physical.members.empty() || style_.one_in(2)) one.set("physical", physical);
    return one;
  }

  Tree end_of(const std::string& node_key, const std::string& node, const std::string& component) {
    Tree end = map({{"component", text(component)}});
    if (!node.empty()) end.set(node_key, text(node));
    return end;
  }
  Tree edge(Tree a, Tree b, bool many, const std::string& name) {
    if (style_.one_in(2)) std::swap(a, b);
    Tree one = map({{"ep1", std::move(a)}, {"ep2", std::move(b)}, {"link", text(name)}});
    one.set("scheme", text(many ? "many2many" : "one2one"));
    return one;
  }

  // ---- devices

  std::vector<Tree> devices() {
    std::vector<Tree> all{host(), rail_switch()};
    if (truth_.composed) all.push_back(map({{"name", text("board")}, {"components", list({component("gpu", 2, "xpu")})}}));
    if (nics_ == 1) all.push_back(map({{"name", text("cx")}, {"components", list({component("port", 1, "port")})}}));
    if (nics_ == 2)
      all.push_back(map({{"name", text("cx")}, {"components", list({component("port", truth_.ports, "port")})}}));
    all.push_back(
        map({{"name", text("spare")}, {"components", list({component("gpu", 5, "xpu")})}}));  // of which there is none
    style_.shuffle(all);
    return all;
  }

  Tree host() {
    std::vector<Tree> parts{component("cpu", 2, "cpu")};
    parts.push_back(truth_.composed ? component("board", truth_.gpus / 2, "device") : component("gpu", truth_.gpus, "xpu"));
    if (truth_.fabric == Fabric::kSwitches)
      parts.push_back(component("nvs", truth_.switches, style_.pick<std::string>({"switch", "packet switch"})));
    if (truth_.pcie_rate) parts.push_back(component("pex", 1, "switch"));
    const std::uint64_t all = truth_.gpus * truth_.ports;
    if (nics_ == 0) parts.push_back(component("eth", all, "port"));
    if (nics_ == 1) parts.push_back(component("cx", all, "device"));
    if (nics_ == 2) parts.push_back(component("cx", truth_.gpus, "device"));
    style_.shuffle(parts);
    Tree device = map({{"name", text("host")}, {"components", list(parts)}});
    std::vector<Tree> links{
        link("pcie", truth_.pcie_rate ? std::optional<std::uint64_t>(8 * 64) : std::nullopt, std::nullopt)};
    std::vector<Tree> wires;
    if (nics_ != 0 && !truth_.composed) {
      const std::uint64_t count = nics_ == 1 ? all : truth_.gpus;
      wires.push_back(
          edge(end_of("device", "", "gpu"), end_of("device", slice("cx", 0, count, count), "port[0]"), false, "pcie"));
    }
    if (truth_.pcie_rate) wires.push_back(edge(end_of("device", "", "gpu"), end_of("device", "", "pex"), true, "pcie"));
    if (truth_.fabric != Fabric::kNone) {
      links.push_back(link("nv", 8 * truth_.link_gbyte, truth_.link_latency_ns));
      add_fabric(wires);
    }
    style_.shuffle(wires);
    device.set("links", list(links));
    device.set("edges", list(wires));
    return device;
  }

  /// As one edge, as one a switch, or as one a pair.
  void add_fabric(std::vector<Tree>& wires) {
    const auto one = [&](const std::string& a, const std::string& b, bool many) {
      wires.push_back(edge(end_of("device", "", a), end_of("device", "", b), many, "nv"));
    };
    const auto form = style_.below(3);
    const std::uint64_t n = truth_.gpus;
    if (truth_.fabric == Fabric::kMesh) {
      if (form == 0) return one(slice("gpu", 0, n, n), slice("gpu", 0, n, n), true);
      for (std::uint64_t a = 0; a < n; ++a) {
        if (form == 1 && a + 1 < n) one(at("gpu", a), slice("gpu", a + 1, n, n), true);
        for (std::uint64_t b = a + 1; form == 2 && b < n; ++b) one(at("gpu", a), at("gpu", b), style_.one_in(2));
      }
      return;
    }
    if (form == 0) return one(slice("gpu", 0, n, n), slice("nvs", 0, truth_.switches, truth_.switches), true);
    for (std::uint64_t s = 0; s < truth_.switches; ++s) {
      if (form == 1) one(slice("gpu", 0, n, n), at("nvs", s), true);
      for (std::uint64_t g = 0; form == 2 && g < n; ++g) one(at("gpu", g), at("nvs", s), style_.one_in(2));
    }
  }

  Tree rail_switch() {
    std::vector<Tree> parts{component("port", truth_.servers * truth_.gpus * truth_.ports, "port")};
    parts.push_back(component("core", 1,
                              truth_.optical ? style_.pick<std::string>({"optical_circuit_switch", "ocs", "OCS"})
                                             : style_.pick<std::string>({"switch", "packet switch"})));
    return map({{"name", text("leaf")}, {"components", list(parts)}});
  }

  // ---- instances and edges

  [[nodiscard]] std::uint64_t switch_count() const { return truth_.shared ? 1 : truth_.gpus * truth_.planes; }

  std::vector<Tree> instances() {
    std::vector<Tree> all;
    const auto add = [&](const std::string& name, const std::string& device, std::uint64_t count) {
      all.push_back(map({{"name", text(name)}, {"device", text(device)}, {"count", plain(count)}}));
    };
    add("h", "host", first_half_);
    if (first_half_ < truth_.servers) add("more", "host", truth_.servers - first_half_);
    if (!per_switch_) add("rail", "leaf", switch_count());
    for (std::uint64_t s = 0; per_switch_ && s < switch_count(); ++s) add("rail" + std::to_string(s), "leaf", 1);
    if (style_.one_in(3)) add("store", "spare", 0);
    return all;
  }

  [[nodiscard]] std::string switch_at(std::uint64_t s) {
    if (!per_switch_) return at("rail", s);
    return style_.one_in(2) ? at("rail" + std::to_string(s), 0) : "rail" + std::to_string(s);
  }
  [[nodiscard]] std::string nic_port(std::uint64_t gpu, std::uint64_t port) const {
    const std::uint64_t place = gpu * truth_.ports + port;
    if (nics_ == 0) return at("eth", place);
    return nics_ == 1 ? at("cx", place) + ".port[0]" : at("cx", gpu) + "." + at("port", port);
  }

  std::vector<Tree> edges() {
    std::vector<Tree> all;
    for (std::uint64_t g = 0; g < truth_.gpus; ++g) {
      for (std::uint64_t p = 0; p < truth_.ports; ++p) add_edges(g, p, all);
    }
    style_.shuffle(all);
    return all;
  }

  /// A port of every server on one switch.
  void add_edges(std::uint64_t g, std::uint64_t p, std::vector<Tree>& all) {
    const std::uint64_t s = truth_.shared ? 0 : g * truth_.planes + (truth_.planes > 1 ? p : 0);
    const std::uint64_t count = truth_.servers * truth_.gpus * truth_.ports;
    const std::uint64_t first = (g * truth_.ports + p) * truth_.servers;  // of the ports of the switch
    const auto add = [&](const std::string& node, std::uint64_t begin, std::uint64_t end, bool many) {
      all.push_back(edge(end_of("instance", node, nic_port(g, p)),
                         end_of("instance", switch_at(s),
                                many ? at("port", first + begin) : slice("port", first + begin, first + end, count)),
                         many, "eth"));
    };
    const auto form = style_.below(3);
    for (const bool more : {false, true}) {
      const std::uint64_t begin = more ? first_half_ : 0, end = more ? truth_.servers : first_half_;
      const std::string name = more ? "more" : "h";
      if (begin == end) continue;
      if (form < 2) add(slice(name, 0, end - begin, end - begin), begin, end, form == 1);
      for (std::uint64_t i = begin; form == 2 && i < end; ++i) add(at(name, i - begin), i, i + 1, style_.one_in(2));
    }
  }

  Tree annotations() {
    std::vector<Tree> of_nodes, of_graph;
    for (const auto& [pointer, value] : truth_.annotations) {
      Tree one = map({{"attribute", text("photonrail/" + pointer)}, {"value", text(value)}});
      if (style_.one_in(3))
        of_graph.push_back(one);
      else
        of_nodes.push_back(
            map({{"name", text("h[0]gpu[0]")},
                 {"attributes", list({one, map({{"attribute", text("other/rank")}, {"value", text("x")}})})}}));
    }
    Tree all = map();
    if (!of_nodes.empty()) all.set("nodes", list(of_nodes));
    if (!of_graph.empty()) all.set("graph", list(of_graph));
    return all;
  }

  Draw& style_;
  const InfraTruth& truth_;
  std::uint64_t first_half_ = 0;
  std::uint64_t nics_ = 0;  ///< ports of the host; devices of one port; devices of all ports of a GPU
  bool per_switch_ = false;
};

// ---- the cluster that the truth is

using InfraJson = nlohmann::json;

InfraJson expected_cluster(const InfraTruth& truth) {
  InfraJson cluster{{"servers", truth.servers}, {"gpus_per_server", truth.gpus}, {"nic", {{"ports", truth.ports}}}};
  if (truth.gbit) cluster["nic"]["port_gb_per_s"] = static_cast<double>(*truth.gbit) / 8.0;
  if (truth.latency_ns) cluster["nic"]["latency_ns"] = static_cast<double>(*truth.latency_ns);
  cluster["rail"]["kind"] = truth.optical ? "optical" : "electrical";
  if (truth.optical && truth.planes > 1) cluster["rail"]["planes"] = truth.planes;
  if (truth.fabric != Fabric::kNone) {
    const std::uint64_t links = truth.fabric == Fabric::kMesh ? truth.gpus - 1 : truth.switches;
    cluster["scale_up"]["gb_per_s"] = static_cast<double>(links * truth.link_gbyte);
    if (truth.link_latency_ns) cluster["scale_up"]["latency_ns"] = static_cast<double>(*truth.link_latency_ns);
  }
  for (const auto& [pointer, value] : truth.annotations)
    cluster[InfraJson::json_pointer("/" + pointer)] = InfraJson::parse(value);
  return cluster;
}

Differences read_drawn_infra(std::uint64_t seed, const InfraTruth& written, const InfraTruth& truth, Cover& cover) {
  Draw style(seed, "infragraph/style");
  const Tree tree = InfraWriter(style, written).tree();
  cover_keys(tree, cover);
  const Folder folder;
  const std::string content = style.one_in(3) ? JsonText(style).of(tree) : YamlText(style).of(tree);
  const InfraJson scenario =
      InfraJson::parse(scenario_from_infragraph(folder.write("infra.yaml", maybe_gzip(style, content))));
  Differences found;
  found.compare("name", truth.name, scenario.at("name").get<std::string>());
  const InfraJson expected = expected_cluster(truth).flatten(), read = scenario.at("cluster").flatten();
  std::set<std::string> keys;
  for (const InfraJson* values : {&expected, &read}) {
    for (const auto& [key, value] : values->items()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    if (!expected.contains(key) || !read.contains(key)) {
      found.add(key + (read.contains(key) ? " was read, but not written" : " was written, but not read"));
    } else if (expected[key].is_number() && read[key].is_number()) {
      found.near(key, expected[key], read[key], 1e-12);
    } else {
      found.compare(key, expected[key].dump(), read[key].dump());
    }
  }
  const std::string why = scenario.at("why");
  const auto says = [&](const char* what) { return why.find(what) != std::string::npos; };
  found.compare("says that rails share switches", truth.shared, says("rails share them"));
  found.compare("says that NIC ports have no rate", !truth.gbit, says("no bandwidth of the links to switches"));
  found.compare("says that GPUs have no rate", truth.fabric == Fabric::kNone, says("no bandwidth between the GPUs"));
  found.compare("says that GPUs have no speed", !truth.annotations.contains("gpu"), says("no speed of a GPU"));
  found.compare("says that GPUs differ", false, says("differ in their links"));
  return found;
}

TEST(DrawnInfragraph, InfrastructuresAreReadAsTheyWereWritten) {
  Cover cover;
  expect_read_as_written(200, [&](std::uint64_t seed) {
    const InfraTruth truth = draw_infra(seed);
    return read_drawn_infra(seed, truth, truth, cover);
  });
  std::set<std::string> known =
      words_in({"src/formats/infragraph/document.cpp"},
               {R"rx((?:child|optional|list_or|text_or)\((?:\w+, )?"(\w+)")rx", R"rx([{ ]"([a-z_]+)"[,}])rx"});
  std::erase_if(known, [](const std::string& word) { return word == "one2one" || word == "many2many"; });  // values
  cover.expect_all(known, {});
}

TEST(DrawnInfragraph, AnotherValueIsNoticed) {
  Cover cover;
  const std::set<std::string> names{"rate", "latency", "link", "servers", "ports", "kind", "switches", "annotation"};
  expect_changes_noticed(120, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "infragraph/planted");
    const InfraTruth truth = draw_infra(seed);
    InfraTruth other = truth;
    const auto choice = draw.pick(std::vector<std::string>(names.begin(), names.end()));
    if (choice == "rate" && !truth.gbit) return true;
    if (choice == "rate") other.gbit = *truth.gbit * 8;  // bits as bytes
    if (choice == "latency" && !truth.latency_ns) return true;
    if (choice == "latency") other.latency_ns = *truth.latency_ns + 1;
    if ((choice == "link" || choice == "switches") && truth.fabric != Fabric::kSwitches) return true;
    if (choice == "link") other.link_gbyte += 1;
    if (choice == "switches") other.switches += 1;
    if (choice == "servers") other.servers += 1;
    if (choice == "ports" && truth.planes > 1) return true;
    if (choice == "ports") other.ports += 1;
    if (choice == "kind" && truth.optical) return true;
    if (choice == "kind") other.annotations["rail/kind"] = "\"electrical\"", other.annotations["rail/radix"] = "64";
    if (choice == "annotation" && !truth.optical) return true;
    if (choice == "annotation") other.annotations["rail/switch/reconfiguration_ms"] = "777";
    name = choice;
    try {
      return !read_drawn_infra(seed, other, truth, cover).none();
    } catch (const ConfigError&) {
      return true;
    }
  });
}

}  // namespace
}  // namespace photonrail::test::drawn
