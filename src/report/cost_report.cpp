#include "report/cost_report.hpp"

#include "core/counted.hpp"
#include "report/bill_json.hpp"
#include "report/output.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::report {

namespace {

using json::Json;

std::string usd_text(double usd) {
  static constexpr Unit kUnits[] = {{"USD", 1.0}, {"k USD", 1e3}, {"M USD", 1e6}};
  return in_units(usd, kUnits, true);
}

std::string power_text(double watts) {
  static constexpr Unit kUnits[] = {{"W", 1.0}, {"kW", 1e3}, {"MW", 1e6}};
  return in_units(watts, kUnits, true);
}

using Cells = std::vector<std::vector<std::string>>;

std::optional<FabricCost> photonic_of(std::span<const FabricCost> rows, std::uint64_t gpus) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const FabricCost& row) {
    return row.gpus == gpus && row.fabric == NetworkFabric::kPhotonicRail;
  });
  return found == rows.end() ? std::nullopt : std::optional(*found);
}

std::string ratio(double value, double base) { return base > 0.0 ? number("%.2f x", value / base) : "-"; }

Json rows_json(std::span<const FabricCost> rows) {
  Json list = Json::array();
  for (const FabricCost& row : rows) {
    list.push_back({{"fabric", name(row.fabric)}, {"gpus", row.gpus}, {"cost_usd", row.usd}, {"power_w", row.power_w}});
  }
  return list;
}

// Returns the purpose of a line of a bill in words.
std::string purpose_of(const BillLine& line, const Bill& bill) {
  std::uint32_t tiers = 0;
  for (const BillLine& other : bill.lines) tiers = std::max(tiers, other.tier);
  if (line.item == "transceiver") return "ends of links";
  if (line.item == "fibre pair") return "links";
  if (line.tier == 0) return "";
  if (line.tier == 1) return tiers == 1 ? "whole rails" : "next to the NICs";
  return line.tier == tiers ? "joins all below" : "in between";
}

struct PricedLine {
  BillLine line;
  std::string purpose;

  template <class Value>
  [[nodiscard]] std::optional<Value> of_switch(Value BillLine::*member) const {
    return line.tier > 0 ? std::optional(line.*member) : std::nullopt;
  }
};

constexpr auto kPricedLine = outputs<PricedLine>(
    {key<[](const PricedLine& l) { return l.line.item; }>("item", "Its name."),
     key<[](const PricedLine& l) { return l.purpose.empty() ? std::nullopt : std::optional(l.purpose); }>(
         "for", "What it is for."),
     key<[](const PricedLine& l) { return l.of_switch(&BillLine::tier); }>("tier", "Of switches: 1 is next to the NICs."),
     key<[](const PricedLine& l) { return l.of_switch(&BillLine::ports); }>("ports", "Of a switch."),
     key<[](const PricedLine& l) { return l.of_switch(&BillLine::ports_used); }>("ports_used", "Of all of them."),
     key<[](const PricedLine& l) { return l.line.count; }>("count", "Installed."),
     key<[](const PricedLine& l) { return l.line.spares; }>("spares", "Beside them."),
     key<[](const PricedLine& l) { return l.line.usd; }>("usd", "Of the line."),
     key<[](const PricedLine& l) { return l.line.power_w; }>("power_w", "Of the line.")});

}  // namespace

std::uint64_t switches_of(const Bill& bill) {
  std::uint64_t count = 0;
  for (const BillLine& line : bill.lines) count += line.tier > 0 ? line.count : 0;
  return count;
}

const fields::Section kBillLineKeys = kKeysOf<kPricedLine>;

json::Json to_json_array(const Bill& bill) {
  std::vector<PricedLine> lines;
  for (const BillLine& line : bill.lines) lines.push_back({line, purpose_of(line, bill)});
  return ObjectOf<kPricedLine>::all(lines);
}

std::string to_json(std::span<const FabricCost> rows) { return rows_json(rows).dump(2) + "\n"; }

std::string to_table(std::span<const FabricCost> rows) {
  Cells cells{{"fabric", "GPUs", "cost", "power", "cost / photonic", "power / photonic"}};
  for (const FabricCost& row : rows) {
    const std::optional<FabricCost> base = photonic_of(rows, row.gpus);
    cells.push_back({std::string(name(row.fabric)), std::to_string(row.gpus), usd_text(row.usd), power_text(row.power_w),
                     base ? ratio(row.usd, base->usd) : "-", base ? ratio(row.power_w, base->power_w) : "-"});
  }
  return in_columns(cells);
}

std::string to_json(const Bill& bill, const Pricing& pricing, std::span<const FabricCost> others) {
  const Json text = {{"catalogue", pricing.catalogue.name}, {"rule", name(pricing.rule)},
                     {"fabric", name(bill.fabric)},         {"usd", bill.usd()},
                     {"power_w", bill.power_w()},           {"bill", to_json_array(bill)},
                     {"fabrics", rows_json(others)}};
  return text.dump(2) + "\n";
}

std::string to_table(const Bill& bill) {
  const auto unless_switch = [](const BillLine& line, std::uint64_t n) { return line.tier > 0 ? std::to_string(n) : "-"; };
  Cells cells{{std::string(name(bill.fabric)), "for", "ports", "used", "installed", "spares", "cost", "power"}};
  for (const BillLine& line : bill.lines) {
    cells.push_back({line.item, purpose_of(line, bill), unless_switch(line, line.ports),
                     unless_switch(line, line.ports_used), std::to_string(line.count), std::to_string(line.spares),
                     usd_text(line.usd), power_text(line.power_w)});
  }
  cells.push_back({"sum", "", "", "", "", "", usd_text(bill.usd()), power_text(bill.power_w())});
  return in_columns(cells) + core::counted(switches_of(bill), "switch", "es") + " in all\n";
}

}  // namespace photonrail::report
