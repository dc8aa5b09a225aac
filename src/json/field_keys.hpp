// From the field of a C++ value that a check names to the JSON pointer that the user wrote.
#pragma once

#include "core/field.hpp"
#include "json/json.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::json {

/// Where a section of a file has a field.
struct FieldKey {
  std::string_view field;  ///< as in core::Field::pattern, "rail.faults[].at"
  std::string_view
      key;  ///< below the section, "rail/faults/[]/at"; "": the section itself; a '*' at the end of both: any name
  std::string_view unit{};  ///< of a duration, whose key has a suffix: the one where the file has none of the key ("ms")
  std::span<const FieldKey> (*inside)() = nullptr;  ///< the fields of a member that has keys of its own, below `key`
};

/// The sections of a file, each with the fields that it has.
class FieldPlaces {
 public:
  /// The member `field` of the checked value ("": the value itself) is read from the section at `pointer`. `section` may be
  /// null, when the file does not have it, and must outlive this object.
  void add(std::string_view field, std::string pointer, const Json* section, std::span<const FieldKey> keys);

  /// The place of a field, with the unit that the file has; nullopt when no section has the field.
  [[nodiscard]] std::optional<std::string> pointer(const core::Field& field) const;
  /// The error in the words of the file. A field without a place keeps its name.
  [[nodiscard]] ConfigError located(const core::FieldError& error) const;

 private:
  struct Section {
    std::string field;
    std::string pointer;
    const Json* json = nullptr;
    std::span<const FieldKey> keys;
  };

  /// The member of a section that `row` names, which has keys of its own.
  [[nodiscard]] static Section inside(const Section& section, const FieldKey& row);
  [[nodiscard]] static std::optional<std::string> pointer_in(const Section& section, const core::Field& field);

  std::vector<Section> sections_;
};

}  // namespace photonrail::json
