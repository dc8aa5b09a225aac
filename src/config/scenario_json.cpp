// Text to JSON: where nlohmann/json complains in its own words, this says it in one line with file, line and column.
#include "config/json_reader.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace photonrail::config {

namespace {

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

// Checks the syntax and that no object has a key twice, before a document is built.
class SyntaxCheck : public nlohmann::json_sax<Json> {
 public:
  SyntaxCheck(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (!level.keys.insert(name).second) throw ConfigError(std::string(file_) + ": " + pointer(), "the key is there twice");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) override {
    const std::size_t at = std::min(position == 0 ? 0 : position - 1, text_.size());  // the character that does not fit
    const std::string_view before = text_.substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto newline = before.rfind('\n');
    const std::size_t column = 1 + at - (newline == std::string_view::npos ? 0 : newline + 1);
    const auto [what, hint] = complaint(at, token, error.what());
    throw ConfigError(std::string(file_) + ":" + std::to_string(line) + ":" + std::to_string(column), what, hint);
  }

 private:
  struct Level {
    bool object = false;
    std::set<std::string> keys;
    std::string key;
    std::size_t next = 0;  // arrays: index of the next element
  };

  bool value() {
    if (!levels_.empty()) ++levels_.back().next;
    return true;
  }
  bool open(bool object) {
    value();
    levels_.push_back({object, {}, {}, 0});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }
  std::string pointer() const {
    std::string path;
    for (const Level& level : levels_) path = join_pointer(path, level.object ? level.key : std::to_string(level.next - 1));
    return path;
  }

  std::pair<std::string, std::string> complaint(std::size_t at, const std::string& token,
                                                const std::string& message) const {
    if (at >= text_.size()) return {"the text ends too early", "a brace, a bracket or a quote is not closed"};
    if (message.find("number overflow") != std::string::npos) return {"the number " + token + " is too large", ""};
    const std::string word = word_at(text_, at);
    if (names_no_number(word)) return {word + " is not a JSON value", "write a finite number"};
    if (message.find("invalid literal") != std::string::npos && !word.empty()) {
      return {"\"" + word + "\" is not a JSON value", "strings need double quotes"};
    }
    if ((text_[at] == '}' || text_[at] == ']') && comma_before(text_, at)) {
      return {std::string("a comma before '") + text_[at] + "' has nothing after it", "remove it"};
    }
    return {"not JSON: " + plain_part(message), ""};
  }

  std::string_view text_;
  std::string_view file_;
  std::vector<Level> levels_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view file) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw ConfigError(std::string(file), "the file is empty");
  SyntaxCheck check(text, file);
  constexpr bool kStrict = true;
  constexpr bool kIgnoreComments = true;
  const bool accepted = Json::sax_parse(text, &check, Json::input_format_t::json, kStrict, kIgnoreComments);
  PHOTONRAIL_CHECK(accepted);
  return Json::parse(text, nullptr, true, kIgnoreComments);
}

}  // namespace photonrail::config
