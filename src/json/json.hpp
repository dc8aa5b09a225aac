// A JSON value. The project's own type, so that one source file alone compiles the parser of a third party.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace photonrail::json {

/// Levels of arrays and objects in a document, and keys in a pointer. What walks over a value calls itself for each level.
inline constexpr std::size_t kMaxDepth = 128;

/// Objects keep their keys in the order in which they came. Numbers keep their kind: integers are exact, negative ones in
/// int64, others in uint64; all that was written with a fraction or an exponent is a double.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Members = std::vector<Member>;

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  template <std::same_as<bool> T>
  Json(T value) : Json(from_boolean(value)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) Json(T value)
      : Json(value < T{} ? from_negative(static_cast<std::int64_t>(value))
                         : from_natural(static_cast<std::uint64_t>(value))) {}
  Json(double value) noexcept;
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(Json(value));
  }
  /// An object: {{"key", value}, ...}. REQUIRES: no key twice.
  Json(std::initializer_list<Member> members);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_natural() const;  ///< an integer from 0 on
  [[nodiscard]] bool is_integer() const;  ///< of any sign
  [[nodiscard]] bool is_double() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;

  // REQUIRES for each: the value is of that kind.
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;          ///< of any kind of number
  [[nodiscard]] std::uint64_t natural() const;  ///< of an integer from 0 on
  [[nodiscard]] std::int64_t integer() const;   ///< of an integer that int64 holds
  [[nodiscard]] const std::string& string() const;

  /// Of an array or an object; else 0.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  // Arrays. REQUIRES: an array; push_back() makes one of null.
  [[nodiscard]] const Array& elements() const;
  [[nodiscard]] Array& elements();
  Json& push_back(Json value);

  // Objects. REQUIRES: an object; operator[] and insert() make one of null.
  [[nodiscard]] const Members& members() const;
  Json& operator[](std::string_view key);     ///< null is added where there is no such key
  Json& insert(std::string key, Json value);  ///< REQUIRES: the key is not there
  /// Null pointers when the value is no object or has no such key.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] Json* find(std::string_view key);
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }

  /// JSON text with the keys in their order. `indent`: blanks for each level, negative: all in one line without blanks.
  /// Bytes that are no UTF-8 become U+FFFD, and numbers that are not finite null.
  [[nodiscard]] std::string dump(int indent = -1) const;
  /// One line with the keys of each object in ascending order: the same for equal values, so that it can be hashed.
  [[nodiscard]] std::string canonical() const;

  /// The order of keys does not matter, nor the kind of a number: 1 equals 1.0.
  friend bool operator==(const Json& a, const Json& b);

 private:
  struct Object;
  using Scalar = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::unique_ptr<std::string>,
                              std::unique_ptr<Array>, std::unique_ptr<Object>>;

  explicit Json(Scalar&& value) noexcept;
  static Json from_boolean(bool value);
  static Json from_negative(std::int64_t value);
  static Json from_natural(std::uint64_t value);

  Scalar value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

/// `pointer`/`key`, with the escapes of RFC 6901.
[[nodiscard]] std::string join_pointer(std::string_view pointer, std::string_view key);
/// The keys of a JSON pointer (RFC 6901). Throws ConfigError at `pointer` when it is none, or has more than kMaxDepth keys.
[[nodiscard]] std::vector<std::string> split_pointer(std::string_view pointer);
/// What `pointer` names in `root`; null when there is nothing. Throws as split_pointer().
[[nodiscard]] const Json* find_at(const Json& root, std::string_view pointer);
/// The member, or the element that the key numbers; null when there is none.
[[nodiscard]] const Json* child_at(const Json& parent, const std::string& key);
/// What `key` names in an array, as an index: digits without leading zeros, below `size`; `size` when it names nothing.
[[nodiscard]] std::size_t index_of(std::string_view key, std::size_t size);

/// What a value is, for people: "an object", "the string \"x\"", "-3".
[[nodiscard]] std::string describe(const Json& value);
/// A number as messages say it, with at most 12 digits.
[[nodiscard]] std::string readable(double x);

}  // namespace photonrail::json
