#include "json/json_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace photonrail::json {

namespace {

struct Unit {
  std::string_view suffix;
  double picoseconds;
};
constexpr std::array<Unit, 5> kUnits{{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};

// One delay of a scenario. Times are int64 picoseconds (106 days), and delays are added up, so there is room to spare.
constexpr double kLongestSeconds = 1e6;
constexpr std::string_view kSchemaKey = "$schema";
constexpr double kSlowestGbPerS = 1e-6;
constexpr double kFastestGbPerS = 1e9;

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Bits per second are the usual slip: name the conversion.
bool looks_like_bits(std::string_view key) {
  std::string low(key);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low.find("gbit") != std::string::npos || low.find("gbps") != std::string::npos ||
         low.find("mbps") != std::string::npos;
}

}  // namespace

std::string_view stem_of_duration(std::string_view key) {
  const auto cut = key.rfind('_');
  if (cut == std::string_view::npos) return {};
  const std::string_view suffix = key.substr(cut + 1);
  const bool unit = std::any_of(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.suffix == suffix; });
  const std::string_view stem = key.substr(0, cut);
  return unit && !stem.ends_with("_per") ? stem : std::string_view{};  // "commands_per_s" is a rate
}

void ValueReader::fail(std::string_view what, std::string_view hint) const {
  throw ConfigError(pointer_, std::string(what), std::string(hint));
}

void JsonReader::fail_at(std::string_view key, std::string_view what, std::string_view hint) const {
  throw ConfigError(join_pointer(pointer_, key), std::string(what), std::string(hint));
}

void JsonReader::missing(std::string_view key, std::string_view hint) const { fail_at(key, "missing", hint); }

const Json& JsonReader::object() const {
  if (!value_->is_object()) fail("must be an object, not " + describe(*value_));
  return *value_;
}

std::optional<JsonReader> JsonReader::optional(std::string_view key) {
  const Json& all = object();
  if (!contains(known_, key)) known_.emplace_back(key);
  const Json* const found = all.find(key);
  if (found == nullptr) return std::nullopt;
  return JsonReader(*found, join_pointer(pointer_, key));
}

JsonReader JsonReader::child(std::string_view key, std::string_view hint) {
  auto found = optional(key);
  if (!found) fail_at(key, "missing", hint);
  return *std::move(found);
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> all;
  if (!value_->is_object()) fail("must be an object, not " + describe(*value_));
  for (const auto& [key, value] : value_->members()) all.emplace_back(key, JsonReader(value, join_pointer(pointer_, key)));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

std::vector<JsonReader> JsonReader::elements() const {
  if (!value_->is_array()) fail("must be an array, not " + describe(*value_));
  std::vector<JsonReader> all;
  all.reserve(value_->size());
  for (const Json& element : value_->elements())
    all.push_back(JsonReader(element, pointer_ + "/" + std::to_string(all.size())));
  return all;
}

void JsonReader::refuse(std::string_view key, std::string_view why, std::string_view hint) const {
  if (has(key)) fail_at(key, why, hint);
}

void JsonReader::finish() const {
  const std::string* first = nullptr;
  for (const auto& [key, value] : object().members()) {
    if (contains(known_, key) || contains(accepted_, key)) continue;
    if (key == kSchemaKey && pointer_.empty()) continue;  // for editors
    if (first == nullptr || key < *first) first = &key;
  }
  if (first == nullptr) return;
  if (looks_like_bits(*first))
    fail_at(*first, "unknown key", "rates are in GB/s under keys with gb_per_s: 400 Gb/s is 50 GB/s");
  fail_at(*first, "unknown key", suggest(*first, known_));
}

std::optional<std::pair<JsonReader, double>> JsonReader::timed(std::string_view stem, std::string_view unit) {
  const Json& all = object();
  const std::string prefix = std::string(stem) + "_";
  known_.push_back(prefix + std::string(unit));
  std::optional<std::pair<JsonReader, double>> found;
  std::string first;
  for (const Unit& u : kUnits) {
    const std::string key = prefix + std::string(u.suffix);
    accepted_.push_back(key);
    const Json* const entry = all.find(key);
    if (entry == nullptr) continue;
    if (found) fail_at(key, "given twice: " + first + " is there too", "keep one of them");
    found.emplace(JsonReader(*entry, join_pointer(pointer_, key)), u.picoseconds);
    first = key;
  }
  return found;
}

std::optional<Duration> JsonReader::duration(std::string_view stem, std::string_view unit) {
  const auto found = timed(stem, unit);
  if (!found) return std::nullopt;
  return found->first.in_picoseconds(found->second);
}

void JsonReader::read_duration(std::string_view stem, Duration& into, std::string_view unit) {
  if (const auto found = duration(stem, unit)) into = *found;
}

std::string ValueReader::string() const {
  if (!value_->is_string()) fail("must be a string, not " + describe(*value_));
  return value_->string();
}

std::string ValueReader::word(const std::vector<std::string>& known) const {
  std::string word = string();
  if (!contains(known, word)) fail("unknown value \"" + word + "\"", suggest(word, known));
  return word;
}

bool ValueReader::boolean() const {
  if (!value_->is_boolean()) fail("must be true or false, not " + describe(*value_));
  return value_->boolean();
}

double ValueReader::raw_number() const {
  if (!value_->is_number()) fail("must be a number, not " + describe(*value_));
  return value_->number();
}

double ValueReader::number(double least, double greatest) const {
  const double x = raw_number();
  if (least == 0.0 && x < 0.0) fail("must not be negative, but is " + describe(*value_));
  if (!(x >= least && x <= greatest)) {
    fail("must be between " + readable(least) + " and " + readable(greatest) + ", but is " + describe(*value_));
  }
  return x;
}

double ValueReader::any_number() const { return raw_number(); }

double ValueReader::positive(double greatest) const {
  const double x = raw_number();
  if (!(x > 0.0)) fail("must be positive, but is " + describe(*value_));
  if (!(x <= greatest)) fail("must be at most " + readable(greatest) + ", but is " + describe(*value_));
  return x;
}

std::uint64_t ValueReader::integer(std::uint64_t least, std::uint64_t greatest) const {
  const double x = raw_number();
  const auto range = [&] {
    fail("must be a whole number from " + std::to_string(least) + " to " + std::to_string(greatest) + ", but is " +
         describe(*value_));
  };
  // 2^53: above it a double need not be the integer that was written.
  if (value_->is_double() && (x != std::floor(x) || x < 0.0 || x > 9007199254740992.0)) range();
  if (x < 0.0) range();
  const std::uint64_t n = value_->is_double() ? static_cast<std::uint64_t>(x) : value_->natural();
  if (n < least || n > greatest) range();
  return n;
}

std::uint32_t ValueReader::count(std::uint32_t least, std::uint32_t greatest) const {
  return static_cast<std::uint32_t>(integer(least, greatest));
}

Bandwidth ValueReader::bandwidth() const {
  const double x = positive(kFastestGbPerS);
  if (x < kSlowestGbPerS) fail("must be at least " + readable(kSlowestGbPerS) + " GB/s, but is " + describe(*value_));
  return Bandwidth::from_gb_per_s(x);
}

Duration ValueReader::in_picoseconds(double per_unit) const {
  const double x = number(0.0, kLongestSeconds * 1e12 / per_unit);
  return Duration{std::llround(x * per_unit)};
}

}  // namespace photonrail::json
