// Reads the classes of the project's own C++ text: the methods and data members that each body declares. A heuristic on
// the same footing as source_text.hpp: a declaration ends in ';' or '{...}'.
#pragma once

#include "architecture/source_text.hpp"

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::test {

/// The methods of a class body, without those that are deleted or defaulted, and its data members, without static ones.
/// Nested classes count for themselves. A class has one body, so that this counts over all files that define its methods.
struct ClassSize {
  std::string name;
  std::size_t methods = 0;
  std::size_t members = 0;
};

/// The position after the brace, parenthesis or angle bracket that closes the one at `open`.
inline std::size_t past_close(std::string_view code, std::size_t open) {
  const char opens = code[open];
  const char closes = opens == '{' ? '}' : opens == '(' ? ')' : '>';
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == opens) ++depth;
    if (code[i] == closes && --depth == 0) return i + 1;
  }
  return code.size();
}

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

inline std::string_view first_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

/// A declaration without spaces, `template <...>`, attributes and access labels in front of it.
inline std::string_view bare(std::string_view text) {
  for (;;) {
    const auto start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    const auto word = first_word(text);
    const auto after = text.find_first_not_of(" \n", word.size());
    const bool label = word == "public" || word == "private" || word == "protected";
    if (text.starts_with("[[")) {
      text.remove_prefix(std::min(text.find("]]") + 2, text.size()));
    } else if (word == "template" && after != std::string_view::npos) {
      text.remove_prefix(past_close(text, after));
    } else if (label && after != std::string_view::npos && text[after] == ':') {
      text.remove_prefix(after + 1);
    } else {
      return text;
    }
  }
}

inline bool defines_class(std::string_view head) {
  const auto word = first_word(bare(head));
  return word == "class" || word == "struct" || word == "union";
}

/// The name in "class NAME final : BASE" or "enum class NAME", with the classes around it as it is written there.
inline std::string class_name(std::string_view head) {
  for (head = bare(head); defines_class(head) || first_word(head) == "enum";)
    head = bare(head.substr(first_word(head).size()));
  std::size_t end = 0;
  while (end < head.size() && (is_word(head[end]) || head.substr(end, 2) == "::" || (end > 0 && head[end - 1] == ':')))
    ++end;
  return std::string(head.substr(0, end));
}

/// Adds the declaration, which has no nested braces, to the counts.
inline void count_declaration(std::string_view declaration, ClassSize& size) {
  declaration = bare(declaration);
  const auto word = first_word(declaration);
  for (const auto skipped : {"", "using", "typedef", "friend", "static_assert", "enum", "class", "struct", "union"}) {
    if (word == skipped) return;
  }
  const bool is_operator = declaration.find("operator") != std::string_view::npos;
  std::size_t names = 1;
  bool is_value = false;  // after '=': the parentheses of a value are no parameters
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    const char c = declaration[i];
    if (is_operator || (c == '(' && !is_value)) {
      const auto last = declaration.find_last_of('=');
      const auto rest = last == std::string_view::npos ? std::string_view{} : bare(declaration.substr(last + 1));
      if (first_word(rest) != "default" && first_word(rest) != "delete") ++size.methods;
      return;
    }
    if (c == '=') is_value = true;
    if (c == ',') {
      ++names;
      is_value = false;
    }
    if (c == '<' || c == '(') i = past_close(declaration, i) - 1;
  }
  if (word != "static") size.members += names;
}

/// Reads declarations from `at` to the brace that closes the scope, or to the end; returns the position after it. `size`:
/// of the class whose body this is, or null. Classes are appended to `found` with the names of the classes around them.
inline std::size_t read_scope(std::string_view code, std::size_t at, ClassSize* size, std::vector<ClassSize>& found) {
  std::string declaration;
  for (; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '}') return at + 1;
    if (c == ';') {
      if (size != nullptr) count_declaration(declaration, *size);
      declaration.clear();
    } else if (c != '{') {
      declaration += c;
    } else if (defines_class(declaration)) {
      ClassSize inner{(size != nullptr ? size->name + "::" : "") + class_name(declaration)};
      at = read_scope(code, at + 1, &inner, found) - 1;
      found.push_back(std::move(inner));
      declaration = "struct";  // up to the semicolon
    } else if (size == nullptr && first_word(bare(declaration)) == "namespace") {
      at = read_scope(code, at + 1, nullptr, found) - 1;
      declaration.clear();
    } else {
      at = past_close(code, at) - 1;
      const auto next = code.find_first_not_of(" \n", at + 1);
      const bool continues =
          next != std::string_view::npos && (code[next] == ',' || code[next] == '{' || code[next] == ';');
      if (continues) continue;  // an initializer
      if (size != nullptr) count_declaration(declaration, *size);
      declaration.clear();
    }
  }
  return at;
}

/// The classes, structs and unions of a file outside of functions.
inline std::vector<ClassSize> classes_of(std::string_view text) {
  std::vector<ClassSize> found;
  const std::string code = code_only(text);
  read_scope(code, 0, nullptr, found);
  return found;
}

/// Appends the types that the declarations from `at` to the end of the scope define in `wanted`; returns the position after
/// it. `scope`: the namespace that the declarations are in.
inline std::size_t read_namespace(std::string_view code, std::size_t at, const std::string& scope, std::string_view wanted,
                                  std::vector<std::string>& found) {
  std::string declaration;
  for (; at < code.size() && code[at] != '}'; ++at) {
    const auto head = bare(declaration);
    const auto word = first_word(head);
    if (code[at] != ';' && code[at] != '{') {
      declaration += code[at];
      continue;
    }
    const bool is_alias = word == "using" && head.find('=') != std::string_view::npos;
    if (code[at] == ';' && is_alias && scope == wanted) found.emplace_back(first_word(bare(head.substr(word.size()))));
    if (code[at] == '{' && word == "namespace") {
      const auto name = bare(head.substr(word.size()));
      const auto inner = std::string(name.substr(0, name.find_last_not_of(" \n") + 1));
      at = read_namespace(code, at + 1, scope.empty() ? inner : scope + "::" + inner, wanted, found) - 1;
    } else if (code[at] == '{') {
      if (scope == wanted && (defines_class(head) || word == "enum")) found.push_back(class_name(head));
      at = past_close(code, at) - 1;
    }
    declaration.clear();
  }
  return at + 1;
}

/// The classes, structs, unions, enumerations and aliases that a file defines in one namespace.
inline std::vector<std::string> types_in_namespace(std::string_view text, std::string_view wanted) {
  std::vector<std::string> found;
  read_namespace(code_only(text), 0, "", wanted, found);
  return found;
}

}  // namespace photonrail::test
