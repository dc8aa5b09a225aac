#include "report/text.hpp"

#include "core/control_character.hpp"
#include "core/printed.hpp"
#include "photonrail/report.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace photonrail {

namespace report {

namespace {

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// Where the code point with this number begins; the end when there are not so many.
std::size_t offset_of(std::string_view utf8, std::size_t code_point) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    if (starts_code_point(utf8[i]) && seen++ == code_point) return i;
  }
  return utf8.size();
}

}  // namespace

std::string in_units(double value, std::span<const Unit> units, bool whole) {
  std::size_t u = 0;
  while (u + 1 < units.size() && std::abs(value) / units[u].size >= 999.95) ++u;
  const double scaled = value / units[u].size;
  const double size = std::abs(scaled);
  const bool plain = (whole && u == 0) || size >= 999.95;
  const char* format = plain ? "%.0f" : size >= 99.995 ? "%.1f" : size >= 9.9995 ? "%.2f" : "%.3f";
  return number(format, scaled) + " " + units[u].name;
}

std::size_t columns(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), starts_code_point));
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = columns(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = columns(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string printable(std::string_view text, std::string_view but) {
  const auto control = [&](char c) { return core::is_control(c) && but.find(c) == std::string_view::npos; };
  std::string clean(text);
  std::replace_if(clean.begin(), clean.end(), control, '?');
  return clean;
}

std::string fit(std::string_view text, std::size_t width) {
  const std::string clean = printable(text);
  const std::size_t used = columns(clean);
  if (used <= width) return clean;
  return "…" + clean.substr(offset_of(clean, used - (width - 1)));
}

std::vector<std::string> fit_apart(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> fitted;
  for (const std::string& name : names) fitted.push_back(fit(name, width));
  std::vector<std::string> apart = fitted;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t same = names[i].size();  // as many bytes do all names have in common that look like this one
    bool alike = false;
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (fitted[j] != fitted[i] || names[j] == names[i]) continue;
      const auto [mine, other] = std::mismatch(names[i].begin(), names[i].end(), names[j].begin(), names[j].end());
      same = std::min(same, static_cast<std::size_t>(mine - names[i].begin()));
      alike = true;
    }
    if (!alike || same == 0) continue;
    const std::size_t space = names[i].rfind(' ', same - 1);
    std::size_t word = space == std::string::npos ? same - std::min<std::size_t>(same, 4) : space + 1;
    while (!starts_code_point(names[i][word])) --word;
    const std::string rest = fit(std::string_view(names[i]).substr(word), names[i].size() + 3);
    if (columns(rest) < width) {
      apart[i] = "…" + rest;
    } else {
      apart[i] = "…" + rest.substr(0, offset_of(rest, width - 2)) + "…";
    }
  }
  return apart;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string number(const char* format, double value) { return core::printed(format, value); }

}  // namespace report

std::string to_text(Duration d) {
  static constexpr report::Unit kUnits[] = {{"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  if (d == Duration::zero()) return "0 s";
  return report::in_units(static_cast<double>(d.count()), kUnits, false);
}

std::string to_text(Bytes b) {
  static constexpr report::Unit kUnits[] = {{"B", 1.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  return report::in_units(static_cast<double>(b.count), kUnits, true);
}

}  // namespace photonrail
