// ASTRA-sim's own inputs: its system file, its analytical network file, communicator groups and Chakra traces. Everything
// here throws ConfigError with the file and the place in it.
#pragma once

#include "photonrail/study/analytical.hpp"

#include <filesystem>
#include <string>

namespace photonrail {

struct AstraOptions {
  std::filesystem::path system;         ///< JSON
  std::filesystem::path network;        ///< YAML
  std::filesystem::path workload;       ///< prefix of Chakra traces: <prefix>.<rank>.et
  std::filesystem::path comm_groups;    ///< JSON: name to ranks; empty, or a name with "empty" in it: none
  std::filesystem::path remote_memory;  ///< JSON that says NO_MEMORY_EXPANSION; empty: none
};

/// Returns what ASTRA-sim's analytical back ends would simulate. What is not modelled is an error where it would change the
/// cycles, else a line of AnalyticalJob::warnings.
[[nodiscard]] AnalyticalJob read_astra(const AstraOptions& options);

/// One line a rank, "sys[0] finished, 43000 cycles, exposed communication 43000 cycles.", as ASTRA-sim's log has it: what
/// its users' scripts look for.
[[nodiscard]] std::string astra_log(const AnalyticalResult& result);

/// The job as a photonrail scenario (JSON), on electrical rails: the innermost of several dimensions is the scale-up
/// domain, the others are rails. Paths in it are relative to `directory`, or absolute where `directory` is empty. `why` in
/// it names what the scenario says otherwise than the files.
[[nodiscard]] std::string scenario_from_astra(const AstraOptions& options, const std::filesystem::path& directory);

}  // namespace photonrail
