// A PipSwitch as the switch of a rail.
#pragma once

#include "fabric/blocking_switch.hpp"
#include "photonrail/pip/pip_switch.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::pip {

class RailMesh final : public fabric::BlockingSwitch {
 public:
  RailMesh(const PipMeshSpec& spec, std::uint32_t fibres);

  [[nodiscard]] std::uint32_t open_ends() const override { return mesh_.open_ends(); }
  [[nodiscard]] std::optional<std::vector<fabric::LightWay>> route(std::span<const fabric::FibrePair> pairs,
                                                                   std::span<const fabric::LightWay> taken) const override;
  [[nodiscard]] bool bright(std::span<const fabric::LightWay> ways, double budget_db) const override;
  [[nodiscard]] double loss_db(std::uint32_t cells) const override;
  [[nodiscard]] fabric::LightReach reach(bool (*wanted)(std::uint32_t, std::uint32_t)) const override;
  [[nodiscard]] std::string describe() const override;

 private:
  PipMesh mesh_;
  PipOptics optics_;
};

}  // namespace photonrail::pip
