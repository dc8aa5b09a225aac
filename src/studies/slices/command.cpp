// `allocate`: slices of a pod of accelerators, as a file asks for them.
#include "commands.hpp"
#include "console.hpp"
#include "options.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "report/page.hpp"
#include "studies/slices/report.hpp"
#include "studies/slices/slice_map.hpp"
#include "studies/slices/study.hpp"
#include "work_limit.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <system_error>

namespace photonrail::command {

namespace {

using slices::AllocationStudy;
using slices::AllocatorRegistry;

slices::AllocationOutcome outcome_of(const std::filesystem::path& file, const AllocationStudy& study,
                                     const AllocatorRegistry& known, const Registries& registries) {
  TerminalLine line(true);
  return about(file, [&] {
    return run_allocation(study, registries, known,
                          [&](std::size_t done, std::size_t of) { line.draw(done, of, "decisions and jobs"); });
  });
}

// Returns the page, where this build has one.
std::filesystem::path write_all(const std::filesystem::path& out, const AllocationStudy& study,
                                const slices::AllocationOutcome& outcome, const AllocatorRegistry& known) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw ConfigError(out.string(), "cannot make the folder: " + error.message(), "choose another for --out");
  write_file(out / "result.json", allocation_json(study, outcome));
  for (const slices::StreamOutcome& stream : outcome.streams) {
    if (stream.order.empty()) continue;
    const std::string stem = stream.policy + "-" + stream.order;
    const std::string map = slices::slice_map_svg(stream.schedule, study.schedule.pod, known.find(stream.policy).fabric,
                                                  stream.policy + ", " + stream.order);
    write_file(out / ("jobs-" + stem + ".csv"), allocation_jobs_csv(study, stream));
    write_file(out / ("map-" + stem + ".svg"), map);
  }
  return report::write_page(out, "index.html");
}

struct AllocateOptions {
  std::filesystem::path file;
  std::vector<std::string> set;
  std::filesystem::path out;  ///< empty: write nothing
  bool json = false;
};

void allocate_slices(const AllocateOptions& options, const StudyContext& context) {
  const AllocatorRegistry known = AllocatorRegistry::builtin();
  const AllocationStudy study = slices::read_study(options.file, parse_set(options.set), known);
  admit(work_of(study), options.file.string(), context.work_limit_s);
  const slices::AllocationOutcome outcome = outcome_of(options.file, study, known, context.known);
  std::filesystem::path page;
  if (!options.out.empty()) page = write_all(options.out, study, outcome, known);
  std::cout << (options.json ? allocation_json(study, outcome) : slices::allocation_text(study, outcome));
  if (!options.out.empty() && !options.json) std::cout << "wrote " << (page.empty() ? options.out : page).string() << "\n";
  if (outcome.unexpected() > 0) throw CommandError(1, options.file.string() + ": decisions are not as expected");
}

}  // namespace

void add_allocate(CLI::App& app, StudyContext& context) {
  AllocateOptions& options = context.keep<AllocateOptions>();
  CLI::App* command =
      app.add_subcommand("allocate", "Cut slices from a pod of accelerators: decisions, queues, availability");
  add_input(*command, "FILE.json", options.file, "What to do (docs/reference/slices.md)")->required();
  add_set(*command, options.set, "the file");
  add_out_folder(*command, options.out, "Write result.json, jobs, maps and index.html here");
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->callback([&options, &context] { allocate_slices(options, context); });
}

}  // namespace photonrail::command
