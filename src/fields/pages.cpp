#include "fields/pages.hpp"
#include "json/text.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace photonrail::fields {

namespace {

constexpr double kPowersOfTwoFrom = 1048576.0;

// 1e15 and 2^50 are read at a glance, their digits are not.
std::string limit_text(double x) {
  int exponent = 0;
  const double digits = std::frexp(std::abs(x), &exponent);
  if (std::abs(x) >= kPowersOfTwoFrom && digits == 0.5) return "2^" + std::to_string(exponent - 1);
  if (std::abs(x) < kPowersOfTwoFrom || x != std::floor(x)) return json::readable(x);
  int zeros = 0;
  double rest = x;
  for (; std::fmod(rest, 10.0) == 0.0; rest /= 10.0) ++zeros;
  if (std::abs(rest) < 10.0) return json::readable(rest) + "e" + std::to_string(zeros);
  return json::readable(x);
}

std::string range_text(const Shape& shape) {
  const bool greatest = shape.greatest < 1e300;
  if (shape.least < -1e300 && !greatest) return "any number";
  if (shape.above) return "above " + limit_text(shape.least) + (greatest ? ", to " + limit_text(shape.greatest) : "");
  return greatest ? limit_text(shape.least) + " to " + limit_text(shape.greatest) : limit_text(shape.least) + " and more";
}

std::string condition_text(std::string_view condition) {
  std::string text;
  const Condition parsed(condition);
  for (const Condition::Term& term : parsed.terms()) {
    text += text.empty() ? "" : ", ";
    text += std::string(term.negated && !term.words.empty() ? "not with"
                        : term.negated                      ? "without"
                                                            : "with") +
            " `" + std::string(term.key) + "`";
    for (std::size_t i = 0; i < term.words.size(); ++i) {
      text += (i == 0 ? " `" : " or `") + std::string(term.words[i]) + "`";
    }
  }
  return text;
}

std::string standard(const Field& field) {
  if (field.required == "*") return "required";
  if (!field.required.empty()) return "required, " + condition_text(field.required);
  return std::string(field.standard);
}

std::string meaning_of(const Field& field) {
  const std::string doc(field.doc);
  return field.only.empty() || field.only == "*" ? doc : "*Only " + condition_text(field.only) + ".* " + doc;
}

std::string words_text(const Shape& shape, const Registries& known) {
  constexpr std::size_t kMaxWords = 8;  // longer lists are those of `photonrail list`
  const std::vector<std::string> words = words_of(shape, known);
  if (words.empty()) return "string";
  if (words.size() > kMaxWords || shape.open_words) return shape.open_words ? "name or path" : "name";
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "`\"" : ", `\"") + word + "\"`";
  return text;
}

std::string kinds(const Shape& shape, const Registries& known);

std::string kind(const Shape& shape, const Registries& known) {
  switch (shape.kind) {
    case Kind::kObject:
      return shape.section->of_unit ? "distribution" : "object";
    case Kind::kMap:
      return "object of names: " + kinds(*shape.element, known);
    case Kind::kList:
      return "array: " + kinds(*shape.element, known);
    case Kind::kText:
      return words_text(shape, known);
    case Kind::kFlag:
      return "boolean";
    case Kind::kNumber:
      return range_text(shape);
    case Kind::kWhole:
      return "whole, " + range_text(shape);
    case Kind::kTime:
      return "time";
    case Kind::kNull:
      return "null";
    case Kind::kAny:
      break;
  }
  return "any";
}

std::string kinds(const Shape& shape, const Registries& known) {
  std::string text = kind(shape, known);
  for (const Shape* at = shape.other; at != nullptr; at = at->other) text += " or " + kind(*at, known);
  return text;
}

class TableWriter {
 public:
  TableWriter(std::span<const std::string> apart, const Registries& known, bool written)
      : apart_(apart), known_(&known), written_(written) {}

  // `pointer` is the place in the file, `path` that below the place of the table.
  void add(const Section& section, const std::string& pointer, const std::string& path) {
    for (const Field& field : section.fields) add_field(field, pointer, path);
    if (section.more == nullptr) return;
    std::deque<std::string> texts;
    for (const Field& field : section.more(*known_, texts)) add_field(field, pointer, path);
  }

  [[nodiscard]] std::string text() const {
    return (written_ ? "| key | type | meaning |\n|---|---|---|\n"
                     : "| key | type, range | default | meaning |\n|---|---|---|---|\n") +
           rows_;
  }

 private:
  void add_field(const Field& field, const std::string& pointer, const std::string& path) {
    if (field.key.empty()) {
      if (field.shape.section != nullptr) add(*field.shape.section, pointer, path);
      return;
    }
    const std::string key(field.key);
    std::string shown = path + key;
    if (!field.unit.empty()) shown += "_" + std::string(field.unit);
    rows_ += "| `" + shown + "` | " + kinds(field.shape, *known_) + " | " +
             (written_ ? std::string() : standard(field) + " | ") + meaning_of(field) + " |\n";
    add_inner(field.shape, pointer + "/" + key, path + key + "/");
  }

  void add_inner(const Shape& shape, const std::string& pointer, const std::string& path) {
    for (const Shape* at = &shape; at != nullptr; at = at->other) {
      if (std::find(apart_.begin(), apart_.end(), pointer) != apart_.end() || !at->same_as.empty()) return;
      if (at->kind == Kind::kObject && !at->section->of_unit) add(*at->section, pointer, path);
      if (at->kind == Kind::kList) add_inner(*at->element, pointer + "/[]", path + "[]/");
      if (at->kind == Kind::kMap) add_inner(*at->element, pointer + "/NAME", path + "NAME/");
    }
  }

  std::span<const std::string> apart_;
  const Registries* known_;
  bool written_;  ///< by the program: no key has a default
  std::string rows_;
};

const Section* section_of(const Shape& shape) {
  for (const Shape* at = &shape; at != nullptr; at = at->other) {
    if (at->kind == Kind::kObject) return at->section;
  }
  return nullptr;
}

const Shape* element_of(const Shape& shape) {
  for (const Shape* at = &shape; at != nullptr; at = at->other) {
    if (at->element != nullptr) return at->element;
  }
  return nullptr;
}

const Field* field_of(const Section& section, std::string_view key) {
  for (const Field& field : section.fields) {
    if (field.key == key) return &field;
    if (!field.key.empty() || field.shape.section == nullptr) continue;
    if (const Field* const inner = field_of(*field.shape.section, key)) return inner;
  }
  return nullptr;
}

}  // namespace

std::string table_of_keys(const Section& file, std::string_view pointer, std::span<const std::string> apart,
                          const Registries& known) {
  Shape at = object_shape(file);
  for (const std::string& key : json::split_pointer(pointer)) {
    const Shape* next = nullptr;
    if (const Shape* const element = element_of(at); element != nullptr && (key == "[]" || key == "NAME")) {
      next = element;
    } else if (const Section* const section = section_of(at)) {
      const Field* const field = field_of(*section, key);
      next = field == nullptr ? nullptr : &field->shape;
    }
    if (next == nullptr) throw ConfigError(std::string(pointer), "the format has no such key");
    at = *next;
  }
  const Section* section = section_of(at);
  if (section == nullptr && element_of(at) != nullptr) section = section_of(*element_of(at));
  if (section == nullptr) throw ConfigError(std::string(pointer), "has no keys");
  TableWriter writer(apart, known, section->written);
  writer.add(*section, std::string(pointer), "");
  return writer.text();
}

namespace {

void add_pointers(const Section& section, const std::string& above, const Registries& known,
                  std::vector<std::string>& into);

void add_pointer(const Field& field, const std::string& above, const Registries& known, std::vector<std::string>& into) {
  if (field.key.empty()) {
    if (field.shape.section != nullptr) add_pointers(*field.shape.section, above, known, into);
    return;
  }
  std::string pointer = above + "/" + std::string(field.key);
  if (!field.unit.empty()) pointer += "_" + std::string(field.unit);
  into.push_back(pointer);
  const Section* const inner = section_of(field.shape);
  if (inner != nullptr && !inner->of_unit) add_pointers(*inner, pointer, known, into);
}

void add_pointers(const Section& section, const std::string& above, const Registries& known,
                  std::vector<std::string>& into) {
  for (const Field& field : section.fields) add_pointer(field, above, known, into);
  if (section.more == nullptr) return;
  std::deque<std::string> texts;
  for (const Field& field : section.more(known, texts)) add_pointer(field, above, known, into);
}

}  // namespace

std::string description_of(const Field& field, const Registries& known) {
  std::string text = meaning_of(field);
  const Kind of = field.shape.kind;
  const bool telling =
      of == Kind::kNumber || of == Kind::kWhole || (of == Kind::kText && !words_of(field.shape, known).empty());
  if (telling && field.shape.other == nullptr) text += " " + kinds(field.shape, known) + ".";
  if (const std::string usual = standard(field); !usual.empty() && usual != "required") text += " Default: " + usual + ".";
  return text;
}

std::vector<std::string> pointers_of_keys(const Section& file, const Registries& known) {
  std::vector<std::string> pointers;
  add_pointers(file, "", known, pointers);
  return pointers;
}

}  // namespace photonrail::fields
