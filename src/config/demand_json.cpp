// A demand matrix as JSON.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "core/counted.hpp"

namespace photonrail::config {

TrafficMatrix read_demand(const JsonReader& value) {
  const std::vector<JsonReader> rows = value.elements();
  if (rows.size() < 2) value.fail("a demand needs two members", "a row for each member, in each row a number for each");
  for (const JsonReader& row : rows) {  // before the memory of all is taken
    if (row.is_array() && row.json().size() == rows.size()) continue;
    row.fail(
        "has " + core::counted(row.elements().size(), "number") + ", but there are " + core::counted(rows.size(), "row"),
        "a demand is square: row = sender, column = receiver");
  }
  TrafficMatrix demand(static_cast<Member>(rows.size()));
  std::uint64_t room = std::uint64_t{1} << 50;  // 1 PiB in all: any sum of entries fits
  for (Member from = 0; from < demand.members(); ++from) {
    const std::vector<JsonReader> row = rows[from].elements();
    for (Member to = 0; to < demand.members(); ++to) {
      const std::uint64_t bytes = whole_of(row[to], kDemandNumber);
      if (bytes > room) value.fail("adds up to more than 2^50 bytes", "are the numbers bytes?");
      room -= bytes;
      demand.at(from, to) = {static_cast<std::int64_t>(bytes)};
    }
  }
  return demand;
}

}  // namespace photonrail::config
