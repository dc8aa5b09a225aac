// Values of a drawn file and their texts in JSON and YAML, with keys in any order, blanks, escapes and quotes.
#pragma once

#include "formats/drawn/drawn.hpp"

#include <cstdio>

namespace photonrail::test::drawn {

struct Tree {
  enum class Kind : std::uint8_t { kPlain, kText, kMap, kList };

  Kind kind = Kind::kPlain;
  std::string text;  ///< kPlain: as it is written; kText: what it says
  std::vector<std::pair<std::string, Tree>> members;
  std::vector<Tree> elements;

  void set(const std::string& key, Tree value) { members.emplace_back(key, std::move(value)); }
};

inline Tree plain(std::string text) { return {Tree::Kind::kPlain, std::move(text), {}, {}}; }
inline Tree plain(std::uint64_t value) { return plain(std::to_string(value)); }
inline Tree text(std::string value) { return {Tree::Kind::kText, std::move(value), {}, {}}; }
inline Tree list(std::vector<Tree> elements) { return {Tree::Kind::kList, {}, {}, std::move(elements)}; }
inline Tree map(std::vector<std::pair<std::string, Tree>> members = {}) {
  return {Tree::Kind::kMap, {}, std::move(members), {}};
}

/// Counts the keys of a tree and its texts.
inline void cover_keys(const Tree& tree, Cover& cover) {
  if (tree.kind == Tree::Kind::kText) cover.add(tree.text);
  for (const auto& [key, value] : tree.members) {
    cover.add(key);
    cover_keys(value, cover);
  }
  for (const Tree& element : tree.elements) cover_keys(element, cover);
}

inline void append_escape(std::string& out, unsigned unit) {
  char digits[8];
  std::snprintf(digits, sizeof digits, "\\u%04x", unit);
  out += digits;
}

/// The first character of UTF-8 as UTF-16 in escapes; returns its bytes.
inline std::size_t append_escaped(std::string& out, std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  unsigned code = c & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  if (code < 0x10000) {
    append_escape(out, code);
  } else {
    append_escape(out, 0xD800 + ((code - 0x10000) >> 10U));
    append_escape(out, 0xDC00 + ((code - 0x10000) & 0x3FFU));
  }
  return bytes;
}

/// A string of JSON. What is no ASCII is as it is, or escaped where `escape`.
inline std::string quoted(std::string_view text, bool escape) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i++];
    } else if (c < 0x20) {
      append_escape(out, c);
      ++i;
    } else if (c < 0x80 || !escape) {
      out += text[i++];
    } else {
      i += append_escaped(out, text.substr(i));
    }
  }
  return out + "\"";
}

class JsonText {
 public:
  explicit JsonText(Draw& style) : style_(style), wide_(style.one_in(2)), escape_(style.one_in(2)) {}

  std::string of(const Tree& tree) {
    std::vector<std::string> parts;
    switch (tree.kind) {
      case Tree::Kind::kPlain:
        return tree.text;
      case Tree::Kind::kText:
        return quoted(tree.text, escape_);
      case Tree::Kind::kList:
        for (const Tree& element : tree.elements) parts.push_back(of(element));
        return joined('[', parts, ']');
      case Tree::Kind::kMap:
        break;
    }
    auto members = tree.members;
    style_.shuffle(members);
    for (const auto& [key, value] : members) parts.push_back(quoted(key, escape_) + blank() + ":" + blank() + of(value));
    return joined('{', parts, '}');
  }

 private:
  std::string blank() { return wide_ && style_.one_in(3) ? style_.pick<std::string>({" ", "\n", "\t", "\r\n  "}) : ""; }
  std::string joined(char open, const std::vector<std::string>& parts, char close) {
    std::string out(1, open);
    for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "," : "") + blank() + parts[i] + blank();
    return out + close;
  }

  Draw& style_;
  bool wide_;
  bool escape_;
};

class YamlText {
 public:
  explicit YamlText(Draw& style) : style_(style), comments_(style.one_in(3)), flow_(style.from_to(1, 6)) {}

  std::string of(const Tree& tree) {
    std::string out = style_.one_in(4) ? "---\n" : "";
    block(tree, "", out);
    return maybe_crlf(style_, out);
  }

 private:
  /// Lines of a map or a list, each behind `indent`.
  void block(const Tree& tree, const std::string& indent, std::string& out) {
    if (tree.kind == Tree::Kind::kMap && !tree.members.empty()) {
      auto members = tree.members;
      style_.shuffle(members);
      for (const auto& [key, value] : members) {
        out += indent + key + ":";
        value_of(value, indent + style_.pick<std::string>({"  ", "   "}), out);
      }
    } else if (tree.kind == Tree::Kind::kList && !tree.elements.empty()) {
      for (const Tree& element : tree.elements) {
        out += indent + "-";
        value_of(element, indent + "  ", out);
      }
    } else {
      out += indent + flow(tree) + "\n";
    }
  }
  void value_of(const Tree& value, const std::string& indent, std::string& out) {
    const bool leaf = value.members.empty() && value.elements.empty();
    if (leaf || style_.one_in(flow_)) {
      out += " " + flow(value) + (comments_ && style_.one_in(3) ? "  # a remark" : "") + "\n";
      return;
    }
    out += "\n";
    if (comments_ && style_.one_in(4)) out += indent + "# why: {unknown}\n";
    block(value, indent, out);
  }
  std::string flow(const Tree& tree) {
    std::vector<std::string> parts;
    if (tree.kind == Tree::Kind::kPlain) return tree.text;
    if (tree.kind == Tree::Kind::kText) return scalar(tree.text);
    if (tree.kind == Tree::Kind::kList) {
      for (const Tree& element : tree.elements) parts.push_back(flow(element));
    } else {
      auto members = tree.members;
      style_.shuffle(members);
      for (const auto& [key, value] : members) parts.push_back(key + ": " + flow(value));
    }
    const std::string pad = style_.one_in(2) ? " " : "";
    std::string out = pad;
    for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? ", " : "") + parts[i];
    out += pad;
    return tree.kind == Tree::Kind::kList ? "[" + out + "]" : "{" + out + "}";
  }
  /// Text without quotes where YAML cannot take it for anything else.
  std::string scalar(const std::string& value) {
    static const std::regex safe(R"([A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z_][A-Za-z0-9_]*)*)");
    static const std::set<std::string> words{"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"};
    std::string lower = value;
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (std::regex_match(value, safe) && !words.contains(lower) && style_.one_in(2)) return value;
    if (value.find_first_of("\n\t\\") != std::string::npos || style_.one_in(2)) return quoted(value, false);
    std::string single = "'";
    for (const char c : value) single += c == '\'' ? "''" : std::string(1, c);
    return single + "'";
  }

  Draw& style_;
  bool comments_;
  std::uint64_t flow_;
};

}  // namespace photonrail::test::drawn
