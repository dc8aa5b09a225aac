// `pip-switch`: the matchings of a switch on programmable integrated photonics, as text, JSON and a picture.
#include "photonrail/pip/pip_switch.hpp"
#include "commands.hpp"
#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <vector>

namespace photonrail::command {

namespace {

constexpr double kScale = 40.0;  // pixels of a hexagon's side
constexpr double kMargin = 60.0;
constexpr std::array<const char*, 8> kColours{"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                              "#ff7f0e", "#17becf", "#e377c2", "#8c564b"};

pip::PipMesh mesh_of(const PipSwitchOptions& options) {
  const std::string& text = options.mesh;
  const char* const end = text.data() + text.size();
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  const auto first = std::from_chars(text.data(), end, rows);
  const bool cross = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = std::from_chars(cross ? first.ptr + 1 : end, end, columns);
  if (!cross || second.ec != std::errc{} || second.ptr != end) {
    throw ConfigError("--mesh", "\"" + text + "\" is not ROWSxCOLUMNS", "for example 9x9");
  }
  return {rows, columns, options.ports};
}

/// Indexed by matching; empty: not asked for.
std::vector<pip::PipBudget> budgets_of(const pip::PipMesh& mesh, const pip::PipCover& cover,
                                       const PipSwitchOptions& options) {
  std::vector<pip::PipBudget> budgets;
  if (!options.cell_loss_db) return budgets;
  const pip::PipOptics optics{*options.cell_loss_db, options.port_loss_db, options.crosstalk_db};
  for (const std::vector<pip::PipRoute>& matching : cover.matchings) budgets.push_back(budget_of(mesh, matching, optics));
  return budgets;
}

const pip::PipBudget& worst_of(const std::vector<pip::PipBudget>& budgets) {
  return *std::max_element(budgets.begin(), budgets.end(),
                           [](const auto& a, const auto& b) { return a.needed_db() < b.needed_db(); });
}

std::string decibels(double db) {
  if (!std::isfinite(db)) return db > 0 ? "no" : "none";
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << db << " dB";
  return text.str();
}

std::string in_words(const pip::PipMesh& mesh, const pip::PipCover& cover, const std::vector<pip::PipBudget>& budgets) {
  std::ostringstream text;
  for (std::size_t m = 0; m < cover.matchings.size(); ++m) {
    text << "matching " << m << ':';
    for (const pip::PipRoute& route : cover.matchings[m]) text << ' ' << route.ends.a << '-' << route.ends.b;
    if (!budgets.empty()) {
      const pip::PipBudget& b = budgets[m];
      text << "; up to " << core::counted(b.cells, "cell") << ", loss " << decibels(b.loss_db) << ", crosstalk "
           << decibels(b.crosstalk_db);
    }
    text << '\n';
  }
  text << core::counted(mesh.ports(), "port") << " on " << mesh.rows() << 'x' << mesh.columns() << " hexagons ("
       << core::counted(mesh.cells().size(), "cell") << "): " << core::counted(cover.matchings.size(), "matching")
       << (cover.matchings.size() == 1 ? " joins" : " join") << " every two ports, "
       << (cover.proven_minimal() ? "the fewest there can be"
                                  : "at least " + std::to_string(cover.lower_bound) + " are needed")
       << ".\nEvery route was checked by following the light.\n";
  if (budgets.empty()) return text.str();
  const pip::PipBudget& worst = worst_of(budgets);
  if (std::isfinite(worst.needed_db())) {
    text << "The worst matching needs " << decibels(worst.needed_db()) << ": loss of " << decibels(worst.loss_db)
         << " and a penalty of " << decibels(worst.penalty_db)
         << " for crosstalk; so much is the \"insertion_loss_db\" of a rail's switch.\n";
  } else {
    text << "No budget bridges the crosstalk of the worst matching: fewer ports, or cells that leak less.\n";
  }
  return text.str();
}

/// A number, or null for what is infinite.
std::string json_number(double value) {
  std::ostringstream text;
  text << std::setprecision(12);
  std::isfinite(value) ? text << value : text << "null";
  return text.str();
}

std::string in_json(const pip::PipMesh& mesh, const pip::PipCover& cover, const std::vector<pip::PipBudget>& budgets) {
  std::ostringstream text;
  text << "{\n  \"rows\": " << mesh.rows() << ", \"columns\": " << mesh.columns() << ", \"ports\": " << mesh.ports()
       << ", \"cells\": " << mesh.cells().size() << ",\n  \"lower_bound\": " << cover.lower_bound
       << ", \"proven_minimal\": " << (cover.proven_minimal() ? "true" : "false") << ",\n  \"matchings\": [";
  const char* before_matching = "\n";
  for (const std::vector<pip::PipRoute>& matching : cover.matchings) {
    text << before_matching << "    [";
    before_matching = ",\n";
    const char* before_route = "";
    for (const pip::PipRoute& route : matching) {
      text << before_route << "{\"ports\": [" << route.ends.a << ", " << route.ends.b << "], \"waveguides\": [";
      before_route = ",\n     ";
      for (std::size_t i = 0; i < route.waveguides.size(); ++i) text << (i == 0 ? "" : ", ") << route.waveguides[i];
      text << "]}";
    }
    text << ']';
  }
  text << "\n  ]";
  const char* before_budget = ",\n  \"budgets\": [\n    ";
  for (const pip::PipBudget& b : budgets) {
    text << before_budget << "{\"cells\": " << b.cells << ", \"loss_db\": " << json_number(b.loss_db)
         << ", \"crosstalk_db\": " << json_number(b.crosstalk_db) << ", \"penalty_db\": " << json_number(b.penalty_db)
         << '}';
    before_budget = ",\n    ";
  }
  text << (budgets.empty() ? "\n}\n" : "\n  ]\n}\n");
  return text.str();
}

/// Cells in grey, a colour a route, the number of each port.
std::string picture(const pip::PipMesh& mesh, std::span<const pip::PipRoute> matching) {
  const auto at = [](pip::PipMesh::Point p) {
    return std::pair{kMargin + kScale * (p.x + 0.9), kMargin + kScale * (p.y + 1.0)};
  };
  const auto [right, bottom] = at({std::sqrt(3.0) * mesh.columns(), 1.5 * mesh.rows()});
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << right + kMargin << "\" height=\"" << bottom + kMargin
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  for (std::uint32_t cell = 0; cell < mesh.cells().size(); ++cell) {
    const auto [x1, y1] = at(mesh.corners(cell).first);
    const auto [x2, y2] = at(mesh.corners(cell).second);
    svg << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2
        << "\" stroke=\"#dddddd\" stroke-width=\"10\" stroke-linecap=\"round\"/>\n";
  }
  for (std::size_t r = 0; r < matching.size(); ++r) {
    svg << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << kColours[r % kColours.size()] << "\" points=\"";
    for (const std::uint32_t waveguide : matching[r].waveguides) {
      const auto [x, y] = at(mesh.place(waveguide));
      svg << x << ',' << y << ' ';
    }
    svg << "\"><title>" << matching[r].ends.a << '-' << matching[r].ends.b << "</title></polyline>\n";
  }
  for (std::uint32_t port = 0; port < mesh.ports(); ++port) {
    const auto [x, y] = at(mesh.place(mesh.waveguide_of(port)));
    svg << "<circle cx=\"" << x << "\" cy=\"" << y << "\" r=\"9\" fill=\"#333333\"/><text x=\"" << x << "\" y=\"" << y + 4
        << "\" text-anchor=\"middle\" fill=\"#ffffff\">" << port << "</text>\n";
  }
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace

void pip_switch(const PipSwitchOptions& options) {
  const pip::PipMesh mesh = mesh_of(options);
  const pip::PipCover cover = pip::cover_all_pairs(mesh);
  if (const std::string fault = fault_of(mesh, cover); !fault.empty()) throw InternalError(fault);
  if (options.matching >= cover.matchings.size()) {
    throw ConfigError("--matching", "there is no matching " + std::to_string(options.matching),
                      "0 to " + std::to_string(cover.matchings.size() - 1));
  }
  if (!options.svg.empty()) write_file(options.svg, picture(mesh, cover.matchings[options.matching]));
  const std::vector<pip::PipBudget> budgets = budgets_of(mesh, cover, options);
  std::cout << (options.json ? in_json(mesh, cover, budgets) : in_words(mesh, cover, budgets));
  if (!options.svg.empty() && !options.json) std::cout << "wrote " << options.svg.string() << '\n';
}

}  // namespace photonrail::command
