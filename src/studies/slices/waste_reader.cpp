// Healthy servers that fit no group: "waste" of `photonrail.allocation/1`.
#include "formats/csv.hpp"
#include "studies/slices/reader.hpp"

namespace photonrail::slices {

namespace {

using fields::Field;
using fields::Reading;

/// A study, and the file that its faults are in.
struct WasteEntry {
  WasteStudy study{};
  std::filesystem::path faults{};
};

/// A kind of domain, and whether a ring of it is closed.
struct DomainKind {
  GroupDomain::Kind kind;
  bool closed;
};
constexpr fields::Word<DomainKind> kDomainKinds[] = {{"any", {GroupDomain::Kind::kSwitched, true}},
                                                     {"aligned", {GroupDomain::Kind::kAligned, true}},
                                                     {"ring", {GroupDomain::Kind::kRing, true}},
                                                     {"line", {GroupDomain::Kind::kRing, false}}};

/// The servers of the whole study, which no domain is larger than.
struct DomainContext : fields::Context {
  explicit DomainContext(std::uint32_t count) : servers(count) {}
  std::uint32_t servers;
};

constexpr double kMaxServers = 1U << 20U;
constexpr Field kDomainFields[] = {
    fields::text<&WasteStudy::Domain::name>("name", "Its name in results.").must(),
    fields::own(
        "kind", fields::text_shape(fields::words_of<kDomainKinds>),
        [](const Reading& at) {
          auto& domain = into<WasteStudy::Domain>(at).domain;
          const DomainKind kind = fields::meaning<kDomainKinds>(at.value);
          domain.kind = kind.kind;
          domain.closed = kind.closed;
        },
        "How servers are joined: in switches, in aligned blocks of switches, along a ring or a line.")
        .must(),
    fields::count<&WasteStudy::Domain::domain, &GroupDomain::reach>("reach", 1, 64, "Next servers that a server reaches.")
        .only_if("kind=ring|line")
        .must(),
    fields::own(
        "servers", fields::whole_shape(1, kMaxServers),
        [](const Reading& at) {
          into<WasteStudy::Domain>(at).domain.servers = at.value.count(1, context_of<DomainContext>(at).servers);
        },
        "Servers of a domain.")
        .only_if("kind=any|aligned")
        .must(),
};
constexpr Section kDomain{kDomainFields};

constexpr fields::Shape kGroup = fields::whole_shape(1, kMaxAccelerators);

void store_groups(const Reading& at) {
  WasteStudy& study = into<WasteEntry>(at).study;
  for (const JsonReader& group : at.value.elements()) {
    study.groups.push_back(group.count(1, kMaxAccelerators));
    if (study.groups.back() % study.accelerators_per_server != 0)
      group.fail("is no multiple of the accelerators of a server");
  }
}

void store_domains(const Reading& at) {
  WasteStudy& study = into<WasteEntry>(at).study;
  const DomainContext context(study.servers);
  for (const JsonReader& domain : at.value.elements()) {
    fields::read(domain, kDomain, &study.domains.emplace_back(), &context);
  }
}

constexpr Field kWasteFields[] = {
    fields::own(
        "faults", kPathShape,
        [](const Reading& at) { into<WasteEntry>(at).faults = formats::read_path(at.value, folder_of(at)); },
        "A CSV file with the columns `server`, `start_day` and `end_day`.")
        .must("a CSV file: server, start_day, end_day"),
    fields::count<&WasteEntry::study, &WasteStudy::servers>("servers", 1, kMaxServers, "Servers of the cluster.").must(),
    fields::count<&WasteEntry::study, &WasteStudy::accelerators_per_server>("accelerators_per_server", 1, 1024,
                                                                            "Accelerators of a server.")
        .must(),
    fields::own("groups", fields::list_shape(kGroup), store_groups,
                "Accelerators of a group, multiples of those of a server.")
        .must("accelerators of a group, such as [32]"),
    fields::own("domains", fields::list_shape(fields::kObjectOf<kDomain>), store_domains, "Ways to join servers.").must(),
    fields::count<&WasteEntry::study, &WasteStudy::placements>("placements", 1, 100'000,
                                                               "Random places of the faulty servers, of rings and lines.")
        .or_else("60"),
};

}  // namespace

constexpr Section kWasteSection{kWasteFields};

WasteStudy read_waste(const JsonReader& section, const StudyContext& context) {
  WasteEntry entry;
  fields::read(section, kWasteSection, &entry, &context);
  std::vector<ServerFault> faults;
  formats::read_csv(entry.faults, {"server", "start_day", "end_day"}, [&](std::size_t line, const auto& cells) {
    faults.push_back(
        {static_cast<std::uint32_t>(formats::csv_number(entry.faults, line, cells[0], 0, entry.study.servers - 1.0)),
         formats::csv_number(entry.faults, line, cells[1], 0, 1e6),
         formats::csv_number(entry.faults, line, cells[2], 0, 1e6)});
  });
  entry.study.faulty = faulty_server_shares(faults);
  return entry.study;
}

}  // namespace photonrail::slices
