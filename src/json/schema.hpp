// JSON Schema (2020-12) of a format, found by asking its reader: what a reader looks up, in which ranges and with which
// words, is what a file may have. There is no second table.
#pragma once

#include "json/json.hpp"
#include "json/json_reader.hpp"

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace photonrail::json {

/// Reads a value as a file of the format, and throws ConfigError where it is none. Its JsonReaders have the observer.
using ReadFunction = std::function<void(const Json& root, ReadObserver& observer)>;

/// The value at `pattern` is read as the one at `same_as`: "/jobs/[]/workload", "/workload". Elements of arrays are "[]",
/// members of objects whose keys are data "{}".
struct SamePlace {
  std::string pattern;
  std::string same_as;
};

/// What is known of one place of a format.
struct SchemaPlace {
  /// An object that was read to its end, or until a key was missing.
  struct Sample {
    std::map<std::string, std::string> words;  ///< of the keys with strings
    std::set<std::string> present;             ///< keys that it had
    std::set<std::string> known;               ///< keys that were looked up
    std::set<std::string> required;            ///< of them those that must be there
    std::string missing;                       ///< the key that was missing; empty: it was read to its end
    bool whole = false;                        ///< the file that it was in was accepted
    friend bool operator==(const Sample&, const Sample&) = default;
  };
  std::set<ReadObserver::Kind> kinds;
  ReadObserver::Range range{};
  bool has_range = false;
  std::vector<std::string> words;  ///< strings that are allowed; empty: any
  bool other_words = false;        ///< beside them other strings, such as paths
  std::vector<std::string> keys;   ///< that were looked up, in that order
  std::vector<Sample> samples;     ///< no two alike
  Json example;                    ///< a value that was read; null: none yet
};

/// By pattern; "" is the whole file.
using SchemaPlaces = std::map<std::string, SchemaPlace>;

/// Runs `read` on changed examples until it asks for nothing new: each key that it looks up is added, each kind of value
/// and each word that it compares with is tried. `examples`: files that it accepts; one for each choice that takes two keys
/// at once.
[[nodiscard]] SchemaPlaces explore(const ReadFunction& read, std::span<const Json> examples,
                                   std::span<const SamePlace> same = {});

/// The schema of the file, with `title`. Where an object may have a key, or must, depends on one other key at most; what
/// depends on more is allowed.
[[nodiscard]] Json to_schema(const SchemaPlaces& places, std::span<const SamePlace> same, const std::string& title);

}  // namespace photonrail::json
