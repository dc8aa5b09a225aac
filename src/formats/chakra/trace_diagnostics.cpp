#include "formats/chakra/trace_diagnostics.hpp"
#include "core/counted.hpp"

namespace photonrail::formats::chakra {

namespace {

constexpr std::size_t kFilesInFull = 8;

void warn(TaskGraphBuilder& builder, const std::string& what, const Tally& tally) {
  if (tally.count > 0) builder.warn(what + ": " + std::to_string(tally.count) + ", the first " + tally.example);
}

}  // namespace

void TraceDiagnostics::add_absent(const std::string& file, const Tally& dependencies, TaskGraphBuilder& builder) {
  if (dependencies.count == 0) return;
  if (++files_with_absent <= kFilesInFull) {
    warn(builder, file + ": dependencies on nodes that are not in the file, dropped", dependencies);
  }
}

void TraceDiagnostics::tell(TaskGraphBuilder& builder) const {
  if (files_with_absent > kFilesInFull) {
    builder.warn("and " + core::counted(files_with_absent - kFilesInFull, "more file") +
                 " with dependencies on nodes that are not in the file");
  }
  warn(builder, "files that do not name their Chakra version", without_version);
  warn(builder, "nodes that depend on themselves, dropped", on_itself);
  warn(builder, "control dependencies on a later node that close a cycle, dropped", in_cycles);
  warn(builder, "collectives on the CPU without comm_type, taken as host tasks without work", untyped_on_cpu);
  warn(builder, "compute nodes without num_ops and tensor_size, which take no time", without_work);
  warn(builder, "some of them have a recorded duration, which \"compute_time\": \"trace\" would use", unused_duration);
  warn(builder, "compute nodes without a recorded duration, whose time follows from their work", without_duration);
}

}  // namespace photonrail::formats::chakra
