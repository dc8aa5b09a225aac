#include "json/json.hpp"

#include "core/number_in.hpp"
#include "core/printed.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace photonrail::json {

namespace {

constexpr std::size_t kFewKeys = 16;  // up to here a search from the first to the last is the fastest

}  // namespace

struct Json::Object {
  Members members;
  std::unordered_map<std::string, std::size_t> places;  // of all keys, where they are more than a few; only looked up

  [[nodiscard]] std::size_t place(std::string_view key) const {
    if (members.size() > kFewKeys) {
      const auto found = places.find(std::string(key));
      return found == places.end() ? members.size() : found->second;
    }
    const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
    return static_cast<std::size_t>(found - members.begin());
  }

  Json& add(std::string key, Json value) {
    members.push_back({std::move(key), std::move(value)});
    if (members.size() == kFewKeys + 1) {
      for (std::size_t i = 0; i < members.size(); ++i) places.emplace(members[i].key, i);
    } else if (members.size() > kFewKeys) {
      places.emplace(members.back().key, members.size() - 1);
    }
    return members.back().value;
  }
};

Json::Json() noexcept : value_(nullptr) {}
Json::Json(std::nullptr_t) noexcept : value_(nullptr) {}
Json::Json(Scalar&& value) noexcept : value_(std::move(value)) {}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(const char* text) : Json(std::string(text)) {}
Json::Json(std::string_view text) : Json(std::string(text)) {}
Json::Json(std::string text) : value_(std::make_unique<std::string>(std::move(text))) {}
Json::Json(std::initializer_list<Member> members) : value_(std::make_unique<Object>()) {
  for (const Member& m : members) insert(m.key, m.value);
}
Json::Json(const Json& other) : value_(nullptr) { *this = other; }
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, Scalar(nullptr))) {}
Json::~Json() = default;

Json& Json::operator=(const Json& other) {
  Scalar copy = std::visit(
      []<class T>(const T& value) -> Scalar {
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::nullptr_t>)
          return value;
        else
          return std::make_unique<typename T::element_type>(*value);
      },
      other.value_);
  value_ = std::move(copy);
  return *this;
}

Json& Json::operator=(Json&& other) noexcept {
  Scalar taken = std::exchange(other.value_, Scalar(nullptr));  // first: `other` may be a part of this
  value_ = std::move(taken);
  return *this;
}

Json Json::from_boolean(bool value) { return Json(Scalar(value)); }
Json Json::from_negative(std::int64_t value) { return Json(Scalar(value)); }
Json Json::from_natural(std::uint64_t value) { return Json(Scalar(value)); }
Json Json::array() { return Json(Scalar(std::make_unique<Array>())); }
Json Json::object() { return Json(Scalar(std::make_unique<Object>())); }

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const { return is_integer() || is_double(); }
bool Json::is_natural() const { return std::holds_alternative<std::uint64_t>(value_); }
bool Json::is_integer() const { return is_natural() || std::holds_alternative<std::int64_t>(value_); }
bool Json::is_double() const { return std::holds_alternative<double>(value_); }
bool Json::is_string() const { return std::holds_alternative<std::unique_ptr<std::string>>(value_); }
bool Json::is_array() const { return std::holds_alternative<std::unique_ptr<Array>>(value_); }
bool Json::is_object() const { return std::holds_alternative<std::unique_ptr<Object>>(value_); }

bool Json::boolean() const {
  PHOTONRAIL_CHECK(is_boolean());
  return *std::get_if<bool>(&value_);
}

double Json::number() const {
  if (const auto* n = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*n);
  if (const auto* n = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*n);
  PHOTONRAIL_CHECK(is_double());
  return *std::get_if<double>(&value_);
}

std::uint64_t Json::natural() const {
  PHOTONRAIL_CHECK(is_natural());
  return *std::get_if<std::uint64_t>(&value_);
}

std::int64_t Json::integer() const {
  if (const auto* n = std::get_if<std::int64_t>(&value_)) return *n;
  const std::uint64_t n = natural();
  PHOTONRAIL_CHECK(n <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  return static_cast<std::int64_t>(n);
}

const std::string& Json::string() const {
  PHOTONRAIL_CHECK(is_string());
  return **std::get_if<std::unique_ptr<std::string>>(&value_);
}

std::size_t Json::size() const {
  if (is_array()) return elements().size();
  return is_object() ? members().size() : 0;
}

const Json::Array& Json::elements() const {
  PHOTONRAIL_CHECK(is_array());
  return **std::get_if<std::unique_ptr<Array>>(&value_);
}

Json::Array& Json::elements() {
  PHOTONRAIL_CHECK(is_array());
  return **std::get_if<std::unique_ptr<Array>>(&value_);
}

Json& Json::push_back(Json value) {
  if (is_null()) value_ = std::make_unique<Array>();
  return elements().emplace_back(std::move(value));
}

const Json::Members& Json::members() const {
  PHOTONRAIL_CHECK(is_object());
  return (*std::get_if<std::unique_ptr<Object>>(&value_))->members;
}

const Json* Json::find(std::string_view key) const {
  const auto* object = std::get_if<std::unique_ptr<Object>>(&value_);
  if (object == nullptr) return nullptr;
  const std::size_t place = (*object)->place(key);
  return place < (*object)->members.size() ? &(*object)->members[place].value : nullptr;
}

Json* Json::find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }

Json& Json::operator[](std::string_view key) {
  Json* const there = find(key);
  return there != nullptr ? *there : insert(std::string(key), nullptr);
}

Json& Json::insert(std::string key, Json value) {
  if (is_null()) value_ = std::make_unique<Object>();
  PHOTONRAIL_CHECK(is_object() && !contains(key));
  return (*std::get_if<std::unique_ptr<Object>>(&value_))->add(std::move(key), std::move(value));
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_double() || b.is_double()) return a.number() == b.number();
    return a.value_ == b.value_;
  }
  if (a.is_string() && b.is_string()) return a.string() == b.string();
  if (a.is_array() && b.is_array()) return a.elements() == b.elements();
  if (!a.is_object() || !b.is_object()) return a.value_ == b.value_;
  return a.size() == b.size() && std::all_of(a.members().begin(), a.members().end(), [&](const Json::Member& m) {
           const Json* const other = b.find(m.key);
           return other != nullptr && *other == m.value;
         });
}

namespace {

class Writer {
 public:
  Writer(int indent, bool sorted) : indent_(indent), sorted_(sorted) {}

  void write(const Json& value) {
    if (value.is_object()) return write_object(value.members());
    if (value.is_array()) return write_array(value.elements());
    if (value.is_string())
      append_quoted(text_, value.string());
    else if (value.is_natural())
      text_ += std::to_string(value.natural());
    else if (value.is_integer())
      text_ += std::to_string(value.integer());
    else if (value.is_double())
      append_number(text_, value.number());
    else
      text_ += value.is_null() ? "null" : value.boolean() ? "true" : "false";
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void write_array(const Json::Array& elements) {
    if (elements.empty()) {
      text_ += "[]";
      return;
    }
    text_ += '[';
    ++depth_;
    for (const Json& element : elements) {
      if (&element != &elements.front()) text_ += ',';
      new_line();
      write(element);
    }
    --depth_;
    new_line();
    text_ += ']';
  }

  void write_object(const Json::Members& members) {
    if (members.empty()) {
      text_ += "{}";
      return;
    }
    text_ += '{';
    ++depth_;
    if (!sorted_) {
      for (const Json::Member& m : members) write_member(m, &m == &members.front());
    } else {
      std::vector<std::size_t> order(members.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return members[a].key < members[b].key; });
      for (const std::size_t i : order) write_member(members[i], i == order.front());
    }
    --depth_;
    new_line();
    text_ += '}';
  }

  void write_member(const Json::Member& member, bool first) {
    if (!first) text_ += ',';
    new_line();
    append_quoted(text_, member.key);
    text_ += indent_ < 0 ? ":" : ": ";
    write(member.value);
  }

  void new_line() {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  std::string text_;
  int indent_;
  bool sorted_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string readable(double x) { return core::printed("%.12g", x); }

std::string Json::dump(int indent) const {
  Writer writer(indent, false);
  writer.write(*this);
  return writer.take();
}

std::string Json::canonical() const {
  Writer writer(-1, true);
  writer.write(*this);
  return writer.take();
}

std::string join_pointer(std::string_view pointer, std::string_view key) {
  std::string joined(pointer);
  joined += '/';
  for (const char c : key) {
    if (c == '~')
      joined += "~0";
    else if (c == '/')
      joined += "~1";
    else
      joined += c;
  }
  return joined;
}

std::vector<std::string> split_pointer(std::string_view pointer) {
  const auto fail = [&](const std::string& what, const char* hint) {
    throw ConfigError(std::string(pointer.substr(0, 200)), what, hint);
  };
  if (!pointer.empty() && pointer.front() != '/') {
    fail("is not a JSON pointer", "it must begin with '/', as /cluster/servers");
  }
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      keys.emplace_back();
      if (keys.size() > kMaxDepth) fail("is a JSON pointer of more than " + std::to_string(kMaxDepth) + " keys", "");
    } else if (pointer[i] != '~') {
      keys.back() += pointer[i];
    } else {
      const char escaped = i + 1 < pointer.size() ? pointer[++i] : ' ';
      if (escaped != '0' && escaped != '1') fail("is not a JSON pointer: ~ needs 0 or 1 after it", "~0 is '~', ~1 is '/'");
      keys.back() += escaped == '0' ? '~' : '/';
    }
  }
  return keys;
}

std::size_t index_of(std::string_view key, std::size_t size) {
  const auto index = core::number_in<std::size_t>(key);
  return index && *index < size && (key.size() == 1 || key.front() != '0') ? *index : size;
}

const Json* find_at(const Json& root, std::string_view pointer) {
  const Json* at = &root;
  for (const std::string& key : split_pointer(pointer)) {
    at = child_at(*at, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

const Json* child_at(const Json& parent, const std::string& key) {
  if (!parent.is_array()) return parent.find(key);
  const std::size_t index = index_of(key, parent.size());
  return index < parent.size() ? &parent.elements()[index] : nullptr;
}

std::string describe(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_double()) return readable(value.number());
  const std::string text = value.dump();
  if (!value.is_string()) return text;
  constexpr std::size_t kShown = 60;
  return "the string " + (text.size() <= kShown ? text : text.substr(0, kShown) + "...\"");
}

}  // namespace photonrail::json
