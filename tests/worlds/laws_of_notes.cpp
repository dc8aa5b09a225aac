// The law of notes: each is there where it is true, and not elsewhere. The truth comes from the file, the placement, the
// books of the ranks and twins, and not from what a note reads.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "worlds/laws.hpp"
#include "worlds/twins.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace photonrail::worlds {

namespace {

/// A world that ended, and one of its notes.
struct Noted {
  const Json& file;
  const Scenario& scenario;
  const Outcome& first;
  const Note* note;  ///< null: it is not there
  Verdict& verdict;

  [[nodiscard]] const RunResult& result() const { return first.result; }
  [[nodiscard]] bool alone() const { return scenario.jobs.empty(); }
  [[nodiscard]] Outcome run_of(const Json& twin) const {
    ++verdict.runs;
    return run(twin);
  }
  /// "" where the twin has the history of the world.
  [[nodiscard]] std::string is_the_same(const Json& twin) const {
    const Outcome other = run_of(twin);
    if (other.ending != Ending::kDone) return "without it: " + other.message;
    if (other.history == first.history && other.result.makespan == result().makespan) return "";
    return "without it the history is another one";
  }
  /// "" where the twin has the times and the bytes of the world, whatever the order of events within an instant.
  [[nodiscard]] std::string has_the_results_of(const Json& twin) const {
    const Outcome other = run_of(twin);
    if (other.ending != Ending::kDone) return "without it: " + other.message;
    const RunResult& own = result();
    const bool same = other.result.makespan == own.makespan && other.result.iterations == own.iterations &&
                      other.result.ranks == own.ranks &&
                      other.result.reconfigurations.count == own.reconfigurations.count &&
                      Json::parse(other.text)["traffic"] == Json::parse(first.text)["traffic"];
    return same ? "" : "without it the results are others";
  }
};

std::string there_unless(bool truth, const Noted& at, const char* why) {
  if (truth == (at.note != nullptr)) return "";
  return std::string(truth ? "is missing: " : "is there: ") + why;
}

void erase_times(Json& object, const std::string& key) {
  for (const char* unit : {"_ps", "_ns", "_us", "_ms"}) object.erase(key + unit);
}

std::string one_tier(const Noted& at) {
  const ClusterSpec& cluster = at.scenario.cluster;
  const RailSpec& rail = cluster.rail;
  const bool fits = rail.kind == RailKind::kElectrical && cluster.servers * cluster.nic.ports <= rail.switch_radix;
  const bool set = rail.oversubscription != 1.0 || rail.tier_latency > Duration{};
  if (std::string text = there_unless(fits && set, at, "ports, radix and oversubscription"); !text.empty()) return text;
  if (at.note == nullptr) return "";
  Json twin = at.file;
  for (const char* key : {"oversubscription", "fewer_spines"}) twin["cluster"]["rail"].erase(key);
  erase_times(twin["cluster"]["rail"], "tier_latency");
  return at.is_the_same(twin);
}

// What no byte crosses may have any rate. What is busy for a share of the time is so for eight times as long at an eighth
// of the rate; leaves then hold other servers, so that this is asked of pods.
std::string uplinks(const Noted& at) {
  if (at.note == nullptr) return "";
  const bool optical = at.scenario.cluster.rail.kind == RailKind::kOptical;
  Json twin = at.file;
  Json& of = optical ? twin["cluster"]["rail"]["pods"] : twin["cluster"]["rail"];
  const double share = of.value("oversubscription", 1.0);
  if (share == 1.0 || at.note->value >= 0.5) return "is there: uplinks that are not oversubscribed, or busy";
  if (at.note->value == 0.0 && optical) {
    of["oversubscription"] = 1;
    return at.is_the_same(twin);
  }
  if (!optical || !is_steady(at.file)) return "";
  of["oversubscription"] = share * 8;
  const Outcome other = at.run_of(twin);
  if (other.ending != Ending::kDone) return "";
  const double busy = 8.0 * at.note->value * to_seconds(at.result().makespan);
  return to_seconds(other.result.makespan) >= busy * (1.0 - 1e-6) ? "" : "says more than eighths of the rate can carry";
}

// What the single uplinks carried is what the plans send over their leaves, whatever failed meanwhile.
std::string carried_bytes(const Noted& at) {
  const Utilisation::Uplinks& uplinks = *at.result().utilisation->uplinks;
  if (uplinks.single.size() == Utilisation::Uplinks::kMaxSingle) return "";  // there may be more
  double carried = 0.0;
  for (const Utilisation::Uplink& uplink : uplinks.single) carried += static_cast<double>(uplink.up.count);
  const double rate = at.scenario.cluster.plant().leaf_rate().bytes_per_second;
  const double sent = uplinks.mean * static_cast<double>(uplinks.count) * rate * to_seconds(at.result().makespan);
  return std::abs(carried - sent) <= 1.0 + 1e-6 * sent ? "" : "single uplinks carried other bytes than the plans send";
}

std::string single_uplinks(const Noted& at) {
  const auto place = "/cluster/rail/uplinks"_json_pointer;
  if (at.note == nullptr) return "";
  if (!at.file.contains(place)) return "is there: nothing is said of uplinks";
  if (at.note->text.find("no effect") == std::string::npos)
    return at.note->value >= 1.0 - 1e-9 ? carried_bytes(at) : "below the mean";
  Json twin = at.file;
  Json& uplinks = twin[place];
  if (at.note->key.ends_with("count")) {
    uplinks.erase("count");
  } else if (at.scenario.cluster.plant().two_tier()) {
    uplinks.erase("routing");
    uplinks.erase("hash_by");
    uplinks.erase("shares");
  } else {
    twin["cluster"]["rail"].erase("uplinks");
  }
  return at.is_the_same(twin);
}

std::string idle_gpus(const Noted& at) {
  std::size_t ranks = at.result().ranks.size();
  if (!at.alone()) {
    ranks = std::accumulate(at.result().jobs.begin(), at.result().jobs.end(), std::size_t{0},
                            [](std::size_t sum, const RunResult& job) { return sum + job.ranks.size(); });
  }
  const std::size_t gpus = std::size_t{at.scenario.cluster.servers} * at.scenario.cluster.gpus_per_server;
  if (std::string text = there_unless(ranks < gpus, at, "ranks and GPUs"); !text.empty()) return text;
  const double idle = 1.0 - static_cast<double>(ranks) / static_cast<double>(gpus);
  return at.note == nullptr || std::abs(at.note->value - idle) < 1e-12 ? "" : "says another share";
}

// Which dimensions have groups in several servers.
std::set<Dimension> crossing_dimensions(const Scenario& scenario) {
  std::set<Dimension> crossing;
  for (const Communicator& group : scenario.graph.communicators()) {
    std::set<std::uint32_t> servers;
    for (const RankId rank : group.members)
      servers.insert(scenario.gpu_of_rank[rank.index()].value / scenario.cluster.gpus_per_server);
    if (servers.size() > 1) crossing.insert(group.dimension);
  }
  return crossing;
}

std::string no_rail_traffic(const Noted& at) {
  if (!at.alone() || at.result().makespan == Duration{}) return there_unless(false, at, "several jobs, or no time");
  const bool within = crossing_dimensions(at.scenario).empty();
  if (within && at.note == nullptr && at.result().utilisation) return "is missing: each group is in one server";
  if (at.note == nullptr) return "";
  Json twin = at.file;
  twin["cluster"]["nic"]["port_gb_per_s"] = 7;
  erase_times(twin["cluster"]["nic"], "latency");
  twin["cluster"]["nic"]["latency_ns"] = 123456;
  return at.is_the_same(twin);
}

std::string never_switches(const Noted& at) {
  const bool once = at.scenario.cluster.rail.kind == RailKind::kOptical && at.alone() && !at.first.circuits.made.empty() &&
                    !at.first.circuits.pointed_elsewhere;
  if (at.note != nullptr && !once) return "is there: a port was pointed elsewhere, or none was";
  return "";
}

std::string hidden_switching(const Noted& at) {
  const RunResult& result = at.result();
  const bool waits = std::any_of(result.ranks.begin(), result.ranks.end(),
                                 [](const RankTime& rank) { return rank.reconfiguration_wait > Duration{}; });
  if (at.note == nullptr) return "";
  if (at.scenario.cluster.rail.kind != RailKind::kOptical || !at.alone() || at.first.circuits.made.empty())
    return "is there: nothing was switched";
  return waits ? "is there: a rank waits for circuits" : "";
}

// The reason that it gives is the delay: without one the steps are alike, or less apart.
std::string first_step(const Noted& at) {
  const std::vector<Duration>& steps = at.result().iterations;
  if (at.note == nullptr) return "";
  if (steps.size() < 2 || at.scenario.cluster.rail.kind != RailKind::kOptical) return "is there: one step, or no circuits";
  const double later = to_seconds(at.result().makespan - steps[0]) / static_cast<double>(steps.size() - 1);
  const double more = to_seconds(steps[0]) - later;
  const double rounding = 1e-15 * to_seconds(at.result().makespan);
  if (std::abs(at.note->value - more) > 2e-12 + rounding) return "says another time than steps do";
  return "";
}

std::string unused_share(const Noted& at) {
  const Json shares = at.file.value("/executor/sm_share"_json_pointer, Json::object());
  const auto has_traffic = [&](const std::string& key) {
    for (std::size_t d = 0; d < at.result().traffic.size(); ++d) {
      if (name(static_cast<Dimension>(d)) == key) return at.result().traffic[d].operations > 0;
    }
    return false;
  };
  Json twin = at.file;
  bool unused = false;
  for (const auto& [key, share] : shares.items()) {
    if (share == 0 || has_traffic(key)) continue;
    unused = true;
    twin["executor"]["sm_share"].erase(key);
  }
  if (std::string text = there_unless(unused && at.alone(), at, "shares and traffic"); !text.empty()) return text;
  return at.note == nullptr ? "" : at.is_the_same(twin);
}

// The note is about results. Flows that end in one instant may do so in another order, since the capacities that they leave
// have their next times earlier.
std::string unused_accuracy(const Noted& at) {
  if (at.note == nullptr) return "";
  Json twin = at.file;
  twin.erase("network");
  return at.has_the_results_of(twin);
}

std::string nothing_drawn(const Noted& at) {
  const bool asked = at.file.value("/run/spread_seeds"_json_pointer, 0) > 1;
  if (at.note == nullptr) return "";
  if (!asked) return "is there: no spread was asked for";
  Json twin = at.file;
  twin["run"]["seed"] = at.file.value("/run/seed"_json_pointer, std::uint64_t{1}) + 1;
  return at.is_the_same(twin);
}

const char* key_of_part(const PathPart& part) {
  switch (part.kind) {
    case PathPart::Kind::kCircuits:
      return "/cluster/rail/reconfiguration_ms";
    case PathPart::Kind::kLane:
      return "/executor/comm_lanes";
    case PathPart::Kind::kCommunication:
      break;
    default:
      return "/cluster/gpu";
  }
  static const std::map<Place, const char*> keys{{Place::kScaleUp, "/cluster/scale_up/gb_per_s"},
                                                 {Place::kPort, "/cluster/nic/port_gb_per_s"},
                                                 {Place::kLeafUplink, "/cluster/rail/oversubscription"},
                                                 {Place::kPodUplink, "/cluster/rail/pods/oversubscription"},
                                                 {Place::kSiteLink, "/cluster/sites/links"},
                                                 {Place::kLatency, "/cluster/nic/latency_ns"}};
  return keys.at(*part.place);
}

Duration time_at(const CriticalPath& path, Place place) {
  return std::accumulate(path.parts.begin(), path.parts.end(), Duration{}, [place](Duration sum, const PathPart& part) {
    return part.place == place ? sum + part.time : sum;
  });
}

// Of operations one after another the run is a longest path, convex in the time of a byte: at half of a rate it takes
// longer by at least what the path has at that place.
std::string halves(const Noted& at, const Outcome& with_path, const char* pointer, Place place) {
  const Json::json_pointer key(pointer);
  if (!at.file.contains(key)) return "";
  Json twin = at.file;
  twin[key] = at.file[key].get<double>() / 2;
  const Outcome slow = at.run_of(twin);
  const Duration there = time_at(*with_path.result.critical_path, place);
  if (slow.ending != Ending::kDone || slow.result.choices != with_path.result.choices) return "";
  const Duration least = with_path.result.makespan + Duration{there.count() / 2};
  if (slow.result.makespan >= least) return "";
  return std::string("has too much time at ") + pointer;
}

std::string binds(const Noted& at) {
  if (!at.alone()) return there_unless(false, at, "several jobs");
  Json twin = at.file;
  twin["run"]["critical_path"] = true;
  ++at.verdict.runs;
  const Outcome other = run(twin, Watched::kNo);
  if (other.ending != Ending::kDone || !other.result.critical_path) return "";
  const std::vector<Note>& notes = other.result.notes;
  const auto note = std::find_if(notes.begin(), notes.end(), [](const Note& of) { return of.id == "binds"; });
  const CriticalPath& path = *other.result.critical_path;
  const bool there = note != notes.end();
  if (there != (other.result.makespan > Duration{})) return "is missing, or is there where nothing takes time";
  if (!there) return "";
  const auto longest = std::max_element(path.parts.begin(), path.parts.end(),
                                        [](const PathPart& a, const PathPart& b) { return a.time < b.time; });
  const double share = to_seconds(longest->time) / to_seconds(other.result.makespan);
  if (std::abs(note->value - share) > 1e-9) return "names another part than the longest";
  if (longest == path.parts.begin() && note->key != key_of_part(*longest)) return "has the key " + note->key;
  if (!is_serial(at.file) || !is_steady(at.file) || rings_share_wires(at.file) || names_presets(at.file["cluster"]))
    return "";
  if (at.scenario.cluster.rail.kind == RailKind::kOptical) return "";
  if (std::string text = halves(at, other, "/cluster/nic/port_gb_per_s", Place::kPort); !text.empty()) return text;
  return halves(at, other, "/cluster/scale_up/gb_per_s", Place::kScaleUp);
}

struct NoteTruth {
  const char* id;
  std::string (*problem)(const Noted&);
};
constexpr NoteTruth kTruths[] = {{"binds", binds},
                                 {"one-tier", one_tier},
                                 {"uplinks", uplinks},
                                 {"uplink-routing", single_uplinks},
                                 {"idle-gpus", idle_gpus},
                                 {"no-rail-traffic", no_rail_traffic},
                                 {"never-switches", never_switches},
                                 {"hidden-switching", hidden_switching},
                                 {"first-step", first_step},
                                 {"unused-sm-share", unused_share},
                                 {"unused-accuracy", unused_accuracy},
                                 {"nothing-drawn", nothing_drawn}};

// Whether one all-to-all of the scenario has a member with several messages over one port at once: those of a table of
// bytes leave together, to each other server and from each.
bool table_shares_ports(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const TrafficSource* const tables = scenario.graph.demands();
  if (tables == nullptr) return false;
  const auto server_of = [&](RankId rank) { return scenario.gpu_of_rank[rank.index()].value / cluster.gpus_per_server; };
  for (const Communicator& group : scenario.graph.communicators()) {
    const CommunicatorId id{static_cast<std::uint32_t>(&group - scenario.graph.communicators().data())};
    for (std::uint32_t step = 0; step < scenario.run.iterations; ++step) {
      const TrafficMatrix table = tables->matrix({id, 1, step, scenario.run.seed});
      std::map<std::pair<bool, std::uint32_t>, std::uint32_t> messages;  // (whether it sends, NIC) -> of it
      for (Member from = 0; from < table.members(); ++from) {
        for (Member to = 0; to < table.members(); ++to) {
          const RankId sender = group.members[from];
          const RankId receiver = group.members[to];
          if (table.at(from, to) == Bytes{} || server_of(sender) == server_of(receiver)) continue;
          const auto nic_of = [&](RankId rank) { return scenario.gpu_of_rank[rank.index()].value / cluster.nic.gpus; };
          if (++messages[{true, nic_of(sender)}] > 1 || ++messages[{false, nic_of(receiver)}] > 1) return true;
        }
      }
    }
  }
  return false;
}

// Ranks of one server that send to one local index of others share its NIC.
bool crosses_servers_and_rails(const Scenario& scenario) {
  const std::uint32_t width = scenario.cluster.gpus_per_server;
  return std::ranges::any_of(scenario.graph.communicators(), [&](const Communicator& group) {
    std::set<std::uint32_t> servers;
    std::set<std::uint32_t> rails;
    for (const RankId rank : group.members) {
      servers.insert(scenario.gpu_of_rank[rank.index()].value / width);
      rails.insert(scenario.gpu_of_rank[rank.index()].value % width);
    }
    return servers.size() > 1 && rails.size() > 1;
  });
}

// The same job on electrical rails: the note is there where it is slower, and says that messages share ports only where
// several may be on their way at once.
std::string beside_electrical(const World& world, const Outcome& first, Verdict& verdict) {
  if (first.result.cluster.rail.kind != RailKind::kOptical || !first.result.jobs.empty()) return "";
  ++verdict.runs;
  const Outcome electrical = run(on_electrical_rails(world.scenario));
  if (electrical.ending != Ending::kDone || first.result.makespan == Duration{}) return "";
  const std::vector<Note> notes = notes_of(std::vector<RunResult>{electrical.result, first.result});
  const auto count =
      std::count_if(notes.begin(), notes.end(), [](const Note& n) { return n.id == "faster-than-electrical"; });
  const bool faster = first.result.step_time() < electrical.result.step_time();
  if (count != (faster ? 1 : 0)) return "faster-than-electrical is missing, or is there where it is not faster";
  if (!faster || !is_serial(world.scenario) || notes[0].text.find("share a port") == std::string::npos) return "";
  const Json twin = on_electrical_rails(world.scenario);
  const Scenario read = parse_scenario(twin.dump(), "/", "world.json");
  if (rings_share_wires(twin) || table_shares_ports(read) || crosses_servers_and_rails(read)) return "";
  return "one collective shares no port with itself";
}

// Twins that every world would need are run for some.
bool is_thorough(const World& world) { return world.seed % 7 == 0; }

LawAnswer notes_are_true(const World& world, const Outcome& first, Verdict& verdict) {
  const Scenario scenario = parse_scenario(world.scenario.dump(), "/", "world.json");
  for (const Note& note : first.result.notes) {
    const auto known = [&](const NoteTruth& truth) { return note.id == truth.id; };
    if (std::none_of(std::begin(kTruths), std::end(kTruths), known)) return {true, note.id + ": no truth is known of it"};
  }
  for (const NoteTruth& truth : kTruths) {
    if (truth.problem == &binds && !is_thorough(world)) continue;
    const auto note = std::find_if(first.result.notes.begin(), first.result.notes.end(),
                                   [&](const Note& of) { return of.id == truth.id; });
    const Note* const found = note == first.result.notes.end() ? nullptr : &*note;
    const std::string text = truth.problem({world.scenario, scenario, first, found, verdict});
    if (!text.empty()) return {true, std::string("note ") + truth.id + " " + text + (found ? ": " + found->text : "")};
  }
  return {true, is_thorough(world) ? beside_electrical(world, first, verdict) : ""};
}

}  // namespace

std::vector<PolicyProperty> laws_of_notes() {
  return {{"notes", "each note is there where it is true, and not elsewhere", notes_are_true}};
}

}  // namespace photonrail::worlds
