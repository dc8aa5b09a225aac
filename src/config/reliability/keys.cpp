// Where the "reliability" section has the fields that checks name.
#include "config/reliability_parts.hpp"

namespace photonrail::config {

std::span<const FieldKey> reliability_keys() {
  static constexpr FieldKey kKeys[] = {
      {"job.servers", "job/servers"},
      {"job.gpus_per_server", "job/gpus_per_server"},
      {"job.replicas", "job/replicas"},
      {"job.min_replicas", "job/min_replicas"},
      {"spares", "spares"},
      {"spares.servers_per_rack", "spares/servers_per_rack"},
      {"days", "days"},
      {"steps", "steps"},
      {"seeds", "seeds"},
      {"failures", "failures"},
      {"failures[].of", "failures/[]/of"},
      {"failures[].time_to_failure", "failures/[]"},
      {"failures[].detection", "failures/[]/detection_s"},
      {"failures[].repair", "failures/[]/repair_h"},
      {"failures[].degradation", "failures/[]/degrade"},
      {"failures[].factor", "failures/[]/degrade"},
      {"trace.faults[]", "trace/file"},
      {"trace.detection", "trace/detection_s"},
      {"server_spread", "server_spread"},
      {"checkpoint", "checkpoint"},
      {"recovery", "recovery"},
      {"recovery[].sources", "recovery/[]/sources"},
      {"recovery[].stages", "recovery/[]/stages"},
      {"maintenance.every_d", "maintenance/every_d"},
      {"maintenance.lasts", "maintenance/lasts_h"},
      {"policy", "policy"},
      {"spare_placement", "spare_placement"},
  };
  return kKeys;
}

}  // namespace photonrail::config
