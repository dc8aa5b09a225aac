// Tables of what results say. A table has one line a key: its name, the member of the C++ value or a function of it, and a
// sentence. The writer, the JSON Schema and the page of reference are made from the same line; kind and unit follow from
// the type of what it says.
#pragma once

#include "fields/field.hpp"
#include "json/json.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace photonrail::report {

/// A key of an object that is written of a `From`.
template <class From>
struct Output {
  fields::Field field;
  std::optional<json::Json> (*write)(const From&) = nullptr;  ///< none: the key is left out; null: another part adds it
  bool list = false;  ///< has an entry a rank or a window: left out where a result is read for its numbers

  /// The same key in a table of another section of the file, whose keys pages and schema do not say again.
  [[nodiscard]] constexpr Output as(std::string_view pointer) const {
    Output o = *this;
    o.field.shape.same_as = pointer;
    return o;
  }
  [[nodiscard]] constexpr Output of_either_sign() const {
    Output o = *this;
    o.field.shape.least = -1e301;
    return o;
  }
  /// The key is there, though its value is optional in C++.
  [[nodiscard]] constexpr Output always() const {
    Output o = *this;
    o.field.required = "*";
    return o;
  }
  [[nodiscard]] constexpr Output in_lists_only() const {
    Output o = *this;
    o.list = true;
    return o;
  }
};

/// The keys of an object in the order of the file.
template <class From, std::size_t N>
struct Outputs {
  using Value = From;
  std::array<Output<From>, N> rows;
  std::array<fields::Field, N> fields;
  bool once = false;  ///< several keys have such an object, which the page describes once
};

template <class From, std::size_t N>
constexpr Outputs<From, N> outputs(const Output<From> (&rows)[N], bool once = false) {
  Outputs<From, N> table{};
  table.once = once;
  for (std::size_t i = 0; i < N; ++i) {
    table.rows[i] = rows[i];
    table.fields[i] = rows[i].field;
  }
  return table;
}

/// The same keys as a section, for schemas and pages.
template <const auto& Table>
inline constexpr fields::Section kKeysOf{.fields = Table.fields, .written = true, .of_unit = Table.once};

template <const auto& Table>
using ValueOf = typename std::remove_cvref_t<decltype(Table)>::Value;

/// `lists`: with the keys that are in lists only.
template <const auto& Table>
json::Json written(const ValueOf<Table>& from, bool lists = true) {
  json::Json json = json::Json::object();
  for (const auto& row : Table.rows) {
    if (row.write == nullptr || (row.list && !lists)) continue;
    std::optional<json::Json> value = row.write(from);
    if (!value) continue;
    if (!row.field.key.empty()) {
      json.insert(std::string(row.field.key), std::move(*value));
      continue;
    }
    for (auto& [key, inner] : value->members()) json.insert(key, inner);
  }
  return json;
}

// ---- Kinds of values.

/// A value that is null where there is none, in place of a key that is left out.
template <class Value>
struct OrNull {
  std::optional<Value> value;
};

/// Values by name, in the order of the file.
template <class Value>
using ByName = std::vector<std::pair<std::string, Value>>;

inline constexpr double kAnyNumber = 1e301;
inline constexpr fields::Shape kNull{.kind = fields::Kind::kNull};

template <class Value>
struct Written;

template <std::same_as<bool> Value>
struct Written<Value> {
  static constexpr fields::Shape kShape = fields::flag_shape();
  static json::Json json(bool value) { return value; }
};
template <std::integral Value>
requires(!std::same_as<Value, bool>) struct Written<Value> {
  static constexpr fields::Shape kShape = fields::whole_shape(0, kAnyNumber);
  static json::Json json(Value value) { return value; }
};
template <>
struct Written<double> {
  static constexpr fields::Shape kShape = fields::number_shape(0, kAnyNumber);
  static json::Json json(double value) { return value; }
};
/// Seconds: a time, or a sum of times.
template <class Value>
requires requires(Value value) { to_seconds(value); }
struct Written<Value> {
  static constexpr fields::Shape kShape = fields::number_shape(0, kAnyNumber);
  static json::Json json(Value value) { return to_seconds(value); }
};
template <>
struct Written<Bytes> {
  static constexpr fields::Shape kShape = fields::whole_shape(0, kAnyNumber);
  static json::Json json(Bytes value) { return value.count; }
};
template <std::convertible_to<std::string_view> Value>
struct Written<Value> {
  static constexpr fields::Shape kShape = fields::text_shape();
  static json::Json json(const Value& value) { return std::string(std::string_view(value)); }
};
/// A value that a function has written.
template <>
struct Written<json::Json> {
  static constexpr fields::Shape kShape{};
  static json::Json json(json::Json value) { return value; }
};
template <class Value>
struct Written<OrNull<Value>> {
  static constexpr fields::Shape kShape = fields::either(Written<Value>::kShape, kNull);
  static json::Json json(const OrNull<Value>& value) {
    return value.value ? Written<Value>::json(*value.value) : json::Json(nullptr);
  }
};
template <class Value>
struct Written<std::vector<Value>> {
  static constexpr fields::Shape kElement = Written<Value>::kShape;
  static constexpr fields::Shape kShape = fields::list_shape(kElement);
  static json::Json json(const std::vector<Value>& values) {
    json::Json list = json::Json::array();
    for (const Value& value : values) list.push_back(Written<Value>::json(value));
    return list;
  }
};
template <class Value>
struct Written<ByName<Value>> {
  static constexpr fields::Shape kElement = Written<Value>::kShape;
  static constexpr fields::Shape kShape = fields::map_shape(kElement);
  static json::Json json(const ByName<Value>& values) {
    json::Json object = json::Json::object();
    for (const auto& [name, value] : values) object.insert(name, Written<Value>::json(value));
    return object;
  }
};

// ---- Lines of tables. `Get` is a member, a member function, or a function without captures.

template <class Get>
struct CallOf : CallOf<decltype(&Get::operator())> {};
template <class Class, class Member>
struct CallOf<Member Class::*> {
  using From = Class;
};
template <class Function, class Result, class Argument>
struct CallOf<Result (Function::*)(const Argument&) const> {
  using From = Argument;
};
template <class Result, class Argument>
struct CallOf<Result (*)(const Argument&)> {
  using From = Argument;
};
template <auto Get>
using FromOf = typename CallOf<std::remove_const_t<decltype(Get)>>::From;
template <auto Get>
using ResultOf = std::remove_cvref_t<std::invoke_result_t<decltype(Get), const FromOf<Get>&>>;

template <class Value>
inline constexpr bool kIsOptional = !std::same_as<typename fields::Plain<Value>::Value, Value>;

constexpr fields::Field key_field(std::string_view key, fields::Shape shape, std::string_view doc, bool always) {
  return {.key = key, .shape = shape, .doc = doc, .required = always ? std::string_view("*") : std::string_view()};
}

/// What `Get` has, turned into JSON by `Convert`; the key is left out where that is an empty optional.
template <auto Get, auto Convert>
constexpr Output<FromOf<Get>> converted(std::string_view key, fields::Shape shape, std::string_view doc) {
  constexpr bool kOptional = kIsOptional<ResultOf<Get>>;
  return {.field = key_field(key, shape, doc, !kOptional),
          .write = [](const FromOf<Get>& from) -> std::optional<json::Json> {
            decltype(auto) value = std::invoke(Get, from);
            if constexpr (kIsOptional<ResultOf<Get>>) {
              return value ? std::optional(Convert(*value)) : std::nullopt;
            } else {
              return Convert(value);
            }
          }};
}

/// A number, a time in seconds, a text, or a list of them, or the same by name.
template <auto Get>
constexpr Output<FromOf<Get>> key(std::string_view name, std::string_view doc) {
  using Value = typename fields::Plain<ResultOf<Get>>::Value;
  return converted<Get, [](const Value& value) { return Written<Value>::json(value); }>(name, Written<Value>::kShape, doc);
}

/// An object that another part writes, with the keys of `section`.
template <auto Get>
constexpr Output<FromOf<Get>> part(std::string_view name, const fields::Section& section, std::string_view doc) {
  return converted<Get, [](const json::Json& value) { return value; }>(name, fields::object_shape(section), doc);
}

/// Objects with the keys of the section.
template <const fields::Section& Keys>
inline constexpr fields::Shape kObjectOf = fields::object_shape(Keys);
template <const fields::Section& Keys>
inline constexpr fields::Shape kListOf = fields::list_shape(kObjectOf<Keys>);

/// A value of that shape that another part writes. With an empty name its keys are among those of this table.
template <auto Get>
constexpr Output<FromOf<Get>> of_shape(std::string_view name, fields::Shape shape, std::string_view doc) {
  return converted<Get, [](const json::Json& value) { return value; }>(name, shape, doc);
}

template <const auto& Table>
struct ObjectOf {
  static constexpr fields::Shape kShape = fields::object_shape(kKeysOf<Table>);
  static constexpr fields::Shape kList = fields::list_shape(kShape);
  static constexpr fields::Shape kByName = fields::map_shape(kShape);
  static json::Json one(const ValueOf<Table>& value) { return written<Table>(value); }
  static json::Json all(std::span<const ValueOf<Table>> values) {
    json::Json list = json::Json::array();
    for (const auto& value : values) list.push_back(written<Table>(value));
    return list;
  }
  static json::Json named(const ByName<ValueOf<Table>>& values) {
    json::Json object = json::Json::object();
    for (const auto& [name, value] : values) object.insert(name, written<Table>(value));
    return object;
  }
};

template <const auto& Table, auto Get>
constexpr Output<FromOf<Get>> object(std::string_view name, std::string_view doc) {
  return converted<Get, &ObjectOf<Table>::one>(name, ObjectOf<Table>::kShape, doc);
}
template <const auto& Table, auto Get>
constexpr Output<FromOf<Get>> objects(std::string_view name, std::string_view doc) {
  return converted<Get, &ObjectOf<Table>::all>(name, ObjectOf<Table>::kList, doc);
}
template <const auto& Table, auto Get>
constexpr Output<FromOf<Get>> objects_by_name(std::string_view name, std::string_view doc) {
  return converted<Get, &ObjectOf<Table>::named>(name, ObjectOf<Table>::kByName, doc);
}
/// The keys of another table among those of this one.
template <const auto& Table, auto Get>
constexpr Output<FromOf<Get>> with_keys_of() {
  return converted<Get, &ObjectOf<Table>::one>("", ObjectOf<Table>::kShape, "");
}
/// A key that is added when the rest is there.
template <class From>
constexpr Output<From> added_later(std::string_view name, fields::Shape shape, std::string_view doc) {
  return {.field = key_field(name, shape, doc, false)};
}

}  // namespace photonrail::report
