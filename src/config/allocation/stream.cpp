// Streams of jobs and traces of faults of `photonrail.allocation/1`.
#include "config/allocation/parts.hpp"
#include "config/csv.hpp"
#include "config/scenario_parts.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::config {

namespace {

using allocation::Shape;
using allocation::SliceJob;
using allocation::SliceRequest;
using allocation::Span;

constexpr double kMostSeconds = 1e9;
constexpr std::size_t kMostJobs = 1'000'000;

Span in_span(double seconds) { return Span{std::llround(seconds * 1e6)}; }

SliceJob read_job_entry(JsonReader section, const Shape& torus) {
  SliceJob job;
  job.arrival = in_span(section.child("arrival_s").number(0.0, kMostSeconds));
  job.duration = in_span(section.child("duration_s").number(1e-6, kMostSeconds));
  const auto shape = section.optional("shape");
  const auto accelerators = section.optional("accelerators");
  if (shape.has_value() == accelerators.has_value())
    section.fail("wants a shape or a number of accelerators", "one of them");
  job.request = shape ? SliceRequest::box(read_shape(*shape, torus))
                      : SliceRequest::count(accelerators->count(1, allocation::kMaxAccelerators));
  section.finish();
  return job;
}

/// "4x4x8", or "128": a number of accelerators.
SliceRequest request_of(const std::filesystem::path& file, std::size_t line, const std::string& shape,
                        const std::string& accelerators) {
  const auto whole = [&](const std::string& cell) {
    const double value = csv_number(file, line, cell, 1, allocation::kMaxAccelerators);
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
  read_csv(file, {"arrival_s", "duration_s", "shape", "accelerators"}, [&](std::size_t line, const auto& cells) {
    if (jobs.size() == kMostJobs) throw ConfigError(file.string(), "has more than " + std::to_string(kMostJobs) + " jobs");
    jobs.push_back({in_span(csv_number(file, line, cells[0], 0.0, kMostSeconds)),
                    in_span(csv_number(file, line, cells[1], 1e-6, kMostSeconds)),
                    request_of(file, line, cells[2], cells[3])});
    const std::optional<Shape>& shape = jobs.back().request.shape;
    const std::string problem = shape ? too_many_dimensions(*shape, torus) : "";
    if (!problem.empty()) throw ConfigError(file.string() + ":" + std::to_string(line), problem);
  });
  return jobs;
}

std::vector<SliceJob> drawn_jobs(JsonReader section, const allocation::ScheduleSpec& schedule) {
  allocation::StreamSpec spec;
  spec.seed = schedule.seed;
  spec.jobs = section.child("count").count(1, kMostJobs);
  const JsonReader slices = section.child("slices", "\"tpu_v4\", or a list of shapes with shares");
  if (slices.is_string()) {
    spec.slices = slices.choice<std::vector<allocation::SliceShare>>({{"tpu_v4", allocation::tpu_v4_slices()}});
  } else {
    for (JsonReader entry : slices.elements()) {
      spec.slices.push_back({read_shape(entry.child("shape"), schedule.pod.torus), entry.child("share").positive(1e9)});
      entry.finish();
    }
  }
  spec.mean_interarrival = read_span(section, "mean_interarrival", spec.mean_interarrival);
  spec.mean_duration = read_span(section, "mean_duration", spec.mean_duration);
  section.finish();
  try {
    return draw_jobs(spec);
  } catch (const ConfigError& e) {
    section.fail(e.where() + " " + e.problem(), e.hint());
  }
}

}  // namespace

std::vector<SliceJob> read_stream(JsonReader section, const std::filesystem::path& directory,
                                  const allocation::ScheduleSpec& schedule) {
  std::vector<SliceJob> jobs;
  const auto csv = section.optional("csv");
  const auto list = section.optional("list");
  const auto drawn = section.optional("drawn");
  if (int{csv.has_value()} + int{list.has_value()} + int{drawn.has_value()} != 1) {
    section.fail("needs one source of jobs", "\"csv\", \"list\" or \"drawn\"");
  }
  section.finish();
  if (csv) jobs = jobs_in_csv(read_path(*csv, directory), schedule.pod.torus);
  if (list) {
    for (const JsonReader& entry : list->elements()) jobs.push_back(read_job_entry(entry, schedule.pod.torus));
  }
  if (drawn) jobs = drawn_jobs(*drawn, schedule);
  if (jobs.empty()) section.fail("there are no jobs");
  std::stable_sort(jobs.begin(), jobs.end(), [](const SliceJob& a, const SliceJob& b) { return a.arrival < b.arrival; });
  return jobs;
}

allocation::WasteStudy read_waste(JsonReader section, const std::filesystem::path& directory) {
  using Kind = allocation::GroupDomain::Kind;
  allocation::WasteStudy study;
  const std::filesystem::path file =
      read_path(section.child("faults", "a CSV file: server, start_day, end_day"), directory);
  study.servers = section.child("servers").count(1, 1U << 20);
  study.accelerators_per_server = section.child("accelerators_per_server").count(1, 1024);
  for (const JsonReader& group : section.child("groups", "accelerators of a group, such as [32]").elements()) {
    study.groups.push_back(group.count(1, allocation::kMaxAccelerators));
    if (study.groups.back() % study.accelerators_per_server != 0)
      group.fail("is no multiple of the accelerators of a server");
  }
  for (JsonReader entry : section.child("domains").elements()) {
    allocation::WasteStudy::Domain domain;
    domain.name = entry.child("name").string();
    domain.domain.kind = entry.child("kind").choice<Kind>(
        {{"any", Kind::kSwitched}, {"aligned", Kind::kAligned}, {"ring", Kind::kRing}, {"line", Kind::kRing}});
    domain.domain.closed = entry.child("kind").string() != "line";
    if (domain.domain.kind == Kind::kRing) {
      domain.domain.reach = entry.child("reach").count(1, 64);
    } else {
      domain.domain.servers = entry.child("servers").count(1, study.servers);
    }
    entry.finish();
    study.domains.push_back(std::move(domain));
  }
  if (const auto v = section.optional("placements")) study.placements = v->count(1, 100'000);
  section.finish();
  std::vector<allocation::ServerFault> faults;
  read_csv(file, {"server", "start_day", "end_day"}, [&](std::size_t line, const auto& cells) {
    faults.push_back({static_cast<std::uint32_t>(csv_number(file, line, cells[0], 0, study.servers - 1.0)),
                      csv_number(file, line, cells[1], 0, 1e6), csv_number(file, line, cells[2], 0, 1e6)});
  });
  study.faulty = allocation::faulty_server_shares(faults);
  return study;
}

}  // namespace photonrail::config
