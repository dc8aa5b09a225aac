// Tables of the fields of files. A table has one line a key: its name, the member of the C++ value that it sets, its unit,
// range and default, and a sentence of documentation. The reader (fields/read.hpp), the places of errors
// (fields/places.hpp), the JSON Schema (fields/schema.hpp) and the pages of reference (fields/pages.hpp) are made from the
// same line, so that they cannot disagree. A table is static data: records with captureless functions, which is light for
// the compiler.
#pragma once

#include "json/json_reader.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace photonrail {
struct Registries;
}  // namespace photonrail

namespace photonrail::fields {

struct Field;
struct Section;
struct Reading;

enum class Kind : std::uint8_t {
  kObject,
  kMap,  ///< an object whose keys are data
  kList,
  kText,
  kFlag,
  kNumber,
  kWhole,
  kTime,  ///< a number in the unit that the key ends with
  kAny,   ///< a value that another reader takes as it is
  kNull   ///< beside another kind, of files that the program writes
};

/// The words that a text may be, in the order of hints.
using Words = std::vector<std::string> (*)(const Registries& known);

/// A kind of value that a key may have, with its range.
struct Shape {
  Kind kind = Kind::kAny;
  double least = 0.0;
  double greatest = 0.0;             ///< of kTime in picoseconds
  bool above = false;                ///< `least` itself is not allowed
  Words words = nullptr;             ///< null: any text
  std::string_view choices{};        ///< words of a text, with '|' between them, where there are no `words`
  bool open_words = false;           ///< beside the words other texts, such as paths
  const Section* section = nullptr;  ///< of kObject
  const Shape* element = nullptr;    ///< of kMap and kList
  const Shape* other = nullptr;      ///< a second kind that the key may have
  std::string_view same_as{};        ///< the pointer of a section that has the same keys
};

/// A suffix of keys.
struct Unit {
  std::string_view suffix;
  double picoseconds;
};

/// Puts the value of a key into the C++ value.
using Store = void (*)(const Reading& at);

/// One key of a section. The functions that return a Field by value change one part of it.
struct Field {
  std::string_view key{};     ///< without its unit, where it has units to choose from; empty: the line is no key of its own
  std::string_view member{};  ///< the C++ member as checks name it; ".": its keys are members of the section's own value
  Shape shape{};
  Store store = nullptr;
  std::string_view doc{};
  std::string_view standard{};  ///< the default as pages say it
  std::string_view unit{};      ///< of the units to choose from the one that hints name
  std::span<const Unit> units{};
  std::string_view required{};  ///< a condition; "*": always
  std::string_view hint{};      ///< where it is required and missing
  std::string_view only{};      ///< the condition under which the section has the key
  std::string_view refusal{};   ///< what is wrong with the key elsewhere; empty: it is unknown there
  std::string_view refusal_hint{};
  bool listed = false;  ///< hints of unknown keys list it also where `only` does not hold
  bool late = false;    ///< the reader of the section itself tells that it is missing

  [[nodiscard]] constexpr Field must(std::string_view when_missing = {}) const { return must_if("*", when_missing); }
  [[nodiscard]] constexpr Field must_if(std::string_view condition, std::string_view when_missing = {}) const {
    Field f = *this;
    f.required = condition;
    f.hint = when_missing;
    return f;
  }
  [[nodiscard]] constexpr Field only_if(std::string_view condition, std::string_view problem = {},
                                        std::string_view repair = {}) const {
    Field f = *this;
    f.only = condition;
    f.refusal = problem;
    f.refusal_hint = repair;
    return f;
  }
  /// The same for a key that hints of unknown keys list everywhere.
  [[nodiscard]] constexpr Field refuse_unless(std::string_view condition, std::string_view problem = {},
                                              std::string_view repair = {}) const {
    Field f = only_if(condition, problem, repair);
    f.listed = true;
    return f;
  }
  /// Required, as the schema and the pages say; the reader of the section tells it when it is missing.
  [[nodiscard]] constexpr Field must_later(std::string_view condition = "*") const {
    Field f = must_if(condition);
    f.late = true;
    return f;
  }
  [[nodiscard]] constexpr Field read_by(Store function) const {
    Field f = *this;
    f.store = function;
    return f;
  }
  [[nodiscard]] constexpr Field by(std::string_view cpp_member) const {
    Field f = *this;
    f.member = cpp_member;
    return f;
  }
  [[nodiscard]] constexpr Field or_else(std::string_view default_text) const {
    Field f = *this;
    f.standard = default_text;
    return f;
  }
};

/// A name that a check has for what a key of the section says, where the C++ value is built otherwise than the file.
struct Alias {
  std::string_view member;  ///< "pipeline.stages"; a '*' at the end of both: any name
  std::string_view path;    ///< "parallelism/pp"; "[]" is an element; "": the section itself
  std::string_view unit{};  ///< of a key with units the one where the file has none
};

/// Lines that are known when the program runs: keys of the caller's controllers. `texts` keeps what they refer to.
using MoreFields = std::vector<Field> (*)(const Registries& known, std::deque<std::string>& texts);

/// The keys of an object.
struct Section {
  std::span<const Field> fields;
  /// Relates fields to each other; called when all are read, before keys that are not known are refused.
  Store check = nullptr;
  std::span<const Alias> aliases{};
  MoreFields more = nullptr;  ///< for schemas and pages; the reader of the section reads them itself
  bool written = false;       ///< by the program, and not read: later versions may add keys, and none has a default
  bool of_unit = false;       ///< a distribution of times in the unit of the key that has it, which pages describe once
};

/// The base of what functions of a table need beside the file: the caller of read() derives its own from it.
struct Context {};

/// One value as it is read.
struct Reading {
  json::JsonReader value;
  json::JsonReader& section;  ///< that has the key
  const Field& field;
  void* into;                ///< the C++ value of the section
  const Context* context;    ///< what the caller gave to read()
  double picoseconds = 1.0;  ///< in one of the value, where the key has a unit
};

/// A condition of a table on other keys of the same section, terms with '&' between them: "kind=electrical|optical" (one of
/// the words; an empty word stands for no such key, true and false for flags), "preset" (the key is there), either with a
/// '!' before it (not so), or "*" (always). "" never holds.
class Condition {
 public:
  struct Term {
    std::string_view key;
    std::vector<std::string_view> words;  ///< empty: any value
    bool negated = false;
    [[nodiscard]] bool holds(const json::Json& object) const;
  };
  explicit Condition(std::string_view text);
  [[nodiscard]] bool never() const { return !always_ && terms_.empty(); }
  [[nodiscard]] bool always() const { return always_; }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] bool names(std::string_view key) const;
  [[nodiscard]] bool holds(const json::Json& object) const;
  /// Leaves out terms that are known to hold.
  template <class Holds>
  void drop(Holds&& known_to_hold) {
    if (std::erase_if(terms_, known_to_hold) > 0) always_ = terms_.empty();
  }

 private:
  bool always_ = false;
  std::vector<Term> terms_;
};

inline constexpr Unit kTimeUnits[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
/// Units of times that may be months.
inline constexpr Unit kLongUnits[] = {{"s", 1e12}, {"h", 3.6e15}, {"d", 8.64e16}};

// ---- The types of members.

template <auto Member>
struct MemberOf;
template <class Class, class Type, Type Class::*Member>
struct MemberOf<Member> {
  static Type& of(void* object) { return static_cast<Class*>(object)->*Member; }
};

/// The member of the object that a path of members leads to.
template <auto First, auto... Rest>
auto& member_at(void* object) {
  auto& member = MemberOf<First>::of(object);
  if constexpr (sizeof...(Rest) == 0) {
    return member;
  } else {
    return member_at<Rest...>(&member);
  }
}

template <class Type>
struct Plain {
  using Value = Type;
};
template <class Type>
struct Plain<std::optional<Type>> {
  using Value = Type;
};

[[nodiscard]] double number_of(const json::ValueReader& value, const Shape& shape);
/// All words that a text of the shape may be; empty: any text.
[[nodiscard]] std::vector<std::string> words_of(const Shape& shape, const Registries& known);
[[nodiscard]] std::uint64_t whole_of(const json::ValueReader& value, const Shape& shape);
[[nodiscard]] double number_of(const Reading& at);
/// True when the section has the key in any unit of time.
[[nodiscard]] bool has_time(const json::JsonReader& section, std::string_view stem);
[[nodiscard]] std::uint64_t whole_of(const Reading& at);
[[nodiscard]] Duration duration_of(const Reading& at);

/// A word of a file and its meaning.
template <class Value>
struct Word {
  const char* name;
  Value value;
};

template <const auto& Table>
std::vector<std::string> words_of(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const auto& word : Table) words.emplace_back(word.name);
  return words;
}

/// The value of a word of the table. Throws ConfigError: no such word.
template <const auto& Table>
auto meaning(const json::ValueReader& value) {
  std::vector<std::string> known;
  for (const auto& word : Table) known.emplace_back(word.name);
  const std::string word = value.word(known);
  std::size_t at = 0;
  while (word != known[at]) ++at;
  return Table[at].value;
}

// ---- Shapes.

constexpr Shape flag_shape() { return {.kind = Kind::kFlag}; }
constexpr Shape text_shape(Words words = nullptr, bool open = false) {
  return {.kind = Kind::kText, .words = words, .open_words = open};
}
constexpr Shape number_shape(double least, double greatest) {
  return {.kind = Kind::kNumber, .least = least, .greatest = greatest};
}
constexpr Shape positive_shape(double greatest) {
  return {.kind = Kind::kNumber, .least = 0.0, .greatest = greatest, .above = true};
}
constexpr Shape whole_shape(double least, double greatest) {
  return {.kind = Kind::kWhole, .least = least, .greatest = greatest};
}
constexpr Shape time_shape(double most_picoseconds = 1e18) { return {.kind = Kind::kTime, .greatest = most_picoseconds}; }
constexpr Shape rate_shape() { return positive_shape(1e9); }
constexpr Shape object_shape(const Section& section) { return {.kind = Kind::kObject, .section = &section}; }
constexpr Shape list_shape(const Shape& element) { return {.kind = Kind::kList, .element = &element}; }
constexpr Shape map_shape(const Shape& element) { return {.kind = Kind::kMap, .element = &element}; }
constexpr Shape either(Shape first, const Shape& second) {
  first.other = &second;
  return first;
}

// ---- Lines of tables.

/// A key that a function of the table reads.
constexpr Field own(std::string_view key, Shape shape, Store store, std::string_view doc) {
  return {.key = key, .member = key, .shape = shape, .store = store, .doc = doc};
}

// The first members of a template are a path: <&TrainingSpec::overlap, &Overlap::tensor> is overlap.tensor.

template <auto... Path>
constexpr Field flag(std::string_view key, std::string_view doc) {
  return own(
      key, flag_shape(), [](const Reading& at) { member_at<Path...>(at.into) = at.value.boolean(); }, doc);
}

/// Checks a value that nothing depends on.
void check_only(const Reading& at);
constexpr Field noted(std::string_view key, Shape shape, std::string_view doc) { return own(key, shape, check_only, doc); }

template <auto... Path>
constexpr Field text(std::string_view key, std::string_view doc) {
  return own(
      key, text_shape(), [](const Reading& at) { member_at<Path...>(at.into) = at.value.string(); }, doc);
}

template <auto... Path>
void store_number(const Reading& at) {
  member_at<Path...>(at.into) = number_of(at);
}

template <auto... Path>
constexpr Field number(std::string_view key, double least, double greatest, std::string_view doc) {
  return own(key, number_shape(least, greatest), store_number<Path...>, doc);
}

template <auto... Path>
constexpr Field positive(std::string_view key, double greatest, std::string_view doc) {
  return own(key, positive_shape(greatest), store_number<Path...>, doc);
}

template <class Member>
void put_whole(std::uint64_t number, Member& into) {
  using Value = typename Plain<Member>::Value;
  if constexpr (std::is_same_v<Value, Bytes>) {
    into = Bytes{static_cast<std::int64_t>(number)};
  } else if constexpr (std::is_arithmetic_v<Value>) {
    into = static_cast<Value>(number);
  } else {
    into = Value{static_cast<std::size_t>(number)};
  }
}

/// A whole number; also of an identifier and of bytes.
template <auto... Path>
constexpr Field count(std::string_view key, double least, double greatest, std::string_view doc) {
  return own(
      key, whole_shape(least, greatest), [](const Reading& at) { put_whole(whole_of(at), member_at<Path...>(at.into)); },
      doc);
}

/// GB/s.
template <auto... Path>
constexpr Field rate(std::string_view key, std::string_view doc) {
  return own(
      key, rate_shape(), [](const Reading& at) { member_at<Path...>(at.into) = at.value.bandwidth(); }, doc);
}

/// A key that a function reads, under `stem` and one of some units.
constexpr Field own_time(std::string_view stem, std::string_view unit, std::span<const Unit> units, Shape shape,
                         Store store, std::string_view doc) {
  Field f = own(stem, shape, store, doc);
  f.unit = unit;
  f.units = units;
  return f;
}

template <class Member>
void put_duration(Duration duration, Member& into) {
  into = typename Plain<Member>::Value{duration};
}

/// A Duration, or a Time since the start of the run, under `stem` and a unit; `unit` is that of hints.
template <auto... Path>
constexpr Field time(std::string_view stem, std::string_view unit, std::string_view doc) {
  return own_time(
      stem, unit, kTimeUnits, time_shape(),
      [](const Reading& at) { put_duration(duration_of(at), member_at<Path...>(at.into)); }, doc);
}

template <const auto& Table, auto... Path>
constexpr Field word(std::string_view key, std::string_view doc) {
  return own(
      key, text_shape(words_of<Table>), [](const Reading& at) { member_at<Path...>(at.into) = meaning<Table>(at.value); },
      doc);
}

/// Reads the keys of the table into the C++ value, and refuses others. `context`: for functions of the table.
void read(json::JsonReader section, const Section& table, void* into, const Context* context = nullptr);
/// The same without the check of the section and without refusing other keys: the caller reads more and calls finish().
void read_open(json::JsonReader& section, const Section& table, void* into, const Context* context = nullptr);

/// A member with keys of its own; an optional one is made where the key is there.
template <const Section& Table, auto... Path>
constexpr Field part(std::string_view key, std::string_view doc) {
  return own(
      key, object_shape(Table),
      [](const Reading& at) {
        auto& member = member_at<Path...>(at.into);
        if constexpr (requires { member.emplace(); }) {
          if (!member) member.emplace();
          read(at.value, Table, &*member, at.context);
        } else {
          read(at.value, Table, &member, at.context);
        }
      },
      doc);
}

/// Keys in an object of their own that are members of the same C++ value.
template <const Section& Table>
constexpr Field group(std::string_view key, std::string_view doc) {
  return own(
             key, object_shape(Table), [](const Reading& at) { read(at.value, Table, at.into, at.context); }, doc)
      .by(".");
}

/// The keys of another table in this section, which are members of a part of its value, or of the value itself.
template <const Section& Table, auto... Path>
constexpr Field include(std::string_view member = ".") {
  Field f;
  f.member = member;
  f.shape = object_shape(Table);
  f.store = [](const Reading& at) {
    if constexpr (sizeof...(Path) == 0) {
      read_open(at.section, Table, at.into, at.context);
    } else {
      read_open(at.section, Table, &member_at<Path...>(at.into), at.context);
    }
  };
  return f;
}

/// A line without a key: the function runs when the lines before it are read.
constexpr Field then(Store store) {
  Field f;
  f.store = store;
  return f;
}

/// A key that the reader of the section reads.
constexpr Field known(std::string_view key, Shape shape, std::string_view doc) { return own(key, shape, nullptr, doc); }

template <const Section& Table>
inline constexpr Shape kObjectOf = object_shape(Table);

/// A list of values with keys of their own.
template <const Section& Table, auto... Path>
constexpr Field parts(std::string_view key, std::string_view doc) {
  return own(
      key, list_shape(kObjectOf<Table>),
      [](const Reading& at) {
        auto& list = member_at<Path...>(at.into);
        for (const json::JsonReader& element : at.value.elements()) read(element, Table, &list.emplace_back(), at.context);
      },
      doc);
}

}  // namespace photonrail::fields
