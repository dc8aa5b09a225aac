#include "photonrail/pip/optics.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace photonrail::pip {

namespace {

constexpr double kNegligible = 1e-15;  // of the power of a port, still inside the mesh

double linear(double db) { return std::pow(10.0, db / 10.0); }

/// Light on a waveguide that heads for one end of it, by 2 x waveguide + which end: where a cell sends it.
struct Split {
  std::uint32_t meant = 0;
  std::uint32_t leaked = 0;
};

/// The splits of all cells, and which light leaves at which port.
class CellSplits {
 public:
  CellSplits(const PipMesh& mesh, const std::vector<CellState>& states)
      : splits_(std::size_t{2} * mesh.waveguides()), leaves_(splits_.size(), false) {
    for (std::uint32_t w = 0; w < mesh.waveguides(); ++w) {
      for (const std::uint32_t end : {0U, 1U}) {
        const std::uint32_t cell = mesh.cells_at(w)[end];
        leaves_[2 * w + end] = cell == PipMesh::kNoCell;
        if (cell != PipMesh::kNoCell) splits_[2 * w + end] = split(mesh, cell, states[cell], w);
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return splits_.size(); }
  [[nodiscard]] bool leaves(std::size_t light) const { return leaves_[light]; }
  [[nodiscard]] const Split& at(std::size_t light) const { return splits_[light]; }

 private:
  static Split split(const PipMesh& mesh, std::uint32_t id, CellState state, std::uint32_t waveguide) {
    const PipMesh::Cell& cell = mesh.cells()[id];
    const bool from_near = cell.near[0] == waveguide || cell.near[1] == waveguide;
    const auto& in = from_near ? cell.near : cell.far;
    const auto& out = from_near ? cell.far : cell.near;
    const std::size_t own = in[0] == waveguide ? 0 : 1;
    const std::size_t meant = state == CellState::kBar ? own : 1 - own;
    const auto onwards = [&](std::uint32_t w) { return 2 * w + (mesh.cells_at(w)[0] == id ? 1U : 0U); };
    return {onwards(out[meant]), onwards(out[1 - meant])};
  }

  std::vector<Split> splits_;
  std::vector<bool> leaves_;
};

}  // namespace

void PipOptics::check() const {
  const auto require = [](double value, double least, double most, const char* field, const char* range) {
    if (!(value >= least) || !(value <= most)) throw ConfigError(field, "is out of range", range);
  };
  require(cell_loss_db, 0.01, 20.0, "cell_loss_db", "0.01 to 20");
  require(port_loss_db, 0.0, 20.0, "port_loss_db", "0 to 20");
  require(crosstalk_db, -100.0, -3.0, "crosstalk_db", "-100 to -3");
}

// The series of passes: what is inside after each of them, until it is negligible. It converges, for a pass loses
// cell_loss_db.
PipTransfer::PipTransfer(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics)
    : ports_(mesh.ports()), power_(std::size_t{ports_} * ports_, 0.0) {
  optics.check();
  const CellSplits splits(mesh, states_of(mesh, matching));
  const double kept = linear(-optics.cell_loss_db);
  const double ratio = linear(optics.crosstalk_db);
  const double meant = kept / (1.0 + ratio);
  const double leaked = kept * ratio / (1.0 + ratio);
  const double coupling = linear(-2.0 * optics.port_loss_db);
  std::vector<std::uint32_t> port_at(mesh.waveguides(), ports_);
  for (std::uint32_t p = 0; p < ports_; ++p) port_at[mesh.waveguide_of(p)] = p;
  std::vector<double> now(splits.size());
  std::vector<double> next(splits.size());
  for (std::uint32_t from = 0; from < ports_; ++from) {
    std::fill(now.begin(), now.end(), 0.0);
    now[2 * mesh.waveguide_of(from)] = 1.0;  // towards its one cell
    for (double inside = 1.0; inside > kNegligible;) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t light = 0; light < now.size(); ++light) {
        if (now[light] == 0.0) continue;
        if (splits.leaves(light)) {
          const std::uint32_t to = port_at[light / 2];
          if (to < ports_) power_[from * ports_ + to] += now[light] * coupling;
          continue;
        }
        next[splits.at(light).meant] += now[light] * meant;
        next[splits.at(light).leaked] += now[light] * leaked;
      }
      now.swap(next);
      inside = std::accumulate(now.begin(), now.end(), 0.0);
    }
  }
}

PipBudget budget_of(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics) {
  const PipTransfer transfer(mesh, matching, optics);
  std::vector<std::uint32_t> senders;
  for (const PipRoute& route : matching) senders.insert(senders.end(), {route.ends.a, route.ends.b});
  PipBudget worst;
  double crosstalk = 0.0;
  for (const PipRoute& route : matching) {
    worst.cells = std::max(worst.cells, static_cast<std::uint32_t>(route.waveguides.size()) - 1);
    for (const auto& [from, to] : {std::pair{route.ends.a, route.ends.b}, {route.ends.b, route.ends.a}}) {
      const double signal = transfer.power(from, to);
      double others = 0.0;
      double beating = 0.0;  // of fields
      for (const std::uint32_t other : senders) {
        if (other == from) continue;
        others += transfer.power(other, to) / signal;
        beating += std::sqrt(transfer.power(other, to) / signal);
      }
      const double open = 1.0 - 2.0 * beating;
      const double penalty = open > 0.0 ? -10.0 * std::log10(open) : std::numeric_limits<double>::infinity();
      worst.loss_db = std::max(worst.loss_db, -10.0 * std::log10(signal));
      worst.penalty_db = std::max(worst.penalty_db, penalty);
      crosstalk = std::max(crosstalk, others);
    }
  }
  worst.crosstalk_db = crosstalk > 0.0 ? 10.0 * std::log10(crosstalk) : -std::numeric_limits<double>::infinity();
  return worst;
}

}  // namespace photonrail::pip
