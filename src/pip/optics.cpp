#include "photonrail/pip/pip_switch.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace photonrail::pip {

namespace {

constexpr double kNegligible = 1e-15;  // of the power of a port, still inside the mesh

double linear(double db) { return std::pow(10.0, db / 10.0); }

/// Where the cells send light. A light is what heads for one end of a waveguide: 2 x waveguide + which end. What a cell
/// means to do is a permutation of lights: those from each open end on are a chain up to an open end, all others are rings.
/// Here they are in the order of chains and rings.
class MeshLight {
 public:
  /// REQUIRES: as PipTransfer.
  MeshLight(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics)
      : ports_(mesh.ports()),
        meant_(linear(-optics.cell_loss_db) / (1.0 + linear(optics.crosstalk_db))),
        leaked_(meant_ * linear(optics.crosstalk_db)),
        coupling_(linear(-2.0 * optics.port_loss_db)),
        place_of_(std::size_t{2} * mesh.waveguides(), kNowhere) {
    const std::vector<CellState> states = states_of(mesh, matching);
    for (std::uint32_t w = 0; w < mesh.waveguides(); ++w) {
      for (const std::uint32_t end : {0U, 1U}) {
        if (mesh.cells_at(w)[1 - end] == PipMesh::kNoCell) follow(mesh, states, 2 * w + end);
      }
    }
    for (std::uint32_t light = 0; light < place_of_.size(); ++light) follow(mesh, states, light);
    for (std::uint32_t& light : leaks_to_) light = light == kNowhere ? kNowhere : place_of_[light];
    for (std::uint32_t p = 0; p < ports_; ++p) {  // its waveguide has its one cell at the first end
      entry_.push_back(place_of_[2 * mesh.waveguide_of(p)]);
      exit_.push_back(place_of_[2 * mesh.waveguide_of(p) + 1]);
    }
    next_.resize(leaks_to_.size());
    light_.resize(leaks_to_.size());
  }

  /// Senders that are followed side by side: what one of them waits for in a chain, the others do meanwhile.
  static constexpr std::size_t kTogether = 8;
  using Powers = std::array<double, kTogether>;  // of the senders that are followed together

  /// The share of the power into the fibre of each sender that comes out of each port's: added to its row, by port.
  /// Ends after so many turns. Returns the most that each sender could still add to an entry of its row.
  /// REQUIRES: at most kTogether senders, and as many rows.
  Powers add(std::span<const std::uint32_t> from, std::span<const std::span<double>> rows, std::uint32_t turns) {
    std::fill(next_.begin(), next_.end(), Powers{});
    for (std::size_t k = 0; k < from.size(); ++k) next_[entry_[from[k]]][k] = 1.0;
    // Light that leaks is followed in the next turn, until it is negligible. It converges, for a pass loses cell_loss_db.
    Powers inside{};
    for (bool goes_on = true; goes_on && turns > 0; --turns) {
      light_.swap(next_);
      for (const Line& line : lines_) pass(line);
      for (std::size_t k = 0; k < from.size(); ++k) {
        for (std::uint32_t p = 0; p < ports_; ++p) rows[k][p] += light_[exit_[p]][k] * coupling_;
      }
      goes_on = leak(inside);
    }
    for (double& power : inside) power *= coupling_;
    return inside;
  }

 private:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  struct Line {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool ring = false;
  };

  // From a light on, as the cells mean it, until it leaves or comes back.
  void follow(const PipMesh& mesh, const std::vector<CellState>& states, std::uint32_t light) {
    if (place_of_[light] != kNowhere) return;
    Line line{leaks_to_.size(), 0, false};
    for (;;) {
      place_of_[light] = static_cast<std::uint32_t>(leaks_to_.size());
      const std::uint32_t cell = mesh.cells_at(light / 2)[light % 2];
      std::uint32_t& leaks_to = leaks_to_.emplace_back(kNowhere);
      if (cell == PipMesh::kNoCell) break;
      std::tie(light, leaks_to) = split(mesh, cell, states[cell], light / 2);
      line.ring = place_of_[light] == line.begin;
      if (place_of_[light] != kNowhere) break;
    }
    line.end = leaks_to_.size();
    lines_.push_back(line);
  }

  static std::pair<std::uint32_t, std::uint32_t> split(const PipMesh& mesh, std::uint32_t id, CellState state,
                                                       std::uint32_t waveguide) {
    const PipMesh::Cell& cell = mesh.cells()[id];
    const bool from_near = cell.near[0] == waveguide || cell.near[1] == waveguide;
    const auto& in = from_near ? cell.near : cell.far;
    const auto& out = from_near ? cell.far : cell.near;
    const std::size_t own = in[0] == waveguide ? 0 : 1;
    const std::size_t meant = state == CellState::kBar ? own : 1 - own;
    const auto onwards = [&](std::uint32_t w) { return 2 * w + (mesh.cells_at(w)[0] == id ? 1U : 0U); };
    return {onwards(out[meant]), onwards(out[1 - meant])};
  }

  // Light that leaks in this turn is the light of the next. Of a sender that has hardly any left none is followed;
  // false: of all. `inside`: the power of each sender that is followed on.
  bool leak(Powers& inside) {
    std::fill(next_.begin(), next_.end(), Powers{});
    inside = {};
    for (std::size_t i = 0; i < leaks_to_.size(); ++i) {
      if (leaks_to_[i] == kNowhere) continue;
      Powers& to = next_[leaks_to_[i]];
      for (std::size_t k = 0; k < kTogether; ++k) {
        to[k] += light_[i][k] * leaked_;
        inside[k] += light_[i][k] * leaked_;
      }
    }
    bool any = false;
    for (std::size_t k = 0; k < kTogether; ++k) {
      any = any || inside[k] > kNegligible;
      if (inside[k] > kNegligible || inside[k] == 0.0) continue;
      for (Powers& powers : next_) powers[k] = 0.0;
    }
    return any;
  }

  // The light everywhere on a line, of all turns of a ring, from what comes onto it at each place.
  void pass(const Line& line) {
    if (line.ring) {
      Powers once{};
      for (std::size_t i = line.begin + 1; i < line.end; ++i) {
        for (std::size_t k = 0; k < kTogether; ++k) once[k] = once[k] * meant_ + light_[i][k];
      }
      const double turn = std::pow(meant_, static_cast<double>(line.end - line.begin));
      Powers& first = light_[line.begin];
      for (std::size_t k = 0; k < kTogether; ++k) first[k] = (first[k] + once[k] * meant_) / (1.0 - turn);
    }
    for (std::size_t i = line.begin + 1; i < line.end; ++i) {
      for (std::size_t k = 0; k < kTogether; ++k) light_[i][k] += light_[i - 1][k] * meant_;
    }
  }

  std::uint32_t ports_;
  double meant_;
  double leaked_;
  double coupling_;
  std::vector<std::uint32_t> place_of_;  // by light
  std::vector<std::uint32_t> leaks_to_;  // by place, as all that follows; nowhere: the light leaves the mesh
  std::vector<Line> lines_;
  std::vector<std::uint32_t> entry_;  // by port
  std::vector<std::uint32_t> exit_;   // by port
  std::vector<Powers> light_;
  std::vector<Powers> next_;
};

constexpr std::uint32_t kAllTurns = std::numeric_limits<std::uint32_t>::max();

// The row of power of each sender, by receiver. Returns the power that each may still add to its row after so many turns.
std::vector<double> add_all(MeshLight& light, std::span<const std::uint32_t> senders,
                            std::span<const std::span<double>> rows, std::uint32_t turns = kAllTurns) {
  std::vector<double> left;
  for (std::size_t i = 0; i < senders.size(); i += MeshLight::kTogether) {
    const std::size_t count = std::min(MeshLight::kTogether, senders.size() - i);
    const auto of_these = light.add(senders.subspan(i, count), rows.subspan(i, count), turns);
    left.insert(left.end(), of_these.begin(), of_these.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return left;
}

/// The power of each sender of a matching, by receiver, and how much may still be added to each of them.
struct Received {
  std::map<std::uint32_t, std::vector<double>> powers;
  std::map<std::uint32_t, double> left;
};

Received receive(MeshLight& light, std::uint32_t ports, std::span<const PipRoute> matching, std::uint32_t turns) {
  Received received;
  std::vector<std::uint32_t> senders;
  std::vector<std::span<double>> rows;
  for (const PipRoute& route : matching) {
    for (const std::uint32_t from : {route.ends.a, route.ends.b}) {
      received.powers[from].resize(ports);
      senders.push_back(from);
      rows.emplace_back(received.powers[from]);
    }
  }
  const std::vector<double> left = add_all(light, senders, rows, turns);
  for (std::size_t i = 0; i < senders.size(); ++i) received.left[senders[i]] = left[i];
  return received;
}

/// Power that is still to come counts for nothing, as crosstalk (the budget is at most that), or as signal (it is at least
/// that).
enum class Rest : std::uint8_t { kIgnored, kCrosstalk, kSignal };

PipBudget worst_of(std::span<const PipRoute> matching, const Received& received, Rest rest) {
  PipBudget worst;
  double crosstalk = 0.0;
  const auto power = [&](std::uint32_t from, std::uint32_t to, Rest counted) {
    return received.powers.at(from)[to] + (rest == counted ? received.left.at(from) : 0.0);
  };
  for (const PipRoute& route : matching) {
    worst.cells = std::max(worst.cells, static_cast<std::uint32_t>(route.waveguides.size()) - 1);
    for (const auto& [from, to] : {std::pair{route.ends.a, route.ends.b}, {route.ends.b, route.ends.a}}) {
      const double signal = power(from, to, Rest::kSignal);
      double others = 0.0;
      double beating = 0.0;  // of fields
      for (const auto& [other, row] : received.powers) {
        if (other == from) continue;
        others += power(other, to, Rest::kCrosstalk) / signal;
        beating += std::sqrt(power(other, to, Rest::kCrosstalk) / signal);
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

}  // namespace

void PipOptics::check() const {
  const auto require = [](double value, double least, double most, const char* field, const char* range) {
    if (!(value >= least) || !(value <= most)) throw ConfigError(field, "is out of range", range);
  };
  require(cell_loss_db, 0.01, 20.0, "cell_loss_db", "0.01 to 20");
  require(port_loss_db, 0.0, 20.0, "port_loss_db", "0 to 20");
  require(crosstalk_db, -100.0, -3.0, "crosstalk_db", "-100 to -3");
}

PipTransfer::PipTransfer(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics)
    : ports_(mesh.ports()), power_(std::size_t{ports_} * ports_, 0.0) {
  optics.check();
  MeshLight light(mesh, matching, optics);
  std::vector<std::uint32_t> senders;
  std::vector<std::span<double>> rows;
  for (std::uint32_t from = 0; from < ports_; ++from) {
    senders.push_back(from);
    rows.push_back(std::span(power_).subspan(std::size_t{from} * ports_, ports_));
  }
  add_all(light, senders, rows);
}

PipBudget budget_of(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics) {
  optics.check();
  MeshLight light(mesh, matching, optics);
  return worst_of(matching, receive(light, mesh.ports(), matching, kAllTurns), Rest::kIgnored);
}

bool within_budget(const PipMesh& mesh, std::span<const PipRoute> matching, const PipOptics& optics, double budget_db) {
  optics.check();
  MeshLight light(mesh, matching, optics);
  constexpr std::uint32_t kMostTurnsOfBounds = 4096;
  for (std::uint32_t turns = 4; turns <= kMostTurnsOfBounds; turns *= 4) {
    const Received received = receive(light, mesh.ports(), matching, turns);
    if (worst_of(matching, received, Rest::kCrosstalk).needed_db() <= budget_db) return true;
    if (worst_of(matching, received, Rest::kSignal).needed_db() > budget_db) return false;
  }
  return budget_of(mesh, matching, optics).needed_db() <= budget_db;
}

}  // namespace photonrail::pip
