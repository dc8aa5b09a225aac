// From the field of a C++ value that a check names to the JSON pointer that the user wrote.
#pragma once

#include "core/field.hpp"
#include "fields/field.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::fields {

/// The sections of a file, each with the member of the checked value that it is read into.
class Places {
 public:
  /// The member `field` of the checked value ("": the value itself) is read from what is at `pointer` with that shape.
  /// `value` is null where the file does not have it, and must outlive this object.
  void add(std::string_view field, std::string pointer, const json::Json* value, const Shape& shape);
  void add(std::string_view field, std::string pointer, const json::Json* section, const Section& table);

  /// The place of a field, with the unit that the file has; nullopt when no section has the field.
  [[nodiscard]] std::optional<std::string> pointer(const core::Field& field) const;
  /// The error in the words of the file. A field without a place keeps its name.
  [[nodiscard]] ConfigError located(const core::FieldError& error) const;

 private:
  struct Part {
    std::string field;
    std::string pointer;
    const json::Json* json = nullptr;
    Shape shape;
  };
  std::vector<Part> parts_;
};

/// `e` in the context of a section: its place, a JSON pointer or words, is put below `pointer`.
[[nodiscard]] ConfigError below(const std::string& pointer, const ConfigError& e);

/// check(); what it says of a field is put at the place that the section has for it, and any other error below the section.
template <class Check>
decltype(auto) in_section(const json::JsonReader& section, const Section& table, Check&& check) {
  try {
    return check();
  } catch (const core::FieldError& e) {
    Places places;
    places.add("", section.pointer(), &section.json(), table);
    throw places.located(e);
  } catch (const ConfigError& e) {
    throw below(section.pointer(), e);
  }
}

}  // namespace photonrail::fields
