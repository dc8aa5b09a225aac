// Questions to allocators, with what is expected of the answers.
#include "core/counted.hpp"
#include "json/file_text.hpp"
#include "json/in_file.hpp"
#include "studies/slices/reader.hpp"

#include <algorithm>

namespace photonrail::slices {

namespace {

using fields::Field;
using fields::Reading;

/// Hexadecimal, the most significant bit first: accelerators in row-major order, 1 is idle.
Pod read_idle(const JsonReader& value, const PodSpec& spec) {
  Pod pod(spec);
  const std::string map = value.string();
  const std::size_t digits = (std::size_t{pod.size()} + 3) / 4;
  if (map.size() != digits) {
    value.fail("has " + core::counted(map.size(), "digit"), core::counted(digits, "hexadecimal digit"));
  }
  std::vector<std::uint32_t> busy;
  for (std::uint32_t a = 0; a < pod.size(); ++a) {
    const char c = map[a / 4];
    const auto digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(c);
    if (digit == std::string_view::npos) value.fail(std::string("'") + c + "' is no hexadecimal digit");
    if ((digit % 16 >> (3 - a % 4) & 1U) == 0) busy.push_back(a);
  }
  pod.take(busy);
  return pod;
}

constexpr fields::Word<bool> kAnswers[] = {{"admit", true}, {"reject", false}};
constexpr fields::Word<RefusalReason> kReasons[] = {{"resource", RefusalReason::kResource},
                                                    {"shape", RefusalReason::kShape}};

/// What is expected of the answer, and the torus that its places are in.
struct ExpectedContext : fields::Context {
  explicit ExpectedContext(const Shape& pod) : torus(pod) {}
  const Shape& torus;
};

// Simulators write a null where there is no reason, above all with what they admit.
void read_reason(const Reading& at) {
  auto& expected = into<DecisionCase::Expected>(at);
  const Json* const reason = at.section.json().find("reason");
  if (reason == nullptr || (expected.placed && !reason->is_null())) return;
  const JsonReader value = at.section.child("reason");
  if (!reason->is_null()) expected.refusal = fields::meaning<kReasons>(value);
}

void store_places(const Reading& at) {
  auto& expected = into<DecisionCase::Expected>(at);
  const Shape& torus = context_of<ExpectedContext>(at).torus;
  for (const JsonReader& place : at.value.elements()) {
    Coordinates position{};
    const auto coordinates = place.elements();
    if (coordinates.size() != torus.dimensions) place.fail("has not the dimensions of the torus");
    for (std::size_t d = 0; d < coordinates.size(); ++d) position[d] = coordinates[d].count(0, torus[d] - 1);
    expected.accelerators.push_back(torus.index(position));
  }
  std::sort(expected.accelerators.begin(), expected.accelerators.end());
}

constexpr fields::Shape kCoordinate = fields::whole_shape(0, kMaxAccelerators);
constexpr fields::Shape kPosition = fields::list_shape(kCoordinate);
constexpr Field kReasonFields[] = {
    fields::known("reason", fields::text_shape(fields::words_of<kReasons>), "Why it is rejected.").or_else("any"),
};
constexpr Section kReason{kReasonFields};

constexpr Field kExpectedFields[] = {
    fields::word<kAnswers, &DecisionCase::Expected::placed>("decision", "The answer.").must(),
    fields::include<kReason>().read_by(read_reason),
    fields::own(
        "shape", kBoxShape, [](const Reading& at) { into<DecisionCase::Expected>(at).shape = read_shape(at.value); },
        "The shape of the slice.")
        .or_else("any"),
    fields::known("nodes", {}, "The size of the shape; not read."),
    fields::own("placement", fields::list_shape(kPosition), store_places, "Positions of its accelerators.").or_else("any"),
};
constexpr Section kExpected{kExpectedFields};

/// A case, and the pod whose idle accelerators come behind its parts.
struct CaseEntry {
  DecisionCase one{};
  PodSpec spec{};
};

void store_policy(const Reading& at) {
  auto& entry = into<CaseEntry>(at);
  entry.one.policy = at.value.string();
  if (entry.one.policy != DecisionCase::kUnknownPolicy)
    entry.one.policy = read_policy(at.value, study_context(at).known, entry.spec);
}

void check_request(const Reading& at) {
  if (at.section.has("job_shape") == at.section.has("accelerators"))
    at.section.fail("wants a job_shape or a number of accelerators");
}

void check_idle_count(const Reading& at) {
  const Pod& pod = into<CaseEntry>(at).one.pod;
  if (at.value.count(0, pod.size()) != pod.idle_count())
    at.value.fail("is not what the map has: " + std::to_string(pod.idle_count()));
}

void store_expected(const Reading& at) {
  auto& entry = into<CaseEntry>(at);
  const ExpectedContext context(entry.spec.torus);
  fields::read(at.value, kExpected, &entry.one.expected.emplace(), &context);
}

std::vector<std::string> policy_words(const Registries& known) {
  std::vector<std::string> words = allocator_words(known);
  words.emplace_back(DecisionCase::kUnknownPolicy);
  return words;
}

constexpr Field kDecisionFields[] = {
    fields::text<&CaseEntry::one, &DecisionCase::id>("id", "Its name in results.").or_else("none"),
    fields::known("origin", {}, "Where the case comes from; not read."),
    fields::own(
        "dims", kBoxShape, [](const Reading& at) { into<CaseEntry>(at).spec.torus = read_shape(at.value); },
        "Sides of the torus.")
        .must("sides of the torus"),
    fields::include<kPodSection, &CaseEntry::spec>("spec"),
    fields::own("policy", fields::text_shape(policy_words), store_policy,
                "The allocator; `unknown` stands for one that the allocator of a data set does not know, and refuses "
                "everything.")
        .must(),
    fields::then(check_request),
    fields::own(
        "job_shape", kBoxShape,
        [](const Reading& at) {
          auto& entry = into<CaseEntry>(at);
          entry.one.request = SliceRequest::box(read_shape(at.value, entry.spec.torus));
        },
        "The sides that are asked for.")
        .or_else("of `job_shape` and `accelerators` one is needed"),
    fields::own(
        "accelerators", kSide,
        [](const Reading& at) {
          into<CaseEntry>(at).one.request = SliceRequest::count(at.value.count(1, kMaxAccelerators));
        },
        "How many are asked for, in any shape."),
    fields::own(
        "idle", fields::text_shape(),
        [](const Reading& at) { into<CaseEntry>(at).one.pod = read_idle(at.value, into<CaseEntry>(at).spec); },
        "A hexadecimal map: a bit for each accelerator in row-major order, the first one first; 1 is idle.")
        .must("a hexadecimal map"),
    fields::own("idle_count", fields::whole_shape(0, kMaxAccelerators), check_idle_count,
                "How many are idle; refused where the map has another number."),
    fields::own("expect", fields::object_shape(kExpected), store_expected,
                "What the answer should be: the command ends with 1 where it is not.")
        .or_else("none"),
};

constexpr Field kDecisionFileFields[] = {
    fields::own(
        "file", kPathShape,
        [](const Reading& at) { into<std::filesystem::path>(at) = formats::read_path(at.value, folder_of(at)); },
        "A JSON file with a list `cases`.")
        .must("a file with \"cases\""),
};
constexpr Section kDecisionFileSection{kDecisionFileFields};

}  // namespace

constexpr Section kDecisionSection{kDecisionFields};
constexpr fields::Shape kDecisionFile = fields::object_shape(kDecisionFileSection);

std::vector<DecisionCase> read_decisions(const JsonReader& value, const StudyContext& context) {
  std::vector<DecisionCase> cases;
  const auto read_all = [&](const JsonReader& list) {
    for (const JsonReader& element : list.elements()) {
      CaseEntry entry;
      fields::read(element, kDecisionSection, &entry, &context);
      cases.push_back(std::move(entry.one));
    }
  };
  if (value.is_array()) {
    read_all(value);
    return cases;
  }
  std::filesystem::path file;
  fields::read(value, kDecisionFileSection, &file, &context);
  json::in_file(json::file_text(file), file.string(), [&](const Json& root) {
    JsonReader top(root);
    read_all(top.child("cases"));
  });
  return cases;
}

}  // namespace photonrail::slices
