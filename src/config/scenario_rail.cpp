// The "rail" section of "cluster": its switches, their delays, planes, pods and faults.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/cluster/device.hpp"

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

/// A distribution is in the unit of the key that has it.
struct DelayContext : FileContext {
  DelayContext(const std::filesystem::path& folder, double of_unit) : FileContext(folder), picoseconds(of_unit) {}
  double picoseconds;
};

const DelayContext& delay_context(const Reading& at) { return context_of<DelayContext>(at); }

std::vector<Duration> read_samples(const JsonReader& list, double picoseconds) {
  std::vector<Duration> samples;
  for (const JsonReader& sample : list.elements()) samples.push_back(sample.in_picoseconds(picoseconds));
  if (samples.empty()) list.fail("has no samples", "measured delays, in the unit of the key");
  return samples;
}

using Law = DelayDistribution::Kind;
constexpr Word<Law> kLaws[] = {
    {"uniform", Law::kUniform}, {"normal", Law::kNormal}, {"log_normal", Law::kLogNormal}, {"empirical", Law::kEmpirical}};

template <Duration DelayDistribution::*Member>
constexpr Field moment(std::string_view key, std::string_view law, std::string_view doc) {
  return fields::own(
             key, fields::time_shape(),
             [](const Reading& at) {
               into<DelayDistribution>(at).*Member = at.value.in_picoseconds(delay_context(at).picoseconds);
             },
             doc)
      .only_if(law)
      .must();
}

constexpr Shape kSample = fields::time_shape();
constexpr Field kDelayFields[] = {
    fields::word<kLaws, &DelayDistribution::kind>("distribution", "The law of the delay.").must(),
    moment<&DelayDistribution::a>("least", "distribution=uniform", "The shortest delay."),
    moment<&DelayDistribution::b>("greatest", "distribution=uniform", "The longest delay."),
    moment<&DelayDistribution::a>("mean", "distribution=normal", "The mean; negative draws are rejected."),
    moment<&DelayDistribution::b>("deviation", "distribution=normal", "The standard deviation."),
    moment<&DelayDistribution::a>("median", "distribution=log_normal", "The median."),
    fields::number<&DelayDistribution::sigma>("sigma", 0.0, DelayDistribution::kMaxSigma, "The deviation of the logarithm.")
        .only_if("distribution=log_normal")
        .must(),
    fields::own(
        "samples", fields::either(fields::list_shape(kSample), kPathShape),
        [](const Reading& at) {
          const DelayContext& context = delay_context(at);
          into<DelayDistribution>(at).samples = inline_or_file(
              at.value, context.directory, [&](const JsonReader& list) { return read_samples(list, context.picoseconds); });
        },
        "An array of times, or the path of a JSON file that holds one; a draw is one of them.")
        .only_if("distribution=empirical")
        .must("an array of delays, or the path of a JSON file that holds one"),
};

void check_delay(const Reading& at) {
  const auto& delay = into<DelayDistribution>(at);
  if (delay.kind == Law::kUniform && delay.b < delay.a) at.section.fail_at("greatest", "must not be less than \"least\"");
}

}  // namespace

constexpr Section kDelaySection{.fields = kDelayFields, .check = check_delay, .of_unit = true};

DelayDistribution read_delay(JsonReader value, double picoseconds, const std::filesystem::path& directory) {
  if (!value.is_object()) return DelayDistribution::constant(value.in_picoseconds(picoseconds));
  DelayDistribution delay;
  const DelayContext context(directory, picoseconds);
  fields::read(value, kDelaySection, &delay, &context);
  return delay;
}

namespace {

constexpr Field kPipFields[] = {
    fields::count<&PipMeshSpec::rows>("rows", 1, PipMeshSpec::kMaxHexagons, "Rows of hexagons.").must("rows of hexagons"),
    fields::count<&PipMeshSpec::columns>("columns", 1, PipMeshSpec::kMaxHexagons,
                                         "Hexagons of a row; n x m have 4 (n + m) + 4 open ends for two ports of each NIC "
                                         "port of a plane.")
        .must("hexagons of a row"),
    fields::number<&PipMeshSpec::cell_loss_db>("cell_loss_db", PipMeshSpec::kMinCellLossDb, PipMeshSpec::kMaxLossDb,
                                               "Of one pass of a cell.")
        .or_else("0.25"),
    fields::number<&PipMeshSpec::port_loss_db>("port_loss_db", 0.0, PipMeshSpec::kMaxLossDb,
                                               "Between a fibre and the mesh.")
        .or_else("1"),
    fields::number<&PipMeshSpec::crosstalk_db>("crosstalk_db", PipMeshSpec::kMinCrosstalkDb, PipMeshSpec::kMaxCrosstalkDb,
                                               "Of a cell: leaked to passed power.")
        .or_else("-30"),
};
constexpr Section kPip{kPipFields};

std::vector<std::string> switch_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const OpticalSwitchPreset& preset : optical_switch_presets()) words.emplace_back(preset.key);
  return words;
}

constexpr Word<DarkScope> kDark[] = {{"ports", DarkScope::kPorts}, {"switch", DarkScope::kSwitch}};

constexpr Field kSwitchFields[] = {
    fields::own(
        "preset", fields::text_shape(switch_words),
        [](const Reading& at) { into<OpticalSwitchSpec>(at) = at.value.lookup(optical_switch_preset); },
        "The switch whose values the other keys change: `photonrail list switches`.")
        .or_else("none"),
    fields::count<&OpticalSwitchSpec::ports>("ports", 1, 1'000'000'000,
                                             "At least 2 x servers x NIC ports / planes; with pods 4 x servers of a pod x "
                                             "NIC ports / planes.")
        .or_else("as many as needed; a warning where that is more than any switch that is known has, or than the preset's"),
    fields::own_time(
        "reconfiguration", "ms", fields::kTimeUnits, kDelayShape,
        [](const Reading& at) {
          into<OpticalSwitchSpec>(at).reconfiguration = read_delay(at.value, at.picoseconds, folder_of(at));
        },
        "Switching, without settling and link bring-up; a number or a distribution.")
        .must_if("!preset", "a switch without a \"preset\" needs it (any of _ns, _us, _ms, _s)"),
    fields::time<&OpticalSwitchSpec::settle>("settle", "ms", "After switching.").or_else("0"),
    fields::time<&OpticalSwitchSpec::link_up>("link_up", "ms", "Link bring-up after that.").or_else("0"),
    fields::word<kDark, &OpticalSwitchSpec::darkness>("dark",
                                                      "What has no light while the switch re-points: the fibres that "
                                                      "change, or all.")
        .or_else("`\"ports\"`"),
    fields::time<&OpticalSwitchSpec::batching>("batching", "us",
                                               "The switch collects commands for this time and carries them out as one.")
        .or_else("0"),
    fields::own(
        "commands_per_s", fields::number_shape(1e-3, 1e12),
        [](const Reading& at) { into<OpticalSwitchSpec>(at).command_gap = round_up_picoseconds(1e12 / number_of(at)); },
        "The most commands that a switch begins.")
        .by("command_gap")
        .or_else("no limit"),
    fields::number<&OpticalSwitchSpec::insertion_loss_db>("insertion_loss_db", 0.0, 1000.0, "Of one pass; 0: unknown.")
        .or_else("0"),
    fields::part<kPip, &OpticalSwitchSpec::pip>("pip",
                                                "A mesh of programmable photonics, which blocks; not with "
                                                "`insertion_loss_db`, `forwarding` or pods.")
        .or_else("none: a crossbar"),
    fields::number<&OpticalSwitchSpec::power_w>("power_w", 0.0, 1e9, "For the cost; required for it of a mesh.")
        .or_else("0: the catalogue's"),
    fields::number<&OpticalSwitchSpec::usd_per_port>("usd_per_port", 0.0, 1e9, "For the cost; required for it of a mesh.")
        .or_else("0: the catalogue's"),
};
constexpr Section kSwitch{kSwitchFields};

OpticalSwitchSpec read_switch(const JsonReader& section, const std::filesystem::path& directory) {
  if (section.is_string()) return section.lookup(optical_switch_preset);
  OpticalSwitchSpec spec;
  const FileContext context(directory);
  fields::read(section, kSwitch, &spec, &context);
  return spec;
}

constexpr Word<PodSpec::Layer> kPodLayers[] = {{"electrical", PodSpec::Layer::kElectrical},
                                               {"optical", PodSpec::Layer::kOptical}};
constexpr Field kPodFields[] = {
    fields::count<&PodSpec::servers>("servers", 1, 1'000'000,
                                     "Servers of a pod, which has switches of its own; fewer than the cluster has.")
        .must("servers of a pod"),
    fields::word<kPodLayers, &PodSpec::layer>("joined_by", "The layer between pods.")
        .by("layer")
        .must(R"("electrical" or "optical")"),
    fields::number<&PodSpec::oversubscription>("oversubscription", 1.0, 1e6,
                                               "Bandwidth of a pod's NIC ports / bandwidth between pods.")
        .only_if("joined_by=electrical", "circuits between pods cannot be shared",
                 "an optical layer has an uplink for every NIC port; remove it")
        .or_else("1"),
    fields::time<&PodSpec::latency>("latency", "ns", "Added to a circuit between pods.").or_else("0"),
};
constexpr Section kPods{kPodFields};

constexpr Word<UplinkRouting> kRoutings[] = {{"fluid", UplinkRouting::kFluid},
                                             {"hash", UplinkRouting::kHash},
                                             {"equal", UplinkRouting::kEqual},
                                             {"least_loaded", UplinkRouting::kLeastLoaded},
                                             {"shares", UplinkRouting::kShares}};
constexpr Word<UplinkSpec::HashBy> kHashBy[] = {{"message", UplinkSpec::HashBy::kMessage},
                                                {"flow", UplinkSpec::HashBy::kFlow}};
constexpr Shape kUplinkRate = fields::rate_shape();
constexpr Shape kUplinkShare = fields::number_shape(0.0, 1.0);
constexpr Field kUplinkFields[] = {
    fields::count<&UplinkSpec::count>("count", 1, UplinkSpec::kMax,
                                      "Uplinks of every leaf; uplink u leads to spine u, and down again over those of u.")
        .or_else("as many as `gb_per_s` has, else cables of the NIC ports' rate for the leaf's bandwidth up"),
    fields::own(
        "gb_per_s", fields::list_shape(kUplinkRate),
        [](const Reading& at) {
          for (const JsonReader& rate : at.value.elements()) into<UplinkSpec>(at).rates.push_back(rate.bandwidth());
          if (into<UplinkSpec>(at).rates.empty()) at.value.fail("has no rates", "one for each uplink of a leaf");
        },
        "Rates of the uplinks by number, each direction; `oversubscription` then only says how many ports are below a "
        "leaf.")
        .by("rates")
        .or_else("equal parts of the leaf's bandwidth up"),
    fields::word<kRoutings, &UplinkSpec::routing>("routing",
                                                  "Over which uplinks a message between leaves goes: all as one capacity, "
                                                  "one by a hash, equal parts over all whatever their rates, the one "
                                                  "whose bytes still to send take least time, or `shares` over all.")
        .or_else("`\"fluid\"`"),
    fields::word<kHashBy, &UplinkSpec::hash_by>("hash_by", "A draw for each message, or one for all between two NICs.")
        .only_if("routing=hash", "only routing \"hash\" has it", "remove it")
        .or_else("`\"message\"`"),
    fields::own(
        "shares", fields::list_shape(kUplinkShare),
        [](const Reading& at) {
          for (const JsonReader& share : at.value.elements()) into<UplinkSpec>(at).shares.push_back(share.number(0.0, 1.0));
          if (into<UplinkSpec>(at).shares.empty()) at.value.fail("has no shares", "one for each uplink of a leaf");
        },
        "Of the bytes of a message, by uplink; they add up to 1. Equal ones are routing `equal`. With 0 an uplink is not "
        "used.")
        .only_if("routing=shares", "only routing \"shares\" has them", "remove them")
        .or_else("in proportion to the rates, so that all parts end together"),
};
constexpr Section kUplinks{kUplinkFields};

constexpr double kMaxNumber = 1e9;
constexpr Word<PortFault::Kind> kFaultKinds[] = {
    {"failed", PortFault::Kind::kFailed}, {"stuck", PortFault::Kind::kStuck}, {"slow", PortFault::Kind::kSlow}};
constexpr Field kFaultFields[] = {
    fields::word<kFaultKinds, &PortFault::kind>("kind",
                                                "No light, not to be re-pointed any more, or less of its rate. Electrical "
                                                "rails have `failed` (what the NIC carries stands still) and `slow`, of "
                                                "whole NICs.")
        .must(R"("failed", "stuck" or "slow")"),
    fields::number<&PortFault::rate>("rate", 1e-6, 1.0,
                                     "The share of its rate that the port has left, in both directions; shares of one port "
                                     "multiply, and a circuit has that of its slower end.")
        .only_if("kind=slow")
        .must("the share of its rate that it has left"),
    fields::count<&PortFault::rail>("rail", 0, kMaxNumber, "The rail; with a server a NIC, with a plane an OCS.")
        .or_else("all"),
    fields::count<&PortFault::server>("server", 0, kMaxNumber, "The server.").or_else("all"),
    fields::count<&PortFault::port>("port", 0, kMaxNumber, "The port of the NIC; not with `plane`.").or_else("all"),
    fields::count<&PortFault::plane>("plane", 0, kMaxNumber, "The plane; alone it is that plane of every rail.")
        .or_else("all"),
    fields::count<&PortFault::leaf>(
        "leaf", 0, kMaxNumber, "Electrical rails of two tiers: the fault is of uplinks of this leaf; not with `server`.")
        .or_else("all, with `uplink`"),
    fields::count<&PortFault::uplink>("uplink", 0, kMaxNumber,
                                      "The uplink of each such leaf, both directions; without `leaf` it is a spine.")
        .or_else("all, with `leaf`"),
    fields::count<&PortFault::site_link>("site_link", 0, kMaxNumber,
                                         "The fault is of this link of `sites`, both directions; given alone.")
        .or_else("none"),
    fields::time<&PortFault::detection>("detection", "ms",
                                        "`failed` on optical rails only: from the loss of light until the control plane "
                                        "knows it (a time-out, a heartbeat).")
        .or_else("0"),
    fields::time<&PortFault::at>("at", "ms", "When it begins.").or_else("0"),
    fields::time<&PortFault::lasts>("lasts", "ms", "Until it is repaired, and its circuits are lit again.")
        .or_else("for good"),
};
constexpr Section kFault{kFaultFields};

constexpr std::string_view kNoCircuits = "electrical rails have no circuits";
constexpr std::string_view kOrOptical = "remove it, or set \"kind\" to \"optical\"";
constexpr std::string_view kElectricalOnly = "only electrical rails have it";
constexpr std::string_view kOrPorts = "remove it; the ports of an OCS are /cluster/rail/switch/ports";

constexpr Field of_electrical(const Field& field) { return field.only_if("kind=electrical", kElectricalOnly, kOrPorts); }
constexpr Field of_optical(const Field& field) { return field.only_if("kind=optical", kNoCircuits, kOrOptical); }

constexpr Word<RailKind> kKinds[] = {{"electrical", RailKind::kElectrical}, {"optical", RailKind::kOptical}};
constexpr Word<OnDark> kOnDark[] = {{"error", OnDark::kError}, {"pause", OnDark::kPause}};
constexpr Shape kSwitchName = fields::text_shape(switch_words);

constexpr Field kRailFields[] = {
    fields::word<kKinds, &RailSpec::kind>("kind", "Packet switches, or optical circuit switches.")
        .must("\"electrical\" or \"optical\""),
    of_electrical(fields::count<&RailSpec::switch_radix>(
                      "radix", 2, 1'000'000, "Ports of a rail switch; more NIC ports than this make leaves and spines."))
        .by("switch_radix")
        .or_else("64"),
    of_electrical(fields::number<&RailSpec::oversubscription>("oversubscription", 1.0, 1e6,
                                                              "Bandwidth down / bandwidth up of a leaf."))
        .or_else("1"),
    fields::flag<&RailSpec::fewer_spines>("fewer_spines",
                                          "Leaves keep half of their ports down whatever the oversubscription is: the same "
                                          "switches, with ports to spare, and fewer spines.")
        .only_if("oversubscription", "spines are fewer where leaves are oversubscribed",
                 "give \"oversubscription\" too, or remove it")
        .or_else("false"),
    of_electrical(fields::time<&RailSpec::tier_latency>("tier_latency", "ns", "Added to a path over leaf, spine and leaf."))
        .or_else("0"),
    of_electrical(fields::part<kUplinks, &RailSpec::uplinks>("uplinks", "The uplinks of a leaf one by one."))
        .or_else("one capacity each way"),
    of_optical(fields::own(
                   "switch", fields::either(fields::object_shape(kSwitch), kSwitchName),
                   [](const Reading& at) { into<RailSpec>(at).optical = read_switch(at.value, folder_of(at)); },
                   "The OCS: a name of `photonrail list switches`, or its values."))
        .by("optical")
        .must("optical rails need a switch: the name of a preset or an object"),
    of_optical(fields::flag<&RailSpec::forwarding>("forwarding", "A send may hop over other GPUs of its rail."))
        .or_else("false"),
    of_optical(fields::word<kOnDark, &RailSpec::on_dark>("on_dark",
                                                         "What becomes of bytes on a circuit that a controller darkens."))
        .or_else("`\"error\"`"),
    of_optical(fields::count<&RailSpec::planes>(
                   "planes", 1, 1'000'000,
                   "Switches side by side, a divisor of the NIC's ports; NIC port p is on plane p modulo planes."))
        .or_else("1"),
    of_optical(fields::part<kPods, &RailSpec::pods>("pods", "Servers with switches of their own, joined by a layer."))
        .or_else("no pods"),
    fields::parts<kFault, &RailSpec::faults>("faults",
                                             "NIC ports that fail; what is not given is every rail, server or port.")
        .or_else("none"),
};

}  // namespace

constexpr Section kRailSection{kRailFields};

RailSpec read_rail(JsonReader rail, const std::filesystem::path& directory) {
  RailSpec spec;
  const FileContext context(directory);
  fields::read(std::move(rail), kRailSection, &spec, &context);
  return spec;
}

}  // namespace photonrail::config
