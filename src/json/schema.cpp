#include "json/schema.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace photonrail::json {

namespace {

using Kind = ReadObserver::Kind;
using Sample = SchemaPlace::Sample;

constexpr double kNoLimit = 1e300;

// What the ends of keys say.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kUnitsOfKeys{
    {{"gb_per_s", "10^9 bytes per second"},
     {"_per_s", "per second"},
     {"_ps", "picoseconds"},
     {"_ns", "nanoseconds"},
     {"_us", "microseconds"},
     {"_ms", "milliseconds"},
     {"_s", "seconds"},
     {"_gb", "10^9 bytes"},
     {"bytes", "bytes"},
     {"_tflops", "10^12 operations per second"},
     {"_db", "decibels"},
     {"_w", "watts"}}};

Json number_of(double x) {
  if (x == std::floor(x) && std::abs(x) < 9e15) return static_cast<std::int64_t>(x);
  return x;
}

/// A key of an object whose meaning hangs on another one.
struct Dependence {
  std::string on;
  std::set<std::string> words;  ///< of `on`, with which it holds; "" among them: also without it
  bool by_presence = false;     ///< the words do not matter: it holds where `on` is there, or (`words` has "") is not
};

class SchemaWriter {
 public:
  SchemaWriter(const SchemaPlaces& places, std::span<const SamePlace> same) : places_(&places), same_(same) {}

  [[nodiscard]] Json schema(const std::string& pattern) const {
    for (const SamePlace& same : same_) {
      if (pattern == same.pattern) return {{"$ref", Json(reference_to(same.same_as))}};
    }
    const auto at = places_->find(pattern);
    if (at == places_->end() || at->second.kinds.empty()) return Json::object();
    std::vector<Json> any;
    for (const Kind kind : at->second.kinds) {
      if (kind == Kind::kWhole && at->second.kinds.contains(Kind::kNumber)) continue;
      any.push_back(of_kind(pattern, at->second, kind));
    }
    if (any.size() == 1) return std::move(any.front());
    Json all = Json::object();
    all["anyOf"] = Json(any);
    return all;
  }

 private:
  static std::string reference_to(const std::string& pattern) {
    std::string text = "#";
    for (const std::string& key : split_pointer(pattern)) text += "/properties" + join_pointer("", key);
    return text;
  }

  [[nodiscard]] Json of_kind(const std::string& pattern, const SchemaPlace& place, Kind kind) const {
    Json all = Json::object();
    switch (kind) {
      case Kind::kBoolean:
        all["type"] = "boolean";
        break;
      case Kind::kString:
        all["type"] = "string";
        if (!place.words.empty()) all[place.other_words ? "examples" : "enum"] = Json(place.words);
        break;
      case Kind::kNumber:
      case Kind::kWhole:
        all["type"] = kind == Kind::kWhole ? "integer" : "number";
        if (place.range.least > -kNoLimit)
          all[place.range.above ? "exclusiveMinimum" : "minimum"] = number_of(place.range.least);
        if (place.range.greatest < kNoLimit) all["maximum"] = number_of(place.range.greatest);
        break;
      case Kind::kArray:
        all["type"] = "array";
        all["items"] = schema(pattern + "/[]");
        break;
      case Kind::kMap:
        all["type"] = "object";
        all["additionalProperties"] = schema(pattern + "/{}");
        break;
      case Kind::kObject:
        write_object(pattern, place, all);
    }
    return all;
  }

  void write_object(const std::string& pattern, const SchemaPlace& place, Json& into) const {
    into["type"] = "object";
    Json& properties = into["properties"] = Json::object();
    for (const std::string& key : place.keys) {
      Json& value = properties[key] = schema(join_pointer(pattern, key));
      if (value.contains("$ref")) continue;
      const auto unit =
          std::find_if(kUnitsOfKeys.begin(), kUnitsOfKeys.end(), [&](const auto& u) { return key.ends_with(u.first); });
      if (unit != kUnitsOfKeys.end()) value["description"] = unit->second;
    }
    const auto finished = [](const Sample& sample) { return sample.missing.empty(); };
    if (std::none_of(place.samples.begin(), place.samples.end(), finished)) return;  // other keys may be there
    into["additionalProperties"] = false;
    std::vector<Json> conditions;
    write_presence(pattern, place, into, conditions);
    for (const std::string& key : place.keys) write_allowed(pattern, place, key, conditions);
    if (!conditions.empty()) into["allOf"] = Json(conditions);
  }

  // What must be there, always or depending on another key.
  void write_presence(const std::string& pattern, const SchemaPlace& place, Json& into,
                      std::vector<Json>& conditions) const {
    std::vector<std::string> always;
    for (const std::string& key : place.keys) {
      const auto needs = [&](const Sample& s) { return s.missing == key; };
      // Where no file with such an object was accepted, an object that was read to its end counts.
      const bool any_whole =
          std::any_of(place.samples.begin(), place.samples.end(), [](const Sample& s) { return s.whole; });
      std::vector<const Sample*> without;  // the key, and either it was missing or nothing was
      for (const Sample& sample : place.samples) {
        const bool good = any_whole ? sample.whole : sample.missing.empty();
        if (needs(sample) || (good && !has(sample, key))) without.push_back(&sample);
      }
      const auto count = std::count_if(without.begin(), without.end(), [&](const Sample* s) { return needs(*s); });
      if (count == 0) continue;
      if (count == static_cast<std::ptrdiff_t>(without.size())) {
        if (stem_of_duration(key).empty())
          always.push_back(key);
        else
          conditions.push_back(presence_of(key, place));
        continue;
      }
      const auto on = dependence(pattern, place, key, without, needs);
      if (!on) {
        write_exceptions(place, key, without, conditions);
        continue;
      }
      Json rule = Json::object();
      rule["if"] = holds(*on);
      rule["then"] = presence_of(key, place);
      conditions.push_back(std::move(rule));
    }
    if (!always.empty()) into["required"] = Json(always);
  }

  // A key that is required but for objects with one of some keys, or of some words: where a few of them tell.
  static void write_exceptions(const SchemaPlace& place, const std::string& key, const std::vector<const Sample*>& without,
                               std::vector<Json>& conditions) {
    constexpr std::size_t kMaxExceptions = 6;
    using Trait = std::pair<std::string, std::string>;  // a key and its word; "": any value
    const auto has_trait = [](const Sample& sample, const Trait& trait) {
      const auto word = sample.words.find(trait.first);
      return trait.second.empty() ? sample.present.contains(trait.first)
                                  : word != sample.words.end() && word->second == trait.second;
    };
    std::vector<const Sample*> open;  // that need an exception
    std::set<Trait> traits;
    for (const Sample* const sample : without) {
      if (sample->missing == key) continue;
      open.push_back(sample);
      for (const std::string& there : sample->present) traits.emplace(there, "");
      for (const auto& [there, word] : sample->words) traits.emplace(there, word);
    }
    for (const Sample* const sample : without) {
      if (sample->missing == key) std::erase_if(traits, [&](const Trait& trait) { return has_trait(*sample, trait); });
    }
    std::vector<Json> any{presence_of(key, place)};
    while (!open.empty() && !traits.empty() && any.size() <= kMaxExceptions) {
      const auto covers = [&](const Trait& trait) {
        return std::count_if(open.begin(), open.end(), [&](const Sample* s) { return has_trait(*s, trait); });
      };
      const Trait best = *std::max_element(traits.begin(), traits.end(),
                                           [&](const Trait& a, const Trait& b) { return covers(a) < covers(b); });
      if (covers(best) == 0) return;
      std::erase_if(open, [&](const Sample* s) { return has_trait(*s, best); });
      any.push_back(holds({best.first, {best.second.empty() ? "x" : best.second}, best.second.empty()}));
    }
    if (!open.empty()) return;
    Json rule = Json::object();
    rule["anyOf"] = Json(any);
    conditions.push_back(std::move(rule));
  }

  // A duration in any of its units.
  static bool has(const Sample& sample, const std::string& key) {
    const std::string_view stem = stem_of_duration(key);
    return std::any_of(sample.present.begin(), sample.present.end(), [&](const std::string& there) {
      return there == key || (!stem.empty() && stem_of_duration(there) == stem);
    });
  }

  // A duration may have any of its units.
  static Json presence_of(const std::string& key, const SchemaPlace& place) {
    const std::string_view stem = stem_of_duration(key);
    Json rule = Json::object();
    if (stem.empty()) {
      rule["required"] = Json(std::vector<std::string>{key});
      return rule;
    }
    std::vector<Json> any;
    for (const std::string& other : place.keys) {
      if (stem_of_duration(other) != stem) continue;
      Json one = Json::object();
      one["required"] = Json(std::vector<std::string>{other});
      any.push_back(std::move(one));
    }
    rule["anyOf"] = Json(any);
    return rule;
  }

  // A key that only some of the objects may have.
  void write_allowed(const std::string& pattern, const SchemaPlace& place, const std::string& key,
                     std::vector<Json>& conditions) const {
    const auto knows = [&](const Sample& s) { return s.known.contains(key); };
    std::vector<const Sample*> finished;
    for (const Sample& sample : place.samples) {
      if (sample.missing.empty()) finished.push_back(&sample);
    }
    const auto count = std::count_if(finished.begin(), finished.end(), [&](const Sample* s) { return knows(*s); });
    if (count == 0 || count == static_cast<std::ptrdiff_t>(finished.size())) return;
    const auto on = dependence(pattern, place, key, finished, knows);
    if (!on) return;
    Json rule = Json::object();
    rule["if"]["required"] = Json(std::vector<std::string>{key});
    rule["then"] = holds(*on);
    conditions.push_back(std::move(rule));
  }

  static Json holds(const Dependence& on) {
    Json there = Json::object();
    there["required"] = Json(std::vector<std::string>{on.on});
    Json absent = Json::object();
    absent["not"] = there;
    const bool without = on.words.contains("");
    if (on.by_presence) return without ? absent : there;
    std::vector<std::string> words(on.words.begin(), on.words.end());
    std::erase(words, "");
    if (words.empty()) return absent;
    there["properties"][on.on]["enum"] = Json(words);
    if (!without) return there;
    Json either = Json::object();
    either["anyOf"] = Json(std::vector<Json>{there, absent});
    return either;
  }

  // The one key whose word, or whose presence, tells the samples that `chosen` has from the others.
  template <class Chosen>
  [[nodiscard]] std::optional<Dependence> dependence(const std::string& pattern, const SchemaPlace& place,
                                                     const std::string& key, const std::vector<const Sample*>& samples,
                                                     Chosen chosen) const {
    for (const bool by_presence : {false, true}) {
      for (const std::string& other : place.keys) {
        if (other == key) continue;
        const auto child = places_->find(join_pointer(pattern, other));
        const bool has_words = child != places_->end() && !child->second.words.empty() && !child->second.other_words;
        if (!by_presence && !has_words) continue;
        std::map<std::string, std::set<bool>> by_word;
        for (const Sample* const sample : samples) {
          const auto word = sample->words.find(other);
          const std::string value = by_presence ? (sample->present.contains(other) ? "x" : "")
                                                : (word == sample->words.end() ? "" : word->second);
          by_word[value].insert(chosen(*sample));
        }
        if (std::any_of(by_word.begin(), by_word.end(), [](const auto& w) { return w.second.size() != 1; })) continue;
        Dependence on{other, {}, by_presence};
        for (const auto& [word, holds] : by_word) {
          if (*holds.begin()) on.words.insert(word);
        }
        return on;
      }
    }
    return std::nullopt;
  }

  const SchemaPlaces* places_;
  std::span<const SamePlace> same_;
};

}  // namespace

Json to_schema(const SchemaPlaces& places, std::span<const SamePlace> same, const std::string& title) {
  Json all = Json::object();
  all["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  all["title"] = title;
  Json body = SchemaWriter(places, same).schema("");
  for (const Json::Member& member : body.members()) all[member.key] = member.value;
  all["properties"]["$schema"]["type"] = "string";
  return all;
}

}  // namespace photonrail::json
