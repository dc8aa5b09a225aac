// Streams of jobs of `photonrail.allocation/1`.
#include "formats/csv.hpp"
#include "studies/slices/reader.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::slices {

namespace {

using fields::Field;
using fields::Reading;

constexpr double kMostSeconds = 1e9;
constexpr std::uint32_t kMostJobs = 1'000'000;

Span in_span(double seconds) { return Span{std::llround(seconds * 1e6)}; }

/// What the lines of a list of jobs are read into.
struct JobEntry {
  double arrival_s = 0.0;
  double duration_s = 0.0;
  std::optional<JsonReader> shape{};
  std::optional<std::uint32_t> accelerators{};
};

constexpr Field kJobFields[] = {
    fields::number<&JobEntry::arrival_s>("arrival_s", 0.0, kMostSeconds, "When it comes.").must(),
    fields::number<&JobEntry::duration_s>("duration_s", 1e-6, kMostSeconds,
                                          "How long it takes on the full bandwidth of its shape.")
        .must(),
    fields::own(
        "shape", kBoxShape, [](const Reading& at) { into<JobEntry>(at).shape = at.value; }, "The sides that it asks for.")
        .or_else("of `shape` and `accelerators` one is needed"),
    fields::count<&JobEntry::accelerators>("accelerators", 1, kMaxAccelerators, "Accelerators in any shape."),
};
constexpr Section kJob{kJobFields, [](const Reading& at) {
                         const auto& job = into<JobEntry>(at);
                         if (job.shape.has_value() == job.accelerators.has_value())
                           at.section.fail("wants a shape or a number of accelerators", "one of them");
                       }};

SliceJob read_job_entry(const JsonReader& section, const Shape& torus) {
  JobEntry entry;
  fields::read(section, kJob, &entry);
  return {in_span(entry.arrival_s), in_span(entry.duration_s),
          entry.shape ? SliceRequest::box(read_shape(*entry.shape, torus)) : SliceRequest::count(*entry.accelerators)};
}

/// "4x4x8", or "128": a number of accelerators.
SliceRequest request_of(const std::filesystem::path& file, std::size_t line, const std::string& shape,
                        const std::string& accelerators) {
  const auto whole = [&](const std::string& cell) {
    const double value = formats::csv_number(file, line, cell, 1, kMaxAccelerators);
    if (value != std::floor(value)) throw ConfigError(file.string() + ":" + std::to_string(line), cell + " is not whole");
    return static_cast<std::uint32_t>(value);
  };
  if (shape.empty()) return SliceRequest::count(whole(accelerators));
  std::vector<std::uint32_t> sides;
  for (std::size_t at = 0; at <= shape.size();) {
    const std::size_t cross = std::min(shape.find('x', at), shape.size());
    sides.push_back(whole(shape.substr(at, cross - at)));
    at = cross + 1;
  }
  try {
    return SliceRequest::box(Shape::of(sides));
  } catch (const ConfigError& e) {
    throw ConfigError(file.string() + ":" + std::to_string(line), e.problem(), e.hint());
  }
}

std::vector<SliceJob> jobs_in_csv(const std::filesystem::path& file, const Shape& torus) {
  std::vector<SliceJob> jobs;
  formats::read_csv(file, {"arrival_s", "duration_s", "shape", "accelerators"}, [&](std::size_t line, const auto& cells) {
    if (jobs.size() == kMostJobs) throw ConfigError(file.string(), "has more than " + std::to_string(kMostJobs) + " jobs");
    jobs.push_back({in_span(formats::csv_number(file, line, cells[0], 0.0, kMostSeconds)),
                    in_span(formats::csv_number(file, line, cells[1], 1e-6, kMostSeconds)),
                    request_of(file, line, cells[2], cells[3])});
    const std::optional<Shape>& shape = jobs.back().request.shape;
    const std::string problem = shape ? too_many_dimensions(*shape, torus) : "";
    if (!problem.empty()) throw ConfigError(file.string() + ":" + std::to_string(line), problem);
  });
  return jobs;
}

/// A drawn stream, and the torus that its shapes are asked of.
struct DrawnEntry {
  const Shape& torus;
  StreamSpec spec{};
};

/// A share of a drawn stream.
struct ShareEntry {
  std::optional<JsonReader> shape{};
  double share = 1.0;
};
constexpr Field kShareFields[] = {
    fields::own(
        "shape", kBoxShape, [](const Reading& at) { into<ShareEntry>(at).shape = at.value; }, "The sides.")
        .must(),
    fields::positive<&ShareEntry::share>("share", 1e9, "The share of the jobs, in proportion to the others.").must(),
};
constexpr Section kShare{kShareFields};

std::vector<std::string> slices_words(const Registries& /*known*/) { return {"tpu_v4"}; }
constexpr fields::Shape kShares = fields::list_shape(fields::kObjectOf<kShare>);

void store_slices(const Reading& at) {
  auto& drawn = into<DrawnEntry>(at);
  if (at.value.is_string()) {
    drawn.spec.slices = at.value.choice<std::vector<SliceShare>>({{"tpu_v4", tpu_v4_slices()}});
    return;
  }
  for (const JsonReader& element : at.value.elements()) {
    ShareEntry entry;
    fields::read(element, kShare, &entry);
    drawn.spec.slices.push_back({read_shape(*entry.shape, drawn.torus), entry.share});
  }
}

constexpr Field kDrawnFields[] = {
    fields::count<&DrawnEntry::spec, &StreamSpec::jobs>("count", 1, kMostJobs, "How many jobs.").must(),
    fields::own("slices", fields::either(fields::text_shape(slices_words), kShares), store_slices,
                "The shapes and their shares; `tpu_v4`: those of TPU v4 in November 2022.")
        .must("\"tpu_v4\", or a list of shapes with shares"),
    span<&DrawnEntry::spec, &StreamSpec::mean_interarrival>("mean_interarrival", "s", "From one to the next; exponential.")
        .or_else("600"),
    span<&DrawnEntry::spec, &StreamSpec::mean_duration>("mean_duration", "s", "Exponential, at least a second.")
        .or_else("3600"),
};
constexpr Section kDrawn{kDrawnFields};

std::vector<SliceJob> drawn_jobs(const JsonReader& section, const ScheduleSpec& schedule) {
  DrawnEntry drawn{schedule.pod.torus};
  drawn.spec.seed = schedule.seed;
  fields::read(section, kDrawn, &drawn);
  try {
    return draw_jobs(drawn.spec);
  } catch (const ConfigError& e) {
    section.fail(e.where() + " " + e.problem(), e.hint());
  }
}

/// The sources of a stream.
struct JobSources {
  std::optional<JsonReader> csv{};
  std::optional<JsonReader> list{};
  std::optional<JsonReader> drawn{};
};

template <std::optional<JsonReader> JobSources::*Member>
void store_source(const Reading& at) {
  into<JobSources>(at).*Member = at.value;
}

constexpr Field kJobsFields[] = {
    fields::own("csv", kPathShape, store_source<&JobSources::csv>,
                "A file with the columns `arrival_s`, `duration_s`, and `shape` (4x4x8) or `accelerators`.")
        .or_else("of `csv`, `list` and `drawn` one is needed"),
    fields::own("list", fields::list_shape(fields::kObjectOf<kJob>), store_source<&JobSources::list>, "The jobs."),
    fields::own("drawn", fields::object_shape(kDrawn), store_source<&JobSources::drawn>, "Jobs that are drawn."),
};

void check_sources(const Reading& at) {
  const auto& sources = into<JobSources>(at);
  if (int{sources.csv.has_value()} + int{sources.list.has_value()} + int{sources.drawn.has_value()} == 1) return;
  at.section.fail("needs one source of jobs", "\"csv\", \"list\" or \"drawn\"");
}

}  // namespace

constexpr Section kJobsSection{kJobsFields, check_sources};

std::vector<SliceJob> read_stream(const JsonReader& section, const StudyContext& context, const ScheduleSpec& schedule) {
  JobSources sources;
  fields::read(section, kJobsSection, &sources, &context);
  std::vector<SliceJob> jobs;
  if (sources.csv) jobs = jobs_in_csv(formats::read_path(*sources.csv, context.directory), schedule.pod.torus);
  if (sources.list) {
    for (const JsonReader& entry : sources.list->elements()) jobs.push_back(read_job_entry(entry, schedule.pod.torus));
  }
  if (sources.drawn) jobs = drawn_jobs(*sources.drawn, schedule);
  if (jobs.empty()) section.fail("there are no jobs");
  std::stable_sort(jobs.begin(), jobs.end(), [](const SliceJob& a, const SliceJob& b) { return a.arrival < b.arrival; });
  return jobs;
}

}  // namespace photonrail::slices
