// The fields that checks speak of. A check of a C++ value names a field of that value and knows no file. Where the value
// comes from a file, the reader of the file maps the field to the place and the key that the user wrote
// (fields/places.hpp).
#pragma once

#include "photonrail/error.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::core {

/// A field of the value that is checked: "rail.planes", or "rail.faults[].at" with an index for each []. "": the value
/// itself.
struct Field {
  std::string pattern;
  std::vector<std::size_t> indices;

  /// The pattern with its indices: "rail.faults[2].at".
  [[nodiscard]] std::string path() const;
  /// The same field of a value that has this one as its member `outer`.
  [[nodiscard]] Field in(const Field& outer) const;
};

/// The one way to name a field in a check: a test reads the literals and proves that each has a place in a file.
template <class... Index>
[[nodiscard]] Field field(std::string_view pattern, Index... indices) {
  return {std::string(pattern), {static_cast<std::size_t>(indices)...}};
}

/// A field that has a name only when the program runs: `name` in place of the '*' of the pattern, "parameters.*".
[[nodiscard]] Field named_field(std::string_view pattern, std::string_view name);

/// `text` with each {field} in it replaced by what `name` makes of the field.
[[nodiscard]] std::string replace_fields(std::string_view text, const std::function<std::string(std::string_view)>& name);

/// A field has a value that cannot be. The texts may name further fields of the same value in braces: "raise {nic.ports}".
class FieldError : public ConfigError {
 public:
  FieldError(Field field, std::string problem, std::string hint = {});

  [[nodiscard]] const Field& field() const { return field_; }
  [[nodiscard]] const std::string& problem_pattern() const { return problem_; }
  [[nodiscard]] const std::string& hint_pattern() const { return hint_; }

  /// The same error about a value that has the checked one as its member `outer`, with the fields in the texts too. Of an
  /// element of a list the fields in the texts stay as they are: they are the same in all elements.
  [[nodiscard]] FieldError in(const Field& outer) const;

 private:
  Field field_;
  std::string problem_;
  std::string hint_;
};

/// Throws the FieldError unless `holds`.
void require(bool holds, const Field& where, std::string_view problem, std::string_view hint = {});

/// check(); a FieldError out of it is about the member `outer` of a larger value.
template <class Check>
void check_member(const Field& outer, Check&& check) {
  try {
    check();
  } catch (const FieldError& e) {
    throw e.in(outer);
  }
}

}  // namespace photonrail::core
