#include "fields/typed.hpp"

#include "fields/pages.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace photonrail::fields {

namespace {

constexpr std::size_t kMaxColumns = 120;

/// "server_faults" -> "ServerFaults".
std::string camel_case(std::string_view key) {
  std::string name;
  bool upper = true;
  for (const char c : key) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return name;
}

std::string member_name(const std::string& key) {
  static const std::set<std::string, std::less<>> kWords{"from", "global", "class", "in", "is", "lambda", "not", "with"};
  return kWords.contains(key) ? key + "_" : key;
}

/// The text in lines of `indent`, each a comment that documentation tools take for the member below.
std::string comment(std::string_view text, std::string_view indent) {
  std::string lines;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) lines += std::string(indent) + "#:" + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (indent.size() + line.size() + word.size() + 3 > kMaxColumns) end_line();
    line += " " + std::string(word);
  }
  end_line();
  return lines;
}

class PythonWriter {
 public:
  explicit PythonWriter(const Registries& known) : known_(&known) {}

  [[nodiscard]] std::string text() const { return classes_; }

  /// Writes the class of a section behind those of the sections in it.
  void add(const Section& section, std::string_view name, const std::string& place) {
    names_.emplace(&section, name);
    taken_.emplace(name);
    std::string required;
    std::string optional;
    add_members(section, name, false, required, optional);
    classes_ += "\n\n@dataclasses.dataclass\nclass " + std::string(name) + "(Section):\n    \"\"\"" + place + "\"\"\"\n" +
                required + optional + "    more: Optional[Dict[str, Any]] = None\n";
  }

 private:
  // A key that a section has under a condition is not required of the class.
  void add_members(const Section& section, std::string_view outer, bool conditional, std::string& required,
                   std::string& optional) {
    const auto add_all = [&](std::span<const Field> fields) {
      for (const Field& field : fields) {
        if (field.key == "schema") continue;  // of the format, which the caller knows
        const bool sometimes = conditional || !field.only.empty();
        if (!field.key.empty()) {
          const bool always = field.required == "*" && !sometimes;
          add_member(field, outer, always, always ? required : optional);
        } else if (field.shape.section != nullptr) {
          add_members(*field.shape.section, outer, sometimes, required, optional);
        }
      }
    };
    add_all(section.fields);
    if (section.more == nullptr) return;
    std::deque<std::string> texts;
    const std::vector<Field> more = section.more(*known_, texts);
    add_all(more);
  }

  void add_member(const Field& field, std::string_view outer, bool required, std::string& into) {
    const std::string unit = field.unit.empty() ? "" : "_" + std::string(field.unit);
    const std::string type = type_of(field.shape, field.key, outer);
    into += comment(description_of(field, *known_), "    ");
    into += "    " + member_name(std::string(field.key) + unit) + ": ";
    into += required ? type + "\n" : "Optional[" + type + "] = None\n";
  }

  std::string type_of(const Shape& shape, std::string_view key, std::string_view outer) {
    std::vector<std::string> types;
    for (const Shape* at = &shape; at != nullptr; at = at->other) {
      std::string type = type_of_kind(*at, key, outer);
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(std::move(type));
    }
    if (types.size() == 1) return types.front();
    std::string all;
    for (const std::string& type : types) all += (all.empty() ? "" : ", ") + type;
    return "Union[" + all + "]";
  }

  std::string type_of_kind(const Shape& shape, std::string_view key, std::string_view outer) {
    switch (shape.kind) {
      case Kind::kFlag:
        return "bool";
      case Kind::kText:
        return "str";
      case Kind::kNumber:
      case Kind::kTime:
        return "float";
      case Kind::kWhole:
        return "int";
      case Kind::kList:
        return "List[" + type_of(*shape.element, key, outer) + "]";
      case Kind::kMap:
        return "Dict[str, " + type_of(*shape.element, key, outer) + "]";
      case Kind::kObject:
        return shape.same_as.empty() ? "\"" + class_of(*shape.section, key, outer) + "\"" : "Any";
      case Kind::kNull:
        return "None";
      case Kind::kAny:
        break;
    }
    return "Any";
  }

  /// The class of a section that a key has; the first that has it names it.
  const std::string& class_of(const Section& section, std::string_view key, std::string_view outer) {
    const auto known = names_.find(&section);
    if (known != names_.end()) return known->second;
    std::string name = camel_case(key);
    if (taken_.contains(name)) name = std::string(outer) + name;
    PHOTONRAIL_CHECK(!taken_.contains(name));
    add(section, name,
        section.of_unit ? "A distribution of times, in the unit of its key."
                        : "The key `" + std::string(key) + "` of " + std::string(outer) + ".");
    return names_.at(&section);
  }

  const Registries* known_;
  std::map<const Section*, std::string> names_;  // looked up, never iterated over
  std::set<std::string, std::less<>> taken_;
  std::string classes_;
};

}  // namespace

std::string python_classes(const Section& file, std::string_view name, const Registries& known) {
  PythonWriter writer(known);
  writer.add(file, name, "The whole file.");
  return writer.text();
}

}  // namespace photonrail::fields
