// Where the bytes of operations are held up: for each operation the capacity on its way that is busiest while it runs, by
// the bytes of all operations that cross it then.
#pragma once

#include "execution/capacity_loads.hpp"
#include "execution/run_history.hpp"
#include "fabric/fabric.hpp"
#include "photonrail/study/explanation.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace photonrail::run {

class OperationPlaces {
 public:
  /// All must outlive the object. `asked`: the operations of the history that find() will be asked for.
  OperationPlaces(const execution::RunHistory& history, const execution::CapacityLoads& loads, const fabric::Fabric& fabric,
                  const std::vector<std::uint32_t>& asked);

  struct Found {
    Place place = Place::kLatency;
    fabric::Place capacity{};
    double utilisation = 0.0;
  };
  /// The busiest capacity of an operation that has bytes on their way for `running`.
  [[nodiscard]] Found find(std::uint32_t operation, Duration running) const;
  [[nodiscard]] std::string name_of(const fabric::Place& capacity) const;

 private:
  struct Use {
    Time start{};
    Time end{};
    double bytes = 0.0;
  };
  [[nodiscard]] std::vector<fabric::Place> fullest_of_each_kind(std::uint32_t operation) const;

  const execution::RunHistory& history_;
  const execution::CapacityLoads& loads_;
  const fabric::Fabric& fabric_;
  std::map<fabric::Place, std::vector<Use>> uses_;
};

}  // namespace photonrail::run
