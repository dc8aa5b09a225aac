#include "studies/sweep/shell_text.hpp"

#include "core/control_character.hpp"

#include <algorithm>

namespace photonrail::sweep {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }

bool is_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

// The number of parts of "1:30:00"; 0 where a part is no number.
std::size_t clock_parts(std::string_view text) {
  std::size_t parts = 0;
  while (true) {
    const std::size_t colon = text.find(':');
    if (!is_digits(text.substr(0, colon))) return 0;
    ++parts;
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

bool is_time_limit(std::string_view text) {
  if (text == "-1") return true;
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; });
  if (upper == "UNLIMITED" || upper == "INFINITE") return true;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  if (has_days && !is_digits(text.substr(0, dash))) return false;
  const std::size_t parts = clock_parts(has_days ? text.substr(dash + 1) : text);
  return parts >= 1 && parts <= 3;
}

}  // namespace

std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string slurm_path(std::string_view path) {
  std::string result;
  for (const char c : path) result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

std::string partition_problem(std::string_view text) {
  const auto is_of_name = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("_-.,+@:").find(c) != std::string_view::npos;
  };
  if (!text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), is_of_name)) return {};
  return "is not the name of a partition";
}

std::string time_limit_problem(std::string_view text) {
  return is_time_limit(text) ? std::string{} : "is not a limit of time as sbatch takes it";
}

std::string sbatch_option_problem(std::string_view text) {
  if (!text.starts_with("--") || text.size() < 3 || !is_letter(text[2])) return "is not an option";
  return std::any_of(text.begin(), text.end(), core::is_control) ? "has a line break or another control character" : "";
}

bool is_slurm_job(std::string_view text) { return is_digits(text); }

}  // namespace photonrail::sweep
