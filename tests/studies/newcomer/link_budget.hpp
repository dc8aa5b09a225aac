// A whole study: how much light is left behind so many optical switches. CONTRIBUTING.md names it as an example.
#pragma once

#include "fields/field.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "studies/run_study.hpp"
#include "studies/table.hpp"

namespace photonrail::link_budget {

struct Spec {
  double launch_dbm = 0.0;
  double sensitivity_dbm = -8.0;
  double switch_loss_db = 1.5;
  std::uint32_t switches = 8;
};

inline constexpr fields::Field kFields[] = {
    fields::number<&Spec::launch_dbm>("launch_dbm", -20.0, 20.0, "Power of the transmitter.").or_else("0"),
    fields::number<&Spec::sensitivity_dbm>("sensitivity_dbm", -40.0, 0.0, "Least power of the receiver.").or_else("-8"),
    fields::number<&Spec::switch_loss_db>("switch_loss_db", 0.0, 20.0, "Loss of a switch.").or_else("1.5"),
    fields::count<&Spec::switches>("switches", 1, 64, "The most that a link passes.").or_else("8"),
};
inline constexpr fields::Section kSection{kFields};

struct Margin {
  std::size_t switches = 0;
  double db = 0.0;
};

class LinkBudget : public studies::Study<Margin> {
 public:
  explicit LinkBudget(const json::Json& file) {
    json::JsonReader top(file);
    fields::read(top, kSection, &spec_);
  }
  std::vector<std::string> expand() const override { return std::vector<std::string>(spec_.switches, "switches"); }
  studies::Estimate estimate(std::size_t point) const override { return {static_cast<double>(point), 1'000, 1e-6}; }
  Margin run(std::size_t point, const studies::Stop&) const override {
    const std::size_t passed = point + 1;
    return {passed, spec_.launch_dbm - spec_.sensitivity_dbm - static_cast<double>(passed) * spec_.switch_loss_db};
  }
  std::vector<studies::Column<Margin>> columns() const override {
    return {{"switches", [](const Margin& m) { return std::to_string(m.switches); }},
            {"margin_db", [](const Margin& m) { return json::Json(m.db).dump(); }}};
  }

 private:
  Spec spec_;
};

inline studies::StudyLog<Margin> log_in(const std::filesystem::path& folder) {
  const auto line = [](std::size_t point, const Margin& m) { return json::Json{{"point", point}, {"db", m.db}}.dump(); };
  return {folder / "points.jsonl", R"({"schema":"photonrail.link_budget_points/1"})", line, [](const std::string& text) {
            const auto read = json::parse_if_json(text);
            const auto point = static_cast<std::size_t>(read->find("point")->integer());
            return std::optional(std::pair(point, Margin{point + 1, read->find("db")->number()}));
          }};
}

}  // namespace photonrail::link_budget
