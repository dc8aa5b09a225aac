#include "json/schema.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace photonrail::json {

namespace {

using Kind = ReadObserver::Kind;

constexpr const char* kNoWord = "????????????";  // far from every word, so that a hint lists all of them
constexpr const char* kNoPath = "a/b.json";
constexpr int kMaxFilled = 60;
constexpr int kMaxTried = 24;  // files in which a key is tried that none of them has

/// What one run of the reader asked.
struct Reading {
  struct Key {
    std::string pointer;
    std::string key;
    bool required = false;
  };
  struct Value {
    std::string pointer;
    Kind kind;
    std::optional<ReadObserver::Range> range;  ///< none: only compared
  };
  std::vector<Key> keys;
  std::vector<Value> values;
  std::vector<std::string> finished;
  std::optional<ConfigError> error;
};

class Recorder : public ReadObserver {
 public:
  explicit Recorder(Reading& into) : into_(&into) {}
  void asked(const std::string& pointer, std::string_view key, bool required) override {
    into_->keys.push_back({pointer, std::string(key), required});
  }
  void read(const std::string& pointer, Kind kind, const Range& range) override {
    into_->values.push_back({pointer, kind, range});
  }
  void compared(const std::string& pointer, Kind kind) override { into_->values.push_back({pointer, kind, std::nullopt}); }
  void finished(const std::string& pointer) override { into_->finished.push_back(pointer); }

 private:
  Reading* into_;
};

// Puts a value where the pointer says. REQUIRES: what is above it is there; in arrays the place after the last one may be
// new.
void put(Json& root, const std::string& pointer, Json value) {
  Json* at = &root;
  for (const std::string& key : split_pointer(pointer)) {
    if (at->is_array()) {
      const std::size_t size = at->size();
      const std::size_t index = static_cast<std::size_t>(std::stoul(key));
      at = index < size ? &at->elements()[index] : &at->push_back(nullptr);
    } else {
      at = &(*at)[key];
    }
  }
  *at = std::move(value);
}

// A duration may be there in one unit only.
void drop_other_units(Json& root, const std::string& pointer) {
  const std::vector<std::string> keys = split_pointer(pointer);
  const std::string_view stem = stem_of_duration(keys.back());
  const std::string above = pointer.substr(0, pointer.rfind('/'));
  const Json* const object = find_at(root, above);
  if (stem.empty() || object == nullptr || !object->is_object()) return;
  Json kept = Json::object();
  for (const Json::Member& member : object->members()) {
    if (stem_of_duration(member.key) != stem) kept.insert(member.key, member.value);
  }
  put(root, above, std::move(kept));
}

// "a, b, c" after "known: ".
std::vector<std::string> words_of(const std::string& hint) {
  constexpr std::string_view kKnown = "known: ";
  std::vector<std::string> words;
  if (!hint.starts_with(kKnown)) return words;
  for (std::size_t at = kKnown.size(); at < hint.size();) {
    const std::size_t comma = std::min(hint.find(", ", at), hint.size());
    words.push_back(hint.substr(at, comma - at));
    at = comma + 2;
  }
  return words;
}

class Explorer {
 public:
  Explorer(const ReadFunction& read, std::span<const SamePlace> same) : read_(&read), same_(same) {}

  /// Tries what the examples lead to, that which is nearest to them first: a key is best tried in a file that is good but
  /// for it.
  void explore(std::span<const Json> examples) {
    files_.assign(examples.begin(), examples.end());
    while (!files_.empty()) {
      Json next = std::move(files_.front());
      files_.pop_front();
      if (explored_.insert(next.canonical()).second) explore_one(std::move(next));
    }
  }

  [[nodiscard]] SchemaPlaces take() { return std::move(places_); }

 private:
  void explore_one(Json file) {
    Reading reading = run(file);
    for (int i = 0; i < kMaxFilled && fill(file, reading); ++i) reading = run(file);
    for (const Reading::Key& asked : reading.keys) {
      const Json* const object = find_at(file, asked.pointer);
      if (object == nullptr || !object->is_object()) continue;
      probe(file, join_pointer(asked.pointer, asked.key));
    }
    for (const Reading::Value& value : reading.values) open(file, value.pointer);
    if (!reading.error) remove_each(file, reading);
  }

  // What an accepted file does without: a key may be required beside some keys and not beside others.
  void remove_each(const Json& file, const Reading& reading) {
    for (const std::string& pointer : reading.finished) {
      const Json* const object = find_at(file, pointer);
      if (object == nullptr || !object->is_object()) continue;
      std::string keys = pattern(file, pointer);
      for (const Json::Member& member : object->members()) {
        keys += "\n" + member.key + (member.value.is_string() ? "=" + member.value.string() : "");
      }
      if (!removed_.insert(keys).second) continue;
      for (const Json::Member& member : object->members()) {
        Json less = file;
        put(less, pointer, without(*object, member.key));
        static_cast<void>(run(less));
      }
    }
  }

  [[nodiscard]] static Json without(const Json& object, const std::string& key) {
    Json kept = Json::object();
    for (const Json::Member& member : object.members()) {
      if (member.key != key) kept.insert(member.key, member.value);
    }
    return kept;
  }

  [[nodiscard]] std::string pattern(const Json& file, const std::string& pointer) const {
    std::string text;
    const Json* at = &file;
    for (std::size_t end = 0; end < pointer.size();) {
      const std::size_t begin = end + 1;
      end = std::min(pointer.find('/', begin), pointer.size());
      const std::string key = pointer.substr(begin, end - begin);
      const bool map = maps_.contains(text);
      text += '/';
      text += at != nullptr && at->is_array() ? "[]" : map ? "{}" : key;
      const bool escaped = key.find('~') != std::string::npos;
      if (at != nullptr) at = child_at(*at, escaped ? split_pointer("/" + key).front() : key);
    }
    for (const SamePlace& same : same_) {
      const std::size_t size = same.pattern.size();
      const bool there = text.starts_with(same.pattern) && (text.size() == size || text[size] == '/');
      if (there) return same.same_as + text.substr(size);
    }
    return text;
  }

  [[nodiscard]] Reading run(const Json& file) {
    Reading reading;
    Recorder recorder(reading);
    try {
      (*read_)(file, recorder);
    } catch (const ConfigError& error) {
      reading.error = error;
    } catch (const std::exception&) {  // a limit that a value of the exploration exceeds
    }
    learn(file, reading);
    return reading;
  }

  void learn(const Json& file, const Reading& reading) {
    for (const Reading::Value& value : reading.values) {
      if (value.kind == Kind::kMap && maps_.insert(pattern(file, value.pointer)).second) place_of_.clear();
    }
    for (const Reading::Value& value : reading.values) {
      if (!value.range) continue;
      SchemaPlace& place = place_at(file, value.pointer);
      place.kinds.insert(value.kind);
      if (place.example.is_null()) {
        if (const Json* const there = find_at(file, value.pointer); there != nullptr) place.example = *there;
      }
      if (value.kind == Kind::kNumber || value.kind == Kind::kWhole) widen(place, *value.range);
    }
    std::unordered_map<std::string_view, KeysOfObject> asked;
    for (const Reading::Key& key : reading.keys) {
      KeysOfObject& of = asked[key.pointer];
      if (of.place == nullptr) of.place = &place_at(file, key.pointer);
      of.keys.push_back(&key);
      std::vector<std::string>& keys = of.place->keys;
      if (std::find(keys.begin(), keys.end(), key.key) == keys.end()) keys.push_back(key.key);
    }
    for (const std::string& pointer : reading.finished) add_sample(file, pointer, "", reading, asked[pointer]);
    if (!is_missing(reading)) return;
    const std::string& pointer = reading.error->where();
    const std::string above = pointer.substr(0, pointer.rfind('/'));
    add_sample(file, above, split_pointer(pointer).back(), reading, asked[above]);
  }

  /// The keys that one object was asked for, in order.
  struct KeysOfObject {
    SchemaPlace* place = nullptr;
    std::vector<const Reading::Key*> keys;
  };

  [[nodiscard]] static bool may_name_an_element(const std::string& pointer) {
    for (std::size_t slash = pointer.find('/'); slash != std::string::npos; slash = pointer.find('/', slash + 1)) {
      if (slash + 1 < pointer.size() && pointer[slash + 1] >= '0' && pointer[slash + 1] <= '9') return true;
    }
    return false;
  }

  // The place of the pattern of `pointer`, which is found once: without elements of arrays it is the same in all files.
  [[nodiscard]] SchemaPlace& place_at(const Json& file, const std::string& pointer) {
    if (may_name_an_element(pointer)) return places_[pattern(file, pointer)];
    SchemaPlace*& place = place_of_[pointer];
    if (place == nullptr) place = &places_[pattern(file, pointer)];
    return *place;
  }

  [[nodiscard]] static bool is_missing(const Reading& reading) {
    return reading.error && reading.error->problem() == "missing" && reading.error->where().starts_with('/');
  }

  static void widen(SchemaPlace& place, const ReadObserver::Range& range) {
    ReadObserver::Range& all = place.range;
    if (!place.has_range) {
      all = range;
    } else {
      if (range.least < all.least || (range.least == all.least && !range.above)) {
        all.least = range.least;
        all.above = range.above;
      }
      all.greatest = std::max(all.greatest, range.greatest);
    }
    place.has_range = true;
  }

  void add_sample(const Json& file, const std::string& pointer, const std::string& missing, const Reading& reading,
                  const KeysOfObject& asked) {
    const Json* const object = find_at(file, pointer);
    if (object == nullptr || !object->is_object()) return;
    SchemaPlace& place = asked.place != nullptr ? *asked.place : place_at(file, pointer);
    std::string text = std::to_string(reinterpret_cast<std::uintptr_t>(&place)) + (reading.error ? "-" : "+") + missing;
    for (const auto& [key, value] : object->members()) text += "\n" + key + (value.is_string() ? "=" + value.string() : "");
    for (const Reading::Key* const key : asked.keys) text += (key->required ? "\n!" : "\n?") + key->key;
    if (!sampled_.insert(std::move(text)).second) return;
    SchemaPlace::Sample sample;
    sample.missing = missing;
    for (const auto& [key, value] : object->members()) {
      sample.present.insert(key);
      if (value.is_string()) sample.words[key] = value.string();
    }
    for (const Reading::Key* const key : asked.keys) {
      sample.known.insert(key->key);
      if (key->required) sample.required.insert(key->key);
    }
    sample.whole = !reading.error;
    if (std::find(place.samples.begin(), place.samples.end(), sample) == place.samples.end())
      place.samples.push_back(std::move(sample));
  }

  // A key that is missing and was tried before gets the value that was read then.
  [[nodiscard]] bool fill(Json& file, const Reading& reading) {
    if (!is_missing(reading)) return false;
    const std::string& pointer = reading.error->where();
    if (find_at(file, pointer) != nullptr) return false;
    const auto place = places_.find(pattern(file, pointer));
    if (place == places_.end() || place->second.example.is_null()) return false;
    put(file, pointer, place->second.example);
    return true;
  }

  // Tries all that a new value at `pointer` may be.
  void probe(const Json& file, const std::string& pointer) {
    int& tried = tried_[pattern(file, pointer)];
    if (tried >= kMaxTried) return;
    ++tried;
    Json with = file;
    drop_other_units(with, pointer);
    put(with, pointer, nullptr);
    std::set<Kind> kinds;
    ReadObserver::Range range;
    for (const Reading::Value& value : run(with).values) {
      if (value.pointer != pointer) continue;
      kinds.insert(value.kind);
      if (value.range) range = *value.range;
    }
    if (!kinds.empty()) tried = kMaxTried;  // else the key means something in other files only
    for (const Kind kind : kinds) try_kind(with, pointer, kind, range);
  }

  void try_kind(Json& with, const std::string& pointer, Kind kind, const ReadObserver::Range& range) {
    const auto go_on = [&](Json value) {
      put(with, pointer, std::move(value));
      files_.push_back(with);
    };
    switch (kind) {
      case Kind::kObject:
      case Kind::kMap:
        return go_on(Json::object());
      case Kind::kArray:
        return go_on(Json::array());
      case Kind::kBoolean:
        go_on(true);
        return go_on(false);
      case Kind::kNumber:
      case Kind::kWhole:
        return go_on(std::clamp(1.0, range.least, range.greatest));
      case Kind::kString:
        for (const std::string& word : words_at(with, pointer)) go_on(word);
    }
  }

  // The words that are allowed at `pointer`, or one that is none.
  [[nodiscard]] std::vector<std::string> words_at(Json& with, const std::string& pointer) {
    const auto complaint = [&](const char* text) {
      put(with, pointer, text);
      const Reading reading = run(with);
      const bool of_it = reading.error && reading.error->where() == pointer;
      return of_it ? words_of(reading.error->hint()) : std::vector<std::string>{};
    };
    const std::vector<std::string> words = complaint(kNoWord);
    if (words.empty()) return {kNoPath};
    SchemaPlace& place = places_[pattern(with, pointer)];
    place.words = words;
    place.other_words = complaint(kNoPath).empty();
    return words;
  }

  // Tries an element of an array, or of an object whose keys are data.
  void open(const Json& file, const std::string& pointer) {
    const Json* const value = find_at(file, pointer);
    if (value == nullptr) return;
    const bool map = value->is_object() && maps_.contains(pattern(file, pointer));
    if (!value->is_array() && !map) return;
    probe(file, join_pointer(pointer, map && !value->empty() ? value->members().front().key : "0"));
  }

  const ReadFunction* read_;
  std::span<const SamePlace> same_;
  SchemaPlaces places_;
  std::set<std::string> maps_;        // patterns of objects whose keys are data
  std::map<std::string, int> tried_;  // by pattern, how often
  std::set<std::string> removed_;     // objects whose keys were removed one by one, by pattern, keys and words
  std::deque<Json> files_;
  std::unordered_set<std::string> explored_;                // files, as text
  std::unordered_map<std::string, SchemaPlace*> place_of_;  // by pointer, of those that name no element of an array
  std::unordered_set<std::string> sampled_;                 // by place and what the sample says: it is there
};

}  // namespace

SchemaPlaces explore(const ReadFunction& read, std::span<const Json> examples, std::span<const SamePlace> same) {
  Explorer explorer(read, same);
  std::vector<Json> files(examples.begin(), examples.end());
  files.push_back(Json::object());  // what is missing there
  explorer.explore(files);
  return explorer.take();
}

}  // namespace photonrail::json
