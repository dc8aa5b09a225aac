// JSON text in and out: the only file that knows nlohmann/json. Where that complains in its own words, this says it in one
// line with file, line and column.
#include "json/text.hpp"

#include "photonrail/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <istream>
#include <utility>

namespace photonrail::json {

namespace {

using Parser = nlohmann::json;

// The unbroken word around text[at]: what the writer meant as one thing.
std::string word_at(std::string_view text, std::size_t at) {
  const auto part_of_word = [&](std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '+' || c == '.';
  };
  if (at >= text.size() || !part_of_word(at)) return {};
  std::size_t begin = at;
  std::size_t end = at + 1;
  while (begin > 0 && part_of_word(begin - 1)) --begin;
  while (end < text.size() && part_of_word(end)) ++end;
  return std::string(text.substr(begin, std::min<std::size_t>(end - begin, 40)));
}

bool names_no_number(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string_view bare = std::string_view(word).substr(word.find_first_not_of("+-") == 1 ? 1 : 0);
  return bare == "nan" || bare == "inf" || bare == "infinity";
}

// "unexpected '}'; expected string literal": the part of nlohmann's message that is meant for people.
std::string plain_part(std::string message) {
  if (const auto dash = message.rfind(" - "); dash != std::string::npos) message.erase(0, dash + 3);
  if (const auto last = message.find("; last read"); last != std::string::npos) message.erase(last);
  return message;
}

bool comma_before(std::string_view text, std::size_t at) {
  const auto last = text.substr(0, at).find_last_not_of(" \t\r\n");
  return last != std::string_view::npos && text[last] == ',';
}

// What is wrong at text[at], and what would do.
std::pair<std::string, std::string> complaint(std::string_view text, std::size_t at, const std::string& token,
                                              const std::string& message) {
  if (at >= text.size()) return {"the text ends too early", "a brace, a bracket or a quote is not closed"};
  if (message.find("number overflow") != std::string::npos) return {"the number " + token + " is too large", ""};
  const std::string word = word_at(text, at);
  if (names_no_number(word)) return {word + " is not a JSON value", "write a finite number"};
  if (message.find("invalid literal") != std::string::npos && !word.empty()) {
    return {"\"" + word + "\" is not a JSON value", "strings need double quotes"};
  }
  if (text[at] == '\'') return {"a string in single quotes is not JSON", "strings need double quotes"};
  if (static_cast<unsigned char>(text[at]) >= 0x80U) return {"not JSON: " + plain_part(message), "save the file as UTF-8"};
  if ((text[at] == '}' || text[at] == ']') && comma_before(text, at)) {
    return {std::string("a comma before '") + text[at] + "' has nothing after it", "remove it"};
  }
  return {"not JSON: " + plain_part(message), ""};
}

// "FILE:LINE:COLUMN" of text[at].
std::string place_of(std::string_view file, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto newline = before.rfind('\n');
  const std::size_t column = 1 + at - (newline == std::string_view::npos ? 0 : newline + 1);
  return std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

constexpr const char* kYaml =
    "a file in YAML is for `photonrail import`: infragraph FILE, card FILE, or astra with its folder";

// Hands the parser's events on, and keeps to the limit of levels.
class Adapter : public nlohmann::json_sax<Parser> {
 public:
  /// Where the parser stopped: the byte, what stood there, the parser's message.
  using OnError = std::function<void(std::size_t, const std::string&, const std::string&)>;

  Adapter(JsonEvents& events, OnError on_error) : events_(events), on_error_(std::move(on_error)) {}

  bool null() override { return events_.null(), true; }
  bool boolean(bool value) override { return events_.boolean(value), true; }
  bool number_integer(number_integer_t n) override {
    if (n < 0)
      events_.negative(n);
    else
      events_.natural(static_cast<std::uint64_t>(n));  // -0
    return true;
  }
  bool number_unsigned(number_unsigned_t n) override { return events_.natural(n), true; }
  bool number_float(number_float_t x, const string_t& text) override { return events_.real(x, text), true; }
  bool string(string_t& text) override { return events_.string(std::move(text)), true; }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override { return events_.key(std::move(name)), true; }
  bool start_object(std::size_t) override { return enter(), events_.begin_object(), true; }
  bool end_object() override { return --depth_, events_.end_object(), true; }
  bool start_array(std::size_t) override { return enter(), events_.begin_array(), true; }
  bool end_array() override { return --depth_, events_.end_array(), true; }

  bool parse_error(std::size_t position, const std::string& token, const Parser::exception& error) override {
    on_error_(position == 0 ? 0 : position - 1, token, error.what());  // the character that does not fit
    return false;
  }

 private:
  void enter() {
    if (++depth_ > kMaxDepth)
      throw ConfigError("", "is nested more than " + std::to_string(kMaxDepth) + " levels deep",
                        "arrays and objects count");
  }

  JsonEvents& events_;
  OnError on_error_;
  std::size_t depth_ = 0;
};

/// Builds the value of a document.
class Builder : public JsonEvents {
 public:
  explicit Builder(std::uint64_t max_values = kMaxValues) : max_values_(max_values) {}
  void null() override { put(nullptr); }
  void boolean(bool value) override { put(value); }
  void natural(std::uint64_t n) override { put(n); }
  void negative(std::int64_t n) override { put(n); }
  void real(double x, const std::string&) override { put(x); }
  void string(std::string&& text) override { put(std::move(text)); }
  void begin_object() override { open_.push_back(&put(Json::object())); }
  void end_object() override { close(); }
  void begin_array() override { open_.push_back(&put(Json::array())); }
  void end_array() override { close(); }
  void key(std::string&& name) override {
    if (open_.back()->contains(name)) throw ConfigError(join_pointer(pointer(), name), "the key is there twice");
    key_ = std::move(name);
  }

  [[nodiscard]] Json take() { return std::move(root_); }

 protected:
  // A value that is complete but for those in it, and that stays where it is until it is closed.
  virtual void complete() {}
  [[nodiscard]] const std::vector<Json*>& open() const { return open_; }
  void count_anew() { values_ = 0; }

 private:
  Json& put(Json value) {
    if (++values_ > max_values_) throw ConfigError("", "has more than " + std::to_string(max_values_) + " values");
    if (open_.empty()) return root_ = std::move(value);
    Json& into = *open_.back();
    return into.is_array() ? into.push_back(std::move(value)) : into.insert(std::move(key_), std::move(value));
  }
  void close() {
    open_.pop_back();
    complete();
  }
  // It is that of the innermost open array or object.
  [[nodiscard]] std::string pointer() const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Json& at = *open_[i];
      path = join_pointer(path, at.is_object() ? at.members().back().key : std::to_string(at.size() - 1));
    }
    return path;
  }

  Json root_;
  std::vector<Json*> open_;  // from the top on; in each the last value is the next one's
  std::string key_;
  std::uint64_t max_values_;
  std::uint64_t values_ = 0;
};

/// Gives the objects in a list of the top object away as they are complete.
class ListBuilder : public Builder {
 public:
  ListBuilder(const std::string& list, const std::function<void(const Json&)>& element) : list_(list), element_(element) {}

 protected:
  void complete() override {
    if (open().size() != 2 || !open()[1]->is_array() || !open()[0]->is_object()) return;
    if (open()[0]->members().back().key != list_) return;
    for (const Json& value : open()[1]->elements()) element_(value);
    open()[1]->elements().clear();
    count_anew();  // what is kept counts
  }

 private:
  const std::string& list_;
  const std::function<void(const Json&)>& element_;
};

constexpr bool kStrict = true;

}  // namespace

Json parse_json(std::string_view text, std::string_view file, std::uint64_t max_values) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw ConfigError(std::string(file), "the file is empty");
  Builder builder(max_values);
  Adapter adapter(builder, [&](std::size_t position, const std::string& token, const std::string& message) {
    const std::size_t at = std::min(position, text.size());
    const auto [what, hint] = complaint(text, at, token, message);
    throw ConfigError(place_of("", text, at), what, hint);
  });
  try {
    const bool accepted =
        Parser::sax_parse(text.begin(), text.end(), &adapter, Parser::input_format_t::json, kStrict, true);
    PHOTONRAIL_CHECK(accepted);
  } catch (const ConfigError& e) {
    if (!e.where().starts_with(':')) throw e.inside(file);
    const bool yaml = e.hint().empty() && (file.ends_with(".yaml") || file.ends_with(".yml"));
    throw ConfigError(std::string(file) + e.where(), e.problem(), yaml ? kYaml : e.hint());
  }
  return builder.take();
}

std::optional<Json> parse_if_json(std::string_view text) {
  Builder builder;
  Adapter adapter(builder, [](std::size_t, const std::string&, const std::string&) {});
  try {
    if (!Parser::sax_parse(text.begin(), text.end(), &adapter, Parser::input_format_t::json, kStrict, false))
      return std::nullopt;
  } catch (const ConfigError&) {  // a limit, or a key twice
    return std::nullopt;
  }
  return builder.take();
}

Json parse_listed(std::istream& in, std::string_view file, const std::string& list,
                  const std::function<void(const Json&)>& element) {
  ListBuilder builder(list, element);
  Adapter adapter(builder, [](std::size_t position, const std::string&, const std::string& message) {
    throw ConfigError("byte " + std::to_string(position), "not JSON: " + plain_part(message), "is the file complete?");
  });
  try {
    const bool accepted = Parser::sax_parse(in, &adapter, Parser::input_format_t::json, kStrict, false);
    PHOTONRAIL_CHECK(accepted);
  } catch (const ConfigError& e) {
    throw e.inside(file);
  }
  return builder.take();
}

void parse_events(std::string_view text, JsonEvents& events) {
  Adapter adapter(events, [](std::size_t position, const std::string&, const std::string&) {
    throw ConfigError("byte " + std::to_string(position + 1), "is not JSON here", "is the file complete?");
  });
  const bool accepted = Parser::sax_parse(text.begin(), text.end(), &adapter, Parser::input_format_t::json, kStrict, false);
  PHOTONRAIL_CHECK(accepted);
}

void append_quoted(std::string& into, std::string_view text) {
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), plain)) {
    into += Parser(text).dump(-1, ' ', false, Parser::error_handler_t::replace);
    return;
  }
  into += '"';
  into += text;
  into += '"';
}

std::string quoted(std::string_view text) {
  std::string result;
  append_quoted(result, text);
  return result;
}

void append_number(std::string& into, double value) { into += Parser(value).dump(); }

}  // namespace photonrail::json
